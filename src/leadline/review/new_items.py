"""From labels to a benchmark: items whose windows are cut around the quotes that their answers rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from leadline.audit.matching import match_quote
from leadline.bench.benchmark import Benchmark
from leadline.bench.header import Header
from leadline.bench.item import Item
from leadline.documents import UnreadableDocument
from leadline.errors import UsageError
from leadline.review.labels import FILE, Label
from leadline.review.passages import Documents, OpenDocument
from leadline.review.windows import GAP, window_of

WINDOW = 4_000


@dataclass(frozen=True)
class LeftOut:
    """A label that becomes no item, and why."""

    item: str
    question: str
    reason: str


@dataclass(frozen=True)
class NewItems:
    """A benchmark of labels, the labels that it was made of, what was left out, and its sources' names. `new`
    is how many of its items the labels made."""

    benchmark: Benchmark
    labels: tuple[Label, ...]
    left_out: tuple[LeftOut, ...]
    sources: tuple[str, ...]

    @property
    def new(self) -> int:
        """How many items are new."""
        return len(self.labels)


def new_items(
    labels: Mapping[str, Label],
    documents: Documents,
    about: Header,
    window: int = WINDOW,
    old: Benchmark | None = None,
) -> NewItems:
    """The benchmark that `labels` make; `about` says what it is called and which tasks it declares.

    With `old` it holds the items of that benchmark first, as they are, and is called as `about` says; a label
    that has the id of one of them is left out, for decisions change labels, and not this.

    Each quote must stand where its label says, in a document that is still the one that was read; else the
    label is left out, as are those that the text could not settle. `window` is the most characters that a
    window has. Raises UsageError where no item is left.
    """
    items: list[Item] = []
    used: list[Label] = []
    left_out: list[LeftOut] = []
    names: dict[str, None] = {}
    for label in labels.values():
        made = (
            f"the text cannot settle it: {label.reason}"
            if label.unsettled
            else "the benchmark has an item of this id already"
            if old is not None and label.id in old.by_id
            else _item(label, documents, window)
        )
        if isinstance(made, str):
            left_out.append(LeftOut(label.id, label.question, made))
            continue
        items.append(made)
        used.append(label)
        names.update(dict.fromkeys(proof.source for proof in label.evidence))
    if not items:
        why = left_out[0].reason if left_out else "there are none"
        raise UsageError("no label makes an item", where=FILE, fix=f"the first: {why}" if left_out else why)
    statement = data_statement(about, used, left_out)
    if old is not None:
        told = f"{old.data_statement.rstrip()}\n\n{statement}" if old.data_statement.strip() else statement
        both = old.replaced(
            name=about.name, version=about.version, items=(*old.items, *items), data_statement=told
        )
        return NewItems(both, tuple(used), tuple(left_out), documents.names)
    present = {item.task for item in items}
    tasks = tuple(task for task in about.tasks if task.name in present)
    said = {name: getattr(about, name) for name in Benchmark.model_fields if name not in ("items", "tasks")}
    said["data_statement"] = statement
    benchmark = Benchmark(**said, tasks=tasks, items=tuple(items))
    return NewItems(benchmark, tuple(used), tuple(left_out), tuple(names))


def data_statement(about: Header, labels: Sequence[Label], left_out: Sequence[LeftOut]) -> str:
    """How the labels came about, as counts: a beginning for whoever releases them."""
    readers = Counter(label.reader for label in labels)
    days = sorted(label.date for label in labels)
    sources = {proof.source for label in labels for proof in label.evidence}
    by = ", ".join(f"{name} ({count:,})" for name, count in sorted(readers.items()))
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    lines = [
        f"# {about.title or about.name}",
        "",
        f"{len(labels):,} questions answered from {len(sources):,} documents, {when}, by {by}. Each answer "
        "rests on quotes that were marked in its document; where they stand is in labels.jsonl.",
    ]
    if left_out:
        lines += ["", f"Left out: {len(left_out):,}.", ""]
        lines += [f"- {' '.join(one.question.split())}: {' '.join(one.reason.split())}" for one in left_out]
    return "\n".join(lines) + "\n"


def _item(label: Label, documents: Documents, window: int) -> Item | str:
    """The item of a settled label, or why there is none."""
    places: dict[str, list[tuple[int, int]]] = {}
    held: dict[str, OpenDocument] = {}
    for proof in label.evidence:
        number = documents.number_named(proof.source)
        if number is None:
            return f"{proof.source} is not among the sources"
        try:
            document = documents.open(number)
        except UnreadableDocument as error:
            return f"{proof.source} {error.what}"
        if document is None or document.sha256 != proof.sha256:
            return f"{proof.source} was changed since it was labelled"
        if document.text[proof.start : proof.end] != proof.quote:
            return f"a quote does not stand where its label says, in {proof.source}"
        held[proof.source] = document
        places.setdefault(proof.source, []).append((proof.start, proof.end))
    if not places:
        return "it has no quote"
    quotes = [proof.quote for proof in label.evidence]
    own = label.window
    if own is None or not all(match_quote(quote, own).found for quote in quotes):
        share = max((window - len(GAP) * (len(places) - 1)) // len(places), 1)
        own = GAP.join(window_of(held[name].text, found, share) for name, found in places.items())
    try:
        return label.as_item(own)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
