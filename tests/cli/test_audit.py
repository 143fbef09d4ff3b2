"""`leadline audit`: what is printed where, what is written, how it ends; the hook and the workflow run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from leadline.audit import audit
from leadline.audit.document import load_audit
from leadline.audit.matching import FoundSpan, Match
from leadline.audit.normal import Normal
from tests.study.conftest import Leadline
from tests.study.forks import ROOT

EXAMPLE = ROOT / "examples" / "audit-in-ci"
ENDINGS = ("html", "json", "csv", "md", "sarif")


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example's benchmark, named as from the folder above it."""
    shutil.copytree(EXAMPLE / "reading-room", tmp_path / "reading-room")
    monkeypatch.chdir(tmp_path)
    return Path("reading-room")


def edited(benchmark: Path, item: str, old: str, new: str) -> None:
    """Change the window of one item."""
    file = benchmark / "items.jsonl"
    items = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    (one,) = [entry for entry in items if entry["id"] == item]
    assert old in one["window"]
    one["window"] = one["window"].replace(old, new)
    file.write_text("".join(json.dumps(entry) + "\n" for entry in items), encoding="utf-8")


def spoilt(benchmark: Path) -> None:
    """Cut the sentence with the date out of its window."""
    edited(benchmark, "adopted", "The rules in this form were adopted on 3 May 2021", "They")


def test_a_sound_benchmark_passes_with_the_self_test_in_view(rules: Path, leadline: Leadline) -> None:
    ended = leadline("audit", rules)
    assert ended.code == 0, ended.err
    assert re.search(r"reading-room 1\.0: 5 items, 1 document held", ended.out)
    assert "Self-test passed" in ended.out and "provenance, not truth" in ended.out
    assert ended.out.splitlines()[-1] == "pass: 0 items are flagged (none allowed)"
    assert "\x1b" not in ended.out


def test_a_window_without_its_evidence_fails_and_is_named_with_its_line(
    rules: Path, leadline: Leadline
) -> None:
    spoilt(rules)
    ended = leadline("audit", rules)
    assert ended.code == 1 and "Traceback" not in ended.err
    assert re.search(r"✗ adopted +evidence absent +reading-room/items\.jsonl:5", ended.out)
    assert ended.out.splitlines()[-1] == "fail: 1 item is flagged (none allowed)"


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (["--max-flagged", "1"], 0),
        (["--max-flagged", "20%"], 0),
        (["--max-flagged", "19%"], 1),  # not a whole item of five
        (["--ignore", "evidence-absent"], 0),
        (["--ignore", "computational"], 1),
        (["--task", "fee"], 0),
        (["--item", "adopted"], 1),
        (["--item", "lost-after"], 0),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else str(part),
)
def test_thresholds_and_filters_decide_about_the_exit_code(
    flags: list[str], code: int, rules: Path, leadline: Leadline
) -> None:
    spoilt(rules)
    assert leadline("audit", rules, *flags).code == code


def test_items_without_a_source_pass_unless_it_is_required(rules: Path, leadline: Leadline) -> None:
    shutil.rmtree(rules / "sources")
    ended = leadline("audit", rules)
    assert ended.code == 0 and "Not checkable: the source of 5 items" in ended.out
    ended = leadline("audit", rules, "--require-checked")
    assert ended.code == 1 and "5 items are flagged or unchecked" in ended.out


def test_json_is_all_that_stdout_has(rules: Path, leadline: Leadline) -> None:
    spoilt(rules)
    ended = leadline("audit", rules, "--json", "--out", "a.json")
    assert ended.code == 1
    assert Path("a.json").read_text(encoding="utf-8").splitlines()[5:] == ended.out.splitlines()[5:]
    document = load_audit(Path("a.json"))
    assert [entry.item for entry in document.flagged] == ["adopted"]
    assert ended.err.splitlines() == ["written: a.json", "fail: 1 item is flagged (none allowed)"]
    assert leadline("audit", rules, "--json", "--quiet").err == ""


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "html", "sarif"])
def test_stdout_takes_every_form_and_files_hold_the_same(form: str, rules: Path, leadline: Leadline) -> None:
    ending = {"markdown": "md"}.get(form, form)
    ended = leadline("audit", rules, "--quiet", "--format", form, "--out", f"a.{ending}")
    assert ended.code == 0 and ended.err == ""
    # typer's runner reads line ends as one sign; the file keeps what RFC 4180 wants
    assert ended.out.splitlines() == Path(f"a.{ending}").read_text(encoding="utf-8").splitlines()


def test_one_run_writes_as_many_files_as_are_asked_for(rules: Path, leadline: Leadline) -> None:
    spoilt(rules)
    Path("deep").mkdir()
    outs = [part for ending in ENDINGS for part in ("--out", f"deep/audit.{ending}")]
    ended = leadline("audit", rules, *outs)
    assert ended.code == 1
    assert sorted(path.suffix[1:] for path in Path("deep").iterdir()) == sorted(ENDINGS)
    page = Path("deep/audit.html").read_text(encoding="utf-8")
    assert "On what date were the rules in this form adopted?" in page
    (run,) = json.loads(Path("deep/audit.sarif").read_text(encoding="utf-8"))["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "reading-room/items.jsonl"
    assert place["region"]["startLine"] == 5


def test_without_quotes_nothing_is_checked_and_nothing_passes(rules: Path, leadline: Leadline) -> None:
    for path in rules.glob("*.jsonl"):
        items = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        bare = [{k: v for k, v in item.items() if k not in ("quote", "evidence")} for item in items]
        path.write_text("".join(json.dumps(item) + "\n" for item in bare), encoding="utf-8")
    ended = leadline("audit", rules)
    assert ended.code == 0
    assert ended.out.splitlines()[-1].startswith("nothing could be checked: of 5 items none has a quote")
    assert "Flagged: " not in ended.out and "pass" not in ended.out.splitlines()[-1]
    assert "Nothing could be checked" in leadline("audit", rules, "--format", "markdown").out
    strict = leadline("audit", rules, "--require-checked")
    assert strict.code == 1
    assert strict.out.splitlines()[-1].startswith("fail: 5 items are flagged or unchecked")


def test_a_folder_that_is_not_there_is_named_and_not_made(rules: Path, leadline: Leadline) -> None:
    ended = leadline("audit", rules, "--out", "nowhere/deep/audit.html")
    assert ended.code == 2
    assert "there is no folder nowhere/deep" in ended.err
    assert not Path("nowhere").exists()


def test_an_item_in_full_shows_its_window_with_the_quote_marked(rules: Path, leadline: Leadline) -> None:
    ended = leadline("audit", rules, "--item", "adopted")
    assert ended.code == 0
    assert "«1The rules in this form were adopted on 3 May 20211»" in ended.out
    assert "1 of 5 items" in ended.out and "Self-test passed" in ended.out
    assert "On what date were the rules in this form adopted?" in ended.out


def test_a_part_says_that_it_is_one(rules: Path, leadline: Leadline) -> None:
    ended = leadline("audit", rules, "--task", "time limit", "--task", "fee", "--format", "markdown")
    assert ended.code == 0 and "3 of 5 items" in ended.out


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (["--out", "audit.pdf"], "its ending does not say what to write"),
        (["--out", "."], "its ending"),
        (["--max-flagged", "many"], "--max-flagged 'many'"),
        (["--max-flagged", "-1"], "--max-flagged '-1'"),
        (["--ignore", "evidence"], "there is no failure type 'evidence'"),
        (["--task", "fees"], "did you mean 'fee'"),
        (["--item", "adoptd"], "did you mean 'adopted'"),
        (["--item", "adopted", "--task", "fee"], "no such item in such a task"),
        (["--json", "--format", "csv"], "exclude each other"),
        (["--workers", "0"], "workers"),
        (["--format", "pdf"], "pdf"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_a_wrong_flag_is_one_line_and_exit_code_2(
    flags: list[str], word: str, rules: Path, leadline: Leadline
) -> None:
    ended = leadline("audit", rules, *flags)
    assert ended.code == 2 and ended.out == ""
    assert word in ended.err and "Traceback" not in ended.err
    assert list(Path().iterdir()) == [rules]


def test_a_benchmark_that_is_not_there_is_exit_code_2(rules: Path, leadline: Leadline) -> None:
    ended = leadline("audit", "reading-rom")
    assert ended.code == 2 and "Traceback" not in ended.err and ended.out == ""


def test_a_broken_line_is_named(rules: Path, leadline: Leadline) -> None:
    with (rules / "items.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "half\n')
    ended = leadline("audit", rules)
    assert ended.code == 2 and "items.jsonl:6" in ended.err and ended.out == ""


# The self-test


def always(quote: str, text: Normal | str, /) -> Match:
    """A matcher that finds everything."""
    return Match(True, (FoundSpan(quote, True, (0, 1)),))


def never(quote: str, text: Normal | str, /) -> Match:
    """A matcher that finds nothing."""
    return Match(False, (FoundSpan(quote, True, None),))


@pytest.mark.parametrize("broken", [always, never])
def test_a_broken_matcher_is_found_out_and_no_verdict_is_printed(
    broken: Any, rules: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt(rules)
    monkeypatch.setattr("leadline.report.audit_report.audit", partial(audit, matcher=broken))
    outs = [part for ending in ENDINGS for part in ("--out", f"audit.{ending}")]
    ended = leadline("audit", rules, *outs)
    assert ended.code == 3
    last = ended.err.splitlines()[-1]
    assert last.startswith("error: reading-room: the checker failed its self-test")
    named = "a quote of its own window passes" if broken is never else "the same with one word changed fails"
    assert f"{named}: 0 of 5 right" in last
    assert "Self-test FAILED" in ended.out and "No item has a verdict" in ended.out
    assert "evidence absent" not in ended.out and "Flagged" not in ended.out
    assert load_audit(Path("audit.json")).items == ()
    for ending in ENDINGS[2:]:
        text = Path(f"audit.{ending}").read_text(encoding="utf-8")
        assert "adopted" not in text and "Self-test FAILED" in text
    assert leadline("audit", rules, "--json", "--max-flagged", "100%").code == 3


# The hook and the workflow


def hook() -> Any:
    (entry,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return entry


def command(line: str) -> list[str]:
    """A command as a shell would split it, run by this interpreter's leadline."""
    program, *arguments = shlex.split(line)
    assert program == "leadline"
    return [sys.executable, "-m", "leadline.cli.app", *arguments]


def test_the_hook_lets_a_sound_benchmark_pass_and_stops_a_spoilt_one(rules: Path) -> None:
    config = yaml.safe_load((EXAMPLE / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (used,) = config["repos"][0]["hooks"]
    assert used["id"] == hook()["id"] and hook()["pass_filenames"] is False
    line = [*command(hook()["entry"]), *used["args"]]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    spoilt(rules)
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "adopted" in done.stdout and done.stderr == ""


@pytest.mark.parametrize(
    ("path", "runs"),
    [
        ("reading-room/items.jsonl", True),
        ("benchmark.yaml", True),
        ("data/x/sources/deep/filing.htm", True),
        ("data/windows/w1.txt", True),
        ("README.md", False),
        ("src/resources/a.txt", False),
    ],
)
def test_the_hook_runs_when_a_file_of_a_benchmark_changes(path: str, runs: bool) -> None:
    assert bool(re.search(hook()["files"], path)) == runs


def test_the_hook_has_what_pre_commit_asks_of_a_manifest() -> None:
    assert {"id", "name", "entry", "language"} <= set(hook())
    assert hook()["language"] == "python"


def test_the_workflow_audits_and_uses_only_files_that_it_makes(rules: Path) -> None:
    workflow = yaml.safe_load((EXAMPLE / "audit.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["audit"]["steps"]
    (line,) = [step["run"] for step in steps if "leadline audit" in step.get("run", "")]
    done = subprocess.run(command(line.replace("\\\n", " ")), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    after = yaml.safe_dump(steps[steps.index(next(s for s in steps if s.get("run") == line)) + 1 :])
    used = set(re.findall(r"\baudit\.(?:sarif|html|json|md|csv)\b", after))
    assert used and all(Path(name).exists() for name in used)


def test_the_gitlab_job_audits_and_keeps_files_that_it_makes(rules: Path) -> None:
    job = yaml.safe_load((EXAMPLE / ".gitlab-ci.yml").read_text(encoding="utf-8"))["audit"]
    done = subprocess.run(command(job["script"][-1]), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(Path(name).exists() for name in job["artifacts"]["paths"])
