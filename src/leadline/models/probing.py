"""`leadline probe` without the command line: load, prepare, probe, and set beside the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rich.table import Table
from rich.text import Text

from leadline.bench import load_benchmark
from leadline.errors import UsageError
from leadline.models.local import Dtype, LocalModel
from leadline.models.progress import on_stderr
from leadline.models.resolve import resolve
from leadline.techniques.prepared import Bench
from leadline.techniques.probing import Probed, Token, probe, read_prompts
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.spelling import technique_from

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM

DTYPES = ("float32", "bfloat16", "float16")


def loaded(reference: str, dtype: str = "float32", device: str = "auto") -> LocalModel:
    """The model on this machine. Raises UsageError for a precision that there is not."""
    if dtype not in DTYPES:
        raise UsageError(f"there is no dtype {dtype!r}", fix=", ".join(DTYPES))
    return LocalModel(resolve(reference, progress=on_stderr()), cast(Dtype, dtype), device)


def bench_for(model: LocalModel, benchmark: str, reuse: bool = True) -> Bench:
    """What a technique is fitted on, outside of any study."""
    progress = on_stderr()

    def load(reference: str) -> CausalLM:
        return loaded(reference, model.identity.dtype, model.identity.device).lm

    return Bench(
        items=load_benchmark(benchmark).items,
        prompts=Prompts("few-shot"),
        digest=model.identity.fit_digest,
        load=load,
        say=progress.step,
        reuse=reuse,
    )


def probe_model(
    reference: str,
    techniques: Sequence[str],
    prompts: Path,
    *,
    benchmark: str = "facts",
    top: int = 20,
    max_new_tokens: int = 16,
    dtype: str = "float32",
    device: str = "auto",
    beside_baseline: bool = False,
) -> list[Probed]:
    """Every prompt under every technique, prompt by prompt. Faults in what was typed are found before the
    model is loaded."""
    # Two settings of one technique are told apart by what was typed.
    named = {text if ":" in text else technique_from(text).name: technique_from(text) for text in techniques}
    if beside_baseline:
        named = {"greedy": technique_from("greedy")} | named
    lines = read_prompts(prompts)
    model = loaded(reference, dtype, device)
    bench = bench_for(model, benchmark)
    found = [
        [
            replace(one, technique=label)
            for one in probe(model.lm, technique, lines, bench=bench, top=top, max_new_tokens=max_new_tokens)
        ]
        for label, technique in named.items()
    ]
    return [one for together in zip(*found, strict=True) for one in together]


def tables(found: Sequence[Probed], top: int) -> Iterator[Table | Text]:
    """Per prompt: the baseline's best tokens with their places under each technique, then what follows."""
    yield Text("each token's place and score; – where it is ruled out or not among the best listed", "dim")
    by_prompt: dict[str, list[Probed]] = {}
    for one in found:
        by_prompt.setdefault(one.id, []).append(one)
    for name, probed in by_prompt.items():
        yield _table(name, probed, min(top, 10))
        for one in probed:
            said = " ".join(one.continuation.split())
            yield Text(f"  {one.technique}: {said}", overflow="ellipsis", no_wrap=True)
            for key, values in one.details.items():
                shown = ", ".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in values[:16])
                yield Text(f"    {key} by step: {shown}", style="dim", overflow="ellipsis", no_wrap=True)
        yield Text("")


def _table(name: str, probed: Sequence[Probed], rows: int) -> Table:
    table = Table(title=f"prompt {name}", title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("token")
    for one in probed:
        table.add_column(one.technique, justify="right")
    places = [{token.token_id: (at, token) for at, token in enumerate(one.top, 1)} for one in probed]
    shown = dict.fromkeys(token.token_id for one in probed for token in one.top[:rows])
    pieces = {token.token_id: token.token for one in probed for token in one.top}
    gold = probed[0].gold_token_id
    best = sorted(shown, key=lambda token: min(where[token][0] for where in places if token in where))
    for token in best[: rows + 5]:
        cells = [_cell(where.get(token)) for where in places]
        label = repr(pieces[token]) + ("  ← gold" if token == gold else "")
        table.add_row(Text(label), *cells)
    if gold is not None and gold not in best[: rows + 5]:
        table.add_row(Text("the gold token"), *(f"{one.gold_rank}." for one in probed))
    return table


def _cell(place: tuple[int, Token] | None) -> str:
    if place is None:
        return "–"
    at, token = place
    return f"{at}.  {token.score:8.2f}"
