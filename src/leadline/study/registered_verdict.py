"""The verdict on a registered prediction; refused where the rules of registration were broken."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from leadline import __version__
from leadline.errors import LeadlineError, UsageError
from leadline.lenses.finding import Figure
from leadline.study.anchor import first_commit
from leadline.study.registered_decision import Outcome, decide
from leadline.study.registered_rules import Seen, differences, look, stamped
from leadline.study.registered_statistic import Measured, cells, less, paired, pooled
from leadline.study.registration import Prediction, Registration
from leadline.study.study import Study

SCHEMA = "leadline.verdict/1"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Anchor(_Frozen):
    """The oldest commit that holds the registration as it is, and whether it is older than the responses."""

    commit: str
    time: AwareDatetime
    before_responses: bool


class Verdict(_Frozen):
    """What came of a prediction.

    `figures` have the value that was predicted, once for each interval; `parts` the same for each
    configuration of each model, which decide nothing. `deviations` is everything that was not as registered
    and yet no reason to refuse. `oldest_response` is the oldest of those that decide.
    """

    schema_id: Literal["leadline.verdict/1"] = Field(default="leadline.verdict/1", alias="schema")
    leadline_version: str
    created: AwareDatetime
    registration: str
    registered: AwareDatetime
    prediction: Prediction
    outcome: Outcome
    reason: str
    figures: tuple[Figure, ...]
    items_registered: int
    items_measured: int
    cells_measured: int
    cells_registered: int
    responses: int
    responses_registered: int
    oldest_response: AwareDatetime
    parts: tuple[tuple[str, Figure], ...] = ()
    anchor: Anchor | None = None
    deviations: tuple[str, ...] = ()


class VerdictRefused(LeadlineError):  # noqa: N818  # an outcome, not a fault of the program
    """The rules were broken; `reasons` says how, one sentence each."""

    def __init__(self, reasons: tuple[str, ...], where: str) -> None:
        self.reasons = reasons
        more = f"; and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        super().__init__(f"no verdict: {reasons[0]}{more}", where=where)


def judge(
    registration: Registration,
    path: Path,
    tested: Study,
    reference: Study | None = None,
    *,
    partial: bool = False,
) -> Verdict:
    """The verdict on the registration in `path` from the responses of the study (and of the reference study).

    Raises VerdictRefused when the registration is younger than a response that decides it, when items,
    benchmark, configurations or pinned responses are not as registered, and when samples are missing and
    `partial` is not set; UsageError when a reference study is missing or one too many.
    """
    if (reference is not None) != (registration.reference is not None):
        raise UsageError(
            "the registration compares two studies: name both"
            if registration.reference
            else "the registration is about one study: name one",
            where=str(path),
            fix="leadline verdict REGISTRATION TESTED [REFERENCE]",
        )
    wanted = (*registration.items, *registration.other_items)
    reasons: list[str] = []
    deviations: list[str] = []
    seen: list[Seen] = []
    pairs = [(tested, registration.tested)]
    if reference is not None and registration.reference is not None:
        pairs.append((reference, registration.reference))
    for study, arm in pairs:
        broken = list(differences(study, arm, wanted))
        reasons += broken
        if not broken:
            seen.append(look(registration, study, arm, wanted, reasons, deviations))
    short = sum(one.expected - one.responses for one in seen)
    if short and not reasons:
        expected = sum(one.expected for one in seen)
        if not partial:
            reasons.append(
                f"{short:,} of {expected:,} registered responses are missing: run the study to its end, "
                "or say --partial"
            )
        deviations.insert(0, f"Partial: {short:,} of {expected:,} registered responses are missing.")
    if reasons:
        raise VerdictRefused(tuple(reasons), str(path))
    return _verdict(registration, path, seen, deviations)


def _verdict(registration: Registration, path: Path, seen: list[Seen], deviations: list[str]) -> Verdict:
    prediction = registration.prediction
    oldest = min((one.oldest for one in seen[:1] if one.oldest is not None), default=None)
    if oldest is None:
        raise VerdictRefused(("the study holds no response that decides it",), str(path))
    measured, parts = _measure(registration, [one.readings for one in seen])
    outcome, reason = decide(prediction, measured)
    if registration.leadline_version != __version__:
        deviations.append(
            f"Answers were read by leadline {__version__}; the registration was written by "
            f"{registration.leadline_version}."
        )
    for arm in (registration.tested, registration.reference):
        if arm is not None and arm.responses_elsewhere:
            deviations.append(
                f"{arm.study}: {arm.responses_elsewhere:,} responses to these items under other "
                "configurations or models were there before the registration."
            )
    items = len(registration.items) + len(registration.other_items)
    planned = items * len(registration.tested.models) * len(registration.tested.configurations)
    if measured.cells < planned:
        deviations.append(
            f"{planned - measured.cells:,} of {planned:,} cells (an item under a configuration) have too few "
            "readable answers and are left out."
        )
    commit = first_commit(path)
    anchor = None
    if commit is not None:
        before = commit.time.timestamp() < oldest
        anchor = Anchor(commit=commit.hash, time=commit.time, before_responses=before)
        if not before:
            deviations.append(
                f"The oldest commit that holds the registration is of {stamped(commit.time)}, after the "
                "first response: version control does not show that the prediction came first."
            )
    return Verdict(
        leadline_version=__version__,
        created=datetime.now(UTC),
        registration=registration.sha256,
        registered=registration.registered,
        prediction=prediction,
        outcome=outcome,
        reason=reason,
        figures=measured.figures,
        items_registered=items,
        items_measured=measured.items,
        cells_measured=measured.cells,
        cells_registered=planned,
        responses=sum(one.responses for one in seen),
        responses_registered=sum(one.expected for one in seen),
        oldest_response=datetime.fromtimestamp(oldest, UTC),
        parts=tuple(parts),
        anchor=anchor,
        deviations=tuple(deviations),
    )


def _measure(
    registration: Registration, frames: list[pl.DataFrame]
) -> tuple[Measured, list[tuple[str, Figure]]]:
    """The registered value, and the same for each configuration of each model alone."""
    prediction = registration.prediction
    samples = {one.name: one.samples for one in registration.tested.configurations}
    tables = [
        cells(frame, prediction.statistic, samples, prediction.minimum_readings, prediction.sameness)
        for frame in frames
    ]

    def measure(part: list[pl.DataFrame]) -> Measured:
        if prediction.comparison == "paired":
            return paired(part[0], part[1], prediction.statistic)
        if prediction.comparison == "groups":
            ours = part[0].filter(pl.col("item").is_in(list(registration.items)))
            return less(
                ours, part[0].filter(~pl.col("item").is_in(list(registration.items))), prediction.statistic
            )
        return pooled(part[0], prediction.statistic)

    parts = []
    for model in registration.tested.models:
        for name in samples:
            here = (pl.col("model") == model.label) & (pl.col("configuration") == name)
            figure = measure([table.filter(here) for table in tables]).figures[0]
            parts.append((f"{model.label} · {name}", figure))
    return measure(tables), parts if len(parts) > 1 else []
