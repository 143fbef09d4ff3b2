"""Lets go facts whose relation makes no short question with a short answer: opposite of, part of, ..."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

from leadline.build.plan import Plan
from leadline.build.plan_file import file_of
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job
from leadline.errors import UsageError
from leadline.ordinary_file import text

_LINE = re.compile(r"(P[1-9][0-9]*)(?:[ \t]+(.*))?")
_PACKAGED = "data/uninformative.txt"


@dataclass(frozen=True)
class Relation:
    """A relation that is let go: its property id, its label, and why ("" where the file does not say)."""

    id: str
    label: str
    why: str


def uninformative(file: Path | None = None) -> Mapping[str, Relation]:
    """The relations of a list by id; of the packaged one without a file.

    One a line: id, label, `#`, reason; label and reason may be missing. Raises UsageError with file and line.

    >>> uninformative()["P461"].label
    'opposite of'
    """
    if file is None:
        text, name = files("leadline.build").joinpath(_PACKAGED).read_text(encoding="utf-8"), _PACKAGED
    else:
        text, name = _read(file), str(file)
    found: dict[str, Relation] = {}
    for number, line in enumerate(text.splitlines(), 1):
        said, _, why = line.partition("#")
        if not said.strip():
            continue
        match = _LINE.fullmatch(said.strip())
        if match is None:
            raise UsageError(
                f"a line begins with the id of a property, not {said.split()[0][:40]!r}",
                where=f"{name}:{number}",
                fix="P461 opposite of  # why",
            )
        if match[1] in found:
            raise UsageError(f"{match[1]} stands there twice", where=f"{name}:{number}", fix="keep one line")
        found[match[1]] = Relation(match[1], (match[2] or "").strip(), why.strip())
    return found


def _read(file: Path) -> str:
    try:
        return text(file)
    except UnicodeDecodeError:
        raise UsageError("is not UTF-8 text", where=str(file), fix="save the file as UTF-8") from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(file)) from None


class RelationsStage(FactStage):
    """Reason `uninformative`: the detail says which relation, and why the list has it.

    A fact whose relation was not linked to a property is compared by its label.
    """

    name: ClassVar[str] = "relations"

    def settings(self, plan: Plan) -> object:
        """The list, if it is the packaged one; a file of the user's is an input."""
        return "own" if plan.filter.relations else sorted(uninformative())

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """The user's list."""
        own = file_of(plan, "filter", "relations")
        return (own,) if own else ()

    def check(self, plan: Plan) -> None:
        """The user's list is read."""
        uninformative(file_of(plan, "filter", "relations"))

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """By the relation's id, else by its label."""
        listed = uninformative(file_of(job.plan, "filter", "relations"))
        by_label = {one.label.casefold(): one for one in listed.values() if one.label}
        for fact in facts:
            found = (
                listed.get(fact.relation_id)
                if fact.relation_id is not None
                else by_label.get(fact.relation.strip().casefold())
            )
            if found is None:
                yield fact
            else:
                yield self.drop(fact, "uninformative", " ".join(_told(found)))


def _told(relation: Relation) -> Iterator[str]:
    yield relation.id
    if relation.label:
        yield relation.label
    if relation.why:
        yield f"({relation.why})"
