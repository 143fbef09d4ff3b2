"""Extractions that were made before: REBEL's linearised output beside the text that it was read off.

A line of a file is a JSON object:

    {"title": "Transportation Journal", "text": "Transportation Journal is ...", "output": "<triplet> ...",
     "ids": {"Penn State University Press": "Q7163300"}, "relations": {"publisher": "P123"}}

`article` (the page's id) may stand in the place of `title` or beside it, and a text that is recorded without
either is found by its words. `text` is a whole article, a part of it or a sentence. `ids` and `relations`
are optional. Files end in .jsonl, .jsonl.gz or .jsonl.zst.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from leadline.build.extra import needed
from leadline.build.extract.extractor import Extracted, Extractor, Passage
from leadline.build.extract.linearised import parse
from leadline.build.extract.names import composed
from leadline.build.extract.pronouns import class_words
from leadline.build.extract.support import way_stated
from leadline.build.parts import Unpacked
from leadline.build.plan import Plan
from leadline.build.plan_file import files_of, where_in
from leadline.build.records import Triplet
from leadline.errors import LeadlineError, UsageError

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST = 1 << 26  # bytes of a line: a whole article and what was said of it are far below


class RecordedLine(BaseModel):
    """A line of a file of recorded extractions."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str
    output: str
    title: str | None = None
    article: str | None = None
    ids: dict[str, str] = {}
    relations: dict[str, str] = {}

    @model_validator(mode="after")
    def _says_something(self) -> RecordedLine:
        if not self.text.strip():
            raise ValueError("text is empty")
        return self


@dataclass(frozen=True)
class _Entry:
    text: str  # white space as one space, NFC
    triplets: tuple[Triplet, ...]
    faults: dict[str, int]


class RecordedExtractor(Extractor):
    """Says again what was recorded.

    A passage that was recorded word for word gives what was recorded for it. Else what was recorded under
    its page counts: of texts that stand in the passage all triplets, and of a text in which the passage
    stands those that the passage can state by itself (both names, or the pronoun rule). The latter makes
    "extracted again from the sentence alone" a replay: it shows that the sentence carries both ends of the
    triplet, not that a model would read it off that sentence. Where the sentence itself was recorded, it is
    what the model said.
    """

    name = "recorded"
    unit = "article"

    def __init__(self, lines: Iterable[RecordedLine]) -> None:
        """All of `lines` is held in memory, about the size of the files."""
        self._by_text: dict[str, list[_Entry]] = {}
        self._by_page: dict[tuple[str, str], list[_Entry]] = {}
        for line in lines:
            entry = _entry(line)
            self._by_text.setdefault(entry.text, []).append(entry)
            if line.title is not None:
                self._by_page.setdefault(("title", _plain(line.title)), []).append(entry)
            if line.article is not None:
                self._by_page.setdefault(("id", line.article), []).append(entry)

    def read(self, passages: Sequence[Passage]) -> list[Extracted]:
        """As `Extractor.read`; the note is "unrecorded" where nothing is known of a passage, and "other-text"
        where what was recorded under its page is another text, such as that of another day."""
        return [self._one(passage) for passage in passages]

    def _one(self, passage: Passage) -> Extracted:
        text = _plain(passage.text)
        if exact := self._by_text.get(text):
            return _joined((entry, entry.triplets) for entry in exact)
        page = self._page(passage)
        found = [
            (entry, entry.triplets if entry.text in text else _stated(entry, passage))
            for entry in page
            if entry.text in text or text in entry.text
        ]
        taken = {id(entry) for entry, _ in found}
        for start, end in passage.sentences:
            for entry in self._by_text.get(_plain(passage.text[start:end]), ()):
                if id(entry) not in taken:
                    taken.add(id(entry))
                    found.append((entry, entry.triplets))
        if not found:
            return Extracted(note="other-text" if page else "unrecorded")
        return _joined(found)

    def _page(self, passage: Passage) -> list[_Entry]:
        found = self._by_page.get(("id", passage.article)) if passage.article else None
        return found or self._by_page.get(("title", _plain(passage.title)), [])


def recorded_extractor(plan: Plan) -> RecordedExtractor:
    """The files that the plan names."""
    return RecordedExtractor(line for path in recorded_files(plan) for line in read_recorded(path))


def recorded_files(plan: Plan) -> tuple[Path, ...]:
    """The files that the plan names. Raises UsageError where it names none."""
    if not plan.extract.recorded:
        raise UsageError(
            "the method 'recorded' needs files",
            where=where_in(plan, "extract"),
            fix="recorded: extractions.jsonl.zst",
        )
    return files_of(plan, "extract", "recorded")


def read_recorded(path: Path) -> Iterator[RecordedLine]:
    """The lines of a file. Raises UsageError with file and line for one that is none."""
    number = 0
    try:
        with _opened(path) as lines:
            # Decoded one by one: of a block of lines nobody would know in which the wrong byte is.
            while line := lines.readline(_LONGEST + 1):
                number += 1
                if len(line) > _LONGEST:
                    raise ValueError(f"a line of more than {_LONGEST >> 20} MiB")
                said = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if said.strip():
                    yield RecordedLine.model_validate(_sound(said))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{place}: {first['msg']}" if place else first["msg"],
            where=f"{path}:{number}",
            fix='{"title": ..., "text": ..., "output": "<triplet> ..."}',
        ) from None
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0][:200]
        raise UsageError(f"no JSON object: {reason}", where=f"{path}:{number or 1}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise LeadlineError(f"cannot be read: {error}", where=f"{path}:{number + 1}") from None


def _sound(line: str) -> Any:
    """What the line's JSON says. Half of a surrogate pair, which no text can hold, is U+FFFD instead."""
    said = json.loads(line)
    if "\\u" in line and _SURROGATE.search(text := json.dumps(said, ensure_ascii=False)):
        said = json.loads(_SURROGATE.sub("\ufffd", text))
    return said


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | io.BufferedReader | gzip.GzipFile]:
    with path.open("rb") as file:
        if path.suffix == ".gz":
            with gzip.open(file, "rb") as lines:
                yield lines
        elif path.suffix == ".zst":
            zstandard = needed("zstandard")
            try:
                yield io.BufferedReader(Unpacked(file), 1 << 20)
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
        else:
            yield file


def _entry(line: RecordedLine) -> _Entry:
    said = parse(line.output)
    with_ids = tuple(
        one.model_copy(
            update={
                "subject_id": line.ids.get(one.subject),
                "relation_id": line.relations.get(one.relation),
                "object_id": line.ids.get(one.object),
            }
        )
        for one in said.triplets
    )
    return _Entry(_plain(line.text), with_ids, dict(Counter[str](fault.code for fault in said.faults)))


def _stated(entry: _Entry, passage: Passage) -> tuple[Triplet, ...]:
    anaphors = replace(passage.anaphors, nouns=passage.anaphors.nouns | class_words(entry.text))
    return tuple(one for one in entry.triplets if way_stated(passage.text, one, passage.title, anaphors))


def _joined(found: Iterable[tuple[_Entry, tuple[Triplet, ...]]]) -> Extracted:
    triplets: dict[Triplet, None] = {}
    faults: Counter[str] = Counter()
    for entry, ours in found:
        triplets.update(dict.fromkeys(ours))
        faults.update(entry.faults)
    return Extracted(tuple(triplets), dict(faults))


def _plain(text: str) -> str:
    return " ".join(composed(text).replace("_", " ").split())
