"""A study that answers from elsewhere are put into: there already or made now, and taken back at a fault."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from leadline.bench import Benchmark, load_benchmark
from leadline.bench.problem import did_you_mean, shortened
from leadline.bench.writing import write_benchmark
from leadline.errors import UsageError
from leadline.interop.taking_back import remove_benchmark, remove_database, take_back
from leadline.study.config_file import STUDY_FILE
from leadline.study.new import recorded_study
from leadline.study.store import DATABASE
from leadline.study.study import Study, open_study

# Where a study that is made of other tools' files keeps its benchmark.
BENCHMARK_FOLDER = "benchmark"


@dataclass(frozen=True)
class Filling:
    """The study, its folder as it was named, and whether it, or its benchmark, was made now."""

    study: Study
    folder: Path
    made: bool
    made_benchmark: bool = False


@contextmanager
def filling(
    place: Path,
    *,
    benchmark: str | None,
    baseline: str | None,
    dry: bool,
    make: Callable[[], Benchmark] | None = None,
) -> Iterator[Filling]:
    """The study at `place` (a folder, or its study.yaml), to be written into with `recording.recorder`.

    Where there is none it is made: of `benchmark`, or, if that is None, of the benchmark that `make` gives,
    which is then written beside it. With `dry` it is made elsewhere and does not stay. Whatever ends the body
    by an exception leaves the folder as it was. Raises UsageError where no benchmark is known, or where
    `benchmark` or `baseline` is not what the study says.
    """
    folder = place.parent if place.name == STUDY_FILE else place
    made = not (folder / STUDY_FILE).exists()
    with ExitStack() as undo:
        of_items = None
        if made:
            if benchmark is None:
                of_items = make() if make is not None else None
            where = folder
            if dry:
                where = Path(undo.enter_context(TemporaryDirectory())) / "study"
            else:
                undo.callback(take_back, folder, folder.exists())
            if of_items is not None:
                if (folder / BENCHMARK_FOLDER).exists():
                    raise UsageError(
                        "is in the way: a new study keeps its benchmark there",
                        where=str(folder / BENCHMARK_FOLDER),
                        fix="move it aside, or name it with --benchmark",
                    )
                undo.callback(remove_benchmark, where / BENCHMARK_FOLDER)
                write_benchmark(of_items, where / BENCHMARK_FOLDER)
                benchmark = str(where / BENCHMARK_FOLDER)
            recorded_study(where, _needed(benchmark, folder), baseline)
            opened = open_study(where)
        else:
            opened = open_study(folder)
            _check_matches(opened, benchmark, baseline)
            if not (folder / DATABASE).exists():
                undo.callback(remove_database, folder)
        yield Filling(opened, folder, made, of_items is not None)
        if not dry:
            undo.pop_all()


def check_baseline(baseline: str, names: Collection[str]) -> None:
    """Raise UsageError where a study that was made now is given a baseline that no answers are of."""
    if baseline not in names:
        raise UsageError(
            f"--baseline: there are no answers of {shortened(baseline)} among these",
            fix=did_you_mean(baseline, names, otherwise=f"configurations: {', '.join(names)}"),
        )


def _needed(benchmark: str | None, folder: Path) -> str:
    if benchmark is None:
        raise UsageError(
            "there is no study yet; to make one, the benchmark that was asked must be named",
            where=str(folder),
            fix="--benchmark: a bundled name, a benchmark folder, or a file of items",
        )
    return benchmark


def _check_matches(study: Study, benchmark: str | None, baseline: str | None) -> None:
    """What was said once more must be what the study says."""
    if (
        benchmark is not None
        and (given := load_benchmark(benchmark)).content_hash != study.whole.content_hash
    ):
        raise UsageError(
            f"--benchmark: {given.name} {given.version} is not what this study asks, which is "
            f"{study.whole.name} {study.whole.version}",
            where=str(study.file),
            fix="leave --benchmark out, or name another folder with --study",
        )
    if baseline is not None and baseline != study.config.baseline:
        raise UsageError(
            f"--baseline: that of the study is {study.protocol.baseline or 'none'}",
            where=str(study.file),
            fix=f"write it there: baseline: {baseline}",
        )
