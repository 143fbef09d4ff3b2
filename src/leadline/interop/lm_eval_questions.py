"""What was asked and what is right, of a row of samples of lm-evaluation-harness.

A row holds the whole prompt, with description, solved examples and chat template, as this model was shown it.
The question alone is what the task makes of a document, so that two models that were shown it differently
were asked the same. Gold answers are written as text by the harness, whatever they are in the task.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from leadline.errors import UsageError
from leadline.interop.lm_eval_choices import asked_of, common_words, is_in_question
from leadline.interop.lm_eval_rows import SampleRow
from leadline.interop.lm_eval_templates import filled, listed

# What tasks whose question is made by a program call it in their documents, the most telling first.
_QUESTIONS = ("question", "query", "problem", "prompt", "input", "goal", "instruction", "sentence", "text")


def question_of(row: SampleRow, settings: Mapping[str, Any], shots: int) -> str:
    """The question, without solved examples and description; of options put into the text, the text around.

    The settings say it: a field of the document, or a template, which is filled in a sandbox. Where a program
    made it, a field that is called as questions are, if it was shown; else the prompt's last part.
    """
    shown = prompt_of(row)
    said = settings.get("doc_to_text")
    if is_in_question(row):
        return _around(row)
    if isinstance(said, str) and "\n" not in said.strip() and isinstance(row.doc.get(said), str):
        return str(row.doc[said]).strip() or shown
    if (text := filled(said, row.doc).strip()) and text in shown:
        return text
    for name in _QUESTIONS:
        asked = row.doc.get(name)
        if isinstance(asked, str) and asked.strip() and asked.strip() in shown:
            return asked.strip()
    description = settings.get("description")
    if isinstance(description, str) and description.strip():
        shown = shown.removeprefix(description.strip()).strip() or shown
    if shots:
        shown = shown.rsplit(str(settings.get("fewshot_delimiter") or "\n\n"), 1)[-1].strip() or shown
    return shown


def prompt_of(row: SampleRow) -> str:
    """What the model was shown; of a conversation its last turn of the user."""
    given = row.requests[0][0]
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], str):
        given = given[0]  # how a conversation is written that was kept as JSON
    if isinstance(given, str) and given.startswith("["):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return given.strip()
    if isinstance(given, list):
        turns = [one for one in given if isinstance(one, Mapping) and one.get("role") == "user"]
        if turns:
            return _content(turns[-1].get("content")).strip()
    return (given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)).strip()


def golds_of(row: SampleRow, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The right answers to a question that was answered freely; () where the row has none.

    What exact match takes out of both texts before it compares them is taken out here: of the solutions of
    GSM8K, "... #### 18", remains 18.
    """
    target = _typed_target(row, settings)
    options = listed(settings.get("doc_to_choice"), row.doc)
    if options and (at := _index(target, len(options))) is not None:
        target = options[at]
    golds = target if isinstance(target, list | tuple) else [target]
    ignored = _ignored(settings)
    found = (_without(str(gold), ignored).strip() for gold in golds if gold is not None)
    return tuple(dict.fromkeys(gold for gold in found if gold))


def right_options(
    row: SampleRow, settings: Mapping[str, Any], options: Sequence[str], chosen: int, where: str
) -> tuple[int, ...]:
    """The options that are right, as places from 0. `chosen` is what the log's own accuracy judged.

    A number is an option's place, also where options are numbers, unless the document holds it as a text. The
    harness' accuracy decides where the target does not say it. Raises UsageError where neither does.
    """
    judged = row.metrics.get("acc")
    if is_in_question(row):
        said = row.doc.get(str(settings.get("doc_to_text")))
        if (at := _index(said, len(options))) is not None:
            return (at,)
        if judged is not None and (judged == 1 or len(options) == 2):
            return (chosen if judged == 1 else 1 - chosen,)
    target = _typed_target(row, settings)
    field = row.doc.get(str(settings.get("doc_to_target")))
    golds = target if isinstance(target, list | tuple) else [target]
    places = []
    for gold in golds:
        at = _index(gold, len(options))
        text = str(gold).strip()
        texts = [option.strip() for option in options]
        if text in texts and (at is None or isinstance(field, str)):
            at = texts.index(text)
        if at is not None:
            places.append(at)
    if not places:
        raise UsageError(
            f"the target {str(row.target)[:40]!r} is none of the {len(options)} options",
            where=where,
            fix="its results_*.json beside the samples says how the target is meant",
        )
    return tuple(dict.fromkeys(places))


def _typed_target(row: SampleRow, settings: Mapping[str, Any]) -> object:
    """The target as the task has it: the harness writes 2 as "2" and a list as its text in Python."""
    said = settings.get("doc_to_target")
    if isinstance(said, str) and said in row.doc:
        return row.doc[said]
    target = row.target
    if isinstance(target, str) and target[:1] in "[(" and target[-1:] in "])":
        try:
            read = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return target
        if isinstance(read, list | tuple) and all(isinstance(one, str | int) for one in read):
            return read
    return target


def _index(target: object, number: int) -> int | None:
    """A place among `number` options; None for what is none."""
    if isinstance(target, bool):
        return int(target)
    if isinstance(target, str) and target.strip().isdecimal() and len(target) < 6:
        target = int(target)
    return target if isinstance(target, int) and 0 <= target < number else None


def _ignored(settings: Mapping[str, Any]) -> list[re.Pattern[str]]:
    """What exact match does not look at, as far as a task's metrics say so."""
    found: list[re.Pattern[str]] = []
    metrics = settings.get("metric_list")
    for metric in metrics if isinstance(metrics, list) else ():
        said = metric.get("regexes_to_ignore") if isinstance(metric, Mapping) else None
        for pattern in said if isinstance(said, list) else ():
            try:
                found.append(re.compile(str(pattern)))
            except (re.error, OverflowError):
                continue
    return found


def _without(text: str, ignored: Sequence[re.Pattern[str]]) -> str:
    for pattern in ignored:
        text = pattern.sub("", text) or text
    return text


def _around(row: SampleRow) -> str:
    """What the texts of the options have in common, with a gap where the options stand."""
    asked = asked_of(row)
    texts = [str(request[0]) for request in asked]
    start, end = common_words(texts)
    words = texts[0].split(" ")
    return " ".join([*words[:start], "___", *words[len(words) - end :]]).strip() + str(asked[0][1])


def _content(content: object) -> str:
    """The text of a turn, which may be a list of parts."""
    if isinstance(content, list):
        parts = [one.get("text") for one in content if isinstance(one, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return str(content or "")
