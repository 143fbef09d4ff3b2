"""What is installed is what is pinned, and what is pinned is audited."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "checks" / "audit_pins.py"
CONSTRAINTS = ROOT / "constraints.txt"

# Every environment has pip already, of its Python's own version; a constraint on it would do nothing.
NOT_PINNED = {"pip"}


def pins() -> dict[str, str]:
    """Name → version."""
    lines = CONSTRAINTS.read_text("utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def asked_for(*extras: str) -> Iterator[Requirement]:
    """What `pip install -e '.[EXTRAS]'` asks for, as pyproject.toml says now."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = list(project["dependencies"])
    waiting, done = list(extras), set()
    while waiting:
        extra = waiting.pop()
        if extra in done:
            continue
        done.add(extra)
        for text in project["optional-dependencies"][extra]:
            if (requirement := Requirement(text)).name == "leadline":
                waiting += requirement.extras
            else:
                texts.append(text)
    for text in texts:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement


def brought(requirements: Iterator[Requirement]) -> dict[str, str]:
    """Installed distributions that these need, and what those need, and so on: name → version."""
    found: dict[str, str] = {}
    waiting = [(canonicalize_name(each.name), frozenset(each.extras)) for each in requirements]
    done = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in done:
            continue
        done.add((name, extras))
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # an environment with fewer extras: what it has must be pinned
        found[name] = distribution.version.partition("+")[0]
        for text in distribution.requires or ():
            needed = Requirement(text)
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)
            ):
                waiting.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return found


def test_every_package_that_an_installation_brings_is_pinned_at_the_version_that_is_tested() -> None:
    found, pinned = brought(asked_for("all", "dev")), pins()
    assert len(found) > 100 and "torch" in found, "the environment was looked at"
    # Another version of Python may bring further packages; the pins are for this one.
    if sys.version_info[:2] != (3, 11):
        pytest.skip("constraints.txt is for Python 3.11")
    assert {name: pinned.get(name) for name in found.keys() - NOT_PINNED} == {
        name: version for name, version in found.items() if name not in NOT_PINNED
    }


# The audit, with a service that is made here. OSV's address can be told to pip-audit; PyPI's cannot, so it is
# put behind a proxy where nobody listens.

VULNERABLE = {"pyyaml": "PYSEC-2020-96", "leaky": "PYSEC-2030-1"}


@contextmanager
def osv(
    *, knows: dict[str, str], then_breaks: bool = False, silent: bool = False
) -> Iterator[dict[str, str]]:
    """A service that knows advisories by package; gives the environment in which it is asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = query["package"]["name"]
            asked.append(name)
            if silent:
                stop.wait(20)
                return
            if then_breaks and len(asked) > 2:
                self.send_response(503)
                self.end_headers()
                return
            data = json.dumps({"vulns": [advisory(name, knows[name])]} if name in knows else {}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None: ...

    stop = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    nobody = "http://127.0.0.1:9"
    try:
        yield {
            "PIP_AUDIT_OSV_URL": f"http://127.0.0.1:{server.server_address[1]}/v1/query",
            **dict.fromkeys(("HTTPS_PROXY", "https_proxy"), nobody),
            "NO_PROXY": "127.0.0.1",
        }
    finally:
        stop.set()
        server.shutdown()
        server.server_close()
        thread.join()


def advisory(package: str, name: str) -> dict[str, Any]:
    """As OSV has it, with something in it that a terminal would obey."""
    return {
        "schema_version": "1.0.0",
        "id": name,
        "aliases": [f"CVE-{name[-6:]}"],
        "summary": "reads\x1b[2J more than it should",
        "affected": [
            {
                "package": {"name": package, "ecosystem": "PyPI"},
                "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "9.9"}]}],
            }
        ],
    }


def audit(
    environment: dict[str, str],
    folder: Path,
    *more: str,
    pinned: str = "leaky==1.0\nsound==2.0\n",
    patience: float = 60,  # seconds: the machine may be busy
) -> subprocess.CompletedProcess[str]:
    """Run the program on two pins."""
    constraints = folder / "constraints.txt"
    constraints.write_text(pinned, encoding="utf-8")
    return subprocess.run(
        [
            sys.executable,
            str(PROGRAM),
            str(constraints),
            "--patience",
            str(patience),
            "--service",
            "osv",
            *more,
        ],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def accepting(folder: Path, **changes: str) -> Path:
    """A file that accepts the advisory against leaky."""
    entry = {
        "id": '"CVE-2030-1"',
        "package": '"leaky"',
        "reason": '"its reader is never called"',
        "accepted": "2026-01-01",
        "until": "2999-01-01",
        **changes,
    }
    file = folder / "accepted.toml"
    file.write_text("[[accepted]]\n" + "".join(f"{key} = {value}\n" for key, value in entry.items()), "utf-8")
    return file


needs_pip_audit = pytest.mark.skipif(
    importlib.util.find_spec("pip_audit") is None, reason="pip-audit is of the 'dev' extra"
)


@needs_pip_audit
def test_a_known_vulnerability_fails_the_audit_in_one_line_that_a_terminal_may_be_shown(
    tmp_path: Path,
) -> None:
    with osv(knows=VULNERABLE) as environment:
        ran = audit(environment, tmp_path)
    assert ran.returncode == 1
    (line,) = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert "leaky 1.0: PYSEC-2030-1, CVE-2030-1" in line and "fixed in 9.9" in line
    assert line.isprintable() and "Traceback" not in ran.stderr


@needs_pip_audit
def test_an_accepted_advisory_passes_with_its_reason_until_its_day(tmp_path: Path) -> None:
    stamp = tmp_path / "stamp"
    with osv(knows=VULNERABLE) as environment:
        good = audit(environment, tmp_path, "--accepted", str(accepting(tmp_path)), "--stamp", str(stamp))
        old = accepting(tmp_path, until="2026-02-01")
        expired = audit(environment, tmp_path, "--accepted", str(old), "--stamp", str(stamp))
    assert good.returncode == 0 and "its reader is never called" in good.stdout
    assert expired.returncode == 1 and "it was accepted until 2026-02-01" in expired.stderr


@needs_pip_audit
def test_an_audit_that_passed_is_not_made_again_on_the_same_day_unless_a_file_changed(tmp_path: Path) -> None:
    stamp = tmp_path / "stamp"
    with osv(knows={"pyyaml": "PYSEC-2020-96"}) as environment:
        first = audit(environment, tmp_path, "--stamp", str(stamp))
    assert first.returncode == 0 and "2 audited with osv, nothing is known against them" in first.stdout
    with osv(knows=VULNERABLE) as environment:
        again = audit(environment, tmp_path, "--stamp", str(stamp))
        other = audit(environment, tmp_path, "--stamp", str(stamp), pinned="leaky==1.1\n")
        stamp.write_text(
            stamp.read_text("utf-8").replace(str(datetime.now(UTC).date()), "2020-01-01"), "utf-8"
        )
        yesterday = audit(environment, tmp_path, "--stamp", str(stamp))
    assert (again.returncode, other.returncode, yesterday.returncode) == (0, 1, 1)
    assert "were audited today" in again.stdout


@needs_pip_audit
@pytest.mark.parametrize(
    "service",
    [
        pytest.param({"knows": {}}, id="a proxy that answers everything with nothing"),
        pytest.param({"knows": VULNERABLE, "then_breaks": True}, id="a service that breaks off"),
        pytest.param({"knows": VULNERABLE, "silent": True}, id="a service that never answers"),
    ],
)
def test_where_nobody_knows_it_is_said_and_nothing_fails(service: dict[str, Any], tmp_path: Path) -> None:
    silent = "silent" in service
    with osv(**service) as environment:
        began = time.monotonic()
        ran = audit(environment, tmp_path, patience=1 if silent else 60)
        took = time.monotonic() - began
        strict = None
        if service == {"knows": {}}:  # where PyPI is asked, too, and lies behind a proxy that is not there
            strict = audit(environment, tmp_path, "--service", "pypi", "--strict")
    assert ran.returncode == 0 and not ran.stderr
    (line,) = ran.stdout.splitlines()
    assert line.startswith("pins: NOT AUDITED: ") and "nothing is known" not in line
    assert not silent or took < 20, "one second is the service's, the rest a busy machine's"
    assert strict is None or strict.returncode == 3


@pytest.mark.parametrize(
    "wrong, said",
    [
        ("leaky>=1.0\n", "constraints.txt:1: is no pin"),
        ("a==1\n-r other.txt\n", "constraints.txt:2: is no pin"),
        ("# nothing\n", "pins nothing"),
    ],
)
def test_a_file_that_pins_something_else_is_refused_with_its_line(
    wrong: str, said: str, tmp_path: Path
) -> None:
    ran = audit({}, tmp_path, pinned=wrong)
    assert ran.returncode == 2 and said in ran.stderr and len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("changes", [{"reason": '" "'}, {"until": '"soon"'}, {"more": "1"}])
def test_an_advisory_is_accepted_with_a_reason_and_dates_or_not_at_all(
    changes: dict[str, str], tmp_path: Path
) -> None:
    ran = audit({}, tmp_path, "--accepted", str(accepting(tmp_path, **changes)))
    assert ran.returncode == 2 and "accepted.toml: entry 1 needs" in ran.stderr


def test_the_pins_and_the_accepted_advisories_of_this_repository_can_be_read() -> None:
    spec = importlib.util.spec_from_file_location("audit_pins", PROGRAM)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["audit_pins"] = module
    spec.loader.exec_module(module)
    assert len(module.pins_in(CONSTRAINTS)) == len(pins()) > 150
    module.accepted_in(module.ACCEPTED)
