"""An audit as SARIF: a log that forges accept, with places and fingerprints that last."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from leadline.audit.document import AuditDocument, Failure
from leadline.report.audit_files import repository_root
from leadline.report.audit_gate import Gate
from leadline.report.audit_sarif import LEVELS, MOST_RESULTS, audit_sarif
from leadline.report.audit_words import FAILURES
from tests.report.audit_documents import audit_document, item

WHOLE = audit_document()
TEXT = {"type": "object", "required": ["text"], "additionalProperties": False}
MESSAGE = {**TEXT, "properties": {"text": {"type": "string", "minLength": 1}, "markdown": {"type": "string"}}}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    """An object with these properties and no others, as every object of SARIF but a bag of properties is."""
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


ARTIFACT = closed(["uri"], uri={"type": "string", "pattern": r"^[!#-\[\]-~]+$"}, uriBaseId={"type": "string"})
LOCATION = closed(
    ["physicalLocation"],
    physicalLocation=closed(
        ["artifactLocation"],
        artifactLocation=ARTIFACT,
        region=closed(["startLine"], startLine={"type": "integer", "minimum": 1}),
    ),
)
RULE = closed(
    ["id"],
    id={"type": "string"},
    name={"type": "string"},
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=closed([], level=LEVEL),
    properties={"type": "object"},
)
RESULT = closed(
    ["message", "ruleId"],
    ruleId={"type": "string"},
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "items": LOCATION, "minItems": 1},
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
    properties={"type": "object"},
)
# What the standard says of the objects that are used here.
ESSENTIALS = closed(
    ["version", "runs"],
    **{"$schema": {"type": "string", "format": "uri"}},
    version={"const": "2.1.0"},
    runs={
        "type": "array",
        "items": closed(
            ["tool"],
            tool=closed(
                ["driver"],
                driver=closed(
                    ["name"],
                    name={"type": "string"},
                    version={"type": "string"},
                    semanticVersion={"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
                    shortDescription=MESSAGE,
                    fullDescription=MESSAGE,
                    rules={"type": "array", "items": RULE, "uniqueItems": True},
                ),
            ),
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            originalUriBaseIds={"type": "object"},
            invocations={
                "type": "array",
                "items": closed(
                    ["executionSuccessful"],
                    executionSuccessful={"type": "boolean"},
                    endTimeUtc={"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
                    toolExecutionNotifications={
                        "type": "array",
                        "items": closed(["message"], level=LEVEL, message=MESSAGE),
                    },
                ),
            },
            results={"type": "array", "items": RESULT},
            properties={"type": "object"},
        ),
    },
)


def run(document: AuditDocument = WHOLE, gate: Gate | None = None, root: Path | None = None) -> Any:
    """The one run of the log, which must obey the standard."""
    log = json.loads(audit_sarif(document, gate or Gate(), root or Path.cwd()))
    jsonschema.Draft202012Validator(ESSENTIALS).validate(log)
    (only,) = log["runs"]
    return only


def test_every_flagged_item_is_a_result_of_its_failure_types_rule() -> None:
    found = run()
    rules = found["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [words.key for words in FAILURES.values()]
    assert Counter(result["properties"]["item"] for result in found["results"]) == Counter(
        entry.item for entry in WHOLE.flagged
    )
    for result in found["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert rules[result["ruleIndex"]]["help"]["text"]
    severities = [["error", "warning", "note"].index(result["level"]) for result in found["results"]]
    assert severities == sorted(severities), "the most severe come first"


def test_a_computational_item_shows_its_derivation() -> None:
    (message,) = [r["message"]["text"] for r in run()["results"] if r["properties"]["item"] == "share-1"]
    assert "Derivation: 81,575 / 1,362,500 = 5.99 %" in message


def test_a_result_points_at_the_items_line_from_the_root_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    below = tmp_path / "data"
    below.mkdir()
    monkeypatch.chdir(below)
    root = repository_root(Path.cwd())
    assert root == tmp_path
    failed = {"flagged": True, "failure": Failure.EVIDENCE_ABSENT, "quote_in_window": False}
    places = {
        "bench/items.jsonl:12": ("data/bench/items.jsonl", 12),
        f"{below}/items.jsonl:3": ("data/items.jsonl", 3),
        "with space/ï:7.jsonl:7": ("data/with%20space/%C3%AF%3A7.jsonl", 7),
        "items.jsonl": ("data/items.jsonl", 1),
    }
    items = tuple(item(where, where=where, **failed) for where in places)
    for result in run(audit_document(items=items), root=root)["results"]:
        place = result["locations"][0]["physicalLocation"]
        wanted = places[result["properties"]["item"]]
        assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == wanted
        assert place["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
    outside = audit_document(items=(item("x", where="/elsewhere/items.jsonl:2", **failed),))
    (result,) = run(outside, root=root)["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "file:///elsewhere/items.jsonl"
    }


def test_an_item_without_a_place_is_a_result_without_a_location() -> None:
    (result,) = [r for r in run()["results"] if r["properties"]["item"].startswith("=cmd")]
    assert "locations" not in result


def test_fingerprints_tell_items_apart_and_survive_a_move_to_another_line() -> None:
    moved = tuple(entry.model_copy(update={"where": "bench/items.jsonl:999"}) for entry in WHOLE.items)
    before, after = run(), run(audit_document(items=moved))
    prints = [result["partialFingerprints"] for result in before["results"]]
    assert prints == [result["partialFingerprints"] for result in after["results"]]
    assert len({each["primaryLocationLineHash"] for each in prints}) == len(prints)
    assert all(re.fullmatch(r"[0-9a-f]{16}:1", each["primaryLocationLineHash"]) for each in prints)


def test_an_ignored_failure_type_is_a_note() -> None:
    found = run(gate=Gate(ignored=frozenset([Failure.COMPUTATIONAL])))
    levels = {result["ruleId"]: result["level"] for result in found["results"]}
    assert levels["computational"] == "note" and levels["evidence-absent"] == "error"
    assert LEVELS[Failure.COMPUTATIONAL] == "warning"


def test_brackets_in_a_message_are_no_links() -> None:
    hostile = [r["message"]["text"] for r in run()["results"] if "hostile" in r["properties"]["item"]]
    assert "\\[x\\](javascript:alert(1))" in hostile[0]
    assert not re.search(r"(?<!\\)\[", hostile[0])


def test_a_run_without_verdicts_failed_and_says_so() -> None:
    (invocation,) = run(audit_document(passed=False))["invocations"]
    assert invocation["executionSuccessful"] is False
    errors = [n["message"]["text"] for n in invocation["toolExecutionNotifications"] if n["level"] == "error"]
    assert errors == ["Self-test FAILED: 105 of 112 trials on 40 windows of this benchmark came out right"]


def test_more_results_than_a_forge_takes_are_left_out_with_a_word() -> None:
    flagged = WHOLE.flagged[0]
    many = tuple(flagged.model_copy(update={"item": f"i{at}"}) for at in range(MOST_RESULTS + 5))
    log = json.loads(audit_sarif(audit_document(items=many), Gate(), Path.cwd()))
    (found,) = log["runs"]
    assert len(found["results"]) == MOST_RESULTS
    notes = found["invocations"][0]["toolExecutionNotifications"]
    assert any(note["message"]["text"].startswith("5 results were left out") for note in notes)
