"""What a response says outside of its reasoning: after `<think>`, in its final channel, in its own turn."""

from __future__ import annotations

import re

# <think>, [THINK], ◁think▷: models differ in the brackets.
_REASONING = re.compile(
    r"[<◁](/?)(?:seed:)?(?:think|thinking|thought|reasoning)[>▷]|\[(/?)(?-i:THINK)\]", re.IGNORECASE
)
# Where a model's own turn ends, when a server leaves the marker in the text.
_END_OF_TURN = re.compile(
    r"<\|(?:im_end|endoftext|eot_id|end|end_of_text|return|call|eom_id)\|>|</s>|<end_of_turn>|<eos>"
)
# The channels of the harmony format: analysis, commentary, final; and what is left of their marks when a
# server takes the special tokens out of the text.
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_BARE_FINAL = "assistantfinal"
_BARE_ANALYSIS = re.compile(r"\s*analysis(?=[^\sa-z,.:;!?)])")


def outside_reasoning(raw: str) -> tuple[str, str]:
    """What stands outside of reasoning, up to the end of the turn; and why there is nothing, if so.

    >>> outside_reasoning("<think>50?</think>42"), outside_reasoning("<think>50?")
    (('42', ''), ('', 'the reasoning never ends'))
    """
    text, reason = _in_channel(raw)
    if not reason:
        text, reason = _after_reasoning(text)
    end = _END_OF_TURN.search(text)
    return (text[: end.start()] if end else text), reason


def _in_channel(raw: str) -> tuple[str, str]:
    """The last final channel of a response in channels; other responses whole."""
    channels = list(_CHANNEL.finditer(raw))
    if channels:
        finals = [channel for channel in channels if channel[1].lower() == "final"]
        if finals:
            return raw[finals[-1].end() :], ""
        return "", "the reasoning never ends"
    if raw.lstrip().startswith("analysis") and _BARE_FINAL in raw:
        return raw.rpartition(_BARE_FINAL)[2], ""
    if _BARE_ANALYSIS.match(raw):
        return "", "the reasoning never ends"
    return raw, ""


def _after_reasoning(raw: str) -> tuple[str, str]:
    """What stands outside of reasoning: after the last block, or before the first when nothing follows."""
    tags = list(_REASONING.finditer(raw))
    if not tags:
        return raw, ""
    before = "" if _closes(tags[0]) else raw[: tags[0].start()]
    if _closes(tags[-1]):  # the last tag closes: the usual case
        after = raw[tags[-1].end() :]
        return (after if after.strip() else before), ""
    # The last tag opens and never closes: an answer stands between blocks or before them, or there is none.
    closed = [tag for tag in tags if _closes(tag)]
    between = raw[closed[-1].end() : tags[-1].start()] if closed else ""
    outside = between if between.strip() else before
    return outside, "" if outside.strip() else "the reasoning never ends"


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag[1] or tag[2])
