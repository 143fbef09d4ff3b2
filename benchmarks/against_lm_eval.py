"""Greedy answers to 256 facts: our engine against lm-evaluation-harness' `hf` model, at equal outputs.

The harness is handed the very model object that our engine runs (same weights, dtype, threads), the same
prompts as a task that `leadline export lm-eval` writes, the same stop and longest answer, and its best batch
size of several, tried beforehand. Only its `generate_until` is timed: neither building requests nor scoring.
`sampling.py` uses the same `Harness` with `repeats`.

Batch size "auto" is left out: on a processor it first runs 64 texts of the model's whole context, which is
hundreds of gigabytes of logits here.
"""

from __future__ import annotations

import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from goals import Goal, spread

from leadline.bench import Benchmark, load_benchmark
from leadline.engine import Prompt, Request, Sampling
from leadline.engine.decode import generate
from leadline.engine.lm import CausalLM
from leadline.interop.export_lm_eval_task import export_lm_eval_task
from leadline.models.local import LocalModel
from leadline.models.resolve import resolve
from leadline.techniques.prompts_library import Prompts

ITEMS, MAX_TOKENS, STOP = 256, 16, ("\n",)
# Tried on so many requests before anything is timed.
BATCH_SIZES, TRIED_ON = (1, 8, 32), 32
# Two tokens whose logits are so near are told apart by the order in which a product was summed.
NEAR = 1e-3
Say = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """What the harness answered, `[requests][repeats]`, the texts that it sent, and its seconds."""

    seconds: float
    texts: list[list[str]]
    prompts: list[str]


class Harness:
    """lm-evaluation-harness on our model object, with one task of its own in a temporary folder."""

    def __init__(
        self,
        lm: CausalLM,
        benchmark: Benchmark,
        style: Any,
        *,
        max_tokens: int,
        stop: Sequence[str],
        repeats: int = 1,
        temperature: float = 0.0,
    ) -> None:
        self._lm, self._chat = lm, style == "chat"
        self._folder = tempfile.TemporaryDirectory()
        out = Path(self._folder.name, "task")
        self._task = export_lm_eval_task(
            benchmark,
            Prompts(style),
            out,
            max_tokens=max_tokens,
            repeats=repeats,
            temperature=temperature,
        ).name
        self._out = out
        self._settings: dict[str, Any] = {"until": list(stop), "max_gen_toks": max_tokens}
        if temperature:  # the whole distribution, as ours; transformers would cut it to 50 tokens
            self._settings |= {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}

    def ask(self, places: Sequence[int], batch_size: int) -> Asked:
        """The answers to the benchmark's items at `places`."""
        import lm_eval
        from lm_eval.models.huggingface import HFLM
        from lm_eval.tasks import TaskManager

        class Timed(HFLM):  # type: ignore[misc]
            seconds = 0.0

            def generate_until(self, requests: Any, disable_tqdm: bool = True) -> list[str]:
                started = time.perf_counter()
                found: list[str] = super().generate_until(requests, disable_tqdm=True)
                self.seconds += time.perf_counter() - started
                return found

        before = logging.root.manager.disable
        logging.disable(logging.WARNING)
        try:
            model = Timed(pretrained=self._lm.model, tokenizer=self._lm.tokenizer, batch_size=batch_size)
            with redirect_stderr(StringIO()):  # bars of progress
                found = lm_eval.simple_evaluate(
                    model=model,
                    tasks=[self._task],
                    task_manager=TaskManager(include_path=str(self._out), include_defaults=False),
                    samples={self._task: list(places)},
                    gen_kwargs=dict(self._settings),
                    apply_chat_template=self._chat,
                    bootstrap_iters=0,
                )
        finally:
            logging.disable(before)
        rows = sorted(found["samples"][self._task], key=lambda row: row["doc_id"])
        texts = [list(row["resps"][0]) for row in rows]
        return Asked(model.seconds, texts, [_sent(row) for row in rows])

    def best_batch_size(self, sizes: Sequence[int], places: Sequence[int], say: Say) -> tuple[int, Any]:
        """The size under which `places` took least time, and the seconds of each."""
        tried = {size: self.ask(places, size).seconds for size in sizes}
        said = ", ".join(f"{size}: {seconds:.1f} s" for size, seconds in tried.items())
        say(f"lm-eval, {len(places)} items by batch size: {said}")
        return min(tried, key=lambda size: tried[size]), tried


def _sent(row: dict[str, Any]) -> str:
    arguments = row["arguments"]
    first = arguments["gen_args_0"]["arg_0"] if isinstance(arguments, dict) else arguments[0][0]
    return str(first)


def measure(repeats: int, quick: bool, say: Say) -> list[dict[str, Any]]:
    """One row: both ways' times, how many outputs are equal, and what makes the others unequal."""
    lm = LocalModel(resolve("smollm2")).lm
    benchmark = load_benchmark("facts").subset(4 if quick else ITEMS)
    count = len(benchmark.items)
    harness = Harness(lm, benchmark, "few-shot", max_tokens=MAX_TOKENS, stop=STOP)
    sizes = (1, 4) if quick else BATCH_SIZES
    batch_size, tried = harness.best_batch_size(sizes, range(0, count, max(1, count // TRIED_ON)), say)
    prompts = [Prompts("few-shot").question(item.question, item.window) for item in benchmark.items]
    requests = [
        Request(prompt, Sampling(0.0, MAX_TOKENS, STOP), (0, at)) for at, prompt in enumerate(prompts)
    ]
    list(generate(lm, requests[:2]))  # warm: packs the weights, reads the tokenizer
    times: dict[str, list[float]] = {"leadline": [], "lm-eval": []}
    ours: dict[int, Any] = {}
    theirs: Asked | None = None
    for _ in range(repeats):
        started = time.perf_counter()
        ours = dict(generate(lm, requests))
        times["leadline"].append(time.perf_counter() - started)
        theirs = harness.ask(range(count), batch_size)
        times["lm-eval"].append(theirs.seconds)
        say(
            f"greedy, {count} facts: " + ", ".join(f"{way} {taken[-1]:.1f} s" for way, taken in times.items())
        )
    assert theirs is not None
    if [lm.text_of(prompt) for prompt in prompts] != theirs.prompts:
        raise AssertionError("the harness was asked otherwise")
    unequal = [
        _difference(lm, prompts[at], ours[at], said[0])
        for at, said in enumerate(theirs.texts)
        if ours[at].text != said[0]
    ]
    return [
        {
            "items": count,
            "max_tokens": MAX_TOKENS,
            "tokens": sum(len(ours[at].token_ids) for at in range(count)),
            "lm_eval_batch_size": batch_size,
            "lm_eval_tried_seconds": tried,
            "runs": times,
            "leadline_s": statistics.median(times["leadline"]),
            "lm_eval_s": statistics.median(times["lm-eval"]),
            "equal": count - len(unequal),
            "unequal": unequal,
        }
    ]


def _difference(lm: CausalLM, prompt: Prompt, ours: Any, theirs: str) -> dict[str, Any]:
    """What an unequal pair of answers comes from: a stop that the two place differently, or two tokens that
    the model finds equally likely but for rounding (`gap`, of their logits alone in a batch)."""
    found: dict[str, Any] = {"leadline": ours.text, "lm-eval": theirs}
    if not theirs.strip() and ours.text.startswith("\n"):
        return found | {"why": "the answer begins with a line break, which ends it there and not here"}
    other = lm.encode(theirs, False)
    at = next((i for i, (a, b) in enumerate(zip(ours.token_ids, other, strict=False)) if a != b), None)
    if at is None:
        return found | {"why": "one answer is the beginning of the other"}
    shown = [*lm.ids_of(prompt), *ours.token_ids[:at]]
    with torch.inference_mode():
        logits = lm.model(input_ids=torch.tensor([shown]), logits_to_keep=1).logits[0, -1]
    gap = abs(float(logits[ours.token_ids[at]] - logits[other[at]]))
    why = "two tokens are equally likely but for rounding" if gap < NEAR else "not explained"
    return found | {"why": why, "gap": gap}


def goals(found: list[dict[str, Any]]) -> list[Goal]:
    """Goal 3."""
    row = found[0]
    ratio, low, high = spread(row["runs"]["lm-eval"], row["runs"]["leadline"])
    equal = f"{row['equal']} of {row['items']} outputs equal"
    if row["unequal"]:
        whys = {each["why"] for each in row["unequal"]}
        equal += f" (others: {'; '.join(sorted(whys))})"
    return [
        Goal(
            number="3",
            what=f"greedy answers to {row['items']} facts",
            against=f"lm-evaluation-harness, hf, batch size {row['lm_eval_batch_size']}",
            target=1.5,
            ratio=ratio,
            low=low,
            high=high,
            how=f"{len(row['runs']['leadline'])} alternating runs; {equal}",
            reason="Against what people would use instead",
        )
    ]
