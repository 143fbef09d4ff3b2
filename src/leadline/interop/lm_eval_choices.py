"""Multiple choice in lm-evaluation-harness: which option was the most likely, by the harness' own rules.

A document has one request for each option, and a request is answered by the log-likelihood of its
continuation. The option with the highest one is the answer; `rule` says what is compared, in the names that
the harness gives its metrics: `acc` the log-likelihoods, `acc_norm` per character, `acc_bytes` per byte of
UTF-8, and `acc_mutual_info` less what the option has without the question.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from leadline.errors import UsageError
from leadline.interop.lm_eval_rows import SampleRow
from leadline.interop.lm_eval_templates import listed

Rule = Literal["acc", "acc_norm", "acc_bytes", "acc_mutual_info"]
RULES: tuple[Rule, ...] = get_args(Rule)


def options_of(row: SampleRow, settings: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """The options as the task names them, in its order.

    Where each option is a question of its own (it was put into the text), it is what tells these apart.
    Raises UsageError for a row that measured one text only: that is no choice.
    """
    asked = asked_of(row)
    if len(asked) < 2 or any(len(request) < 2 for request in asked):
        raise UsageError(
            "the likelihood of a text was measured, and nothing was answered",
            where=where,
            fix="name the tasks to import: --task NAME",
        )
    if is_in_question(row):
        return _differing([str(request[0]) for request in asked])
    named = listed(settings.get("doc_to_choice"), row.doc)
    if named and len(named) == len(asked):
        return named
    delimiter = settings.get("target_delimiter", " ")
    texts = [str(request[1]) for request in asked]
    if delimiter and all(text.startswith(delimiter) for text in texts):
        texts = [text[len(delimiter) :] for text in texts]
    return tuple(texts)


def is_in_question(row: SampleRow) -> bool:
    """The options were put into the question, and one continuation was measured after each."""
    asked = asked_of(row)
    return (
        all(len(one) > 1 for one in asked)
        and len({str(one[0]) for one in asked}) > 1
        and len({str(one[1]) for one in asked}) == 1
    )


def asked_of(row: SampleRow) -> tuple[tuple[object, ...], ...]:
    """The requests with a question before the option: the first half where the others are without one."""
    half = len(row.requests) // 2
    if len(row.requests) == 2 * half and half > 1 and all(one[0] == "" for one in row.requests[half:]):
        return row.requests[:half]
    return row.requests


def chosen(row: SampleRow, options: Sequence[str], rule: Rule, where: str) -> tuple[int | None, ...]:
    """The option chosen at each repeat; of equally likely ones the first, as the harness has it.

    None where a likelihood is no number.
    """
    likelihoods = [[_likelihood(answer, where) for answer in repeats] for repeats in row.answers]
    number = len(options)
    if rule == "acc_mutual_info" and len(likelihoods) != 2 * number:
        raise UsageError(
            "acc_mutual_info needs the likelihood of each option without the question",
            where=where,
            fix="it is there only for tasks that have this metric; leave --choice out",
        )
    found: list[int | None] = []
    for repeat in range(min(map(len, likelihoods))):
        values = [likelihoods[at][repeat] for at in range(number)]
        match rule:
            case "acc":
                weighed = values
            case "acc_norm":
                weighed = [_divided(one, len(text)) for one, text in zip(values, options, strict=True)]
            case "acc_bytes":
                weighed = [
                    _divided(one, len(text.encode("utf-8", "surrogatepass")))
                    for one, text in zip(values, options, strict=True)
                ]
            case "acc_mutual_info":
                weighed = [one - likelihoods[number + at][repeat] for at, one in enumerate(values)]
        known = not any(math.isnan(one) for one in weighed)
        found.append(max(range(number), key=lambda at: weighed[at]) if known else None)
    return tuple(found)


def _differing(texts: Sequence[str]) -> tuple[str, ...]:
    """What stands in each text between their common beginning and end, in whole words."""
    start, end = common_words(texts)
    words = [text.split(" ") for text in texts]
    return tuple(" ".join(one[start : len(one) - end]).strip() for one in words)


def common_words(texts: Sequence[str]) -> tuple[int, int]:
    """How many words the texts share at their beginning, and how many at their end; of each one is left."""
    words = [text.split(" ") for text in texts]
    shortest = min(map(len, words))
    start = end = 0
    while start < shortest - 1 and len({one[start] for one in words}) == 1:
        start += 1
    while end < shortest - start - 1 and len({one[len(one) - end - 1] for one in words}) == 1:
        end += 1
    return start, end


def _likelihood(answer: object, where: str) -> float:
    """Of ["-1.25", "False"]: the log-likelihood, and whether greedy decoding would say it."""
    value = answer[0] if isinstance(answer, list | tuple) and answer else answer
    try:
        return float(str(value))
    except ValueError:
        raise UsageError(f"{str(value)[:40]!r} is no log-likelihood", where=where) from None


def _divided(value: float, length: int) -> float:
    return value / length if length else float("-inf")
