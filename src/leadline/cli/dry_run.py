"""`leadline run --dry-run`: what would be asked, as a table or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from leadline.study.estimate import Line
    from leadline.study.study import Study


def show_dry_run(study: Study, as_json: bool, *, retry_failed: bool, refill_empty: bool) -> None:
    """Print what a run would ask, what that may cost, and whether the budget allows it."""
    from leadline.study.asking import counted
    from leadline.study.estimate import estimate
    from leadline.study.ledger import money

    found = estimate(study, retry_failed=retry_failed, refill_empty=refill_empty)
    exceeded = found.exceeded(study)
    if as_json:
        document = {
            "lines": [asdict(line) for line in found.lines],
            "total": asdict(found.total),
            "used_so_far": asdict(found.so_far),
            "budget": study.config.budget.model_dump(mode="json"),
            "may_exceed": exceeded,
        }
        typer.echo(json.dumps(document, ensure_ascii=False))
        return
    _print_lines(found.lines)
    served = [line for line in found.lines if line.served]
    if served:
        typer.echo("")
        total = found.total
        price = f", {money(total.money)}" if any(line.money is not None for line in served) else ""
        typer.echo(
            f"behind an API: {counted(total.requests, 'request')}, up to {counted(total.tokens, 'token')}"
            f"{price}; further "
            "attempts after failures come on top"
        )
        budget = study.config.budget
        if budget.model_fields_set:
            used = found.so_far.words(budget, with_money=budget.money is not None)
            typer.echo(f"budget: earlier runs used {used}")
        for name in exceeded:
            typer.echo(f"budget: it may end the run before everything is asked: {name}")
    typer.echo("nothing was asked")


def _print_lines(lines: tuple[Line, ...]) -> None:
    from leadline.cli.plain_text import print_table
    from leadline.study.ledger import money

    columns = (
        "model", "configuration", "answers", "requests", "prompt tokens, about", "generated, up to",
        "money, up to",
    )  # fmt: skip
    rows = []
    for line in lines:
        sign = "≤ " if line.at_most else ""
        counts = (line.answers, line.requests, line.prompt_tokens, line.generated_tokens)
        price = "" if line.money is None else money(line.money)
        rows.append((line.model, line.configuration, *(f"{sign}{one:,}" for one in counts), price))
    print_table(columns, rows)
