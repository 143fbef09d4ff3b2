"""The folder that a build may write into, empty and replace: its own, never one that holds other things."""

from __future__ import annotations

from leadline.build.disk import said_by_the_disk
from leadline.build.plan import Plan
from leadline.build.plan_file import where_in
from leadline.build.workspace import DONE, Workspace
from leadline.errors import UsageError

MARK = ".leadline-build"
_WORDS = b"The folder of a build of leadline, which replaces and removes what is in it.\n"


def own_folder(plan: Plan) -> Workspace:
    """The plan's folder for its build, made and marked where it is new.

    Stages and the benchmark take the place of what stands there under their names, so a folder that no build
    made must be empty. Raises UsageError where it is not or is no folder, LeadlineError where it cannot be
    written.
    """
    work = Workspace(plan.work)
    folder = work.folder
    try:
        with said_by_the_disk(folder):
            _make(plan)
            mark = folder / MARK
            is_new = not mark.is_file() and not _is_a_build(work)
            if is_new and any(path.name != ".lock" for path in folder.iterdir()):
                what = "holds files that no build made, which this one could replace"
                raise UsageError(f"out: {folder} {what}", where=_where(plan), fix="name a new folder: out")
            if not mark.is_file() or not mark.stat().st_size:  # a full disk may have kept it empty
                mark.write_bytes(_WORDS)
    except OSError as error:
        what = f"out: {folder} cannot be a folder: {error.strerror}"
        raise UsageError(what, where=_where(plan), fix="name another folder: out") from None
    return work


def _make(plan: Plan) -> None:
    try:
        plan.work.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        what = f"out: {plan.work} is a file, or lies below one"
        raise UsageError(what, where=_where(plan), fix="name a folder: out") from None


def _is_a_build(work: Workspace) -> bool:
    """Whether stages of a build are there: folders were not always marked."""
    return any(work.folder.glob(f"stages/*/{DONE}")) or any(work.folder.glob("stages/*/begun"))


def _where(plan: Plan) -> str:
    return where_in(plan, "out") if plan.out else str(plan.file)
