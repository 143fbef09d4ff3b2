"""Inspect scorer `leadline/reading`: what an answer says, by the item's answer type, and whether it is right.

How an item's answers are read (numbers with units, dates, labels with synonyms, ...) stands in the sample's
metadata under "leadline", as in a benchmark's file. Where it does not, the scorer's own arguments hold for
all samples:

    inspect score log.eval --scorer leadline/reading -S answer_type=number -S unit=percent

What the sample or the scorer does not say is taken from the sample itself: its id, its input, its targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast, get_args

from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from leadline.bench.problem import shortened
from leadline.errors import UsageError
from leadline.interop.inspect_faults import as_prerequisite
from leadline.interop.inspect_metrics import accuracy_wilson
from leadline.interop.log_ids import held, told

if TYPE_CHECKING:
    from leadline.bench import Item
    from leadline.lenses.protocol import Sameness

KEY = "leadline"
# What the reducers need to know of an item.
_FORM = ("answer_type", "precision", "fields")
# Inspect's reasons to stop, as a study has them: cut off, or kept back by a filter.
FINISH = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}
CORRECTNESS = ("maple", "words")


@scorer(metrics=[accuracy_wilson()])
def reading(
    answer_type: str = "text", correctness: str = "maple", sameness: str = "own", **form: Any
) -> Scorer:
    """Read each answer by its item's answer type; "C" where it is right, else "I".

    `correctness` ("maple", "words") and `sameness` ("own", "exact", "declared", "rounding") are rules for all
    samples, as in a study. `answer_type` and `form` (unit, precision, locale, date_order, vocabulary, ...)
    hold where a sample says nothing of its own; without them, options of a sample are read by letter or text,
    as an import reads them. The score's `answer` is the value that was read, None where
    none was; its metadata say why, under "leadline": `state` (ok, empty, unreadable, refused, truncated),
    `value`, `printed` (a number's digits), `correct_strict`, `reason`. A wrong argument, and a sample that
    describes no item, are faults of one line that name it.
    """
    given = {"answer_type": answer_type, **form}
    with as_prerequisite():
        _check_rules(correctness, sameness)
        _try(given)

    async def score(state: TaskState, target: Target) -> Score:
        described = (state.metadata or {}).get(KEY)
        with as_prerequisite():
            if described is not None and not isinstance(described, Mapping):
                raise UsageError(
                    f"metadata[{KEY!r}] is not an object",
                    where=f"sample {told(state.sample_id)}",
                    fix="item fields",
                )
            name, golds = held(str(state.sample_id)), list(target)
            if described is None and state.choices and given == {"answer_type": "text"}:
                item = _chosen(name, state.input_text, golds, tuple(one.value for one in state.choices))
            else:
                item = item_of(given if described is None else described, name, state.input_text, golds)
        output = state.output
        return scored(item, output.completion, str(output.stop_reason), correctness == "words", sameness)

    return score


def scored(item: Item, text: str, stop_reason: str, words: bool = False, sameness: str = "own") -> Score:
    """The score of one answer to `item`, by the rules of `reading`."""
    from leadline.study.judging import reading_of

    finish = FINISH.get(stop_reason, "stop")
    rule = cast("Sameness", sameness)
    found = reading_of(item, text, words=words, rule=rule, finish=finish)
    form = item.model_dump(mode="json", include=set(_FORM), exclude_defaults=True)
    told = {
        "state": found.state.value,
        "value": found.value,
        "printed": found.number,
        "correct_strict": found.correct_strict,
        "reason": found.reason,
        "form": form if sameness == "own" else {**form, "sameness": sameness},
    }
    why = f"{found.state.value}: {found.reason}" if found.reason else found.state.value
    return Score(
        value=CORRECT if found.correct else INCORRECT,
        answer=found.value,
        explanation="; ".join(found.notes) if found.value is not None and found.notes else why,
        metadata={KEY: told},
    )


def item_of(fields: Mapping[str, Any], name: str, question: str, golds: list[str]) -> Item:
    """The item that `fields` describe; what they leave out is taken from the sample.

    Raises UsageError, which names the sample and the field, where they describe none.
    """
    from pydantic import ValidationError

    from leadline.bench import Item
    from leadline.bench.complaint import complaint
    from leadline.bench.item import ITEM_KEYS
    from leadline.bench.problem import did_you_mean
    from leadline.study.judging import gold_fault

    where = f"sample {told(name)}"
    if unknown := sorted(fields.keys() - set(ITEM_KEYS)):
        hint = did_you_mean(unknown[0], ITEM_KEYS, otherwise=f"fields: {', '.join(ITEM_KEYS)}")
        raise UsageError(f"an item has no field {unknown[0]!r}", where=where, fix=hint)
    taken: dict[str, Any] = {"id": held(name), "question": question}
    if not fields.get("answer"):
        named = [gold for gold in golds if gold.strip()]
        if not named:
            raise UsageError(
                "there is no target to compare with", where=where, fix="give the sample a target"
            )
        taken |= {"answer": named[0], "aliases": tuple(named[1:])}
    try:
        item = Item(**{**taken, **{key: value for key, value in fields.items() if value is not None}})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what, fix = complaint(first)
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{place} {what}", where=where, fix=fix) from None
    if item.answer_type == "enum":
        _check_vocabulary(item.vocabulary, where)
    if fault := gold_fault(item):
        what = f"the gold answer is not of its type, {item.answer_type}: {fault}"
        raise UsageError(what, where=where, fix="correct the target, or answer_type")
    return item


def _chosen(name: str, question: str, golds: list[str], choices: tuple[str, ...]) -> Item:
    """A question with options. "A" stands in most answers: a letter is no text to be looked for."""
    from pydantic import ValidationError

    from leadline.interop.log_benchmark import item_of as logged_item
    from leadline.interop.logs import LoggedItem

    where = f"sample {told(name)}"
    try:
        item = logged_item(LoggedItem(name, question, tuple(golds), choices), held(name), "")
        if item.answer_type != "enum":
            raise UsageError(
                f"its target {shortened(', '.join(golds))} is none of its {len(choices)} options",
                where=where,
                fix="a target is the letter of an option, or its text",
            )
        return item
    except ValidationError:
        raise UsageError(
            "its options and its target are no question of ours",
            where=where,
            fix="say how it is read: metadata['leadline']",
        ) from None


def _check_rules(correctness: str, sameness: str) -> None:
    from leadline.lenses.protocol import Sameness

    for name, said, known in (
        ("correctness", correctness, CORRECTNESS),
        ("sameness", sameness, get_args(Sameness)),
    ):
        if said not in known:
            raise UsageError(f"reading: {name} is not {said!r}", fix=f"one of: {', '.join(known)}")


def _check_vocabulary(said: object, where: str) -> None:
    if not said:
        raise UsageError(
            "answers of type enum are words of a vocabulary, and none is given",
            where=where,
            fix="vocabulary: the words, or each with its synonyms",
        )


def _try(given: Mapping[str, Any]) -> None:
    """A wrong argument is said before anybody asks: these make an item of some answer."""
    examples = {"boolean": "yes", "date": "2020-01-01", "number": "1"}
    if given["answer_type"] == "enum":
        _check_vocabulary(given.get("vocabulary"), "(the scorer's arguments)")
    if given["answer_type"] in ("enum", "parts"):  # whose gold answers hang on more than the type
        given = {**given, "answer_type": "text"}
    item_of(given, "(the scorer's arguments)", "?", [examples.get(str(given["answer_type"]), "-")])
