"""A study of recorded answers that has all that an export must carry: two models, failed calls, answers that
were cut off, odd texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from leadline.study.new import recorded_study
from leadline.study.recording import RecordedAnswer, record

ITEMS: list[dict[str, Any]] = [
    {"id": "eu/vienna", "question": "Which river flows through Vienna?", "answer": "Danube",
     "aliases": ["Donau"], "category": "east", "task": "rivers",
     "evidence": [{"quote": "Vienna lies on the Danube.", "source": "atlas"}]},
    {"id": "price", "question": "What does it cost?", "answer": "1250000", "answer_type": "number",
     "unit": "USD", "precision": "1000", "window": "It costs about 1.25 million dollars.",
     "category": "west", "task": "prices"},
    {"id": "=1+1", "question": "Is it <b>open</b>?", "answer": "yes", "answer_type": "boolean",
     "category": "west", "task": "doors"},
    {"id": "colour", "question": "Which colour?", "answer": "red", "answer_type": "enum",
     "vocabulary": {"red": ["crimson"], "green": []}, "category": "east", "task": "colours"},
    {"id": "when", "question": "When, {{ 7 * 7 }} days later?", "answer": "2020-02-01", "answer_type": "date",
     "date_order": "dmy", "category": "east", "task": "dates"},
    {"id": "deal", "question": "Who paid what?", "answer": '{"who": "Ann", "sum": "12"}',
     "answer_type": "parts",
     "fields": [{"name": "who"}, {"name": "sum", "answer_type": "number", "unit": "USD"}],
     "category": "west", "task": "deals"},
]  # fmt: skip
# What each configuration says, item by item, sample by sample.
SAID: dict[tuple[str, str], list[list[str]]] = {
    ("small", "plain"): [
        ["Danube", "Danube", "Rhine"],
        ["$1.25 million", "1,250,200 USD", "-5"],
        ["=HYPERLINK(\"http://x\")", "+yes", "yes"],
        ["red", "'crimson", "\tgreen"],
        ["1 February 2020", "", "no idea, \"really\",\r\nnone"],
        ['{"who": "Ann", "sum": 12}', "{}", "12"],
    ],
    ("large", "plain"): [
        ["The Donau.", "Danube", "Danube"],
        ["1250000", "1250000", "1.2 million"],
        ["yes", "yes", "yes"],
        ["red", "red", "red"],
        ["2020-02-01", "1/2/2020", "@SUM(1)"],
        ['{"who": "Ann", "sum": 12}'] * 3,
    ],
    ("large", "step by step"): [
        ["Danube \N{CHART WITH UPWARDS TREND}", "  Danube", "Donau\u2028"],
        ["12", "12", "12"],
        ["no", "no\x00", "no"],
        ["red", "blue", "red"],
        ["2020-02-01"] * 3,
        ["Ann", "Ann", "Ann"],
    ],
}  # fmt: skip


def write_benchmark(folder: Path) -> Path:
    """The items, as a benchmark."""
    folder.mkdir(parents=True)
    (folder / "benchmark.yaml").write_text(
        'name: odds and ends\nversion: "2"\nlicence: CC-BY-4.0\ndescription: "A <script> of items."\n',
        "utf-8",
    )
    lines = (json.dumps(item, ensure_ascii=False) + "\n" for item in ITEMS)
    (folder / "items.jsonl").write_text("".join(lines), "utf-8")
    return folder


def write_study(folder: Path, baseline: str = "plain") -> Path:
    """The study `folder`/study of the benchmark `folder`/bench."""
    bench = write_benchmark(folder / "bench")
    recorded_study(folder / "study", str(bench), baseline)
    for (model, name), said in SAID.items():
        answers = [
            _answer(str(item["id"]), sample, text, model)
            for item, texts in zip(ITEMS, said, strict=True)
            for sample, text in enumerate(texts)
        ]
        about = {"serving": "routed", "family": "F"} if model == "large" else {}
        record(folder / "study", model, name, about, answers)
    return folder / "study"


def _answer(item: str, sample: int, text: str, model: str) -> RecordedAnswer:
    if text == "no\x00":
        return RecordedAnswer(item, sample, None, "timeout", "", "no answer within\n120 s, =1")
    if model == "small":
        finish = "length" if text in ("", "12") else "content_filter" if text == "Rhine" else "stop"
        return RecordedAnswer(
            item, sample, text, finish=finish, tokens_in=10 + sample, tokens_out=len(text) + 1
        )
    return RecordedAnswer(item, sample, text)
