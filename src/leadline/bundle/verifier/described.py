"""What findings.json and manifest.json say of how answers were drawn, against each other and against the
answers."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.files import read_lines
from leadline.bundle.verifier.loading import Bundle, content_hash_of
from leadline.bundle.verifier.populated import check_population

SCHEMA = "leadline.findings/1"
CORRECTNESS = {
    "maple": "maple: an answer is right when a valid answer, without special characters, spaces and case, "
    "is contained in it",
    "words": "words: an answer is right when a valid answer stands in it at word boundaries, not negated and "
    "not as one of several candidates",
}
# What a configuration's id is the hash of; names, roles and numbers of samples are no part of it.
_HASHED = ("fitted_on", "model", "technique", "settings", "style", "prompts")
_SLACK = 2  # seconds: times of runs are written without their fractions


def check_described(bundle: Bundle, book: Book) -> None:
    """Schema, rule of correctness, benchmark, population, models and configurations."""
    document, manifest = bundle.document, bundle.manifest
    _same("schema", document.get("schema"), SCHEMA, book)
    _same("study", document["study"], manifest.get("study"), book)
    rule = manifest["bundle"]["correctness"]
    _same("correctness", document["correctness"], CORRECTNESS.get(rule), book)
    _check_benchmark(bundle, book)
    configurations = manifest.get("configurations", {})
    listed = {f"{one['model']}/{one['name']}" for one in document["configurations"]}
    for name in sorted(set(configurations) ^ listed):
        book.fault(
            "description", f"{name}: only one of findings.json and manifest.json has this configuration"
        )
    for one in document["configurations"]:
        entry = configurations.get(f"{one['model']}/{one['name']}")
        if entry is not None:
            _check_configuration(bundle, one, entry, book)
    known = manifest.get("models", {})
    for model in document["models"]:
        if model.get("digest") or model["name"] in known:
            _same(
                f"digest of {model['name']}",
                model["digest"],
                known.get(model["name"], {}).get("digest"),
                book,
            )
    for key in ("served", "remarks"):
        _same(key, document.get(key, []), manifest.get(key, []), book)
    _check_repeats(bundle, book)
    _check_incomplete(bundle, book)


def _check_repeats(bundle: Bundle, book: Book) -> None:
    """Of models behind an API: the configurations whose repeated answers are all the same text, though they
    were drawn."""
    for one in bundle.document.get("served", []):
        own = []
        for entry in bundle.document["configurations"]:
            if entry["model"] != one["model"] or entry["samples"] < 2:
                continue
            cells = bundle.cells.get((entry["model"], entry["name"]), {})
            texts = [
                {answer.text for answer in answers if answer.state != "error"}
                for answers in cells.values()
                if sum(answer.state != "error" for answer in answers) > 1
            ]
            is_drawn = entry["name"] in one["identical_repeats"] or _draws_answers(entry)
            if len(texts) > 1 and all(len(found) == 1 for found in texts) and is_drawn:
                own.append(entry["name"])
        _same(f"{one['model']}, identical repeats", sorted(one["identical_repeats"]), sorted(own), book)


def _draws_answers(entry: dict[str, Any]) -> bool:
    """Whether the answer itself is drawn: at a temperature, or by a technique that is asked again at one."""
    return entry["technique"] == "sampling" or "again" in entry["settings"]


def id_of(description: dict[str, Any]) -> str:
    """A configuration's id: the first 16 hex digits of the sha256 of its description's canonical JSON."""
    text = json.dumps(description, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _check_configuration(bundle: Bundle, one: dict[str, Any], entry: dict[str, Any], book: Book) -> None:
    where = f"{one['model']}/{one['name']}"
    for key in ("id", "role", "samples"):
        _same(f"{where}, {key}", one[key], entry.get(key), book)
    if "recorded" in entry:
        own = id_of({"recorded": {"model": one["model"], "configuration": one["name"]}})
        settings = {
            key: entry["recorded"][key] for key in ("serving", "family") if entry["recorded"].get(key)
        }
        _same(f"{where}, technique", one["technique"], "recorded", book)
        cells = bundle.everyone.get((one["model"], one["name"]), {})
        there = max((answers[-1].sample + 1 for answers in cells.values()), default=0)
        _same(f"{where}, samples", one["samples"], there, book)
    else:
        own = id_of({key: entry[key] for key in _HASHED if key in entry})
        settings = {**entry["settings"], "style": entry["style"]}
        _same(f"{where}, technique", one["technique"], entry["technique"], book)
        digest = next(
            (model["digest"] for model in bundle.document["models"] if model["name"] == one["model"]), ""
        )
        _same(f"{where}, model", entry["model"].get("digest"), digest, book)
        if one["role"] == "baseline":
            _same("prompt", bundle.document["prompt"], entry["prompts"].get("question/question"), book)
        _check_parts(bundle, one, entry, book)
    _same(f"{where}, settings", one["settings"], settings, book)
    if own != one["id"]:
        book.fault("description", f"{where}: its description hashes to {own}, its id is {one['id']}")


def _check_parts(bundle: Bundle, one: dict[str, Any], entry: dict[str, Any], book: Book) -> None:
    """The protocol's part for a configuration, against what the manifest says was asked."""
    for method in bundle.protocol["methods"]:
        if method["name"] == one["name"]:
            _same(f"{one['name']}, vote", method["vote"], entry.get("vote"), book)
    for part in bundle.protocol["partitions"]:
        if part["configuration"] == one["name"]:
            _same(f"{one['name']}, sweep", max(part["k"], part["sweep"]), entry["samples"], book)
            _same(
                f"{one['name']}, temperature", part["temperature"], entry["settings"].get("temperature"), book
            )


def _check_benchmark(bundle: Bundle, book: Book) -> None:
    told, entry = bundle.manifest.get("benchmark", {}), bundle.document["benchmark"]
    for key in ("name", "version", "content_hash", "items_asked", "items_total", "population", "audit"):
        _same(f"benchmark, {key}", entry[key], told.get(key), book)
    _same("benchmark, adjudications", entry.get("adjudications", ""), told.get("adjudications", ""), book)
    holds = bundle.manifest["bundle"]
    members = holds["items"]
    _same("items asked", entry["items_asked"], len(members), book)
    if set(members) <= set(bundle.items):
        own = content_hash_of({item: bundle.judged[item] for item in members})
        _same("hash of the items asked", told.get("asked"), own, book)
    else:
        book.fault("description", "manifest.json names items of the population that the benchmark has not")
    read = {item for cells in bundle.cells.values() for item in cells}
    for item in sorted(read - set(members))[:20]:
        book.fault("description", f"item {item} has readings, and is not in the population of manifest.json")
    check_population(bundle, book)
    baseline = bundle.protocol["baseline"]
    answered = {
        item
        for (_, name), cells in bundle.cells.items()
        if name == baseline or not baseline
        for item in cells
    }
    _same("items answered", entry["items_answered"], len(answered), book)


def _check_incomplete(bundle: Bundle, book: Book) -> None:
    """What is said to be missing is missing, and nothing else."""
    baseline = bundle.protocol["baseline"]
    asked = bundle.document["benchmark"]["items_asked"]
    own = []
    for one in bundle.document["configurations"]:
        entry = bundle.manifest.get("configurations", {}).get(f"{one['model']}/{one['name']}", {})
        if not entry or "recorded" in entry:
            continue
        failed = [
            answers[0]
            for answers in bundle.cells.get((one["model"], baseline), {}).values()
            if answers[0].sample == 0 and answers[0].state != "error" and not answers[0].correct
        ]
        wanted = one["samples"] * (len(failed) if entry.get("failures_only") else asked)
        number = sum(map(len, bundle.cells.get((one["model"], one["name"]), {}).values()))
        if number < wanted:
            own.append(f"{one['model']}, {one['label']}: {number:,} of {wanted:,} answers are there")
    told = [
        line for line in bundle.document["incomplete"] if not line.endswith("has not been asked anything yet")
    ]
    if told != own:
        differing = [line for line in own + told if (line in own) != (line in told)]
        book.fault("description", f"findings.json says other things are missing: {'; '.join(differing[:3])}")


def check_runs(bundle: Bundle, book: Book) -> None:
    """Every answer was stored during one of the runs that manifest.json lists."""
    spans = []
    for run in bundle.manifest.get("runs") or ():
        ended = run.get("finished")
        # A run that was cut off has no end.
        spans.append((_seconds(run["started"]) - _SLACK, _seconds(ended) + 1 + _SLACK if ended else None))
    outside = 0
    for number, line in read_lines(bundle.folder, "responses.jsonl", book):
        created = line.get("created")
        if created is not None and not any(
            start <= created and (end is None or created <= end) for start, end in spans
        ):
            outside += 1
            if outside == 1:
                book.fault(
                    "run",
                    f"responses.jsonl:{number}: no run of manifest.json was under way when it was stored",
                )
    if outside > 1:
        book.fault("run", f"so it is with {outside:,} responses")


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC).timestamp()


def _same(what: str, found: Any, expected: Any, book: Book) -> None:
    if found != expected:
        book.fault("description", f"{what}: findings.json says {_short(found)}, it is {_short(expected)}")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 90 else text[:87] + "..."
