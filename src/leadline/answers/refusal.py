"""Recognises responses that decline to answer. English, as the questions are."""

from __future__ import annotations

import re

_SORRY = (
    r"(?:(?:i(?:'m| am) (?:very |so |really )?sorry|sorry|i apologi[sz]e|unfortunately|well|hmm)\b"
    r"[,.!:]?\s*(?:but\s+)?)*"
)
_AS_AN_AI = r"(?:as an? (?:ai|artificial|large language|language)\b[^,.]{0,60},?\s*)?"
_NOT_HAVING = (
    "any |enough |access |the |that |sufficient |specific |real|personal|information|knowledge|an answer"
)
_NOT_DOING = (
    "answer|provide|say|tell|help|assist|determine|recall|find|give|identify|verify|confirm|comply|fulfil"
)
_DOCUMENT = (
    "documents?|texts?|passages?|excerpts?|windows?|context|filings?|information|snippets?|paragraphs?|contracts?"
    "|agreements?|licen[cs]es?|sources?|articles?"
)
_STATING = (
    "specify|state|mention|provide|contain|include|say|disclose|give|indicate|reveal|list|define|address"
)
_STATED = "specified|stated|mentioned|provided|given|disclosed|available|included|indicated|listed|defined"
_FORMS = (
    r"i (?:really |honestly |just |simply )?(?:don't|do not|didn't) (?:know|recall|remember|understand)\b",
    rf"i (?:don't|do not) have (?:{_NOT_HAVING})",
    r"i(?: can't| cannot| can not| could not| couldn't| won't| will not| am unable to|'m unable to)"
    rf" (?:really |accurately |currently )?(?:{_NOT_DOING})",
    r"i(?:'m| am) (?:not (?:sure|certain|able|aware|familiar)|unsure|unable)\b",
    r"i have no (?:idea|knowledge|information|answer|clue)\b",
    r"i (?:must|have to) decline\b",
    r"i(?:'d| would) rather not\b",
    r"(?:there is |there's )?(?:no|not enough|insufficient) information\b",
    r"(?:it|this|that|the answer) (?:is|remains) (?:unknown|not known|unclear|not clear)\b",
    r"(?:(?:it|this|that) )?(?:can't|cannot) be (?:determined|answered)\b",
    rf"(?:the|this|that|your) (?:{_DOCUMENT})(?: (?:provided|given|shown|above))?"
    rf" (?:does not|doesn't|do not|don't|did not|didn't) (?:{_STATING})\b",
    rf"(?:the|this|that) [\w ]{{1,40}} (?:is|are|was|were)(?:n't| not) (?:{_STATED})\b",
    rf"(?:it|this|that) (?:is|was)(?:n't| not) (?:{_STATED})\b",
    r"there is no (?:mention|indication|information|data)\b",
    r"as an? (?:ai|artificial intelligence|(?:large )?language model)\b",
)
_DECLINES = re.compile(_SORRY + "(?:" + "|".join(_AS_AN_AI + form for form in _FORMS) + ")")
_WHOLE = frozenset(
    {
        "unknown", "not known", "unclear", "unsure", "not sure", "im not sure", "idk", "dunno", "no idea",
        "no answer", "na", "not available", "not specified", "not applicable", "not provided", "pass",
        "cannot be determined", "not stated", "not mentioned", "not disclosed", "not given",
        "none of the above", "sorry", "im sorry", "i am sorry", "no comment",
    }
)  # fmt: skip
# After one of these a response that began by declining goes on to answer all the same.
_PROPOSES = re.compile(
    r"\b(?:but|however|maybe|perhaps|possibly|probably|likely|i think|i believe|i(?:'d| would) (?:guess|say)"
    r"|my (?:best )?guess|if i had to|could be|might be|may be)\b"
)


def declines(answer: str) -> bool:
    """True when `answer` (peeled) says that no answer is given, and then gives none.

    "I don't know" declines; "I'm not sure, but I think it is Paris" answers. A hedge ("Perhaps Paris") never
    declines. Looks at the response alone, not at the gold answer.
    """
    text = " ".join(answer[:2000].lower().replace("’", "'").split())
    bare = re.sub(r"[^\w\s/]|/", "", text).strip()
    if bare in _WHOLE:
        return True
    refusal = _DECLINES.match(text.lstrip("\"'*_([ "))
    if refusal is None:
        return False
    rest = text.lstrip("\"'*_([ ")[refusal.end() :]
    return _PROPOSES.search(rest) is None
