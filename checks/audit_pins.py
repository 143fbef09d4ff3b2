"""Is an advisory known about a package that constraints.txt pins? Asks with pip-audit.

The pins are judged, not what happens to be installed. Where no advisory service answers (no network, a mirror
that knows packages but no advisories) one line says so, and nothing fails: a check that fails without a
network would soon be switched off. It never says that all is well when nobody was asked. A whole audit
takes a request for every pin, so it is made once a day, and again when a file that it depends on changed.

Exit codes: 0 nothing known against the pins, or nobody to ask; 1 advisories; 2 a file is wrong; 3 (with
--strict, for releases) not every pin was judged.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

ACCEPTED = Path(__file__).with_name("accepted_advisories.toml")
# In the order in which they are taken, where both answer.
SERVICES = ("pypi", "osv")
# A release with advisories that everybody knows (CVE-2020-1747, CVE-2020-14343). A service, a mirror or a
# proxy that holds nothing against it would hold nothing against anything.
CANARY = "pyyaml==5.3"
# Whether anybody answers must show within these seconds, whatever the network does.
PROBE_SECONDS = 4.0
AUDIT_SECONDS = 120.0
_SOCKET_SECONDS = 3
_PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_SHOWN = 5


class WrongFileError(Exception):
    """A file of ours that cannot be used; its text is the line to show."""


@dataclass(frozen=True)
class Accepted:
    """An advisory that does not fail the audit, until a day."""

    id: str
    package: str
    reason: str
    accepted: date
    until: date


@dataclass(frozen=True)
class Advisory:
    """What is known against a pin. names: the advisory's own name and its aliases."""

    package: str
    version: str
    names: tuple[str, ...]
    fixed_in: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class Audit:
    """What a service said of the pins. skipped: packages that it could not judge."""

    advisories: tuple[Advisory, ...]
    skipped: tuple[str, ...]
    judged: int


def pins_in(path: Path) -> list[str]:
    """The pins of a constraints file, "name==version". Raises WrongFileError for a line that pins nothing."""
    found = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongFileError(f"{path}: cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        pin = line.partition("#")[0].strip()
        if not pin:
            continue
        if not _PIN.fullmatch(pin):
            raise WrongFileError(f"{path}:{number}: is no pin: {pin} (write name==version)")
        found.append(pin)
    if not found:
        raise WrongFileError(f"{path}: pins nothing")
    return found


def accepted_in(path: Path) -> list[Accepted]:
    """The advisories that were accepted. Raises WrongFileError for an entry that lacks something."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("accepted", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WrongFileError(f"{path}: cannot be read: {error}") from None
    found = []
    for number, entry in enumerate(entries, 1):
        try:
            one = Accepted(**entry)
        except TypeError:
            keys = ", ".join(Accepted.__annotations__)
            raise WrongFileError(f"{path}: entry {number} needs {keys}, and no more") from None
        days = type(one.accepted) is date and type(one.until) is date
        if not (one.id and one.package and str(one.reason).strip() and days):
            raise WrongFileError(f"{path}: entry {number} needs a reason in words, and two dates")
        found.append(one)
    return found


def answered(said: bytes) -> Audit | None:
    """What pip-audit printed as JSON; None where it ended without an answer: its exit code is 1 for
    advisories and for a network that broke alike."""
    try:
        dependencies = json.loads(said)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return None
    skipped = tuple(str(one["name"]) for one in dependencies if "skip_reason" in one)
    advisories = tuple(_advisories(dependencies))
    return Audit(advisories, skipped, len(dependencies) - len(skipped))


def _advisories(dependencies: Iterable[dict[str, Any]]) -> Iterable[Advisory]:
    for one in dependencies:
        for found in one.get("vulns", ()):
            yield Advisory(
                str(one["name"]),
                str(one["version"]),
                (str(found["id"]), *map(str, found.get("aliases", ()))),
                tuple(map(str, found.get("fix_versions", ()))),
                _plain(str(found.get("description", ""))),
            )


def _plain(text: str, longest: int = 120) -> str:
    """A service's words on one line, with nothing in them that a terminal obeys."""
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def start(service: str, requirements: Path) -> subprocess.Popen[bytes]:
    """pip-audit, on its way. It takes proxies and certificates from the environment, as pip does."""
    asked = ("-r", str(requirements), "-s", service, "--no-deps", "--disable-pip")
    shown = ("--format", "json", "--progress-spinner", "off", "--timeout", str(_SOCKET_SECONDS))
    return subprocess.Popen(
        [sys.executable, "-m", "pip_audit", *asked, *shown],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def ended(process: subprocess.Popen[bytes], deadline: float) -> Audit | None:
    """What came of it before the deadline (of time.monotonic); it does not outlive it."""
    try:
        said, _ = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    return answered(said)


def reachable(services: Sequence[str], scratch: Path, seconds: float) -> str | None:
    """A service that knows advisories; None where none is heard in time. All are asked at once."""
    probe = scratch / "probe.txt"
    probe.write_text(f"{CANARY}\n", encoding="utf-8")
    deadline = time.monotonic() + seconds
    running = [(service, start(service, probe)) for service in services]
    found = [(service, ended(process, deadline)) for service, process in running]
    return next((service for service, audit in found if audit is not None and audit.advisories), None)


def judge(audit: Audit, accepted: Sequence[Accepted], today: date) -> tuple[list[str], list[str]]:
    """(what fails, what is only told), a line each."""
    fails, told = [], []
    used = set()
    for one in audit.advisories:
        fix = f"fixed in {', '.join(one.fixed_in)}" if one.fixed_in else "no version is without it"
        line = f"{one.package} {one.version}: {', '.join(one.names)}: {one.about} ({fix})"
        known = [
            each for each in accepted if each.id in one.names and each.package.lower() == one.package.lower()
        ]
        used.update(known)
        good = [each for each in known if today <= each.until]
        if good:
            told.append(f"accepted until {good[0].until}: {one.package}: {good[0].id}: {good[0].reason}")
        elif known:
            fails.append(f"{line}; it was accepted until {known[0].until}")
        else:
            fails.append(line)
    told += [f"no longer needed in {ACCEPTED.name}: {one.id}" for one in accepted if one not in used]
    return fails, told


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit, and say what was found. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Is an advisory known about a pinned package?")
    parser.add_argument("constraints", type=Path)
    parser.add_argument("--accepted", type=Path, default=ACCEPTED)
    parser.add_argument("--stamp", type=Path, help="a file that remembers the day of an audit that passed")
    parser.add_argument("--patience", type=float, default=PROBE_SECONDS, help="seconds for the first answer")
    parser.add_argument("--service", action="append", choices=SERVICES, help="ask this one (default: all)")
    parser.add_argument("--strict", action="store_true", help="fail where not every pin was judged")
    given = parser.parse_args(arguments)
    services: Sequence[str] = given.service or SERVICES
    today = datetime.now(UTC).date()
    try:
        pins, accepted = pins_in(given.constraints), accepted_in(given.accepted)
    except WrongFileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    written = given.constraints.read_bytes() + given.accepted.read_bytes()
    mark = f"{today} {hashlib.sha256(written).hexdigest()}\n"
    stamp: Path | None = given.stamp
    if stamp is not None and not given.strict and stamp.is_file() and stamp.read_text("utf-8") == mark:
        print(f"pins: {len(pins)} were audited today, nothing is known against them")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        service = reachable(services, Path(scratch), given.patience)
        if service is None:
            print(f"pins: NOT AUDITED: no advisory service answers here ({', '.join(services)})")
            return 3 if given.strict else 0
        whole = Path(scratch, "pins.txt")
        whole.write_text("\n".join(pins) + "\n", encoding="utf-8")
        audit = ended(start(service, whole), time.monotonic() + AUDIT_SECONDS)
    if audit is None:
        print(f"pins: NOT AUDITED: the advisory service ({service}) broke off")
        return 3 if given.strict else 0
    fails, told = judge(audit, accepted, today)
    for line in told:
        print(f"pins: {line}")
    lacking = len(pins) - audit.judged
    if lacking:
        names = ", ".join(audit.skipped[:_SHOWN]) + (", …" if len(audit.skipped) > _SHOWN else "")
        print(f"pins: NOT AUDITED: {lacking} of {len(pins)}, which {service} does not know: {names}")
    for line in fails:
        print(f"error: {line}", file=sys.stderr)
    if fails:
        print(f"pins: {len(fails)} advisories; raise the pins, or see {ACCEPTED.name}", file=sys.stderr)
        return 1
    print(f"pins: {audit.judged} audited with {service}, nothing is known against them")
    if lacking:
        return 3 if given.strict else 0
    if stamp is not None and stamp.parent.is_dir():
        stamp.write_text(mark, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
