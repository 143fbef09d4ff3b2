"""Where nothing can be written every command works, if it only reads, or says in one line why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.endurance.ledger import Ledger
from tests.endurance.mounting import read_only
from tests.endurance.points import Killable
from tests.endurance.test_builds_killed import inputs
from tests.review.doubted import doubted
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import small_study

pytestmark = pytest.mark.endurance


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, model: Path, killable: Killable) -> Iterator[Path]:
    """A study that is complete, one that can be released, its release, and a plan; none can be written."""
    folder = tmp_path_factory.mktemp("closed")
    small_study(folder / "open" / "study", model)
    assert killable.start("run", folder / "open" / "study").wait() == 0
    study = doubted(folder / "open" / "made").study
    assert killable.start("bundle", study, folder / "open" / "release").wait() == 0
    inputs(folder / "open" / "plan")
    with read_only(folder / "open", folder / "closed") as place:
        yield place


def arguments(closed: Path, out: Path) -> dict[str, tuple[tuple[str | Path, ...], bool]]:
    """Command → its arguments, and whether it only reads what is closed."""
    study, made = closed / "study", closed / "made"
    return {
        "run": (("run", study), False),
        "report": (("report", study), False),
        "report elsewhere": (("report", study, "--out", out / "report"), True),
        "compare": (("compare", "--study", study, "greedy", "recite"), True),
        "figures elsewhere": (("figures", study, "--out", out / "figures"), True),
        "recover": (("recover", study), False),
        "verify": (("verify", closed / "release"), True),
        "bundle": (("bundle", made / "study", closed / "new"), False),
        "bundle elsewhere": (("bundle", made / "study", out / "new"), True),
        "export": (("export", "answers", study, "--out", closed / "answers.csv"), False),
        "export elsewhere": (("export", "answers", study, "--out", out / "answers.csv"), True),
        "import": (("import", "table", made / "runs.csv", "--study", made / "study"), False),
        "audit": (("audit", made / "bench", "--out", closed / "audit.html"), False),
        "audit elsewhere": (("audit", made / "bench", "--out", out / "audit.html"), True),
        "validate": (("bench", "validate", made / "bench"), True),
        "show": (("bench", "show", made / "bench"), True),
        "build": (("build", "run", closed / "plan" / "plan.yaml", "--workers", "1"), False),
        "prereg": (("prereg", study, "--title", "T", "--statistic", "wobble", "--below", "0.2"), False),
        "init": (("init", closed / "another"), False),
        "flags": (("review", "flags", made / "study"), True),
        "pack": (("review", "pack", made / "bench", closed / "pack"), False),
    }


def test_what_only_reads_works_and_what_writes_says_why_it_cannot(
    closed: Path, tmp_path: Path, leadline: Leadline, ledger: Ledger
) -> None:
    pytest.importorskip("mwparserfromhell", reason="builds need the 'build' extra")
    tally = ledger.tally("read-only", None)
    for name, (command, only_reads) in arguments(closed, tmp_path).items():
        ended = leadline(*command)
        tally.fault()
        said = [line for line in ended.err.splitlines() if line.startswith(("error: ", "Error: "))]
        if only_reads:
            tally.expect(ended.code in (0, 1), "other", f"{name}: {ended.code} {ended.err}")
        else:
            told = ended.code in (2, 3) and len(said) == 1 and "Traceback" not in ended.err
            tally.expect(told, "other", f"{name}: {ended.code} {ended.err or ended.out}")
    tally.expect(
        stored.findings(tmp_path, "report") == stored.findings(closed / "study"), "wrong reports", "elsewhere"
    )
    tally.check(faults=20)
