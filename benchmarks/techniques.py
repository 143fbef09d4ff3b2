"""What techniques cost: batches of 16 greedy answers under each, as ratios to the baseline in the same run.

All answers are made equally long (nothing ends one before its last token), or a technique that stops earlier
would seem cheaper. Beside each technique stands the same one in the manner of the published implementations:
one prompt at a time, the whole text computed anew for every token.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from sampling import prompt_text

from leadline.bench import load_benchmark
from leadline.engine import Prompt, Request, Sampling
from leadline.engine.decode import generate
from leadline.engine.intervention import Intervention
from leadline.engine.lm import CausalLM
from leadline.engine.session import applied
from leadline.models.local import LocalModel
from leadline.models.resolve import resolve
from leadline.techniques.prepared import Bench
from leadline.techniques.spelling import technique_from

NAMES = (
    "iti",
    "caa",
    "sadi",
    "dola",
    "activation-decoding",
    "decore",
    "contrastive-decoding",
    "sled",
)
Say = Callable[[str], None]


def measure(repeats: int, quick: bool, say: Say) -> list[dict[str, Any]]:
    """One row per workload and technique."""
    model = LocalModel(resolve("smollm2"))
    lm = model.lm
    lm.__dict__["end_tokens"] = frozenset()  # no text ends by itself
    bench = Bench(digest=model.identity.digest, say=say)
    interventions = {name: technique_from(name).prepare(lm, bench).intervention for name in NAMES}
    batch, few = (4, 1) if quick else (16, 2)
    questions = [item.question for item in load_benchmark("facts").subset(batch).items]
    found = []
    for workload, style, tokens in (("few-shot, 8 tokens", "few-shot", 8), ("chat, 32 tokens", "chat", 32)):
        texts = [prompt_text(lm, style, question) for question in questions]
        found += _workload(lm, workload, texts, tokens, interventions, repeats, few, say)
    return found


def _workload(
    lm: CausalLM,
    name: str,
    texts: list[str],
    tokens: int,
    interventions: dict[str, Intervention],
    repeats: int,
    few: int,
    say: Say,
) -> list[dict[str, Any]]:
    requests = [
        Request(Prompt(text=text), Sampling(0.0, tokens), (0, number)) for number, text in enumerate(texts)
    ]

    def seconds(intervention: Intervention) -> float:
        started = time.perf_counter()
        list(generate(lm, requests, None, intervention))
        return time.perf_counter() - started

    list(generate(lm, requests[:2]))  # warm: packs the weights, reads the tokenizer
    rows = []
    for way, intervention in interventions.items():
        # The baseline right before each run of the technique: what disturbs a machine disturbs both.
        pairs = [(seconds(Intervention()), seconds(intervention)) for _ in range(repeats)]
        baseline, taken = (min(times) for times in zip(*pairs, strict=True))
        naive = _naive(lm, texts[:few], min(tokens, 8), intervention)
        ours = taken / (len(texts) * tokens)
        rows.append(
            {
                "workload": name,
                "technique": way,
                "batch": len(texts),
                "tokens_each": tokens,
                "seconds": taken,
                "greedy_seconds": baseline,
                "ratio": statistics.median(with_it / without for without, with_it in pairs),
                "runs": pairs,
                "naive_s_per_token": naive,
                "ours_s_per_token": ours,
                "speed_up": naive / ours,
            }
        )
        say(f"{name}, {way}: ratio {rows[-1]['ratio']:.2f}, {rows[-1]['speed_up']:.0f} times the naive way")
    return rows


def _naive(lm: CausalLM, texts: list[str], tokens: int, intervention: Intervention) -> float:
    """Seconds per token, prompts one by one, everything computed anew for each token."""
    started = time.perf_counter()
    with applied(lm.model, intervention) as session, torch.inference_mode():
        for text in texts:
            ids = lm.encode(text, True)
            prompt = len(ids)
            for _ in range(tokens):
                with session.scoring([prompt]):
                    out = lm.model(input_ids=torch.tensor([ids]), use_cache=False, logits_to_keep=1)
                ids.append(int(out.logits[0, -1].argmax()))
    return (time.perf_counter() - started) / (len(texts) * tokens)
