"""Pages of JSON lines: an object a line with id, title and text, the text plain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from leadline.build.articles.blocks import Block
from leadline.build.articles.page import Fault, Page
from leadline.build.articles.unpacked import DamagedError, unpacked

_LONGEST = 1 << 28
_SURROGATE = re.compile("[\ud800-\udfff]")


def pages(block: Block) -> Iterator[Page | Fault]:
    """The pages of a block in order. Raises OSError."""
    for number, line in raw_lines(block):
        if isinstance(line, Fault):
            yield line
            continue
        where = f"{block.name}:{number}" if number else f"{block.name}: byte {block.start:,} and after"
        try:
            said = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield Fault(where, f"no JSON: {error}")
            continue
        yield page_of(said, where)


def page_of(said: Any, where: str) -> Page | Fault:
    """The page that an object holds; a Fault where it lacks what a page needs."""
    if not isinstance(said, dict):
        return Fault(where, "no JSON object")
    lacking = [name for name in ("id", "title", "text") if said.get(name) in (None, "")]
    if lacking and lacking != ["text"]:
        return Fault(where, f"lacks {', '.join(lacking)}")
    id_, title, text = said["id"], said["title"], said.get("text") or ""
    if not (isinstance(id_, (str, int)) and isinstance(title, str) and isinstance(text, str)):
        return Fault(where, "id, title and text must be text")
    entity = next((said[name] for name in ("entity", "wikidata_id") if isinstance(said.get(name), str)), None)
    revision, timestamp = str(said.get("revision") or ""), str(said.get("timestamp") or "")
    if _SURROGATE.search("\n".join((str(id_), title, text, revision, timestamp, entity or ""))):
        return Fault(where, "half of a surrogate pair: no text")
    return Page(
        id=str(id_),
        title=title.strip(),
        text=text,
        revision=revision,
        timestamp=timestamp,
        entity=entity,
    )


def raw_lines(block: Block) -> Iterator[tuple[int | None, bytes | Fault]]:
    """The lines that begin in a block, at most `block.most`, with their numbers where they are known."""
    # A line that begins at the block's edge: its newline is the byte before.
    start = max(0, block.start - 1)
    number: int | None = block.line if block.start == 0 else None
    skip, left = block.start > 0, block.most
    buffer = bytearray()
    base, bound = start, block.stop

    def taken(end: int) -> bytes:
        nonlocal base
        line = bytes(buffer[:end])
        del buffer[:end]
        base += end
        return line

    try:
        for data, _ in unpacked(block.path, start):
            searched = len(buffer)
            buffer += data
            while (end := buffer.find(b"\n", searched)) >= 0:
                searched = 0
                if not skip and ((bound is not None and base >= bound) or left == 0):
                    return
                line = taken(end + 1)
                if skip:
                    skip = False
                    continue
                number = None if number is None else number + 1
                if line.strip():
                    left = None if left is None else left - 1
                    yield number, line
            if len(buffer) > _LONGEST:
                yield number, Fault(block.name, f"a line of more than {_LONGEST >> 20} MiB", page=False)
                return
        if buffer.strip() and not skip and (bound is None or base < bound) and left != 0:
            yield None if number is None else number + 1, bytes(buffer)
    except DamagedError as damage:
        where = block.name if number is None else f"{block.name}:{number + 1}"
        yield number, Fault(where, str(damage), page=False)
