"""What a lens returns: figures that carry their denominators and intervals, claims that carry a status."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, field_validator


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Figure(_Frozen):
    """One number as it may be printed: never without what it was counted over, and how sure it is.

    `value` is None when the figure cannot be estimated; `note` then says why. `method` names the interval
    ("wilson", "newcombe", "bootstrap over items, 2000 draws, seed 0", ...) or, for figures without one, how
    the number was obtained ("exact mcnemar, holm over 4 techniques").
    """

    value: float | None
    numerator: float | None = None
    denominator: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    note: str = ""

    @field_validator("value", "numerator", "low", "high")
    @classmethod
    def _no_negative_zero(cls, number: float | None) -> float | None:
        return 0.0 if number == 0 else number


class Row(_Frozen):
    """One line of a finding's table: `keys` say what it is about (in order), `figures` what was measured."""

    keys: dict[str, str]
    figures: dict[str, Figure]


class ClaimStatus(StrEnum):
    """What the data allow to be said."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not supported"
    NOT_ESTIMABLE = "not estimable"
    UNREACHABLE = "unreachable by construction"


class Claim(_Frozen):
    """A sentence that a reader may (or may not) take home.

    `point` is the number that a reader of the aggregate would quote, `conservative` what is left of it under
    the reading that does most against it (the interval's unfavourable end, the chance level, the ceiling).
    """

    text: str
    status: ClaimStatus
    point: str = ""
    conservative: str = ""


class Finding(_Frozen):
    """A table, its intervals, its counts, and sentences that say what may be claimed.

    `lens` is the lens that made it ("transitions"), `table` which of the lens's tables this is
    ("overall", "by category"), so that (lens, table, model) identifies a finding within a study.
    """

    lens: str
    table: str
    model: str
    title: str
    definition: str
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
