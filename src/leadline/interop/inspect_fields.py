"""What one sample of a log of Inspect says: the question that was asked, and the answer that was given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from leadline.interop.inspect_samples import restored
from leadline.interop.log_benchmark import OURS
from leadline.interop.logs import LoggedAnswer, LoggedItem

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage
    from inspect_ai.scorer import Score

# Why texts end, as Inspect tells it and as we do.
FINISH = {
    "stop": "stop",
    "tool_calls": "stop",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
}
# Limits that cut an answer off, of those that end a sample.
_LENGTHS = ("token", "context")
# How samples end that were being asked when their run was.
_CANCELLED = "CancelledError("
# An answer to options that a solver had shuffled, with the letters that they had before.
_PUT_BACK = re.compile(r"ANSWER: [A-Z0-9]+(, [A-Z0-9]+)*")
_SHOWN = "Choices were shuffled before generating a response, the following was sent to the model:"
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def item_of(sample: EvalSample, where: str, form: Mapping[str, Any] | None = None) -> LoggedItem:
    """The question of a sample, its targets and its options. `form` says how answers are read where the
    sample itself does not: the arguments of our scorer."""
    target = sample.target
    golds = (target,) if isinstance(target, str) else tuple(target)
    attachments = sample.attachments
    return LoggedItem(
        id=str(sample.id),
        question=_question(sample.input, attachments),
        golds=tuple(restored(gold, attachments) for gold in golds),
        choices=tuple(restored(choice, attachments) for choice in sample.choices or ()),
        metadata=sample.metadata
        if form is None or OURS in sample.metadata
        else {**sample.metadata, OURS: form},
        where=where,
    )


def answer_of(sample: EvalSample, where: str, *, shuffles: bool = False) -> LoggedAnswer:
    """The answer of a sample; one that ended in an error, or that a limit ended before it had any, failed.

    With `shuffles` the solver shuffled the options of each sample by itself, and gave its answers the letters
    of the order before, as far as it found a letter in them.
    """
    item, number = str(sample.id), sample.epoch - 1
    output = sample.output
    if sample.error is not None:
        message = sample.error.message or "error"
        if message.startswith(_CANCELLED):
            message = "the run was cancelled while this was asked"
            return LoggedAnswer(item, number, None, "cancelled", message, where=where)
        return LoggedAnswer(item, number, None, "error", message, where=where)
    if sample.invalidation is not None:
        return LoggedAnswer(item, number, None, "invalidated", "the sample was invalidated", where=where)
    if not output.choices and not output.completion:
        if output.error:
            return LoggedAnswer(item, number, None, "error", output.error, where=where)
        if sample.limit is not None and sample.limit.type not in _LENGTHS:
            message = f"ended by the {sample.limit.type} limit ({sample.limit.limit:g})"
            return LoggedAnswer(item, number, None, "limit", message, where=where)
    finish = FINISH.get(output.choices[0].stop_reason, "") if output.choices else ""
    if sample.limit is not None and sample.limit.type in _LENGTHS:
        finish = "length"
    usage = output.usage
    text = restored(output.completion, sample.attachments)
    choices = tuple(restored(choice, sample.attachments) for choice in sample.choices or ())
    if shuffles and choices and text.strip() and not _PUT_BACK.fullmatch(text):
        shown = _shuffled(sample, choices)
        if shown is None:
            message = "the solver shuffled the options, and the log does not say how they were shown"
            return LoggedAnswer(item, number, None, "unknown_order", message, where=where)
        choices = shown
    return LoggedAnswer(
        item=item,
        sample=number,
        text=text,
        finish=finish,
        where=where,
        scores=_scores(sample.scores or {}),
        tokens_in=usage.input_tokens if usage else 0,
        tokens_out=usage.output_tokens if usage else 0,
        choices=choices,
    )


def other_content(sample: EvalSample) -> bool:
    """Whether there is more in a question than text: an image, a recording, a document."""
    if isinstance(sample.input, str):
        return False
    return any(
        part.type not in ("text", "reasoning")
        for turn in sample.input
        if not isinstance(turn.content, str)
        for part in turn.content
    )


def _shuffled(sample: EvalSample, choices: tuple[str, ...]) -> tuple[str, ...] | None:
    """The options as a solver that shuffles them has shown them: the scorer of Inspect tells it."""
    for score in (sample.scores or {}).values():
        said = restored(score.explanation or "", sample.attachments)
        if not said.startswith(_SHOWN):
            continue
        rest = said.removeprefix(_SHOWN).lstrip()
        left, order = list(choices), []
        for letter in ascii_uppercase[: len(choices)]:
            shown = [text for text in left if rest.startswith(f"{letter}) {text}\n")]
            if not shown:
                break
            order.append(max(shown, key=len))
            left.remove(order[-1])
            rest = rest.removeprefix(f"{letter}) {order[-1]}\n")
        if not left:
            return tuple(order)
    return None


def _question(asked: str | Sequence[ChatMessage], attachments: Mapping[str, str]) -> str:
    """The text of a question: of a single message as it is, of several with who says it.

    System messages are how it was asked, not what, unless there is nothing else.
    """
    if isinstance(asked, str):
        return restored(asked, attachments)
    turns: list[ChatMessage] = [turn for turn in asked if turn.role != "system"]
    turns = turns or list(asked)
    if len(turns) == 1:
        return _text(turns[0], attachments)
    return "\n\n".join(f"{turn.role.capitalize()}: {_text(turn, attachments)}" for turn in turns)


def _text(turn: ChatMessage, attachments: Mapping[str, str]) -> str:
    if isinstance(turn.content, str):
        return restored(turn.content, attachments)
    parts = [
        restored(part.text, attachments) if part.type == "text" else f"[{part.type}]"
        for part in turn.content
        if part.type != "reasoning"
    ]
    return "\n".join(parts)


def _scores(scores: Mapping[str, Score]) -> dict[str, float]:
    """What scorers gave, as numbers; what is neither a grade nor a number is left out."""
    found = {}
    for name, score in scores.items():
        value = score.value
        if isinstance(value, str) and value in _GRADES:
            found[name] = _GRADES[value]
        elif isinstance(value, (bool, int, float)) and value == value:  # noqa: PLR0124  (not a number is no score)
            found[name] = float(value)
    return found
