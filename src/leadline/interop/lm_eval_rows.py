"""The rows of one `samples_*.jsonl` of lm-evaluation-harness: a document asked, and all that was answered.

The harness writes one row per document **and filter**. All rows of a document hold the same answers
(`resps`), so one of them is enough; what its filters made of the answers is not what the model said.
Documents are told apart by the hash of their content: with `--samples` their numbers (`doc_id`) are wrong.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leadline.bench.problem import shortened
from leadline.errors import UsageError
from leadline.ordinary_file import opened

# So much of a document's hash is in an item's id: 2**48 values, where tasks have some thousand documents.
HASH_DIGITS = 12
_MAX_LINE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SampleRow:
    """One row. `requests` are what the model was given; `answers` are [request][repeat], as they are written.

    `key` names the document within its task: the first digits of its hash, and a number for a further
    document with the same content.
    """

    line: int
    key: str
    doc: Mapping[str, Any]
    target: object
    requests: tuple[tuple[object, ...], ...]
    answers: tuple[tuple[object, ...], ...]
    filter: str
    metrics: Mapping[str, float]

    @property
    def is_likelihood(self) -> bool:
        """Likelihoods of given texts were measured: nothing was generated."""
        return all(isinstance(answer, list | tuple) for answers in self.answers for answer in answers)


@dataclass
class Rows:
    """What a look at a file of samples found; `first` is read again and again, row by row.

    `documents` are their keys in the order of the file, `filters` those that have rows, `repeats` how many
    answers each document has at most, `twins` are documents with the content of another, `broken_off` says
    that the last line is not whole.
    """

    path: Path
    documents: list[str] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)
    repeats: int = 0
    twins: int = 0
    broken_off: bool = False
    _first: dict[int, str] = field(default_factory=dict)
    _key_of: dict[int, str] = field(default_factory=dict)

    def first(self) -> Iterator[SampleRow]:
        """One row a document."""
        for line, fields in _lines(self.path, self):
            if line in self._first:
                yield _row(fields, line, self._first[line], self.path)

    def all(self) -> Iterator[SampleRow]:
        """Every row: each document once for each filter."""
        for line, fields in _lines(self.path, self):
            yield _row(fields, line, self._key_of[line], self.path)


def look_at(path: Path) -> Rows:
    """Go through a file of samples once. Raises UsageError, with the line, for what is none, OSError."""
    rows = Rows(path)
    # A document is its hash and its number: where its rows begin, what it answered, the filters seen.
    seen: dict[tuple[str, str], tuple[str, int, bytes, dict[str, int]]] = {}
    contents: dict[str, int] = {}
    for line, fields in _lines(path, rows):
        row = _row(fields, line, "", path)
        whole = document_hash(fields)
        number = json.dumps(fields.get("doc_id"))
        answers = hashlib.sha256(json.dumps(row.answers).encode()).digest()
        if row.filter not in rows.filters:
            rows.filters.append(row.filter)
        known = seen.get((whole, number))
        if known is None:
            contents[whole] = contents.get(whole, 0) + 1
            key = whole[:HASH_DIGITS] + (f"-{contents[whole]}" if contents[whole] > 1 else "")
            rows.twins += contents[whole] > 1
            seen[whole, number] = key, line, answers, {row.filter: line}
            rows.documents.append(key)
            rows._first[line] = rows._key_of[line] = key
            rows.repeats = max(rows.repeats, *map(len, row.answers))
            continue
        key, begun, said, filters = known
        rows._key_of[line] = key
        # Early versions did not write which filter a row is of.
        if row.filter in filters and (row.filter or said != answers):
            raise UsageError(
                f"the document of line {filters[row.filter]} stands here once more"
                + (
                    f", under the same filter {shortened(row.filter)}"
                    if row.filter
                    else ", otherwise answered"
                ),
                where=f"{path}:{line}",
                fix="each run's samples in a file of their own",
            )
        filters.setdefault(row.filter, line)
        if said != answers:
            raise UsageError(
                f"the rows of one document hold different answers: line {begun} and this one",
                where=f"{path}:{line}",
                fix="each run's samples in a file of their own",
            )
    if not rows.documents:
        raise UsageError("holds no samples", where=str(path), fix="lm_eval ... --log_samples writes them")
    return rows


def document_hash(fields: Mapping[str, Any]) -> str:
    """The hash of a row's document: the one that stands there, or, where none does, made in the same way."""
    said = fields.get("doc_hash")
    if isinstance(said, str) and len(said) >= HASH_DIGITS and said.isalnum():
        return said
    text = json.dumps(fields["doc"], indent=2, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _lines(path: Path, rows: Rows) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Number and content of each line. A last line without its end that is no JSON was being written."""
    with opened(path) as file:
        number = 0
        while line := file.readline(_MAX_LINE):
            number += 1
            if not line.strip():
                continue
            where = f"{path}:{number}"
            if len(line) >= _MAX_LINE and not line.endswith(b"\n"):
                raise UsageError(f"the line has more than {_MAX_LINE:,} bytes", where=where)
            try:
                fields = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except (ValueError, RecursionError) as error:
                if not line.endswith(b"\n"):
                    rows.broken_off = True
                    return
                what = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "broken JSON"
                raise UsageError(what, where=where, fix="one JSON object a line") from error
            yield number, _checked(fields, where)


def _checked(fields: object, where: str) -> Mapping[str, Any]:
    if not isinstance(fields, dict) or not {"doc", "resps", "arguments"} <= fields.keys():
        raise UsageError(
            "is no row of samples: doc, arguments and resps belong in it",
            where=where,
            fix="lm_eval ... --log_samples writes samples_TASK_TIME.jsonl",
        )
    return fields


def _row(fields: Mapping[str, Any], line: int, key: str, path: Path) -> SampleRow:
    where = f"{path}:{line}"
    answers = _answers(fields["resps"], where)
    named = fields.get("metrics")
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    doc = fields["doc"]
    return SampleRow(
        line=line,
        key=key,
        doc=doc if isinstance(doc, dict) else {},
        target=fields.get("target"),
        requests=_requests(fields["arguments"], len(answers), where),
        answers=answers,
        filter=str(fields.get("filter") or ""),
        metrics={name: float(value) for name in names if isinstance(value := fields.get(name), int | float)},
    )


def _answers(resps: object, where: str) -> tuple[tuple[object, ...], ...]:
    """[request][repeat]. Exports of some versions hold the nested list as a text."""
    if isinstance(resps, str):
        try:
            resps = ast.literal_eval(resps)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            resps = None
    if isinstance(resps, list) and resps and all(isinstance(one, list) and one for one in resps):
        return tuple(tuple(one) for one in resps)
    raise UsageError("resps is no list of requests, each with its answers", where=where)


def _requests(arguments: object, number: int, where: str) -> tuple[tuple[object, ...], ...]:
    """What each request was called with: {"gen_args_0": {"arg_0": ...}} or, of early versions, nested
    lists."""
    calls = list(arguments.values()) if isinstance(arguments, dict) else arguments
    if not isinstance(calls, list) or not all(isinstance(one, dict | list) and one for one in calls):
        raise UsageError("arguments is no list of requests, each with what it was called with", where=where)
    if len(calls) != number:
        raise UsageError(f"{len(calls)} requests were made and {number} answered", where=where)
    return tuple(tuple(one.values() if isinstance(one, dict) else one) for one in calls)
