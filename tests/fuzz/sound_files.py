"""Sound files of the kinds that people write: what is broken in the tests begins as one of these."""

from __future__ import annotations

from typing import Any

HEADER = b'name: small\nversion: "1"\nitems: items.jsonl\n'
ITEMS: tuple[dict[str, Any], ...] = (
    {
        "id": "1",
        "question": "Where?",
        "answer": "Bonn",
        "aliases": ["Bonn am Rhein"],
        "category": "places",
        "task": "t",
    },
    {
        "id": "2",
        "question": "How many?",
        "answer": 0.10,
        "answer_type": "number",
        "unit": "USD",
        "window": "It is $0.10.",
    },
    {
        "id": "3",
        "question": "When?",
        "answer": "1989-02",
        "answer_type": "date",
        "evidence": [{"quote": "in 1989"}],
    },
    {"id": "4", "question": "Which?", "answer": "red", "answer_type": "enum", "vocabulary": ["red", "blue"]},
    {
        "id": "5",
        "question": "Both?",
        "answer": {"rate": 7, "capped": True},
        "answer_type": "parts",
        "fields": [{"name": "rate", "answer_type": "number"}, {"name": "capped", "answer_type": "boolean"}],
    },
    {
        "id": "6",
        "question": "Is it?",
        "answer": True,
        "answer_type": "boolean",
        "window_file": "w.txt",
        "source": "a.txt",
    },
    {
        "id": "7",
        "question": "So?",
        "answer": "x",
        "prompt": "Say it. {{ question }}",
        "quote": ["a", "b"],
        "subject": "s",
    },
)
TASKS = (
    b'name: small\nversion: "1"\ntitle: Small\nkind: facts\nlicence: CC0-1.0\ndata_statement: README.md\n'
    b"category_name: sort\n"
    b"items: items.jsonl\ntasks:\n  - name: t\n    category: c\n    answer_type: number\n    unit: day\n"
    b'    question: "How long?"\n  - {name: u, answer_type: enum, vocabulary: [yes, no], precision: 0.10}\n'
)
COLUMNS = (
    b'name: small\nversion: "1"\nitems: items.csv\nformat: csv\n'
    b"columns: {id: key, question: Q, answer: gold}\n"
)
CARD = (
    b"---\npretty_name: Small\nlicense: [cc0-1.0, mit]\nconfigs:\n- config_name: default\n  data_files:\n"
    b"  - split: train\n    path: items*.jsonl\n  - split: test\n"
    b"    path: [b.jsonl, '**/c.jsonl']\n---\n# Small\nText.\n"
)
SQUAD = {
    "data": [
        {
            "title": "A",
            "paragraphs": [
                {
                    "context": "It is red.",
                    "qas": [
                        {
                            "id": "q1",
                            "question": "What is it? ",
                            "answers": [{"text": "red", "answer_start": 6}],
                        },
                        {"id": "q2", "question": "Where?", "answers": [], "is_impossible": True},
                    ],
                }
            ],
        }
    ]
}
FLAT = [
    {key: str(value) for key, value in item.items() if key in ("id", "question", "answer")} for item in ITEMS
]
PAGE = (
    b"<!DOCTYPE html><html><head><meta charset=utf-8><title>T</title><style>p {}</style>"
    b"</head><body><h1>One</h1>"
    b"<p>un<b>bro</b>ken &amp; caf&eacute;<sup>2</sup><table><tr><td>EV<td>$&nbsp;5</table><pre>a\n  b</pre>"
    b"<script>x</script><!-- c --></body></html>"
)
XML = (
    b'<?xml version="1.0" encoding="utf-8"?>\n'
    b'<a xmlns="u:x"><n>1</n><p>un<i>bro</i>ken &amp;<![CDATA[<x>]]></p></a>\n'
)
SUBMISSION = (
    b"<SEC-DOCUMENT>0000-1.txt : 20200101\n<SEC-HEADER>x\n</SEC-HEADER>\n<DOCUMENT>\n<TYPE>8-K\n<SEQUENCE>1\n"
    b"<FILENAME>a.htm\n<TEXT>\n<html><p>One</p></html>\n</TEXT>\n</DOCUMENT>\n</SEC-DOCUMENT>\n"
)


STABILITY = b"""name: s
benchmark: facts
models: [smollm2]
techniques: [{technique: recite, paths: 5}, genread]
sampling: {temperatures: [0.7], vote: 4}
beyond_sampling: {k: 20, sweep: 20}
again: {times: 10, temperature: 0.7}
exclude: {audit: audit.json, verdicts: [flagged]}
items: {limit: 12, categories: [a]}
traits: {smollm2: {family: llama}}
stability: {sameness: own}
"""
DRAFT = b"""title: Steady enough
hypothesis: |
  it is small
statistic: wobble
below: 0.5
decided_by: interval
sameness: rounding
minimum_items: 3
exclusions: [none, "two"]
items: ["1", "2"]
"""
PLAN = b"""name: facts-2022
version: "1.0"
seed: 0
articles: {dump: "enwiki-*.xml*.bz2", date: 2022-03-01, language: en, min_words: 100}
extract: {method: rebel, model: Babelscape/rebel-large}
link: {page: a.sql.gz, page_props: b.sql.gz, redirect: c.sql.gz}
wikidata: {dump: w.json.gz, date: 2022-03-01}
filter:
  domain: {unmapped: drop}
  overlap: stems
  literals: [date]
  ended: out
  relevance: {model: "inspect:openai/gpt-4o-mini", samples: 5}
frequency: {pageviews: "p-2021*-user.bz2", start: 2021-03, end: 2022-02}
cap: {per_relation: 300}
presence: {corpus: "olmo-mix/**/*.jsonl.zst", keep: exact}
"""
READ_TABLE = b"""readings:
  - type: number
    unit: USD
    rows:
      - {text: about $1.25M (rounded), value: 1250000}
      - {text: none, state: unreadable}
sameness:
  - {type: number, first: "0.10", second: 10%, exact: true}
"""
