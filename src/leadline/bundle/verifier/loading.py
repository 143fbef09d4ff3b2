"""A bundle in memory: items, readings, and the document of findings; and whether they fit together."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Optional

from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.files import read_json, read_lines

STATES = ("ok", "empty", "refused", "unreadable", "truncated", "error")
# Keys of an item that decide neither how it is asked nor how it is judged.
_UNHASHED = ("category", "domain", "task", "relation", "subject", "evidence", "source", "quote")


class Answer:
    """One reading with the response it was read from."""

    __slots__ = (
        "adjudication", "audit", "correct", "declared", "exact", "excluded", "finish", "item", "labelled",
        "leads", "logprob", "masked", "rank", "rounding", "sample", "shared", "state", "stated", "strict",
        "text", "token", "tokens_in", "tokens_out", "value", "vote",
    )  # fmt: skip

    def __init__(self, line: dict[str, Any]) -> None:
        get = line.get
        self.item: str = line["item"]
        self.sample: int = line["sample"]
        self.state: str = line["state"]
        self.value: str | None = get("value")
        self.vote = self.value  # what majorities are counted over: the value under the study's own rule
        self.exact: str | None = get("value_exact")
        self.declared: str | None = get("value_declared")
        self.rounding: str | None = get("value_rounding")
        self.shared: str | None = get("value_shared")
        self.correct = bool(get("correct", False))
        # By the label as it was annotated; said only where a correction of the label made it another.
        self.labelled = bool(get("correct_labelled", self.correct))
        self.strict = bool(get("correct_strict", False))
        self.leads = bool(get("leads", False))
        self.token: int | None = get("gold_token")
        self.rank: int | None = get("gold_rank")
        self.logprob: float | None = get("gold_logprob")
        self.masked = bool(get("gold_masked", False))
        self.audit: str = get("audit") or ""
        self.stated: str = get("stated") or ""
        self.excluded: str = get("excluded") or ""
        self.adjudication: str = get("adjudication") or ""
        self.text: str = ""
        self.finish: str = ""
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None


def value_under(answer: Answer, rule: str) -> Optional[str]:
    """What an answer counts as under a rule of sameness; a rule that does not apply leaves it as it is."""
    if rule == "exact":
        return answer.exact if answer.exact is not None else answer.value
    if rule == "rounding":
        return answer.rounding if answer.rounding is not None else answer.value
    if rule == "declared":
        if answer.declared is not None:
            return answer.declared
        return answer.rounding if answer.rounding is not None else answer.value
    if rule == "shared":
        return answer.shared if answer.shared is not None else answer.value
    return answer.value


# Of one configuration: item -> its answers in the order of their samples.
Cells = dict[str, list[Answer]]


class Bundle:
    """All that is recomputed from. `everyone` also holds the items that were left out of the population;
    `judged` are the items with the answers that people corrected, `decisions` what corrected them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.items: dict[str, dict[str, Any]] = {}
        self.judged: dict[str, dict[str, Any]] = {}
        self.decisions: Any = None
        self.everyone: dict[tuple[str, str], Cells] = {}
        self.cells: dict[tuple[str, str], Cells] = {}
        self.before: dict[tuple[str, str], Cells] = {}
        self.document: dict[str, Any] = {}
        self.manifest: dict[str, Any] = {}

    @property
    def protocol(self) -> dict[str, Any]:
        """Which configuration plays which part."""
        found: dict[str, Any] = self.document["protocol"]
        return found

    @property
    def models(self) -> list[str]:
        """The models that have answers in the population, in order."""
        return sorted({model for model, _ in self.cells})

    def category(self, item: str) -> str:
        """The item's category, "" where it has none."""
        return self.items[item].get("category") or self.items[item].get("domain") or ""

    def task(self, item: str) -> str:
        """The item's task, "" where it has none."""
        return self.items[item].get("task") or self.items[item].get("relation") or ""

    def answer_type(self, item: str) -> str:
        """How the item's answers are read."""
        return self.items[item].get("answer_type") or "text"


def load_bundle(folder: Path, book: Book) -> Bundle | None:
    """Read everything and check that it fits together; None where too little is there to go on."""
    bundle = Bundle(folder)
    document = read_json(folder, "findings.json", book)
    manifest = read_json(folder, "manifest.json", book)
    if not isinstance(document, dict) or not isinstance(manifest, dict):
        return None
    bundle.document, bundle.manifest = document, manifest
    _load_items(bundle, book)
    configurations = {(one["model"], one["name"]): one for one in document["configurations"]}
    texts = _load_responses(bundle, configurations, book)
    _load_readings(bundle, configurations, texts, book)
    _check_completeness(bundle, configurations, book)
    return bundle


def content_hash_of(items: dict[str, dict[str, Any]]) -> str:
    """The benchmark's hash: sha256 over the items' canonical JSON, sorted by id, grouping and evidence left
    out."""
    digest = hashlib.sha256(b"[")
    for number, name in enumerate(sorted(items)):
        digest.update(b"," * bool(number) + hashed_entry(items[name]))
    digest.update(b"]")
    return "sha256:" + digest.hexdigest()


def hashed_entry(item: dict[str, Any]) -> bytes:
    """What the hash takes of one item: its canonical JSON, less what decides neither how it is asked nor how
    it is judged."""
    entry = {key: value for key, value in item.items() if key not in _UNHASHED}
    aliases = sorted(set(entry.pop("aliases", ())) - {entry["answer"]})
    if aliases:
        entry["aliases"] = aliases
    text = json.dumps(entry, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _load_items(bundle: Bundle, book: Book) -> None:
    for number, item in read_lines(bundle.folder / "benchmark", "items.jsonl", book):
        name = item.get("id")
        if not isinstance(name, str) or "answer" not in item:
            book.fault("structure", f"benchmark/items.jsonl:{number} is no item")
        elif name in bundle.items:
            book.fault("structure", f"benchmark/items.jsonl:{number}: a second item {name}")
        else:
            bundle.items[name] = item
    said = bundle.document["benchmark"]["content_hash"]
    if bundle.items and content_hash_of(bundle.items) != said:
        book.fault(
            "benchmark",
            f"the items are not those of {said[:23]}...: a question, a gold answer or an alias differs",
        )
    book.facts["items"] = len(bundle.items)


def _load_responses(
    bundle: Bundle, configurations: dict[tuple[str, str], dict[str, Any]], book: Book
) -> dict[tuple[str, str, str, int], dict[str, Any]]:
    found: dict[tuple[str, str, str, int], dict[str, Any]] = {}
    for number, line in read_lines(bundle.folder, "responses.jsonl", book):
        try:
            key = (line["model"], line["configuration"], line["item"], line["sample"])
        except KeyError as error:
            book.fault("structure", f"responses.jsonl:{number} has no {error}")
            continue
        if key in found:
            book.fault("structure", f"responses.jsonl:{number}: a second response {_named(key)}")
            continue
        found[key] = line
        one = configurations.get(key[:2])
        if one is None:
            book.fault(
                "structure",
                f"responses.jsonl:{number}: findings.json knows no configuration {key[0]}/{key[1]}",
            )
        elif one["id"] != line.get("configuration_id"):
            book.fault(
                "structure", f"responses.jsonl:{number}: {key[1]} is not {line.get('configuration_id')}"
            )
        if key[2] not in bundle.items:
            book.fault("structure", f"responses.jsonl:{number}: the benchmark has no item {key[2]}")
    book.facts["responses"] = len(found)
    return found


def _load_readings(
    bundle: Bundle,
    configurations: dict[tuple[str, str], dict[str, Any]],
    texts: dict[tuple[str, str, str, int], dict[str, Any]],
    book: Book,
) -> None:
    rule = bundle.protocol["stability"]["sameness"]
    seen: set[tuple[str, str, str, int]] = set()
    for number, line in read_lines(bundle.folder, "readings.jsonl", book):
        try:
            key = (line["model"], line["configuration"], line["item"], line["sample"])
            answer = Answer(line)
        except KeyError as error:
            book.fault("structure", f"readings.jsonl:{number} has no {error}")
            continue
        if key in seen:
            book.fault("structure", f"readings.jsonl:{number}: a second reading {_named(key)}")
            continue
        seen.add(key)
        if answer.item not in bundle.items or key[:2] not in configurations:
            book.fault("structure", f"readings.jsonl:{number}: unknown item or configuration {_named(key)}")
            continue
        response = texts.get(key)
        if response is None:
            book.fault("structure", f"readings.jsonl:{number}: there is no response {_named(key)}")
        else:
            if (response.get("failure") is not None) != (answer.state == "error"):
                book.fault("structure", f"readings.jsonl:{number}: failed and answered at once {_named(key)}")
            answer.text = response.get("text") or ""
            answer.finish = response.get("finish") or ""
            answer.tokens_in = response.get("tokens_in")
            answer.tokens_out = response.get("tokens_out")
        if answer.state not in STATES or (answer.state == "ok") == (answer.value is None):
            book.fault("structure", f"readings.jsonl:{number}: state and value do not fit {_named(key)}")
        if answer.state != "ok" and (answer.correct or answer.strict or answer.labelled):
            book.fault("structure", f"readings.jsonl:{number}: right without being read {_named(key)}")
        answer.vote = value_under(answer, rule)
        bundle.everyone.setdefault(key[:2], {}).setdefault(answer.item, []).append(answer)
    for key in sorted(set(texts) - seen):
        book.fault("structure", f"a response without a reading {_named(key)}")
    for place, cells in bundle.everyone.items():
        for answers in cells.values():
            answers.sort(key=lambda answer: answer.sample)
        kept = {item: answers for item, answers in cells.items() if not answers[0].excluded}
        if kept:
            bundle.cells[place] = kept
    book.facts["readings"] = len(seen)


def _check_completeness(
    bundle: Bundle, configurations: dict[tuple[str, str], dict[str, Any]], book: Book
) -> None:
    """As many responses of each configuration as findings.json and manifest.json say, samples without a
    gap."""
    for place, one in configurations.items():
        cells = bundle.everyone.get(place, {})
        number = sum(len(answers) for item, answers in bundle.cells.get(place, {}).items())
        whole = sum(map(len, cells.values()))
        if one["responses"] not in (number, whole):
            book.fault(
                "structure",
                f"{place[0]}/{place[1]}: {one['responses']} responses are declared, {number} are there",
            )
        counted = bundle.manifest.get("bundle", {}).get("readings", {}).get(f"{place[0]}/{place[1]}")
        if counted is not None and counted != whole:
            book.fault(
                "structure",
                f"{place[0]}/{place[1]}: manifest.json counts {counted} readings, {whole} are there",
            )
        for item, answers in cells.items():
            if any(answer.excluded != answers[0].excluded for answer in answers):
                book.fault("structure", f"{place[1]}, item {item}: left out and not left out at once")
            if one["samples"] and answers[-1].sample >= one["samples"]:
                book.fault(
                    "structure", f"{place[1]}, item {item}: sample {answers[-1].sample} was never asked for"
                )


def _named(key: tuple[str, str, str, int]) -> str:
    return f"({key[0]}/{key[1]}, item {key[2]}, sample {key[3]})"
