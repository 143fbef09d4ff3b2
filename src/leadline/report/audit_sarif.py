"""An audit as SARIF 2.1.0, which forges show beside the lines of items.jsonl.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, 2020. Each failure type is a
rule, each flagged item a result at its line. GitHub takes at most 25,000 results per run and shows 5,000, the
most severe first; more than 25,000 would be refused whole, so the rest is left out here, and the run says so.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from leadline.audit.document import AuditDocument, Failure, ItemVerdict
from leadline.report.audit_gate import Gate
from leadline.report.audit_words import (
    FAILURES,
    NO_CLAIMS,
    failure_key,
    failure_name,
    not_checked,
    population,
    self_test_line,
)
from leadline.report.numbers import count

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 25_000
LEVELS: dict[Failure | None, str] = {
    Failure.EVIDENCE_ABSENT: "error",
    Failure.LABEL_UNTRACEABLE: "warning",
    Failure.COMPUTATIONAL: "warning",
    Failure.ANSWER_STATED: "note",
    None: "warning",
}
_SEVERITY = {"error": 0, "warning": 1, "note": 2}
_RULES = tuple(FAILURES)
# Longer than any message that a reader would want; a quote can be a whole document.
_MESSAGE_LIMIT = 4_000


def audit_sarif(document: AuditDocument, gate: Gate, root: Path) -> str:
    """`root` is the repository's root, from which places are given; items elsewhere keep absolute addresses.

    A failure type that the gate ignores is reported as a note. The fingerprint of a result is made of the
    benchmark, the item and the failure type, so that it survives a move to another line.
    """
    results = [_result(document, verdict, gate, root) for verdict in document.flagged]
    results.sort(key=lambda result: _SEVERITY[result["level"]])
    left_out = max(0, len(results) - MOST_RESULTS)
    notes = [
        _notification("note", population(document)),
        _notification("note" if document.self_test.passed else "error", self_test_line(document)),
    ]
    if unchecked := not_checked(document):
        notes.append(_notification("note", unchecked))
    if left_out:
        notes.append(
            _notification("warning", f"{count(left_out)} results were left out: a run holds {MOST_RESULTS:,}")
        )
    run = {
        "tool": {
            "driver": {
                "name": "Leadline",
                "semanticVersion": _semantic(document.leadline_version),
                "version": document.leadline_version,
                "shortDescription": {"text": "Provenance audit of document-grounded benchmarks."},
                "fullDescription": {"text": " ".join(NO_CLAIMS)},
                "rules": [_rule(failure) for failure in _RULES],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The root of the repository."}}},
        "invocations": [
            {
                "executionSuccessful": document.self_test.passed,
                "endTimeUtc": document.created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "toolExecutionNotifications": notes,
            }
        ],
        "properties": {
            "benchmark": document.benchmark.name,
            "version": document.benchmark.version,
            "contentHash": document.benchmark.content_hash,
            "items": document.benchmark.items,
            "itemsAudited": len(document.items),
        },
        "results": results[:MOST_RESULTS],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def _rule(failure: Failure | None) -> dict[str, Any]:
    words = FAILURES[failure]
    return {
        "id": words.key,
        "name": "".join(part.capitalize() for part in words.key.split("-")),
        "shortDescription": {"text": words.title},
        "fullDescription": {"text": words.meaning},
        "help": {
            "text": f"{words.meaning} {words.remedy}",
            "markdown": f"{words.meaning}\n\n**What to do:** {words.remedy}\n\n{NO_CLAIMS[0]}",
        },
        "defaultConfiguration": {"level": LEVELS[failure]},
        "properties": {"tags": ["benchmark", "provenance"]},
    }


def _result(document: AuditDocument, verdict: ItemVerdict, gate: Gate, root: Path) -> dict[str, Any]:
    key = failure_key(verdict)
    identity = "\x00".join((document.benchmark.name, verdict.item, key))
    fingerprint = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
    result: dict[str, Any] = {
        "ruleId": key,
        "ruleIndex": _RULES.index(verdict.failure),
        "level": "note" if verdict.failure in gate.ignored else LEVELS[verdict.failure],
        "message": {"text": _message(verdict)},
        "partialFingerprints": {
            "leadlineItem/v1": fingerprint,
            # The one that GitHub looks at; left to itself it would hash the line, which every edit changes.
            "primaryLocationLineHash": f"{fingerprint[:16]}:1",
        },
        "properties": {
            "item": verdict.item,
            "task": verdict.task,
            "category": verdict.category,
            "answerType": verdict.answer_type,
            "state": verdict.state.value,
            "route": verdict.route.value,
            "source": verdict.source,
            "derivation": verdict.derivation,
        },
    }
    if location := _location(verdict.where, root):
        result["locations"] = [location]
    return result


def _message(verdict: ItemVerdict) -> str:
    """Brackets are escaped: SARIF reads `[text](place)` in a message as a link."""
    sentences = [f"{verdict.item}: {failure_name(verdict)}.", *verdict.reasons]
    if verdict.derivation:
        sentences.append(f"Derivation: {verdict.derivation}")
    text = " ".join(" ".join(sentences).split())
    text = text if len(text) <= _MESSAGE_LIMIT else text[: _MESSAGE_LIMIT - 1] + "…"
    return re.sub(r"([\\\[\]])", r"\\\1", text)


def _location(where: str, root: Path) -> dict[str, Any] | None:
    """ "bench/items.jsonl:12" as a place; None where there is no file to point at."""
    found = re.fullmatch(r"(.+?)(?::(\d+))?", where, flags=re.DOTALL)
    if found is None:
        return None
    path = Path(found[1])
    line = max(1, int(found[2] or 1))
    absolute = path if path.is_absolute() else Path.cwd() / path
    try:
        # By name first: a benchmark behind a symlink stands in the repository under the link's name.
        inside = absolute.relative_to(root)
    except ValueError:
        try:
            inside = absolute.resolve().relative_to(root.resolve())
        except ValueError:
            return _physical({"uri": absolute.as_uri()}, line)
    return _physical({"uri": _quoted(inside), "uriBaseId": "%SRCROOT%"}, line)


def _physical(artifact: dict[str, str], line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(path.as_posix(), safe="/")


def _semantic(version: str) -> str:
    """The first three numbers of a version, as semantic versioning wants it."""
    numbers = re.findall(r"\d+", version.partition("+")[0])[:3]
    return ".".join([*numbers, "0", "0", "0"][:3])


def _notification(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": re.sub(r"([\\\[\]])", r"\\\1", text)}}
