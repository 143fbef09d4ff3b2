"""Items on which the configurations agree against the label."""

from __future__ import annotations

from collections import Counter
from typing import Optional

from leadline.bundle.verifier.cells import Cell, Sides
from leadline.bundle.verifier.expected import Expected, Table, plain_count, row_key, wilson_share
from leadline.bundle.verifier.loading import value_under

_ROWS = 200


def as_answered(cells: list[Cell], value: Optional[str], most: int = 60) -> str:
    """The text by which a value was given most often, on one line; "" where it is long."""
    texts: Counter[str] = Counter()
    for cell in cells:
        for answer in cell.answers:
            if value_under(answer, "shared") == value:
                texts[" ".join((answer.text or "").split())] += 1
    shown = min(texts, key=lambda text: (-texts[text], text)) if texts else ""
    return shown if len(shown) <= most and shown.isprintable() else ""


def _said(dissenter: Cell) -> str:
    return "the label" if dissenter.correct else "something else"


def label_error_tables(sides: Sides) -> dict[str, Table]:
    """The candidates; none for fewer than two configurations."""
    bundle = sides.bundle
    # Who was asked once has a say only where fewer than two were asked again.
    numbers = sides.repeated if len(sides.repeated) > 1 else range(len(sides.members))
    whole = sides.sides("shared", everyone=True)
    measured = [{item: cell for item, cell in whole[number].items() if cell.n} for number in numbers]
    names = [sides.labels[number] for number in numbers]
    once = [side for number, side in enumerate(whole) if number not in numbers]
    if len(measured) < 2:
        return {}
    found = []
    for item in sorted(set.intersection(*(set(side) for side in measured))):
        if bundle.decisions.called(item):
            continue  # somebody has decided
        cells = [side[item] for side in measured]
        votes = Counter(cell.modal for cell in cells)
        value, agree = votes.most_common(1)[0]
        dissenters = [place for place, cell in enumerate(cells) if cell.modal != value]
        if len(dissenters) > 1 or (dissenters and len(cells) < 3):
            continue
        holders = [cell for cell in cells if cell.modal == value]
        backing, total = sum(cell.top for cell in holders), sum(cell.n for cell in cells)
        correct = sum(cell.hits for cell in cells)
        # As many for the label as against it, in one configuration or in all: nothing speaks against it.
        if any(cell.correct or cell.hits >= cell.top for cell in holders) or correct >= backing:
            continue
        least = min(cell.top for cell in cells)
        # Of several that have as few: whose are the smaller share, then the first.
        weakest = min(range(len(cells)), key=lambda place: (cells[place].top, -cells[place].n))
        key = row_key(
            item=item,
            task=bundle.task(item),
            value=(as_answered(cells, value) if bundle.answer_type(item) == "text" else "") or str(value),
            dissenter=names[dissenters[0]] if dissenters else "",
            dissent=_said(cells[dissenters[0]]) if dissenters else "",
            weakest=names[weakest],
            excluded=cells[0].answers[0].excluded,
        )
        figures = {
            "support": Expected(backing / total, backing, total),
            "floor": wilson_share(least, cells[weakest].n),
            "agree": plain_count(agree, len(cells)),
            "for_label": plain_count(correct, total),
        }
        if once:
            heard = [side[item] for side in once if item in side and side[item].n]
            figures["once_for_label"] = plain_count(sum(cell.correct for cell in heard), len(heard))
        found.append((len(dissenters), -backing, item, key, figures))
    found.sort(key=lambda entry: entry[:3])
    return {"candidates": {key: figures for _, _, _, key, figures in found[:_ROWS]}}
