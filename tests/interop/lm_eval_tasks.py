"""Tasks of lm-evaluation-harness, as its users write them, on a handful of questions."""

from __future__ import annotations

import json
from pathlib import Path

CAPITALS = [
    ("France", ["Paris"]),
    ("Italy", ["Rome", "Roma"]),
    ("Japan", ["Tokyo"]),
    ("Egypt", ["Cairo"]),
    ("Kenya", ["Nairobi"]),
]
CHOICES = [
    ("Bees make", ["honey", "a great deal of milk", "bread", "steel"], 0),
    ("Cows give", ["wine", "milk", "ink and paper", "glass"], 1),
    ("Snow is", ["white", "purple with green dots", "hot", "loud"], 0),
    ("Fish live in", ["a pocket", "trees", "water", "books"], 2),
    ("The sun is", ["a star", "a kind of fish", "a number", "cold"], 0),
]
PRONOUNS = [
    ("The cup did not fit into the box because the _ was too large.", "cup", "box", "1"),
    ("The cup did not fit into the box because the _ was too small.", "cup", "box", "2"),
    ("Ann thanked Mary because _ had helped.", "Ann", "Mary", "2"),
]
SUMS = [("What is 2 plus 3?", "2 plus 3 is 5. #### 5"), ("What is 600 times 2?", "It doubles. #### 1,200")]

_DATA = """
dataset_path: json
dataset_kwargs:
  data_files: {{test: {data}}}
  cache_dir: {cache}
test_split: test
"""
_TASKS = {
    # Answers in a list, two filters, several repeats that are drawn, a template.
    "capitals": """
task: capitals
output_type: generate_until
doc_to_text: "The capital of {{{{country}}}} is"
doc_to_target: names
repeats: 3
generation_kwargs: {{until: [".", ",", "\\n"], max_gen_toks: 4, do_sample: true, temperature: 0.8}}
filter_list:
  - name: whole
    filter: [{{function: take_first}}]
  - name: name
    filter:
      - {{function: regex, regex_pattern: "([A-Z][a-z]+)", group_select: -1}}
      - {{function: take_first}}
metric_list: [{{metric: exact_match, ignore_case: true, ignore_punctuation: true}}]
""",
    # As GSM8K: what is right stands at the end of a solution.
    "sums": """
task: sums
output_type: generate_until
doc_to_text: "{{{{question}}}}\\nAnswer:"
doc_to_target: "{{{{solution}}}}"
generation_kwargs: {{until: ["\\n"], max_gen_toks: 6, do_sample: false}}
metric_list:
  - {{metric: exact_match, ignore_case: true, regexes_to_ignore: [",", "(?s).*#### "]}}
""",
    "choices": """
task: choices
output_type: multiple_choice
doc_to_text: "{{{{beginning}}}}"
doc_to_choice: "{{{{endings}}}}"
doc_to_target: "{{{{label}}}}"
metric_list: [{{metric: acc}}, {{metric: acc_norm}}, {{metric: acc_bytes}}]
""",
    "weighed": """
task: weighed
output_type: multiple_choice
doc_to_text: beginning
doc_to_choice: endings
doc_to_target: label
metric_list: [{{metric: acc}}, {{metric: acc_mutual_info}}]
""",
    # As WinoGrande: the options stand in the text, functions of Python make it.
    "pronouns": """
task: pronouns
output_type: multiple_choice
doc_to_text: !function pronouns.place_of
doc_to_choice: !function pronouns.contexts
doc_to_target: !function pronouns.ending
metric_list: [{{metric: acc}}]
""",
    "whole": """
task: whole
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{{{beginning}}}}"
metric_list: [{{metric: word_perplexity}}]
""",
}
_FUNCTIONS = """
def contexts(doc):
    at = doc["sentence"].index("_")
    return [doc["sentence"][:at] + doc[name] for name in ("first", "second")]

def place_of(doc):
    return {"1": 0, "2": 1}[doc["right"]]

def ending(doc):
    return doc["sentence"][doc["sentence"].index("_") + 1 :].strip()
"""
_GROUP = "group: everyday\ntask: [choices, pronouns]\n"
_SOURCES = {"weighed": "choices", "whole": "choices"}


def write_tasks(folder: Path) -> Path:
    """The folder for `--include_path`, with its data beside it."""
    tasks = folder / "tasks"
    tasks.mkdir(parents=True)
    rows: dict[str, list[dict[str, object]]] = {
        "capitals": [{"country": country, "names": names} for country, names in CAPITALS],
        "sums": [{"question": question, "solution": solution} for question, solution in SUMS],
        "choices": [{"beginning": text, "endings": ends, "label": at} for text, ends, at in CHOICES],
        "pronouns": [
            {"sentence": text, "first": first, "second": second, "right": right}
            for text, first, second, right in PRONOUNS
        ],
    }
    for name, docs in rows.items():
        lines = (json.dumps(doc, ensure_ascii=False) + "\n" for doc in docs)
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    for name, text in _TASKS.items():
        data = folder / f"{_SOURCES.get(name, name)}.jsonl"
        values = {"data": data, "cache": folder / "cache"}
        (tasks / f"{name}.yaml").write_text((_DATA + text).format(**values), encoding="utf-8")
    (tasks / "pronouns.py").write_text(_FUNCTIONS, encoding="utf-8")
    (tasks / "everyday.yaml").write_text(_GROUP, encoding="utf-8")
    return tasks
