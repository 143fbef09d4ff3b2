"""What a response says: derived from raw text, never stored as truth, so that a better reader re-reads it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What became of asking once."""

    OK = "ok"
    EMPTY = "empty"  # nothing but blanks and markup
    UNREADABLE = "unreadable"  # text, but no answer of the item's type in it; `reason` says why
    REFUSED = "refused"  # the model says that it does not know or will not say, or is kept from saying it
    TRUNCATED = "truncated"  # it was cut off at its longest before anything readable came
    ERROR = "error"  # the call failed, there is no response; `reason` is its kind


@dataclass(frozen=True)
class Reading:
    """One response, read.

    `value` is the answer in the form that votes are counted over; None unless `state` is ok. It never
    depends on the gold answer, else right answers would gather votes that wrong ones lose. `correct` is by
    the published rule, `correct_strict` by a stricter one that implies it; both are False unless ok.
    `leads` says that the raw answer begins with the value, that is: the first answer position is where
    the answer begins. `number` is a number as it was printed, in canonical form ("0.909" and "0.9090" have
    one value): what the rules of sameness need (see `sameness`); of an answer in several parts, the JSON text
    of an object of these. `notes` say by which rules the value was found, where there was a choice.
    """

    state: State
    value: str | None = None
    correct: bool = False
    correct_strict: bool = False
    leads: bool = False
    reason: str = ""
    number: str | None = None
    notes: tuple[str, ...] = ()


def failed(reason: str) -> Reading:
    """The reading of a call that brought no response; `reason` is the kind of failure, such as "timeout"."""
    return Reading(State.ERROR, reason=reason)
