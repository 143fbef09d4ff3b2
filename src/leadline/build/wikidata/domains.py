"""The table of domains: which classes and occupations belong to which, and which of them decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leadline.bench.yaml_lines import YamlFault, compose, compose_text, faults, follow, plain
from leadline.build.wikidata.entity import Entity, id_order
from leadline.errors import UsageError

HUMAN = "Q5"
CLASS, OCCUPATION = "P31", "P106"
_PACKAGED = "data/domains.yaml"
# More steps up than this say little: in the end, everything is an entity.
MOST_STEPS = 6


class _Domain(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    name: str = Field(min_length=1, max_length=100)
    scope: str = ""
    classes: dict[str, str | None] = {}
    occupations: dict[str, str | None] = {}


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    domains: tuple[_Domain, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Rule:
    """A line of the table: its domain, the property it is about (P31 or P106), the class and its name."""

    domain: str
    property: str
    id: str
    name: str


@dataclass(frozen=True)
class Decision:
    """The rule that decides, the class of the page that led to it, and how many steps below it stands."""

    rule: Rule
    start: str
    steps: int

    def __str__(self) -> str:
        """Such as "P31 Q515 city" or "P106 Q36180 writer, 2 above Q6625963"."""
        said = f"{self.rule.property} {self.rule.id} {self.rule.name}".rstrip()
        return said if not self.steps else f"{said}, {self.steps} above {self.start}"


@dataclass(frozen=True)
class Domains:
    """A table of domains. See the packaged one, data/domains.yaml, for its rules."""

    names: tuple[str, ...]
    scopes: Mapping[str, str]
    rules: Mapping[str, Mapping[str, Rule]]  # by property, then by class

    def decide(self, entity: Entity, above: Callable[[str], Iterable[str]]) -> Decision | None:
        """The domain of a page's entity; None where no rule is reached.

        `above` gives the classes directly above one. Of a human the occupations are looked at first.
        """
        classes = self.values(entity, CLASS)
        decision = None
        if HUMAN in classes:
            decision = self._nearest(OCCUPATION, self.values(entity, OCCUPATION), above)
        return decision or self._nearest(CLASS, classes, above)

    @staticmethod
    def values(entity: Entity, property_id: str) -> tuple[str, ...]:
        """The entities that are a property's values, of the best rank, each once."""
        found = (claim.entity for claim in entity.best(property_id))
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def _nearest(
        self, property_id: str, starts: Iterable[str], above: Callable[[str], Iterable[str]]
    ) -> Decision | None:
        """The fewest steps, then the domain that most name, then the order of table and statements."""
        rules = self.rules[property_id]
        reached = [one for start in starts for one in _reached(rules, start, above)]
        if not reached:
            return None
        fewest = min(one.steps for one in reached)
        near = [one for one in reached if one.steps == fewest]
        # Each class of the page has one vote for a domain, however many ways lead there.
        votes = Counter(domain for _, domain in {(one.start, one.rule.domain) for one in near})
        first = min(near, key=lambda one: (-votes[one.rule.domain], self.names.index(one.rule.domain)))
        return first


def _reached(rules: Mapping[str, Rule], start: str, above: Callable[[str], Iterable[str]]) -> list[Decision]:
    """The rules nearest above a class; several where they stand equally near."""
    level, seen = [start], {start}
    for steps in range(MOST_STEPS + 1):
        found = [Decision(rules[one], start, steps) for one in level if one in rules]
        if found:
            return found
        higher = sorted({up for one in level for up in above(one)} - seen, key=id_order)
        if not higher:
            break
        seen.update(higher)
        level = higher
    return []


def read_domains(path: Path | None = None) -> Domains:
    """A table of domains, or the packaged one. Raises UsageError with file and line.

    >>> read_domains().names[0]
    'science'
    """
    name = str(path) if path is not None else _PACKAGED
    try:
        if path is None:
            node = compose_text(files("leadline.build").joinpath(_PACKAGED).read_text(encoding="utf-8"))
        else:
            node = compose(path)
        for fault in faults(node):
            raise fault
        table = _Table.model_validate(plain(node))
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=name) from None
    except YamlFault as fault:
        raise UsageError(fault.message, where=fault.where(Path(name)), fix=fault.fix or None) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        line, _ = follow(node, first["loc"])
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"{place}: {first['msg'].lower()}", where=f"{name}:{line}") from None
    return _ruled(table, node, name)


def _ruled(table: _Table, node: Any, name: str) -> Domains:
    rules: dict[str, dict[str, Rule]] = {CLASS: {}, OCCUPATION: {}}
    names: list[str] = []
    for number, domain in enumerate(table.domains):
        where = ("domains", number)
        if domain.name in names:
            line = follow(node, (*where, "name"))[0]
            raise UsageError(
                f"{domain.name!r} stands there twice", where=f"{name}:{line}", fix="join the two"
            )
        names.append(domain.name)
        for key, property_id in (("classes", CLASS), ("occupations", OCCUPATION)):
            listed: dict[str, str | None] = getattr(domain, key)
            for one, called in listed.items():
                line = follow(node, (*where, key, one))[0]
                if not _is_item(one):
                    what = f"a class is the id of an item, not {one[:40]!r}"
                    raise UsageError(what, where=f"{name}:{line}", fix="Q515: city")
                if one in rules[property_id]:
                    other = rules[property_id][one].domain
                    what = f"{one} is in the domain {other!r} already"
                    raise UsageError(what, where=f"{name}:{line}", fix="keep one of the two lines")
                rules[property_id][one] = Rule(domain.name, property_id, one, called or "")
    return Domains(tuple(names), {one.name: one.scope for one in table.domains}, rules)


def _is_item(text: str) -> bool:
    return text[:1] == "Q" and text[1:].isascii() and text[1:].isdigit() and text[1] != "0"
