"""Scorings of one pack by one reader: the first stays, for it alone is of a reading without the key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from leadline.bench import Benchmark
from leadline.bench.adjudications import FILE as ADJUDICATIONS
from leadline.bench.adjudications import Adjudication, read_adjudications
from leadline.errors import UsageError
from leadline.ordinary_file import content
from leadline.review.places import adjudications_file, review_folder
from leadline.review.reader import reader_slug, same_reader
from leadline.review.readings import FILE as READINGS
from leadline.review.readings import Readings
from leadline.review.score import Score
from leadline.review.score_sentence import EarlierScore

# What may differ between two scores of which one is the other again.
_ABOUT = {"created", "leadline_version", "sentence", "earlier", "stood"}


@dataclass(frozen=True)
class Scorings:
    """The scores of a reader on a pack that are there, by file, in the order in which they were made."""

    scores: tuple[tuple[Path, Score], ...] = ()

    @property
    def first(self) -> EarlierScore | None:
        """What a further score tells of the first one; None where there is none."""
        if not self.scores:
            return None
        path, score = self.scores[0]
        overall = score.overall.all_rows
        return EarlierScore(
            file=path.name, created=score.created, sheet=score.sheet, agree=overall.agree, kappa=overall.kappa
        )

    def same_as(self, score: Score) -> tuple[Path, Score] | None:
        """The one that says what `score` says: the same sheet, scored once more by the same rules."""
        told = score.model_dump(exclude=_ABOUT)
        return next((one for one in self.scores if one[1].model_dump(exclude=_ABOUT) == told), None)


def scorings_of(folders: Iterable[Path], pack: str, reader: str) -> Scorings:
    """What lies in `folders` of the pack with the sha256 `pack`.

    Raises UsageError for a file that bears the reader's name and is no score, or one of another pack.
    """
    found = {
        path.resolve(): (path, score)
        for folder in folders
        for path, score in _scores(folder, reader)
        if same_reader(score.reader, reader)
    }
    for path, score in found.values():
        if score.pack != pack:
            raise UsageError(
                "is a score of another pack", where=str(path), fix="name another folder with --out"
            )
    return Scorings(tuple(sorted(found.values(), key=lambda one: (one[1].created, one[0].name))))


def score_path(folder: Path, reader: str) -> Path:
    """Where the next score of a reader is to lie in a folder: score-READER.json, else with the first number
    that is free, from 2.

    >>> score_path(Path("there-is-none"), "Ann Lee").name
    'score-ann-lee.json'
    """
    first = folder / f"score-{reader_slug(reader)}.json"
    path, number = first, 1
    while path.exists():
        number += 1
        path = first.with_name(f"{first.stem}-{number}.json")
    return path


def seen_items(benchmark: Benchmark, reader: str, into: Path | None = None) -> set[str]:
    """The items of `benchmark` whose key `reader` has been shown: of each a reading or a decision lies in the
    review folder (`into`, or the default) or beside the benchmark.

    Raises UsageError for such a file that cannot be read.
    """
    folder = review_folder(benchmark, into)
    own = {one.item for one in Readings(folder / READINGS).all() if same_reader(one.reader, reader)}
    own |= {one.item for one in _decisions(benchmark, folder) if same_reader(one.reader, reader)}
    return own & set(benchmark.by_id)


def decided_items(benchmark: Benchmark) -> set[str]:
    """The items of `benchmark` that somebody has decided on."""
    return {one.item for one in _decisions(benchmark, review_folder(benchmark))} & set(benchmark.by_id)


def _decisions(benchmark: Benchmark, folder: Path) -> Iterator[Adjudication]:
    for path in {adjudications_file(benchmark, folder), folder / ADJUDICATIONS}:
        if path.exists():
            yield from read_adjudications(path)


def _scores(folder: Path, reader: str) -> Iterator[tuple[Path, Score]]:
    own = re.compile(rf"score-{re.escape(reader_slug(reader))}(-\d+)?\.json")
    for path in sorted(folder.glob("score-*.json")):
        try:
            yield path, Score.model_validate_json(content(path))
        except (OSError, ValidationError):
            if own.fullmatch(path.name):
                fix = "restore it, or move it away"
                raise UsageError("is no score that can be read", where=str(path), fix=fix) from None
