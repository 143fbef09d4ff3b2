"""Files that carry checksums of themselves or of each other: registrations, and packs with their sheets."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from leadline.bench import load_benchmark
from leadline.review.pack import Pack, draw_pack
from leadline.review.pack_files import HEAD, write_pack
from leadline.review.sheet import Answer, sheet_text
from leadline.study.registration import STAMP, items_hash, stamp


def registration() -> dict[str, Any]:
    """A registration as its file holds it, of two groups of items, with its stamp."""
    items, others = ("a", "b"), ("c",)
    content: dict[str, Any] = {
        "schema": "leadline.registration/1",
        "registered": "2026-01-01T00:00:00Z",
        "leadline_version": "0.1",
        "prediction": {
            "title": "Steady enough",
            "statistic": "wobble",
            "comparison": "groups",
            "direction": "below",
            "threshold": 0.25,
            "exclusions": ["none"],
        },
        "items": list(items),
        "items_sha256": items_hash(items, others),
        "other_items": list(others),
        "tested": {
            "study": "s",
            "benchmark": {"name": "facts", "version": "1", "content_hash": "sha256:0"},
            "correctness": "maple",
            "models": [{"label": "m", "ref": "smollm2", "dtype": "float32"}],
            "configurations": [{"name": "c", "technique": "greedy", "identity": "sha256:1", "samples": 4}],
        },
    }
    content["sha256"] = stamp(content)
    return content


def stamped(content: Any) -> Any:
    """The same with a stamp that fits, where it can have one."""
    if isinstance(content, dict):
        content[STAMP] = stamp(content)
    return content


@cache
def _written() -> tuple[Pack, dict[str, bytes]]:
    whole = load_benchmark("licences")
    folder = Path(mkdtemp(prefix="leadline-fuzz-")) / "pack"
    pack = write_pack(draw_pack(whole, whole.items[:4]), folder)
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")}
    return pack, files


def pack() -> Pack:
    """A pack of four questions."""
    return _written()[0]


def pack_head() -> bytes:
    """Its pack.json."""
    return _written()[1][HEAD]


def put_pack(folder: Path) -> None:
    """Write the pack into a folder."""
    for name, content in _written()[1].items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def filled_sheet() -> bytes:
    """Its sheet, with every row answered."""
    answers = {row.token: Answer("30", "a quote, with a comma", 'and "quotes"') for row in pack().rows}
    return sheet_text(pack(), answers).encode()
