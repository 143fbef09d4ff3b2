"""The verdict on a registered prediction as JSON, as a page of Markdown, and as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from leadline.lenses.finding import Figure
from leadline.report.atomic import write_text
from leadline.report.tables_markdown import escape
from leadline.study.registered_verdict import Verdict

# What a verdict must not be taken for; docs/preregistration.md says more.
LIMITS = (
    "A stamped file shows that it was not changed since it was stamped. It does not show when that was: "
    "times come from the clocks of the machines involved. A commit or a message that others received before "
    "the first response shows it."
)


def write_verdict(verdict: Verdict, registration: Path) -> tuple[Path, Path]:
    """Write `NAME.verdict.json` and `NAME.verdict.md` beside the registration `NAME.json`; returns both."""
    data, text = (registration.with_suffix(f".verdict.{kind}") for kind in ("json", "md"))
    write_text(data, verdict.model_dump_json(by_alias=True, indent=2) + "\n")
    write_text(text, markdown(verdict))
    return data, text


def lines(verdict: Verdict) -> list[str]:
    """The verdict as plain lines; control characters of titles are not passed on."""
    prediction = verdict.prediction
    found = [
        f"{_plain(prediction.title)}",
        f"  predicted  {prediction.sentence}, decided by the {prediction.decided_by}",
        *(f"  measured   {_figure(figure)}" for figure in verdict.figures),
        f"  verdict    the prediction {verdict.outcome}: {verdict.reason}",
        f"  over       {_population(verdict)}",
        f"  registered {_time(verdict.registered)}, oldest response {_time(verdict.oldest_response)}",
        f"  witness    {_witness(verdict)}",
    ]
    return found + [f"  deviation  {_plain(sentence)}" for sentence in verdict.deviations]


def markdown(verdict: Verdict) -> str:
    """The verdict as a page of Markdown."""
    return "\n".join(_blocks(verdict)) + "\n"


def _blocks(verdict: Verdict) -> Iterator[str]:
    prediction = verdict.prediction
    yield f"# {escape(prediction.title)}\n"
    yield f"**The prediction {verdict.outcome}**: {verdict.reason}.\n"
    if prediction.hypothesis:
        yield "\n".join(f"> {escape(line)}" for line in prediction.hypothesis.splitlines()) + "\n"
    yield f"- Predicted: {escape(prediction.sentence)}, decided by the {prediction.decided_by}."
    for figure in verdict.figures:
        yield f"- Measured: {escape(_figure(figure))}."
    yield f"- Over: {_population(verdict)}."
    yield f"- Registered: {_time(verdict.registered)}."
    yield f"- Oldest response that decides: {_time(verdict.oldest_response)}."
    yield f"- Witness: {_witness(verdict)}."
    yield f"- Registration: {verdict.registration}."
    yield f"- Leadline {escape(verdict.leadline_version)}, {_time(verdict.created)}.\n"
    for sentence in prediction.exclusions:
        yield f"- Registered exclusion: {escape(sentence)}"
    yield "\n## Deviations\n"
    yield from (f"- {escape(sentence)}" for sentence in verdict.deviations or ("None.",))
    if verdict.parts:
        yield "\n## By configuration\n\nThese were not registered and decide nothing.\n"
        yield "| configuration | measured |\n| --- | --- |"
        for name, figure in verdict.parts:
            yield f"| {escape(name)} | {escape(_figure(figure))} |"
    yield f"\n## What this shows\n\n{LIMITS}"


def _figure(figure: Figure) -> str:
    """Such as "25/120 = 0.208 [0.145, 0.289] (wilson)"."""
    if figure.value is None:
        return figure.note
    counted = figure.note
    if figure.numerator is not None and figure.denominator is not None:
        counted = f"{figure.numerator:.6g}/{figure.denominator:.6g}"
    ends = "[n/a]" if figure.low is None or figure.high is None else f"[{figure.low:.3f}, {figure.high:.3f}]"
    alike = "; all alike, so it shows no spread" if figure.low == figure.high is not None else ""
    return f"{counted} = {figure.value:.3f} {ends} ({figure.method}{alike})"


def _population(verdict: Verdict) -> str:
    return (
        f"{verdict.items_measured:,} of {verdict.items_registered:,} registered items, "
        f"{verdict.cells_measured:,} of {verdict.cells_registered:,} cells (item × configuration), "
        f"{verdict.responses:,} of {verdict.responses_registered:,} responses"
    )


def _witness(verdict: Verdict) -> str:
    anchor = verdict.anchor
    if anchor is None:
        return "none: the registration is in no commit, its time is what its author's clock said"
    side = "before" if anchor.before_responses else "after"
    return f"commit {anchor.commit[:12]} of {_time(anchor.time)}, {side} the oldest response"


def _time(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _plain(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
