"""Small studies as they come: few items, few answers, some of them missing; drawn by a seed."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import yaml

from leadline.audit.run import audit
from leadline.bench import load_benchmark, open_stream
from leadline.bench.adjudications import FILE, Adjudication, add_adjudication, label_hash
from leadline.engine.request import GoldProbe
from leadline.models.model import ModelIdentity
from leadline.report.audit_json import audit_json
from leadline.study.judging import gold_fault
from leadline.study.recording import RecordedAnswer, record
from leadline.study.store import Key, open_store
from leadline.study.study import Study, open_study
from leadline.techniques import Answer, Stage
from tests.study import small

WORDS = ("Danube", "Rhine", "Elbe", "Oder")
_TYPES = ("text", "number", "boolean", "date")


def odd_study(folder: Path, model: Path, seed: int) -> Path:
    """A study that the seed draws, in `folder`; `model` is a folder of a model that is not asked."""
    rng = random.Random(seed)
    folder.mkdir(parents=True)
    entries = _items(rng)
    small.write_items(folder / "items.jsonl", entries)
    small.write_prompts(folder / "prompts")
    config = _config(rng, model)
    recorded = _recorded(rng, bool(config["models"]))
    if recorded and not config["models"] and rng.random() < 0.7:
        config["baseline"] = recorded[0][1]
    _stability(rng, config, entries, recorded)
    if rng.random() < 0.2 and len(entries) > 4:
        config["exclude"] = {"items": [entries[1]["id"]]}
    if rng.random() < 0.4:
        _audited(folder, entries, config, rng)
    if not config["models"]:
        for key in ("techniques", "again", "sampling", "beyond_sampling"):
            config.pop(key, None)
    (folder / "study.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    skill = {entry["id"]: rng.choice((0.0, 0.2, 0.5, 0.9, 1.0)) for entry in entries}
    gone, failed = rng.choice((0.0, 0.0, 0.1, 0.4)), rng.choice((0.0, 0.0, 0.1, 0.5))
    if config["models"]:
        _ask(folder, entries, skill, gone, failed, rng)
    for its, name, samples in recorded:
        answers = []
        for entry in entries:
            for sample in range(samples):
                if rng.random() < gone:
                    continue
                text = None if rng.random() < failed else said(entry, skill[entry["id"]], rng)
                answers.append(RecordedAnswer(entry["id"], sample, text, failure="" if text else "timeout"))
        if not answers:
            answers = [RecordedAnswer(entries[0]["id"], 0, entries[0]["answer"])]
        record(folder, its, name, {}, answers)
    return folder


def _items(rng: random.Random) -> list[dict[str, Any]]:
    """One to eight; tasks, categories and types of answers as it falls."""
    tasks, categories, types = rng.randint(0, 4), rng.randint(0, 3), rng.sample(_TYPES, rng.randint(1, 3))
    made = []
    for number in range(rng.choice((1, 2, 3, 4, 5, 6, 6, 7, 8, 8))):
        kind = rng.choice(types)
        answer = {
            "text": rng.choice(WORDS),
            "number": f"{rng.randint(1, 90)}.{rng.choice(('5', '25', '0'))}",
            "boolean": rng.choice(("yes", "no")),
            "date": f"2021-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
        }[kind]
        entry: dict[str, Any] = {"id": f"i{number}", "question": f"What is {number}?", "answer": answer}
        if kind != "text":
            entry["answer_type"] = kind
        if tasks and rng.random() < 0.9:
            entry["task"] = f"t{number % tasks}"
        if categories and rng.random() < 0.9:
            entry["category"] = f"c{number % categories}"
        made.append(entry)
    return made


def _audited(folder: Path, entries: list[dict[str, Any]], config: dict[str, Any], rng: random.Random) -> None:
    """Windows that show what the quote says, or do not, and the audit that tells them apart."""
    for number, entry in enumerate(entries):
        quote = f"the answer to {entry['id']} is {entry['answer']}"
        shown = quote if rng.random() < 0.6 or not number else "nothing at all"  # one stays
        entry["window"] = f"Of matters of rivers it is said: {shown}. That is all.\n"
        entry["evidence"] = [{"quote": quote}]
    small.write_items(folder / "items.jsonl", entries)
    document = audit(open_stream(str(folder / "items.jsonl")), None, workers=1)
    (folder / "audit.json").write_text(audit_json(document), encoding="utf-8")
    config["audit"] = "audit.json"
    if rng.random() < 0.5:
        config["exclude"] = {**config.get("exclude", {}), "audit": "audit.json", "verdicts": ["flagged"]}


def _config(rng: random.Random, model: Path) -> dict[str, Any]:
    methods: list[dict[str, Any]] = [
        {"technique": "recite", "paths": rng.randint(1, 3)},
        {"technique": "genread"},
        {"technique": "dola"},
    ]
    k = rng.choice((1, 2, 3, 5, 12))
    again = {"times": rng.choice((2, 3, 6)), "temperature": rng.choice((0.7, 1.2))}
    models = [{"ref": str(model), "name": name} for name in ("one", "two")[: rng.choice((0, 1, 1, 1, 2))]]
    return {
        "name": "odd",
        "benchmark": "items.jsonl",
        "prompts": "prompts",
        "models": models,
        "prompt": "few-shot",
        "techniques": rng.sample(methods, rng.randint(0, 3)),
        "sampling": {
            "temperatures": rng.choice(([0.7], [0.7, 1.2], [0.7, 1.2])),
            "vote": rng.choice((1, 2, 3, 5, 6)),
        },
        "beyond_sampling": rng.choice((None, {"k": k, "sweep": k}, {"k": k, "sweep": k + rng.randint(1, 5)})),
        "again": rng.choice((None, again)),
        "correctness": rng.choice(("maple", "words")),
    }


def _recorded(rng: random.Random, asked: bool) -> list[tuple[str, str, int]]:
    """Model, configuration, samples of each that was recorded."""
    number = rng.choice((0, 0, 1)) if asked else rng.randint(1, 4)
    alike = rng.random() < 0.5
    return [
        ("elsewhere" if alike else f"m{at}", f"r{at}", rng.choice((1, 2, 3, 5, 8))) for at in range(number)
    ]


def _stability(
    rng: random.Random,
    config: dict[str, Any],
    entries: list[dict[str, Any]],
    recorded: list[tuple[str, str, int]],
) -> None:
    section: dict[str, Any] = {
        "rarefy": rng.choice((2, 3, 5)),
        "top": rng.choice(([1], [2, 3], [3, 4, 5])),
        "permutations": 200,
        "sameness": rng.choice(("own", "exact", "declared", "rounding")),
    }
    tasks = sorted({entry["task"] for entry in entries if "task" in entry})
    if len(tasks) > 1 and rng.random() < 0.5:
        section["contrasts"] = [{"name": "tasks", "of": {"tasks": tasks[0]}, "against": {"tasks": tasks[1]}}]
    names = [name for _, name, _ in recorded]
    if len(names) > 1:
        if rng.random() < 0.5:
            section["equivalence"] = [names[:2]]
        if rng.random() < 0.5 and len(names) > 2:
            section["subsets"] = {"first": names[:-1]}
    config["stability"] = section


def _ask(
    folder: Path,
    entries: list[dict[str, Any]],
    skill: dict[str, float],
    gone: float,
    failed: float,
    rng: random.Random,
) -> None:
    """Store answers, tokens and probes of gold tokens as if the study's models had given them."""
    study = open_study(folder)
    by_id = {entry["id"]: entry for entry in entries}
    probed = rng.random() < 0.7
    with open_store(folder, write=True) as store:
        run = store.begin_run({})
        for number, entry in enumerate(study.config.models):
            who = _identity(study, number)
            store.set_model(entry.label, who)
            for one in study.configurations:
                described = study.configuration_id(one, who)
                store.set_configuration(described, study.described(one, who))
                for item in study.benchmark.items:
                    for sample in range(one.samples):
                        key = Key(item.id, study.asked(item), sample)
                        if rng.random() < gone and (one.role != "baseline" or rng.random() < 0.3):
                            continue
                        if rng.random() < failed:
                            store.add_failure(described, run, key, "timeout", "")
                            continue
                        text = said(by_id[item.id], skill[item.id], rng)
                        store.add(
                            described,
                            run,
                            [(key, _answer(text, probed, 0.0 if one.role == "baseline" else 0.1, rng))],
                        )
        store.end_run(run)


def decide(folder: Path, seed: int) -> None:
    """Let people decide on some labels of a study that has its answers: any outcome, taken back, gone stale.

    The first item stays as it is, so that something is left to ask.
    """
    rng = random.Random(f"decided {seed}")
    config = yaml.safe_load((folder / "study.yaml").read_text(encoding="utf-8"))
    (folder / "study.yaml").write_text(
        yaml.safe_dump({**config, "adjudications": FILE}, sort_keys=False), encoding="utf-8"
    )
    (folder / FILE).touch()
    for item in load_benchmark(folder / "items.jsonl").items[1:]:
        outcome: Any = rng.choice(("upheld", "upheld", "rejected", "excluded-ambiguous", "withdrawn", None))
        if outcome is None:
            continue
        about = {"answer": item.answer, "answer_type": item.answer_type}
        corrected = said(about, 0.0, rng) if outcome == "upheld" and rng.random() < 0.7 else None
        if corrected is not None and gold_fault(item.model_copy(update={"answer": corrected})):
            corrected = {"text": "Seine", "number": "7.25", "boolean": "yes"}.get(
                item.answer_type, "1999-12-31"
            )
        decision = Adjudication(
            item=item.id,
            outcome=outcome,
            reader=rng.choice(("Ada", "Ben")),
            date="2026-03-01",
            reason="so it reads",
            label="sha256:0" if rng.random() < 0.1 else label_hash(item),
            corrected=corrected or None,
        )
        add_adjudication(folder / FILE, decision)


def _identity(study: Study, number: int) -> ModelIdentity:
    entry = study.config.models[number]
    return ModelIdentity(entry.label, "llama", f"sha256:{number:064d}", entry.dtype, "cpu", "", "")


def _answer(text: str, probed: bool, masked: float, rng: random.Random) -> Answer:
    rank = rng.randint(1, 40)
    probes = (GoldProbe(text, 7, "R", rank, -math.log(rank + 1), rng.random() < masked),) if probed else ()
    stage = Stage("answer", text, "stop", rng.randint(5, 20), rng.randint(1, 9))
    return Answer(text, "stop", (Stage("passage", "Of rivers.", "length", 9, 4), stage), probes)


def said(entry: dict[str, Any], skill: float, rng: random.Random) -> str:
    """A right answer, a wrong one, or none that can be read."""
    if rng.random() < skill:
        return str(entry["answer"])
    if rng.random() < 0.15:
        return rng.choice(("", "I don't know.", "?"))
    kind = entry.get("answer_type", "text")
    if kind == "number":
        return rng.choice(("3.5", f"{entry['answer']}1", "7.25"))
    if kind == "boolean":
        return "no" if entry["answer"] == "yes" else "yes"
    if kind == "date":
        return rng.choice(("1999-12-31", "2001-02-03"))
    return rng.choice((*WORDS, "It is the Seine.", json.dumps({"answer": "Po"})))
