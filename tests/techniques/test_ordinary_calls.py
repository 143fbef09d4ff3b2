"""Ways in which an ordinary model is called under a technique that are easily got wrong."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine.session import applied  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from leadline.models.local import LocalModel  # noqa: E402
from leadline.techniques.caa import caa_intervention  # noqa: E402
from leadline.techniques.spelling import technique_from  # noqa: E402

pytestmark = pytest.mark.model

TEXTS = ["The capital of France is", "Bees make"]
# Heads given, so that nothing has to be found first.
NAMES = ["dola", "activation-decoding", "decore:heads=17.3,18.7", "contrastive-decoding:amateur=first-12"]


def _encoded(smollm2: LocalModel) -> Any:
    tokenizer = smollm2.lm.tokenizer
    return tokenizer(TEXTS, return_tensors="pt", padding=True, padding_side="left")


@pytest.mark.parametrize("name", NAMES)
def test_without_a_cache_the_same_is_written(smollm2: LocalModel, name: str) -> None:
    """A pass without a cache holds prompt and answer; a technique that took it all for a prompt would act on
    the last token alone."""
    lm, encoded = smollm2.lm, _encoded(smollm2)
    with technique_from(name).on(lm.model, lm.tokenizer):
        kept = lm.model.generate(**encoded, do_sample=False, max_new_tokens=6)
        anew = lm.model.generate(**encoded, do_sample=False, max_new_tokens=6, use_cache=False)
    assert torch.equal(kept, anew)


def test_without_a_cache_every_generated_token_is_steered(smollm2: LocalModel) -> None:
    lm, encoded = smollm2.lm, _encoded(smollm2)
    vector = 8 * torch.randn(lm.model.config.hidden_size, generator=torch.Generator().manual_seed(1))
    with applied(lm.model, caa_intervention(vector, layer=12)):
        kept = lm.model.generate(**encoded, do_sample=False, max_new_tokens=8)
        anew = lm.model.generate(**encoded, do_sample=False, max_new_tokens=8, use_cache=False)
    plain = lm.model.generate(**encoded, do_sample=False, max_new_tokens=8)
    assert torch.equal(kept, anew) and not torch.equal(kept, plain)


def test_a_loss_is_that_of_the_scores_that_are_returned(smollm2: LocalModel) -> None:
    lm = smollm2.lm
    ids = lm.tokenizer(TEXTS[0], return_tensors="pt").input_ids
    with technique_from("dola:relative_top=0").on(lm.model, lm.tokenizer), torch.no_grad():
        out = lm.model(ids, labels=ids)
    expected = torch.nn.functional.cross_entropy(out.logits[0, :-1], ids[0, 1:])
    assert float(out.loss) == pytest.approx(float(expected), rel=1e-5)


def test_a_cache_whose_masks_hide_the_padding_is_refused(smollm2: LocalModel) -> None:
    lm, encoded = smollm2.lm, _encoded(smollm2)
    with (
        technique_from("activation-decoding").on(lm.model, lm.tokenizer),
        pytest.raises(UsageError, match="dynamic cache"),
    ):
        lm.model.generate(**encoded, do_sample=False, max_new_tokens=4, cache_implementation="static")


@pytest.mark.parametrize("ends", [[0, 2], [-1, 3], [5.7, 3.0], [5], [5, 2, 3]])
def test_ends_of_prompts_that_cannot_be_are_refused(smollm2: LocalModel, ends: list[Any]) -> None:
    lm, encoded = smollm2.lm, _encoded(smollm2)
    with (
        technique_from("dola").on(lm.model, lm.tokenizer) as session,
        pytest.raises(UsageError, match="prompt"),
        session.scoring(ends),
        torch.no_grad(),
    ):
        lm.model(**encoded)
