"""A study of recorded answers that holds something of everything a report can tell of: numbers of several
precisions, dates, labels, texts; an audit that flags items; several models, subsets, contrasts and runs of
the same thing."""

from __future__ import annotations

import random
from pathlib import Path

from leadline.audit.run import audit
from leadline.bench import Benchmark, Evidence, Item, open_stream, write_benchmark
from leadline.documents.sources import Sources
from leadline.report.audit_json import audit_json
from leadline.study.recording import RecordedAnswer, record

_CATEGORIES = ("arts", "law", "money", "places")
_CONFIGURATIONS = (
    ("aye", "plain", 0.86),
    ("aye", "again", 0.86),
    ("bee", "plain", 0.7),
    ("cee", "plain", 0.55),
    ("dee", "plain", 0.93),
    ("eff", "plain", 0.8),
)
YAML = """name: everything
benchmark: bench
audit: audit.json
exclude: {audit: audit.json, verdicts: [flagged], items: [i-007]}
baseline: single
stability:
  top: [2, 3]
  rarefy: 4
  permutations: 400
  subsets: {good: [aye, dee], others: [bee, cee, eff]}
  equivalence: [[plain, again]]
  contrasts:
    - {name: money against law, of: {categories: money}, against: {categories: law}}
traits:
  aye: {serving: local, family: vowel}
  bee: {serving: direct}
  cee: {serving: direct}
  dee: {serving: routed}
  eff: {serving: routed, family: vowel}
"""


def _item(number: int) -> Item:
    category = _CATEGORIES[number % 4]
    task = f"{category} {number // 4 % 6}"
    name = f"i-{number:03d}"
    if category == "money":
        value = f"{100 + number}.25"
        precise = {"precision": "0.01"} if number % 8 == 2 else {}
        said = {"answer": value, "answer_type": "number", **precise}
    elif category == "law":
        said = {"answer": "yes" if number % 8 == 1 else "no", "answer_type": "boolean"}
    elif category == "places":
        said = {"answer": f"20{10 + number % 20}-0{1 + number % 9}-1{number % 10}", "answer_type": "date"}
    else:
        said = {"answer": f"Opus {number}"}
    window = f"Of matter {number} it is recorded that the answer is {said['answer']}. Nothing else is.\n"
    quote = f"matter {number} it is recorded that the answer is {said['answer']}"
    if number % 9 == 4:  # the quote is not in the window: the audit flags it
        window = f"Of matter {number} nothing at all is recorded here.\nBy: /s/ Jane Doe\n"
    return Item.model_validate(
        {
            "id": name,
            "question": f"What is recorded of matter {number}?",
            "category": category,
            "task": task,
            "window": window,
            "evidence": (Evidence(quote=quote, source=f"{name}.txt"),),
            **said,
        }
    )


def _wrong(item: Item, rng: random.Random) -> str:
    if item.answer_type == "number":
        return rng.choice(
            [item.answer + "1", f"{float(item.answer) + 7:.2f}", f"{float(item.answer) + 9:.2f}"]
        )
    if item.answer_type == "boolean":
        return "no" if item.answer == "yes" else "yes"
    if item.answer_type == "date":
        return rng.choice(["2001-02-03", "1999-12-31"])
    return rng.choice(["Opus", "The sonata", "A song", "I don't know."])


def make_bench(folder: Path, items: int) -> Benchmark:
    """The benchmark with its sources, in `folder`."""
    bench = Benchmark(
        name="matters",
        version="1.0",
        title="Matters",
        licence="CC0-1.0",
        items=tuple(map(_item, range(items))),
    )
    write_benchmark(bench, folder)
    (folder / "sources").mkdir()
    for number, item in enumerate(bench.items):
        text = f"Of matter {number} it is recorded that the answer is {item.answer}. Nothing else is.\n"
        (folder / "sources" / f"{item.id}.txt").write_text(text, encoding="utf-8")
    return bench


def make_study(folder: Path, items: int = 72, samples: int = 10, seed: int = 1) -> Path:
    """The study in `folder`, with its audit and its answers."""
    folder.mkdir(parents=True)
    bench = make_bench(folder / "bench", items)
    document = audit(open_stream(str(folder / "bench")), Sources.of(folder / "bench"), workers=1)
    (folder / "audit.json").write_text(audit_json(document), encoding="utf-8")
    (folder / "study.yaml").write_text(YAML, encoding="utf-8")
    rng = random.Random(seed)
    hard = {item.id: rng.random() for item in bench.items}
    record_all(folder, bench, rng, hard, samples)
    return folder


def record_all(
    folder: Path, bench: Benchmark, rng: random.Random, hard: dict[str, float], samples: int
) -> None:
    """Draw the answers of all configurations and record them."""
    for model, name, skill in (*_CONFIGURATIONS, ("aye", "single", 0.6)):
        answers = []
        for item in bench.items:
            p = 1.0 if hard[item.id] < skill * 0.7 else 0.0 if hard[item.id] > 0.95 else skill
            for sample in range(1 if name == "single" else samples):
                if rng.random() < 0.02:
                    answers.append(RecordedAnswer(item.id, sample, None, failure="timeout"))
                    continue
                text = item.answer if rng.random() < p else _wrong(item, rng)
                answers.append(RecordedAnswer(item.id, sample, text))
        record(folder, model, name, {}, answers)
