"""Fuzzing that follows what an input reaches: `python -m tests.fuzz.guided NAME ... --seconds 60`.

NAME is a file of `readers()` (items.csv, plan.yaml, ...) or a type of answers (number, date, ...). Needs
atheris, which the project does not ask for: `pip install atheris`. Each name runs in a process of its own,
since libFuzzer ends its process; what an input broke is printed, with the input, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

TYPES = {
    "number": "1,250.5",
    "date": "2020-02-01",
    "boolean": "yes",
    "enum": "rock",
    "text": "Paris",
    "parts": '{"rate": "8", "capped": "no"}',
}


def answers(kind: str) -> Callable[[bytes], object]:
    """Reads its input as an answer of this type."""
    from leadline.answers.registry import read_answer
    from leadline.bench.item import Item

    more = {"vocabulary": ("sand", "rock", "mud")} if kind == "enum" else {}
    if kind == "parts":
        parts = [{"name": "rate", "answer_type": "number"}, {"name": "capped", "answer_type": "boolean"}]
        more = {"fields": parts}
    item = Item(id="a", question="?", answer=TYPES[kind], answer_type=kind, **more)
    return lambda data: read_answer(item, data.decode("utf-8", "replace"))


def files(name: str, folder: Path) -> tuple[Callable[[bytes], object], list[bytes]]:
    """Reads its input as a file of this name; and sound ones."""
    from tests.fuzz.limits import held
    from tests.fuzz.readers import readers

    reader = next(one for one in readers() if one.name == name)
    if reader.beside is not None:
        reader.beside(folder)

    def read(data: bytes) -> object:
        (folder / name).unlink(missing_ok=True)  # what lay there may still be mapped into memory
        (folder / name).write_bytes(data)
        return held(reader.read, folder / name)

    return read, list(reader.originals)


def fuzz(name: str, seconds: int) -> None:
    """Never returns: libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["leadline"]), tempfile.TemporaryDirectory() as place:
        (folder := Path(place, "given")).mkdir()
        (seeds := Path(place, "seeds")).mkdir()
        if name in TYPES:
            read, originals = answers(name), [TYPES[name].encode()]
        else:
            read, originals = files(name, folder)
        for number, content in enumerate(originals):
            (seeds / str(number)).write_bytes(content)
        told = [f"-max_total_time={seconds}", "-timeout=15", "-rss_limit_mb=4096", "-verbosity=0"]
        atheris.Setup(
            [sys.argv[0], *told, "-print_final_stats=1", str(seeds)], lambda data: read(data) and None
        )
        atheris.Fuzz()


def main() -> None:
    """One process after the other."""
    parser = argparse.ArgumentParser(description="Fuzz readers, guided by what their inputs reach.")
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--seconds", type=int, default=60, help="of each (default 60)")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        fuzz(given.names[0], given.seconds)
    broken = []
    for name in given.names:
        command = [sys.executable, "-m", "tests.fuzz.guided", "--here", name, "--seconds", str(given.seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        stats = dict(line[6:].split(": ") for line in done.stderr.splitlines() if line.startswith("stat::"))
        inputs = stats.get("number_of_executed_units", "?").strip()
        print(f"{name}: {inputs} inputs, exit code {done.returncode}", flush=True)
        if done.returncode:
            broken.append(name)
            print(done.stderr[-4000:])
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
