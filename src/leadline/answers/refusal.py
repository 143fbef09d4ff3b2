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
    "|calculate|infer|establish|compute|derive"
)
_DOCUMENT = (
    "documents?|texts?|passages?|excerpts?|windows?|context|filings?|information|snippets?|paragraphs?|contracts?"
    "|agreements?|licen[cs]es?|sources?|articles?|sections?|extracts?"
)
_STATING = (
    "specify|state|mention|provide|contain|include|say|disclose|give|indicate|reveal|list|define|address"
)
_STATED = (
    "specified|stated|mentioned|provided|given|disclosed|available|included|indicated|listed|defined|found"
    "|reported|shown"
)
_PLAINLY = r"(?:(?:explicitly|specifically|directly|clearly|expressly|anywhere) )?"
# "the provided text", "this excerpt of the lease"
_THE_DOCUMENT = (
    rf"(?:the|this|that|your) (?:(?:provided|given|available|supplied|quoted|above|present|entire) )?"
    rf"(?:{_DOCUMENT})(?: (?:provided|given|shown|above|itself))?"
)
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
    r"(?:(?:it|this|that|the [\w ]{1,40}?) )?(?:can't|cannot|can not|could not) be"
    r" (?:determined|answered|inferred|established|calculated|derived)\b",
    rf"(?:it is |it's )?(?:unable|impossible|not possible) to (?:{_NOT_DOING})\b",
    rf"{_THE_DOCUMENT} (?:does not|doesn't|do not|don't|did not|didn't) {_PLAINLY}(?:{_STATING})\b"
    r"(?! (?:exactly |about )?[\d$€£\"“])",
    # "only says that there are three offices, not how many employees"
    rf"{_THE_DOCUMENT} (?:only|merely|just) (?:{_STATING})s?\b[^.]{{1,120}}?"
    r", (?:but )?not (?:how|what|when|whether|the|a)\b",
    rf"(?:the|this|that) [\w ]{{1,40}} (?:is|are|was|were)(?:n't| not) {_PLAINLY}(?:{_STATED})\b",
    rf"(?:it|this|that) (?:is|was)(?:n't| not) {_PLAINLY}(?:{_STATED})\b",
    rf"not {_PLAINLY}(?:{_STATED}) (?:in|by|anywhere|here|within|from)\b",
    r"no (?!fewer|less|more|later|earlier|other)[\w ]{1,60}? (?:is|are|was|were|has been|have been)"
    rf" {_PLAINLY}(?:{_STATED}|made)\b",
    r"(?:there is |there's )?no (?:mention|indication|reference|information|data)\b",
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
# A turn within the sentence that declines, or at the beginning of a later one.
_TURNS = re.compile(r"\b(?:but|however|although|though)\b|(?<=[.!?] )(?:still|nevertheless|nonetheless)\b")
# After one of these a response that began by declining goes on to answer all the same.
_PROPOSES = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|likely|i think|i believe"
    r"|i(?:'d| would) (?:guess|say|estimate|assume)"
    r"|i (?:guess|estimate|assume)|(?:my|a|an|the) (?:best |rough |reasonable )?(?:guess|estimate)"
    r"|if i had to|could be|might be|may be"
    r"|(?:it|this|that|which) (?:can|could|may) be (?:calculated|inferred|derived|computed"
    r"|determined|estimated)"
    r"|(?:the|my) (?:final )?answer(?: is|:)|final answer|so it is|we (?:can|get))\b"
)
# What a response that declines says of other things: "it only mentions 3 offices", "the rest is not given".
_OF_OTHERS = re.compile(
    rf"\b(?:only|merely|just)\s+(?:{_STATING})s?\b"
    r"|\b(?:mention|state|list|give)s?(?: that)? (?:only|just|merely)\b"
    rf"|\b(?:is|are|was|were)(?:n't| not) {_PLAINLY}(?:{_STATED})\b"
    r"|\b(?:is|are|was|were) (?:mentioned|listed|given|stated)\b"
    rf"|\b(?:it|they|the (?:{_DOCUMENT})) (?:does |do |also )?"
    r"(?:mention|list|refer|provide|contain|include)s?\b"
)
_ENDS = re.compile(r"[.!?](?=\s|\Z)")


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
    if _PROPOSES.search(rest):
        return False
    return not any(_answers_after(rest, turn) for turn in _TURNS.finditer(rest))


def _answers_after(text: str, turn: re.Match[str]) -> bool:
    """What follows "but" in its sentence is neither another refusal nor about other things.

    A turn within a later sentence turns against that one.
    """
    earlier = list(_ENDS.finditer(text, 0, turn.start()))
    if earlier and text[earlier[-1].end() : turn.start()].strip():
        return False
    end = _ENDS.search(text, turn.end())
    sentence = text[turn.end() : end.start() if end else len(text)]
    return not _OF_OTHERS.search(sentence) and _DECLINES.match(sentence.strip(" ,")) is None
