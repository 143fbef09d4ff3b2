"""K samples for each of 64 prompts: our engine against what people would use instead.

That is `transformers.generate(num_return_sequences=K)`, with a call per prompt or all prompts in one call
(left-padded), whichever is faster here; and lm-evaluation-harness' `hf` model with `repeats`, at its best
batch size of several. Same model object, dtype, threads, temperature, stops and longest answer, in one
process, alternating. The others' cost is a sum over prompts, so each of their runs asks some of the 64, drawn
anew, and is scaled; ours asks all.

The floor is arithmetic alone: multiplications of the tokens that cannot be avoided (each prompt once, each
sampled token once) over the best rate that a large matrix product reaches on this machine in the same run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import torch
from against_lm_eval import Harness
from goals import Goal, spread
from torch.profiler import ProfilerActivity, profile

from leadline.bench import Benchmark, load_benchmark
from leadline.engine import Prompt, Request, Sampling
from leadline.engine.decode import generate
from leadline.engine.lm import CausalLM
from leadline.models.local import LocalModel
from leadline.models.resolve import resolve
from leadline.techniques.prompts_library import Prompts

TEMPERATURE = 0.7
# Prompts of each of the others' runs, and those that ways and batch sizes are tried on.
PART, TRIED_ON = 4, 2
Say = Callable[[str], None]
WORKLOADS = (
    ("few-shot, stop at line end", "few-shot", 16, ("\n",)),
    ("chat, up to 32 tokens", "chat", 32, ()),
)


def measure(repeats: int, quick: bool, say: Say) -> list[dict[str, Any]]:
    """One row per workload: times, ratios, floor and where the time goes."""
    lm = LocalModel(resolve("smollm2")).lm
    peak = _peak()
    say(f"best matrix product: {peak / 1e9:.0f} GFLOP/s")
    prompts, k = (3, 3) if quick else (64, 20)
    benchmark = load_benchmark("facts").subset(prompts)
    return [
        _workload(lm, benchmark, *workload, k, repeats, peak, say)
        for workload in (WORKLOADS[:1] if quick else WORKLOADS)
    ]


def prompt_text(lm: CausalLM, style: Any, question: str) -> str:
    """The question as studies of this style put it."""
    return lm.text_of(Prompts(style).render("question/question", question=question, window=""))


def _workload(
    lm: CausalLM,
    benchmark: Benchmark,
    name: str,
    style: str,
    limit: int,
    stop: tuple[str, ...],
    k: int,
    repeats: int,
    peak: float,
    say: Say,
) -> dict[str, Any]:
    prompts = [prompt_text(lm, style, item.question) for item in benchmark.items]
    requests = [
        Request(Prompt(text=prompt), Sampling(TEMPERATURE, limit, stop), (42, number, sample))
        for number, prompt in enumerate(prompts)
        for sample in range(k)
    ]
    ends = sorted(lm.end_tokens | (lm.tokens_with(frozenset(stop)) if stop else frozenset()))
    harness = Harness(lm, benchmark, style, max_tokens=limit, stop=stop, repeats=k, temperature=TEMPERATURE)
    part, tried_on = min(PART, len(prompts)), range(min(TRIED_ON, len(prompts)))

    def by_transformers(places: Sequence[int], at_once: bool) -> float:
        chosen = [prompts[at] for at in places]
        started = time.perf_counter()
        for group in [chosen] if at_once else [[prompt] for prompt in chosen]:
            _reference(lm, group, k, limit, ends)
        return time.perf_counter() - started

    list(generate(lm, requests[:k]))  # warm: packs the weights, reads the tokenizer
    ways = {way: by_transformers(tried_on, way == "one call") for way in ("call per prompt", "one call")}
    way = min(ways, key=lambda way: ways[way])
    say(f"{name}, {len(tried_on)} prompts: " + ", ".join(f"{way} {ways[way]:.1f} s" for way in ways))
    # One prompt's answers in a batch, all that are tried, and less than one prompt's.
    batch_size, tried = harness.best_batch_size(
        sorted({min(8, k), k, k * len(tried_on)}), list(tried_on), say
    )
    times: dict[str, list[float]] = {"leadline": [], "transformers": [], "lm-eval": []}
    answers: dict[int, Any] = {}
    draw = Random(0)
    for _ in range(repeats):
        places = sorted(draw.sample(range(len(prompts)), part))
        started = time.perf_counter()
        answers = dict(generate(lm, requests))
        times["leadline"].append(time.perf_counter() - started)
        scale = len(prompts) / part
        times["transformers"].append(scale * by_transformers(places, way == "one call"))
        times["lm-eval"].append(scale * harness.ask(places, batch_size).seconds)
        say(f"{name}: " + ", ".join(f"{way} {taken[-1]:.1f} s" for way, taken in times.items()))
    middle = {way: statistics.median(taken) for way, taken in times.items()}
    sampled = sum(len(answer.token_ids) for answer in answers.values())
    prefilled = sum(len(lm.encode(prompt, True)) for prompt in prompts)
    return {
        "workload": name,
        "prompts": len(prompts),
        "prompts_of_the_others": part,
        "k": k,
        "temperature": TEMPERATURE,
        "tokens": sampled,
        "prompt_tokens": prefilled,
        "transformers_s": middle["transformers"],
        "transformers_way": way,
        "transformers_tried_seconds": ways,
        "lm_eval_s": middle["lm-eval"],
        "lm_eval_batch_size": batch_size,
        "lm_eval_tried_seconds": tried,
        "leadline_s": middle["leadline"],
        "ratio": middle["transformers"] / middle["leadline"],
        "runs": times,
        "floor_s": _flops(lm, prefilled, sampled) / peak,
        "peak_gflops": peak / 1e9,
        "profile": _profile(lm, requests[: 16 * k]) if part < len(prompts) else {},
    }


def goals(found: list[dict[str, Any]]) -> list[Goal]:
    """Goal 1, for each workload and each of the others."""
    made = []
    for row, letters in zip(found, ("ac", "bd"), strict=False):
        others = {
            "transformers": f"transformers, num_return_sequences={row['k']}, {row['transformers_way']}",
            "lm-eval": f"lm-evaluation-harness, hf, repeats: {row['k']}, batch size "
            f"{row['lm_eval_batch_size']}",
        }
        for letter, (other, against) in zip(letters, others.items(), strict=True):
            ratio, low, high = spread(row["runs"][other], row["runs"]["leadline"])
            made.append(
                Goal(
                    number=f"1{letter}",
                    what=f"{row['k']} samples of {row['prompts']} prompts, {row['workload']}",
                    against=against,
                    target=5,
                    ratio=ratio,
                    low=low,
                    high=high,
                    how=f"{len(row['runs'][other])} alternating runs, the other on "
                    f"{row['prompts_of_the_others']} random prompts each, scaled",
                    reason="Against what people would use instead",
                )
            )
    return made


def _reference(lm: CausalLM, prompts: Sequence[str], k: int, limit: int, ends: list[int]) -> None:
    encoded = lm.tokenizer(list(prompts), return_tensors="pt", padding=True, padding_side="left")
    with torch.inference_mode():
        lm.model.generate(
            **encoded,
            do_sample=True,
            temperature=TEMPERATURE,
            top_k=0,
            top_p=1.0,
            repetition_penalty=1.0,
            num_return_sequences=k,
            max_new_tokens=limit,
            eos_token_id=ends,
            pad_token_id=lm.tokenizer.pad_token_id,
        )


def _flops(lm: CausalLM, prefilled: int, sampled: int) -> float:
    """Two per weight and token in the layers; the output layer only where a token is chosen."""
    output = lm.model.get_output_embeddings().weight.numel()
    layers = sum(
        module.weight.numel()
        for module in lm.model.modules()
        if isinstance(module, torch.nn.Linear) and module is not lm.model.get_output_embeddings()
    )
    return 2.0 * (layers * (prefilled + sampled) + output * sampled)


def _peak() -> float:
    """FLOP/s of a large matrix product with packed weights, the best of several."""
    rows, width = 512, 2048
    weight = torch.ops.mkldnn._reorder_linear_weight(torch.randn(width, width), rows)
    x = torch.randn(rows, width)
    best = float("inf")
    for _ in range(20):
        started = time.perf_counter()
        torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], "")
        best = min(best, time.perf_counter() - started)
    return 2.0 * rows * width * width / best


def _profile(lm: CausalLM, requests: Sequence[Request]) -> dict[str, float]:
    """Shares of the time by kind of work, from one profiled run."""
    started = time.perf_counter()
    with profile(activities=[ProfilerActivity.CPU]) as found:
        list(generate(lm, requests))
    whole = (time.perf_counter() - started) * 1e6
    shares = {"linear layers": 0.0, "attention products": 0.0, "other tensor work": 0.0}
    for event in found.key_averages():
        if "linear" in event.key or event.key in ("aten::mm", "aten::addmm"):
            kind = "linear layers"
        elif event.key in ("aten::bmm", "aten::matmul"):
            kind = "attention products"
        else:
            kind = "other tensor work"
        shares[kind] += event.self_cpu_time_total / whole
    shares["python and waiting"] = max(0.0, 1.0 - sum(shares.values()))
    return shares
