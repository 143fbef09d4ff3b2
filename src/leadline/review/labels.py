"""Labels: answers that people gave to questions, each with the quotes that it rests on and where they stand.

A file that only grows, one JSON object a line. The last line of a question counts: whoever changes a label
writes a further one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date as day
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from leadline.bench.benchmark import Benchmark
from leadline.bench.complaint import complaint
from leadline.bench.item import Item
from leadline.bench.item_fields import Surroundings, read_item
from leadline.bench.lines_file import growing, lines_of
from leadline.bench.problem import Problems
from leadline.bench.validate import RULES
from leadline.bench.views import for_labeller
from leadline.bench.window_file import WindowFiles
from leadline.errors import UsageError
from leadline.ordinary_file import content
from leadline.review.questions import Question
from leadline.study.judging import gold_fault

FILE = "labels.jsonl"


def _is_day(text: str) -> str:
    day.fromisoformat(text)  # its ValueError says what is wrong
    return text


class Proof(BaseModel):
    """A quote and where it stands: characters `start` to `end` of the text of the document `source`, whose
    file has the checksum `sha256`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quote: str = Field(min_length=1)
    source: str = Field(min_length=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Label(Question):
    """One label. `unsettled` says that the text cannot settle the question, and `reason` why: it becomes no
    item. `note` is for whoever works on the benchmark."""

    answer: str = ""
    aliases: tuple[str, ...] = ()
    evidence: tuple[Proof, ...] = ()
    unsettled: bool = False
    reason: str = ""
    note: str = ""
    reader: str = Field(min_length=1)
    date: Annotated[str, AfterValidator(_is_day)]

    def as_item(self, window: str | None = None) -> Item:
        """The item that it makes, with `window` in the place of its own. Raises ValidationError."""
        evidence = [{"quote": proof.quote, "source": proof.source} for proof in self.evidence]
        values = {**self.of_item(), "answer": self.answer, "aliases": self.aliases, "evidence": evidence}
        sources = {proof.source for proof in self.evidence}
        if len(sources) == 1:  # said once
            values["source"] = sources.pop()
            values["evidence"] = [{"quote": proof.quote} for proof in self.evidence]
        return Item.model_validate(values if window is None else {**values, "window": window})


def answer_problems(question: Question, answer: str, aliases: Sequence[str]) -> dict[str, str]:
    """Why an answer to a question would make no sound item, by field; empty where it would.

    The rules are those of `bench validate`, and the answer must be read as its own type says.
    """
    found: dict[str, str] = {}
    problems = Problems()
    values = {**question.of_item(), "answer": answer, "aliases": list(aliases)}
    item = read_item(
        {name: value for name, value in values.items() if value not in (None, ())},
        "",
        problems,
        Surroundings(WindowFiles(Path())),
    )
    for problem in problems.found:
        field = problem.message.partition("'")[2].partition("'")[0].partition(".")[0]
        fix = f" ({problem.fix})" if problem.fix else ""
        found.setdefault(field if field in values else "", f"{problem.message}{fix}")
    if item is None:
        return found
    alone = Benchmark(name="label", version="1", items=(item,))
    for rule in RULES:
        if rule.severity != "error" or rule.name == "enough-items":
            continue
        for breach in rule.check(alone):
            field = "aliases" if "alias" in breach.message else "answer"
            fix = f" ({breach.fix})" if breach.fix else ""
            found.setdefault(field, f"{breach.message}{fix}")
    if not found and (fault := gold_fault(item)):
        how = for_labeller(item).how
        found["answer"] = fault if item.answer_type == "parts" else f"this is not read as {how}: {fault}"
    return found


def read_labels(path: Path) -> dict[str, Label]:
    """The labels of a file by id, the last of each; none where it is not there.

    Raises UsageError with file and line for a line that is no label. A last one that a sudden end left half
    written does not count: nobody was told that it was kept.
    """
    try:
        data = content(path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    found: dict[str, Label] = {}
    for number, line in lines_of(data):
        try:
            label = Label.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            what, fix = complaint(first)
            place = ".".join(str(part) for part in first["loc"])
            raise UsageError(
                f"{place} {what}".strip(), where=f"{path}:{number}", fix=fix or "a label is one object a line"
            ) from None
        found[label.id] = label
    return found


def add_label(path: Path, label: Label) -> None:
    """Write a label at the end of the file, whole and on the disk.

    Writes nothing where the last of its question says the same, on whatever day it was said. Raises
    LeadlineError where it cannot.
    """
    with growing(path) as add:
        last = read_labels(path).get(label.id)
        if last is None or last.model_copy(update={"date": label.date}) != label:
            add(label)
