"""The embedded model as users have it: real weights, checked against a direct load of the GGUF file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.models import weights
from leadline.models.describe import describe
from leadline.models.files import ModelFiles
from leadline.models.progress import PlainLines
from leadline.models.resolve import resolve

pytestmark = pytest.mark.model
GOLDEN = Path(__file__).parents[3] / "shared" / "golden"


@pytest.fixture(scope="module")
def smollm2() -> ModelFiles:
    """From the user's own cache, so that a machine converts it once and not once a test run."""
    return resolve("smollm2", progress=PlainLines())


def test_its_tensors_are_the_exact_values_of_the_gguf_file(smollm2: ModelFiles) -> None:
    """The digest is that of a conversion whose logits equalled those of the GGUF file bit for bit."""
    digest = "sha256:fb4dd8716d75b4fd270a93654d0a2ad7e43d477e8e49393c266a27c8cd63f0b8"
    assert smollm2.digest == digest
    assert weights.tensor_digest(smollm2.folder) == digest


def test_its_card(smollm2: ModelFiles) -> None:
    card = describe(smollm2)
    assert (card.parameters, card.layers, card.heads, card.key_value_heads) == (134_515_008, 30, 9, 3)
    assert (card.vocabulary, card.context_length, card.licence) == (49_152, 8192, "Apache-2.0")
    assert card.chat_template


def test_it_is_found_again_at_once(smollm2: ModelFiles) -> None:
    import time

    begin = time.perf_counter()
    resolve("smollm2", offline=True)
    assert time.perf_counter() - begin < 0.1


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the reference runs (../shared/golden) are not here")
def test_its_prompts_tokens_and_probabilities_are_those_of_the_reference_runs(smollm2: ModelFiles) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(smollm2.folder)
    model = AutoModelForCausalLM.from_pretrained(smollm2.folder, dtype=torch.float32)
    assert model.generation_config.to_diff_dict().keys() <= {
        "bos_token_id", "eos_token_id", "pad_token_id", "transformers_version", "_from_model_config",
    }  # fmt: skip
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (1, 2, 2)
    prompts = json.loads((GOLDEN / "prompts.json").read_text())["prompts"]
    results = json.loads((GOLDEN / "baseline.json").read_text())["results"]
    assert len(prompts) == len(results) > 0
    for number, (prompt, expected) in enumerate(zip(prompts, results, strict=True)):
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt["user_content"]}], tokenize=False, add_generation_prompt=True
        )
        assert text == prompt["prompt"]
        ids = tokenizer(text, add_special_tokens=False).input_ids
        assert ids == prompt["input_ids"]
        if number >= 3:  # three prompts tell other weights from these; the engine's tests run them all
            continue
        with torch.no_grad():
            scores = model(torch.tensor([ids]), logits_to_keep=1).logits[0, -1].log_softmax(-1)
        for token, value, _ in expected["top20"]:
            # The reference was computed by another attention kernel; the two differ by up to 5e-5.
            assert scores[token].item() == pytest.approx(value, abs=2e-3)
