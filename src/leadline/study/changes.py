"""Has anything changed under a study since it was last asked: the wording of its items, a model, the code?

Answers to another wording or of another model are never mixed with the ones that are there, as their
configuration or their item's hash differs. But a study whose parts come from different models, questions or
programs should say so; so a run that would add such a part is refused, unless it is told to go on: then the
change stands in the database and in the manifest for good.

What was there before (a setting that is put back) and what was accepted once is no change; neither are
further items or other settings in study.yaml.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

import leadline
from leadline.errors import UsageError
from leadline.models.model import ModelIdentity
from leadline.study.environment import DECIDING, environment, installed
from leadline.study.store import RunNote, Store
from leadline.study.study import Study

# The rooms whose sources decide what a model answers.
_ROOMS = ("engine", "models", "techniques")
# Of a model behind an API: what it is sent, and how; everything else is the provider's.
_ROOMS_SERVED = ("models/served", "techniques")
_DECIDING_SERVED = ("inspect-ai",)
# More than this many of one kind are counted, not listed.
_LISTED = 3
FLAG = "--accept-changes"


@dataclass(frozen=True)
class Change:
    """What changed, from what and into what: hashes and versions as they were noted."""

    kind: Literal["item", "model", "code"]
    what: str
    old: str
    new: str

    def __str__(self) -> str:
        """ "item i02 is worded otherwise than when it was asked (77bd0a…, now 1f3a9c…)"."""
        shown = f"({_short(self.old)}, now {_short(self.new)})"
        if self.kind == "item":
            return f"item {self.what} is worded otherwise than when it was asked {shown}"
        if self.kind == "model":
            return f"model {self.what} is not the one that was asked {shown}"
        return f"{self.what} is not what earlier answers were drawn with {shown}"


def code_key(served: bool) -> str:
    """What a run notes `code` under."""
    return "code_served" if served else "code"


@cache
def code(served: bool = False) -> dict[str, str]:
    """Versions of what decides an answer, and a digest of Leadline's own sources that do; `served`: of models
    behind an API."""
    found = hashlib.sha256()
    root = Path(leadline.__file__).parent
    rooms = _ROOMS_SERVED if served else _ROOMS
    files = sorted(path for room in rooms for path in (root / room).rglob("*.py"))
    for file in files if served else (path for path in files if "served" not in path.parts):
        found.update(f"{file.relative_to(root).as_posix()}\n".encode())
        found.update(file.read_bytes())
    there = environment()
    versions = {name: there["libraries"][name] for name in DECIDING if name in there["libraries"]}
    if served:
        versions = {name: version for name in _DECIDING_SERVED if (version := installed(name))}
    return {"leadline": there["leadline"], **versions, "leadline's sources": found.hexdigest()}


def changed_items(study: Study, store: Store) -> list[Change]:
    """Items of the study that were asked in other words, and not yet in these.

    Looked up among the answers of the baseline's technique, which is asked every item first.
    """
    accepted = {(one["what"], one["new"]) for one in _accepted(store.history()) if one["kind"] == "item"}
    technique = next((each.technique.name for each in study.configurations if each.role == "baseline"), "")
    asked = [key for key, about in store.configurations().items() if about.get("technique") == technique]
    found = []
    for item in study.benchmark.items:
        new = study.asked(item)
        wordings = store.wordings(asked, item.id)
        if wordings and new not in wordings and (item.id, new) not in accepted:
            found.append(Change("item", item.id, wordings[-1], new))
    return found


def changed_model(store: Store, label: str, identity: ModelIdentity) -> list[Change]:
    """Whether a label stands for another model, or another precision, than it ever did when it was asked."""
    known = [one["models"][label] for one in _abouts(store.history()) if label in one.get("models", {})]
    if (last := store.models().get(label)) is not None:
        known.append(noted(last))
    new = noted(identity)
    descriptions = store.configurations()
    asked = [
        one
        for one in known
        if any(
            store.has_answers(key)
            for key, about in descriptions.items()
            if isinstance(model := about.get("model"), dict)
            and (model.get("digest"), model.get("dtype")) == (one["digest"], one["dtype"])
        )
    ]
    if not asked or new in known:
        return []
    return [Change("model", label, *(f"{one['digest']} {one['dtype']}" for one in (asked[-1], new)))]


def noted(identity: ModelIdentity) -> dict[str, str]:
    """What a run notes of a model: what decides its answers."""
    return {"digest": identity.digest, "dtype": identity.dtype}


def changed_code(store: Store, served: bool = False) -> list[Change]:
    """What of `code` differs from what the last answers were drawn with.

    Runs of earlier versions noted no sources, only versions, and not whether they drew anything.
    """
    history = _abouts(store.history())
    drawn = [one[code_key(served)] for one in history if code_key(served) in one]
    if not drawn and not served and any(map(store.has_answers, store.configurations())):
        drawn = [
            _versions(one["environment"]) for one in history if "environment" in one and "drawn" not in one
        ]
    if not drawn:
        return []
    old, new = drawn[-1], code(served)
    found = [
        Change("code", name, old[name], new[name]) for name in new if old.get(name, new[name]) != new[name]
    ]
    # A release has other sources: its version says it all.
    return [one for one in found if one.what != "leadline's sources"] or found


def settle(changes: Sequence[Change], study: Study, store: Store, run: int | None, accept: bool) -> None:
    """Refuse the changes, or note that this run went on in spite of them.

    Raises UsageError: what changed, from what into what, and the two ways on.
    """
    if not changes:
        return
    if not accept:
        raise UsageError(
            "; ".join(_told(changes)),
            where=str(study.folder),
            fix=f"{FLAG} goes on and keeps a record of it; or make a new study folder",
        )
    if run is not None:
        now = datetime.now(UTC).replace(microsecond=0).isoformat()
        before = _accepted(one for one in store.history() if one.run == run)
        store.note_run(run, {"accepted": [*before, *(asdict(one) | {"time": now} for one in changes)]})


def accepted_changes(history: Iterable[RunNote]) -> list[str]:
    """A sentence for each run that went on in spite of changes."""
    found = []
    for one in history:
        changes = [Change(**{key: each[key] for key in _FIELDS}) for each in one.about.get("accepted", [])]
        if changes:
            when = one.about["accepted"][0]["time"][:10]
            found.append(f"Changed before run {one.run} ({when}), and accepted: {'; '.join(_told(changes))}")
    return found


_FIELDS = ("kind", "what", "old", "new")


def _told(changes: Sequence[Change]) -> list[str]:
    """Every change in words; of many items the first ones, and how many more."""
    items = [one for one in changes if one.kind == "item"]
    rest = [str(one) for one in changes if one.kind != "item"]
    told = [str(one) for one in items[:_LISTED]]
    if len(items) > _LISTED:
        told.append(f"and {len(items) - _LISTED:,} more items")
    return [*told, *rest]


def _accepted(history: Iterable[RunNote]) -> list[dict[str, Any]]:
    return [each for one in history for each in one.about.get("accepted", [])]


def _abouts(history: Iterable[RunNote]) -> list[dict[str, Any]]:
    return [one.about for one in history]


def _versions(there: dict[str, Any]) -> dict[str, str]:
    libraries = there.get("libraries", {})
    return {"leadline": there["leadline"]} | {name: libraries[name] for name in DECIDING if name in libraries}


def _short(text: str) -> str:
    """Hashes by their beginning; versions and precisions whole."""
    words = (word.removeprefix("sha256:") for word in text.split())
    return " ".join(f"{word[:12]}…" if len(word) > 24 else word for word in words)
