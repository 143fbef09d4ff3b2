"""Blind packs of a bundle: whether they are of this benchmark, show what its items ask, and are whole; and
what their scores count."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.files import parsed, sha256_of
from leadline.bundle.verifier.loading import Bundle
from leadline.bundle.verifier.pack_scores import score_fault, stratum_of
from leadline.bundle.verifier.pack_sentences import percent

FOLDER = "packs"
_STATEMENT = "DATA_STATEMENT.md"
# What tells a reader how to answer, and has to be the item's.
_SHOWN = (
    "question", "window", "answer_type", "fields", "vocabulary", "unit", "precision", "locale", "date_order"
)  # fmt: skip
_LETTERS = "bcdfghjkmnpqrstv"


def check_packs(bundle: Bundle, book: Book) -> None:
    """Every pack that manifest.json names is there, as it was drawn; every score is of one of its sheets."""
    folder = bundle.folder / FOLDER
    there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    named = bundle.manifest["bundle"].get("packs", {})
    path = bundle.folder / _STATEMENT
    statement = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    for name in sorted(set(there) ^ set(named)):
        book.fault("pack", f"{FOLDER}/{name}: only one of the folder and manifest.json has this pack")
    tally: Counter[str] = Counter()
    for name in sorted(set(there) & set(named)):
        try:
            head = parsed((folder / name / "pack.json").read_text(encoding="utf-8"))
            items: list[dict[str, Any]] = []
            said = _fault(bundle, folder / name, head, items)
            said = said or _drawn_fault(bundle, head, items)
            said = said or _score_fault(folder / name, head, named[name], items, tally)
            said = said or _told_fault(folder / name, named[name], statement)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            said = f"is no pack: {type(error).__name__} {error}"
        if said:
            book.fault("pack", f"{FOLDER}/{name}: {said}")
    if named:
        book.facts["packs"] = len(there)
        book.facts["agreement"] = dict(tally)


def _fault(bundle: Bundle, pack: Path, head: dict[str, Any], items: list[dict[str, Any]]) -> str:
    """Why a pack is not what its readers were shown; fills `items` with those of its rows."""
    content = head["benchmark"]["content_hash"]
    if content != bundle.document["benchmark"]["content_hash"]:
        return f"was drawn from other content: {content[:23]}..."
    pages = {f"pages/{number:03}.html" for number in range(1, len(head["rows"]) + 1)}
    if set(head["files"]) != {"index.html", "PROTOCOL.md", "rows.jsonl", *pages}:
        return "pack.json names other files than a pack of its rows has"
    for path in sorted(pack.rglob("*")):
        name = path.relative_to(pack).as_posix()
        is_sheet = name.endswith(".csv") and name.count("/") == name.startswith("sheets/")
        is_score = name.startswith("score-") and name.endswith(".json")  # compared with the manifest below
        if path.is_file() and not (name in head["files"] or name == "pack.json" or is_sheet or is_score):
            return f"{name} is no file of a pack"
    for name, digest in head["files"].items():
        if not (pack / name).is_file() or sha256_of(pack / name) != digest:
            return f"{name} is not what the reader was shown"
    tokens = {_token(head, item): item for item in bundle.items}
    lines = (pack / "rows.jsonl").read_bytes().split(b"\n")[:-1]
    if len(lines) != len(head["rows"]):
        return f"{len(lines)} rows are there, pack.json names {len(head['rows'])}"
    for number, (line, row) in enumerate(zip(lines, head["rows"]), 1):
        item = bundle.items.get(tokens.get(row["token"], ""))
        if hashlib.sha256(line).hexdigest() != row["sha256"]:
            return f"rows.jsonl:{number} is not what pack.json names"
        if item is None:
            return f"row {number} is no item of the benchmark"
        shown = parsed(line)
        if _view(shown) != _view(item):
            return f"row {number} shows another question, text or form of answer than item {item['id']} has"
        items.append(item)
    return ""


def _view(entry: dict[str, Any]) -> dict[str, Any]:
    """What a reader is shown of an item; what says nothing is left out."""
    told = {name: entry.get(name) for name in _SHOWN}
    return {name: value for name, value in told.items() if value not in (None, [], "text")}


def _told_fault(pack: Path, scores: dict[str, str], statement: str) -> str:
    """Why the data statement does not tell the scores of a pack as they are."""
    lines = [" ".join(line.split()) for line in statement.splitlines()]
    for name in scores:
        score = parsed((pack / name).read_text(encoding="utf-8"))
        wanted = (
            f"{FOLDER}/{pack.name}/{name}:",
            percent(score["groups"][0]["all_rows"]["agree"]),
            " ".join(score["sentence"].split()),
        )
        if not any(all(part in line for part in wanted) for line in lines):
            return f"{name}: {_STATEMENT} does not tell its share of agreement with its sentence"
    return ""


def _drawn_fault(bundle: Bundle, head: dict[str, Any], items: list[dict[str, Any]]) -> str:
    """Why its strata, or the hash over what was drawn, are not those of its rows."""
    digest = hashlib.sha256("\0".join(sorted(item["id"] for item in items)).encode("utf-8", "surrogatepass"))
    if digest.hexdigest() != head["drawn"]:
        return "its rows are not the items that were drawn"
    strata = [((one["category"], one["answer_type"]), one["items"], one["drawn"]) for one in head["strata"]]
    if sorted((of, drawn) for of, _, drawn in strata) != sorted(_counted(items).items()):
        return "its strata are not those of its rows"
    there = _counted(bundle.items.values())
    is_all = head["population"] == f"all {len(bundle.items):,} items"
    for of, number, drawn in strata:
        if number > there[of] or (is_all and number != there[of]):
            return f"stratum {', '.join(of)}: {number} items, the benchmark has {there[of]}"
        if drawn != min(number, head["per_stratum"]):
            return f"stratum {', '.join(of)}: {drawn} of {number} items drawn, asked: {head['per_stratum']}"
    return ""


def _counted(items: Iterable[dict[str, Any]]) -> Counter[tuple[str, str]]:
    return Counter(map(stratum_of, items))


def _token(head: dict[str, Any], item: str) -> str:
    """What names an item in a pack without telling which it is: a hash, in consonants."""
    parts = ("token", head["benchmark"]["content_hash"], str(head["seed"]), head["drawn"], item)
    found = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return "".join(_LETTERS[int(digit, 16)] for digit in found)


def _score_fault(
    pack: Path,
    head: dict[str, Any],
    scored: dict[str, str],
    items: Sequence[dict[str, Any]],
    tally: Counter[str],
) -> str:
    """Why the scores are not those that are listed, of this benchmark, and of the sheets beside them."""
    if sorted(path.name for path in pack.glob("score-*.json")) != sorted(scored):
        return "its scores are not those that manifest.json names"
    for name, sheet in scored.items():
        score = parsed((pack / name).read_text(encoding="utf-8"))
        if score["benchmark"]["content_hash"] != head["benchmark"]["content_hash"]:
            return f"{name} is a score of other content"
        if sheet and (not (pack / sheet).is_file() or sha256_of(pack / sheet) != score["sheet"]):
            return f"{name} is of another sheet than {sheet}"
        first = score["earlier"]
        if first is not None and first["file"] in scored:
            own = parsed((pack / first["file"]).read_text(encoding="utf-8"))
            told = {**first, "agree": _ends(first["agree"]), "kappa": _ends(first["kappa"])}
            its = own["groups"][0]["all_rows"]
            if told != {
                "file": first["file"],
                **{part: own[part] for part in ("created", "sheet")},
                **{part: _ends(its[part]) for part in ("agree", "kappa")},
            }:
                return f"{name} tells {first['file']}, the score before it, otherwise than it is"
        said = score_fault(head, items, score, pack / sheet if sheet else None, tally)
        if said:
            return f"{name}: {said}"
    return ""


def _ends(figure: dict[str, Any]) -> list[Any]:
    return [figure.get(part) for part in ("value", "low", "high", "numerator", "denominator")]
