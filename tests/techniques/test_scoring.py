"""Every technique that acts in the model scores a text as it wrote it: one pass instead of many."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.score import score  # noqa: E402
from tests.techniques.test_families import BENCH, INSIDE, PROMPTS, _lm, _technique  # noqa: E402


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # these products are too small to be shared out
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("family", ["llama", "gemma2", "gpt-neox"])
@pytest.mark.parametrize("name", INSIDE)
def test_a_text_is_as_likely_as_when_it_was_written(name: str, family: str) -> None:
    lm, technique = _lm(family), _technique(name)
    intervention = technique.prepare(lm, BENCH).intervention
    requests = [
        Request(Prompt(text=prompt), Sampling(1.0, 12, logprobs=3), (at,))
        for at, prompt in enumerate(PROMPTS)
    ]
    found = dict(generate(lm, requests, None, intervention))
    encoded = [lm.encode(prompt, True) for prompt in PROMPTS]
    written = [each for at in range(len(PROMPTS)) if isinstance(each := found[at], Generation)]
    texts = [(*ids, *each.token_ids) for ids, each in zip(encoded, written, strict=True)]
    ends = [len(ids) for ids in encoded]
    scored = score(lm, texts, intervention, ends, top=3)
    for end, mine, theirs in zip(ends, scored, written, strict=True):
        for one, other in zip(mine[end:], theirs.logprobs, strict=True):
            assert one is not None
            assert one.logprob == pytest.approx(other.logprob, abs=1e-4)
            # Fewer than three where the technique rules out all others.
            assert [entry[2] for entry in one.top] == pytest.approx(
                [entry[2] for entry in other.top], abs=1e-4
            )
    # And it is not simply what the model says without the technique; that of CAD needs another prompt.
    plain = score(lm, texts, prompts=ends)
    moved = max(
        abs(one.logprob - other.logprob)
        for end, mine, theirs in zip(ends, scored, plain, strict=True)
        for one, other in zip(mine[end:], theirs[end:], strict=True)
        if one is not None and other is not None
    )
    assert (moved > 1e-2) != technique.needs_context


def test_who_listens_is_told_of_the_right_request_where_requests_are_split_up() -> None:
    """CAD asks those that have another prompt and those that have none in turn."""
    lm, technique = _lm("llama"), _technique("cad")
    requests = [
        Request(
            Prompt(text=prompt),
            Sampling(1.0, 8),
            (at,),
            without=Prompt(text=PROMPTS[0]) if at % 2 else None,
        )
        for at, prompt in enumerate(PROMPTS)
    ]
    told: dict[int, str] = {}

    def on_text(at: int, text: str, logprobs: object) -> None:
        told[at] = told.get(at, "") + text

    found = dict(generate(lm, requests, None, technique.prepare(lm, BENCH).intervention, on_text=on_text))
    assert sorted(told) == list(range(len(PROMPTS)))
    assert len(set(told.values())) == len(PROMPTS)
    assert {at: each.text for at, each in found.items() if isinstance(each, Generation)} == told
