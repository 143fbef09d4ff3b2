"""K samples for each of several prompts: our engine against `transformers.generate(num_return_sequences=K)`.

Same model, dtype, threads, temperature, stop conditions and longest answer, in one process, alternating.
`transformers` is run both ways that people use, all prompts in one call (left-padded) and one call per
prompt, and its faster time counts.

The floor is arithmetic alone: multiplications of the tokens that cannot be avoided (each prompt once, each
sampled token once) over the best rate that a large matrix product reaches on this machine in the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from leadline.bench import load_benchmark
from leadline.engine import Prompt, Request, Sampling
from leadline.engine.decode import generate
from leadline.engine.lm import CausalLM
from leadline.engine.plan import Limits
from leadline.models.local import LocalModel
from leadline.models.resolve import resolve
from leadline.techniques.prompts_library import Prompts

TEMPERATURE = 0.7
Say = Callable[[str], None]


def measure(repeats: int, quick: bool, say: Say) -> list[dict[str, Any]]:
    """One row per workload: times, ratio, floor and where the time goes."""
    lm = LocalModel(resolve("smollm2")).lm
    peak = _peak()
    say(f"best matrix product: {peak / 1e9:.0f} GFLOP/s")
    prompts, k = (4, 5) if quick else (16, 20)
    questions = [item.question for item in load_benchmark("facts").subset(prompts).items]
    workloads = [
        ("few-shot, stop at line end", "few-shot", 16, ("\n",)),
        ("chat, up to 32 tokens", "chat", 32, ()),
    ]
    return [
        _workload(
            lm, name, [prompt_text(lm, style, q) for q in questions], k, limit, stop, repeats, peak, say
        )
        for name, style, limit, stop in workloads
    ]


def prompt_text(lm: CausalLM, style: Any, question: str) -> str:
    """The question as studies of this style put it."""
    return lm.text_of(Prompts(style).render("question/question", question=question, window=""))


def _workload(
    lm: CausalLM,
    name: str,
    prompts: Sequence[str],
    k: int,
    limit: int,
    stop: tuple[str, ...],
    repeats: int,
    peak: float,
    say: Say,
) -> dict[str, Any]:
    requests = [
        Request(Prompt(text=prompt), Sampling(TEMPERATURE, limit, stop), (42, number, sample))
        for number, prompt in enumerate(prompts)
        for sample in range(k)
    ]
    ends = sorted(lm.end_tokens | (lm.tokens_with(frozenset(stop)) if stop else frozenset()))
    times: dict[str, list[float]] = {"leadline": [], "one call": [], "call per prompt": []}
    answers: dict[int, Any] = {}
    list(generate(lm, requests[:k]))  # warm: packs the weights, reads the tokenizer
    for _ in range(repeats):
        started = time.perf_counter()
        answers = dict(generate(lm, requests, Limits(max_rows=320)))
        times["leadline"].append(time.perf_counter() - started)
        for way, groups in (("one call", [prompts]), ("call per prompt", [[prompt] for prompt in prompts])):
            started = time.perf_counter()
            for group in groups:
                _reference(lm, group, k, limit, ends)
            times[way].append(time.perf_counter() - started)
        say(f"{name}: " + ", ".join(f"{way} {taken[-1]:.1f} s" for way, taken in times.items()))
    best = {way: min(taken) for way, taken in times.items()}
    reference = min(best["one call"], best["call per prompt"])
    sampled = sum(len(answer.token_ids) for answer in answers.values())
    prefilled = sum(len(lm.encode(prompt, True)) for prompt in prompts)
    return {
        "workload": name,
        "prompts": len(prompts),
        "k": k,
        "temperature": TEMPERATURE,
        "tokens": sampled,
        "prompt_tokens": prefilled,
        "transformers_s": reference,
        "transformers_one_call_s": best["one call"],
        "transformers_call_per_prompt_s": best["call per prompt"],
        "leadline_s": best["leadline"],
        "ratio": reference / best["leadline"],
        "runs": times,
        "floor_s": _flops(lm, prefilled, sampled) / peak,
        "peak_gflops": peak / 1e9,
        "profile": _profile(lm, requests),
    }


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
        list(generate(lm, requests, Limits(max_rows=320)))
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
