"""The model that a plan names for extraction."""

from __future__ import annotations

from pathlib import Path

from leadline.build.plan import Plan
from leadline.build.plan_file import where_in
from leadline.errors import UsageError
from leadline.models.catalogue import CATALOGUE
from leadline.models.served.reference import is_served


def model_reference(plan: Plan) -> str:
    """As `models.resolve` takes it; a folder or file beside the plan by its path.

    Raises UsageError where the plan names none.
    """
    said = plan.extract.model
    if not said:
        rebel = plan.extract.method == "rebel"
        raise UsageError(
            f"the method {plan.extract.method!r} needs a model",
            where=where_in(plan, "extract"),
            fix="model: Babelscape/rebel-large" if rebel else "model: smollm2, or inspect:PROVIDER/MODEL",
        )
    return str(beside) if (beside := _beside(plan, said)) is not None else said


def model_files(plan: Plan) -> tuple[Path, ...]:
    """The files of a model of one's own, which lies in a folder: part of what decides the outputs."""
    path = _beside(plan, plan.extract.model or "")
    if path is None or path.is_file():
        return () if path is None else (path,)
    return tuple(sorted(file for file in path.glob("*") if file.is_file()))


def _beside(plan: Plan, said: str) -> Path | None:
    # As `models.resolve` has it: a name of the catalogue comes before a folder of that name.
    if not said or said in CATALOGUE or is_served(said):
        return None
    path = plan.folder / Path(said).expanduser()
    return path if path.exists() else None
