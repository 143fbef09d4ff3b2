"""What `leadline compare` prints: who is right more often, by how much, and the items that flipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from leadline.lenses.finding import ClaimStatus, Figure
from leadline.lenses.side_by_side import FIRST, SECOND
from leadline.report.claims import SIGN
from leadline.report.comparison import Flip, Said, flips
from leadline.report.numbers import plural, printed
from leadline.report.terminal_claims import WIDTH
from leadline.report.terminal_text import safe, two_lines
from leadline.study.comparing import Comparison

# Questions and answers are shown up to so many characters; --json has them whole.
_QUESTION, _ANSWER = 240, 160
_STATUS = {ClaimStatus.SUPPORTED: "Supported", ClaimStatus.NOT_SUPPORTED: "Not supported"}


def comparison_shown(comparison: Comparison, listed: int, flips_only: bool = False) -> RenderableType:
    """The whole of it, or the flipped items alone; `listed` items each way."""
    parts: list[RenderableType] = []
    if not flips_only:
        parts += _summary(comparison)
    parts += _flips(comparison, listed)
    return Constrain(Group(*parts), WIDTH)


def _summary(comparison: Comparison) -> Iterator[RenderableType]:
    first, second = (safe(label) for label in comparison.labels)
    beside = comparison.beside
    where = (comparison.first.place, comparison.second.place)
    yield Text(f"{second} against {first}", style="bold")
    yield Text(
        f"{plural(beside.pairs.height, 'item')} answered by both"
        + (f", in {safe(str(where[0]))}" if where[0] == where[1] else "")
        + (f": {safe(str(where[0]))} and {safe(str(where[1]))}" if where[0] != where[1] else ""),
        overflow="fold",
    )
    yield _sides(comparison)
    yield _difference(comparison)
    claim = beside.claim
    yield Text()
    said = Table.grid(padding=(0, 1))
    said.add_column()
    said.add_column(overflow="fold")
    left = f" Conservatively: {safe(claim.conservative)}." if claim.conservative else ""
    status = _STATUS.get(claim.status, claim.status.value.capitalize())
    said.add_row(SIGN[claim.status], Text.assemble((f"{status}. ", "bold"), safe(claim.text), (left, "dim")))
    yield said
    for sentence in (*(f"Left out: {one}." for one in comparison.left_out), *beside.notes):
        yield Padding(Text(safe(sentence), style="dim"), (0, 0, 0, 2))


def _sides(comparison: Comparison) -> Table:
    """The figures that each side has of its own."""
    beside = comparison.beside
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column("")
    for label in comparison.labels:
        grid.add_column(Text(safe(label)), justify="right", overflow="fold")
    grid.add_row("accuracy", *(two_lines("acc", beside.figures[key]) for key in ("acc_baseline", "acc")))
    for key, label in (("wobble", "wobble"), ("pairwise", "pairs that disagree")):
        figures = [beside.wobbles.get(name, {}).get(key) for name in (FIRST, SECOND)]
        if any(figure is not None and figure.value is not None for figure in figures):
            grid.add_row(label, *(_or_why(key, figure) for figure in figures))
    votes = (comparison.first.vote, comparison.second.vote)
    if votes != (1, 1):
        grid.add_row("verdict over", *(plural(vote, "answer") for vote in votes))
    return grid


def _or_why(key: str, figure: Figure | None) -> Text:
    if figure is not None and figure.value is None:
        return Text(figure.note, style="dim")
    if key == "pairwise":  # a mean over items, which counts nothing
        text = printed(key, figure)
        return Text.assemble(text.value, (f"\n{text.interval}", "dim"))
    return two_lines(key, figure)


def _difference(comparison: Comparison) -> Table:
    """The figures of the pair."""
    first, second = (safe(label) for label in comparison.labels)
    figures = comparison.beside.figures
    grid = Table.grid(padding=(0, 2))
    grid.add_column()
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold", style="dim")
    draws = comparison.first.protocol.bootstrap_draws
    is_drawn = figures["difference"].method.startswith("bootstrap")
    how = f"paired bootstrap, {draws:,} draws" if is_drawn else "all items alike, so not resampled"
    rows = (
        ("difference", "difference", f"{second} − {first}; {how}"),
        ("", "difference_score", "the same; Tango's score interval"),
        ("gain", "gain", f"of the items that {first} gets wrong, {second} gets right"),
        ("loss", "loss", f"of the items that {first} gets right, {second} gets wrong"),
    )
    for name, key, about in rows:
        text = printed("difference" if key.startswith("difference") else key, figures[key])
        counted = f" ({text.counted})" if text.counted and not key.startswith("difference") else ""
        grid.add_row(name, f"{text.value}{counted} {text.interval}".strip(), about)
    moved = comparison.beside.moved
    grid.add_row(
        "McNemar's p",
        str(printed("mcnemar_p", figures["mcnemar_p"]).value),
        f"exact, over the {plural(moved.recovered + moved.broken, 'item')} that one side alone gets right",
    )
    both, neither = moved.d1 - moved.broken, moved.d0 - moved.recovered
    grid.add_row(
        "items",
        f"{moved.items}",
        f"both right {both}, {second} alone {moved.recovered}, {first} alone {moved.broken}, "
        f"neither {neither}",
    )
    return grid


def _flips(comparison: Comparison, listed: int) -> Iterator[RenderableType]:
    found = list(flips(comparison))
    labels = comparison.labels
    for gained, right in ((True, labels[1]), (False, labels[0])):
        those = [one for one in found if one.gained is gained]
        yield Text()
        yield Text(f"{safe(right)} alone is right: {plural(len(those), 'item')}", style="bold")
        for one in those[:listed]:
            yield _flip(one, labels)
        if len(those) > listed:
            yield Text(f"  ... and {len(those) - listed} more; --items {len(those)} lists them", style="dim")


def _flip(flip: Flip, labels: Sequence[str]) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", overflow="fold", max_width=24)
    grid.add_column(overflow="fold")
    golds = flip.golds[0] + (f" (or {', '.join(flip.golds[1:3])})" if len(flip.golds) > 1 else "")
    grid.add_row("gold", Text(_short(golds, _ANSWER)))
    for label, said, right in (
        (labels[0], flip.first, not flip.gained),
        (labels[1], flip.second, flip.gained),
    ):
        grid.add_row(Text(safe(label)), _answer(said, right))
    head = Text.assemble((safe(flip.item), "bold"), f"  {_short(flip.question, _QUESTION)}")
    return Padding(Group(head, Padding(grid, (0, 0, 0, 2))), (0, 0, 0, 2))


def _answer(said: Said, right: bool) -> Text:
    votes = f"  {said.votes} of {said.asked}" if said.asked > 1 else ""
    state = "" if said.state == "ok" else f"  {said.state}"
    text = _short(said.text, _ANSWER) if said.text.strip() else "(nothing)"
    return Text.assemble((text, "green" if right else "red"), (f"{votes}{state}", "dim"))


def _short(text: str, limit: int) -> str:
    """On one line, without what a terminal would obey, cut at a word where it is long."""
    flat = safe(" ".join(text.split()))
    if len(flat) <= limit:
        return flat
    return flat[:limit].rsplit(" ", 1)[0] + " …"
