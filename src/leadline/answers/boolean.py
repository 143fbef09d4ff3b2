"""Reads answers that are yes or no, true or false: the value is "true" or "false".

Negations in prose count ("that is not correct"). A response that says both is unreadable, unless it marks its
answer (see `choice`).
"""

from __future__ import annotations

from functools import lru_cache

from leadline.answers.choice import ALONE, OPEN, choose
from leadline.answers.hedges import hedge
from leadline.answers.opening import MARKS, opened
from leadline.answers.peel import unwrap
from leadline.answers.reading import Reading, State
from leadline.answers.refusal import declines
from leadline.answers.yes_no import find_yes_no
from leadline.bench.item import Item


def read(item: Item, raw: str) -> Reading:
    """Read one response. Total: every text has a reading, and none raises.

    >>> item = Item(id="1", question="Is it consistent?", answer="no", answer_type="boolean")
    >>> read(item, "That is not correct.").value, read(item, "Yes and no.").reason
    ('false', 'both yes and no')
    """
    text = opened(item, raw, "no yes or no")
    if isinstance(text, Reading):
        return text
    found = list(find_yes_no(text))
    if not found:
        return Reading(State.REFUSED) if declines(text) else Reading(State.UNREADABLE, reason="no yes or no")
    several = "both yes and no"
    chosen = choose(
        text, found, lambda one, other: found[one].value == found[other].value, several=several, lead=ALONE
    )
    if declines(text) and not chosen.rule.startswith(("marked by", "first after")):
        return Reading(State.REFUSED)
    if chosen.at < 0:
        return Reading(State.UNREADABLE, reason=several if chosen.reason == OPEN else chosen.reason)
    said = found[chosen.at]
    value = "true" if said.value else "false"
    hedged = hedge(text)
    correct = value in _gold(item.valid_answers)
    return Reading(
        State.OK,
        value=value,
        correct=correct,
        correct_strict=correct and not hedged,
        leads=raw.lstrip(MARKS).lower().startswith(text[said.start : said.end].lower()),
        notes=(*([chosen.rule] if chosen.rule else []), *([f"hedged: {hedged}"] if hedged else [])),
    )


@lru_cache(maxsize=4096)
def _gold(answers: tuple[str, ...]) -> frozenset[str]:
    said = [list(find_yes_no(unwrap(answer).text)) for answer in answers]
    return frozenset("true" if found[0].value else "false" for found in said if found)
