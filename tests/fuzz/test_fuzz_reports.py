"""No audit and no bundle that somebody hands over ends in a traceback; a changed bundle is not verified."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.audit.document import load_audit
from leadline.bundle.joining import verifier
from leadline.bundle.release import bundle_study
from leadline.bundle.running import disagreements, printed, verify_bundle
from leadline.bundle.verifier.program import verify
from leadline.errors import LeadlineError
from leadline.study.study import open_study
from tests.bundle.conftest import seal
from tests.bundle.studies import make_study
from tests.fuzz.limits import assert_one_line, examples, held
from tests.fuzz.mutations import broken, changed, written
from tests.review.doubted import doubted

pytestmark = pytest.mark.fuzz


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A real audit's JSON."""
    return doubted(tmp_path_factory.mktemp("doubted")).audit.read_bytes()


def test_an_audit_of_broken_bytes_is_read_or_refused(audit: bytes, tmp_path: Path) -> None:
    @examples(30)
    @given(broken((audit,)))
    def check(content: bytes) -> None:
        (tmp_path / "audit.json").write_bytes(content)
        held(load_audit, tmp_path / "audit.json")

    check()


def test_any_part_of_an_audit_may_be_anything(audit: bytes, tmp_path: Path) -> None:
    @examples(40)
    @given(changed((json.loads(audit),)))
    def check(value: object) -> None:
        (tmp_path / "audit.json").write_bytes(written(value))
        held(load_audit, tmp_path / "audit.json")

    check()


# Bundles.


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small release, verified."""
    folder = tmp_path_factory.mktemp("bundle")
    study = make_study(folder / "study", items=12, samples=3)
    return bundle_study(open_study(study), folder / "release", say=lambda step: None).path


def _files(bundle: Path) -> list[str]:
    return sorted(
        path.relative_to(bundle).as_posix()
        for path in bundle.rglob("*")
        if path.is_file() and path.suffix in (".json", ".jsonl", ".yaml", ".csv", ".txt", ".sha256", ".md")
    )


def _mutated(data: st.DataObject, path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".json" and data.draw(st.booleans()):
        return written(data.draw(changed((json.loads(content),))))
    if path.suffix == ".jsonl" and data.draw(st.booleans()):
        lines = content.splitlines(keepends=True)
        at = data.draw(st.integers(0, len(lines) - 1))
        lines[at] = written(data.draw(changed((json.loads(lines[at]),)))) + b"\n"
        return b"".join(lines)
    return data.draw(broken((content,)))


def test_a_changed_bundle_is_not_verified_and_ends_no_verifier(bundle: Path, tmp_path: Path) -> None:
    names = _files(bundle)

    @examples(5, factor=30)
    @given(st.sampled_from(names), st.data())
    def check(name: str, data: st.DataObject) -> None:
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(bundle, copy)
        content = _mutated(data, copy / name)
        (copy / name).write_bytes(content)
        book = held(verify, copy)
        assert not isinstance(book, LeadlineError)
        for fault in book.faults:
            assert len(fault) <= 2_000, fault[:300]
        if content != (bundle / name).read_bytes():
            assert not book.is_sound, f"a change of {name} was not seen"

    check()


# What the figures are made of, and what they are: none of it can change without another figure.
RECOMPUTED = ("readings.jsonl", "responses.jsonl", "benchmark/items.jsonl", "findings.json", "manifest.json")


def test_a_bundle_that_was_sealed_after_a_change_ends_no_verifier(bundle: Path, tmp_path: Path) -> None:
    @examples(5, factor=30)
    @given(st.sampled_from(RECOMPUTED), st.data())
    def check(name: str, data: st.DataObject) -> None:
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(bundle, copy)
        (copy / name).write_bytes(_mutated(data, copy / name))
        seal(copy)
        held(verify, copy)

    check()


def _processes(copy: Path) -> None:
    """The bundle's own program and this one's: each in a process, each with an answer."""
    program = [sys.executable, "-I", "-S", str(copy / "verify.py"), str(copy)]
    ended = subprocess.run(program, capture_output=True, timeout=120, check=False)
    assert ended.returncode == 1 and not ended.stderr, ended.stderr[-2000:]
    assert ended.stdout.decode().rstrip().endswith("NOT VERIFIED")
    try:
        found = verify_bundle(copy)
    except LeadlineError as error:
        assert_one_line(str(error))
        return
    assert not found.is_sound and disagreements(found)
    assert printed(found).isprintable() or "\n" in printed(found)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("findings.json", b"[" * 20_000),
        ("findings.json", b'{"configurations": {}, "findings": 7}'),
        ("manifest.json", b"9" * 5_000),
        ("readings.jsonl", b'{"item": []}\n'),
        ("responses.jsonl", b'{"model": {}, "configuration": [], "item": {}, "sample": {}}\n'),
        ("benchmark/items.jsonl", b'{"id": "\\ud800", "answer": 1e999}\n'),
        ("CHECKSUMS.sha256", b"\xff\x1b[2J\n"),
    ],
)
def test_a_file_of_a_bundle_that_is_something_else_ends_no_process(
    bundle: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    copy = Path(shutil.copytree(bundle, tmp_path / "copy"))
    (copy / name).write_bytes(content)
    if name != "CHECKSUMS.sha256":
        seal(copy)
    _processes(copy)


@pytest.mark.parametrize("name", ["responses.parquet", "report.html", "verify.py"])
def test_what_only_the_whole_program_reads_may_be_any_bytes(bundle: Path, tmp_path: Path, name: str) -> None:
    @examples(1, factor=20)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(bundle, copy)
        whole = (copy / name).read_bytes()
        (copy / name).write_bytes(data.draw(st.one_of(st.just(b"\xff\xfe"), broken((whole,)))))
        seal(copy)
        found = held(verify_bundle, copy)
        assert isinstance(found, LeadlineError) or isinstance(found.report, dict)

    check()
    assert verifier()
