"""A tool's scores beside our readings: how many answers each holds right, and on how many they differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from leadline.interop.logs import LoggedAnswer, ScoreComparison
from leadline.study.judging import judged
from leadline.study.study import Study


@dataclass
class _Count:
    answers: int = 0
    theirs: float = 0
    plain: int = 0
    right: int = 0
    ours: int = 0
    differ: int = 0
    example: str = ""


@dataclass
class Scores:
    """Counts as answers come in, by configuration and scorer."""

    study: Study
    _counts: dict[tuple[str, str], _Count] = field(default_factory=dict)

    def add(self, configuration: str, item: str, answer: LoggedAnswer) -> None:
        """Take what was said of one answer; `item` is the item's id in the study."""
        if not answer.scores or answer.text is None:
            return
        reading = None
        for scorer, value in answer.scores.items():
            count = self._counts.setdefault((configuration, scorer), _Count())
            count.answers += 1
            count.theirs += value
            if value not in (0, 1):
                continue
            if reading is None:
                # By the label as annotated, which the tool had too: what is compared is two ways to judge.
                reading = judged(self.study, self.study.whole.by_id[item], answer.text)
            right = bool(reading.correct)
            count.plain += 1
            count.right += int(value)
            count.ours += right
            if right != bool(value):
                count.differ += 1
                count.example = count.example or item

    def compared(self) -> Iterator[ScoreComparison]:
        """Of each scorer whose verdicts are right or wrong, how they agree with ours."""
        for (configuration, scorer), count in sorted(self._counts.items()):
            if count.plain:
                yield ScoreComparison(
                    configuration, scorer, count.plain, count.right, count.ours, count.differ, count.example
                )

    def about(self) -> dict[str, dict[str, dict[str, float]]]:
        """Of each configuration and scorer: the number of scored answers, and their mean."""
        found: dict[str, dict[str, dict[str, float]]] = {}
        for (configuration, scorer), count in sorted(self._counts.items()):
            mean = round(count.theirs / count.answers, 6)
            found.setdefault(configuration, {})[scorer] = {"answers": count.answers, "mean": mean}
        return found
