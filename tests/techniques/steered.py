"""What steering does to the reference prompts: in the engine's own loop, and under `generate`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from leadline.engine import Generation, Prompt, Request, Sampling
from leadline.engine.decode import generate
from leadline.engine.intervention import Intervention
from leadline.engine.session import applied

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
TRUTHFUL = GOLDEN.parent / "data" / "build" / "qa" / "TruthfulQA.csv"
CLOSE = 2e-3  # the tolerance that the reference runs state, in nats


def golden(name: str) -> dict[str, Any]:
    """A reference file, or nothing where there is none (the tests are skipped then)."""
    found: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text()) if GOLDEN.is_dir() else {}
    return found


PROMPTS = {each["id"]: each for each in golden("prompts").get("prompts", ())}


def furthest(
    lm: CausalLM, intervention: Intervention, results: Sequence[dict[str, Any]], ordinary: bool = True
) -> float:
    """The largest difference of a first-token log-probability from the reference, over all prompts, in the
    engine and in one left-padded batch of an ordinary model. Asserts that all greedy tokens are the same."""
    worst = 0.0
    for way in (_engine, _ordinary) if ordinary else (_engine,):
        first, tokens = way(lm, intervention, results)
        for at, result in enumerate(results):
            expected = torch.tensor([value for _, value, _ in result["top20"]])
            found = first[at].log_softmax(-1)[[token for token, _, _ in result["top20"]]]
            worst = max(worst, float((found - expected).abs().max()))
            assert _same(tokens[at], result), (result["id"], tokens[at], result["greedy_ids"])
    return worst


def _same(tokens: Sequence[int], result: dict[str, Any]) -> bool:
    """Equal up to a step where the reference itself had a tie."""
    for ours, theirs, margin in zip(tokens, result["greedy_ids"], result["step_margins"], strict=True):
        if ours != theirs:
            return float(margin) < 2 * CLOSE
    return True


def _engine(
    lm: CausalLM, intervention: Intervention, results: Sequence[dict[str, Any]]
) -> tuple[list[Tensor], list[tuple[int, ...]]]:
    first: dict[int, Tensor] = {}

    def watch(at: int, scores: Tensor) -> None:
        first[at] = scores.float().clone()

    requests = [
        Request(Prompt(text=PROMPTS[each["id"]]["prompt"]), Sampling(0.0, 16), (each["id"],))
        for each in results
    ]
    found = dict(generate(lm, requests, None, intervention, watch))
    tokens = []
    for at in range(len(results)):
        generation = found[at]
        assert isinstance(generation, Generation)
        tokens.append(generation.token_ids)
    return [first[at] for at in range(len(results))], tokens


def _ordinary(
    lm: CausalLM, intervention: Intervention, results: Sequence[dict[str, Any]]
) -> tuple[list[Tensor], list[tuple[int, ...]]]:
    texts = [PROMPTS[each["id"]]["input_ids"] for each in results]
    ids, mask = left_padded(texts)
    with applied(lm.model, intervention):
        out = lm.model.generate(
            ids, attention_mask=mask, do_sample=False, max_new_tokens=16, pad_token_id=2,
            return_dict_in_generate=True, output_logits=True,
        )  # fmt: skip
    new = out.sequences[:, ids.shape[1] :].tolist()
    tokens = []
    for row in new:
        end = next((at + 1 for at, token in enumerate(row) if token in lm.end_tokens), len(row))
        tokens.append(tuple(row[:end]))
    return list(out.logits[0].float()), tokens


def left_padded(texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Ids and mask, `[rows, longest]` each."""
    width = max(map(len, texts))
    ids = torch.tensor([[2] * (width - len(text)) + list(text) for text in texts])
    mask = torch.tensor([[0] * (width - len(text)) + [1] * len(text) for text in texts])
    return ids, mask
