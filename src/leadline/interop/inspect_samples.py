"""The samples of a log of Inspect, one after the other: of an archive in either shape, or of a JSON file.

An archive (`.eval`) holds a sample as one entry, or, in the newer shape, as a shell beside the sequences that
it refers to; both may stand in one file. Inspect's own reader takes the first (as of 0.3.285); the second is
put together here, of the parts that are needed. Events and messages are never read: they are most of a log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from leadline.errors import UsageError
from leadline.interop.log_ids import told
from leadline.ordinary_file import opened

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

# What an import has no use for.
_LEFT_OUT = frozenset({"messages", "events", "events_data", "store", "timelines", "error_retries"})
# Samples are read by so many: each reading looks into the archive's list of entries once.
_AT_ONCE = 500
_ATTACHMENT = "attachment://"

Key = tuple[str | int, int]  # id and epoch


def keys(path: Path) -> list[Key]:
    """Id and epoch of every sample that an archive holds, in the order in which they were logged."""
    from inspect_ai.log import read_eval_log_sample_summaries

    return [(one.id, one.epoch) for one in read_eval_log_sample_summaries(path)]


def archived(path: Path, wanted: Sequence[Key]) -> Iterator[EvalSample]:
    """The samples of an archive that have these ids and epochs, in their order.

    Raises UsageError for one that is not there, and whatever a damaged archive makes its readers raise.
    """
    from inspect_ai.log import read_eval_log_samples_by_id

    with ZipFile(path) as archive:
        entries = frozenset(archive.namelist())
        for start in range(0, len(wanted), _AT_ONCE):
            batch = wanted[start : start + _AT_ONCE]
            whole = [key for key in batch if f"{_entry(key)}.json" in entries]
            samples = read_eval_log_samples_by_id(path, whole, exclude_fields=set(_LEFT_OUT))
            read = dict(zip(whole, samples, strict=True))
            for key in batch:
                if key not in read and f"{_entry(key)}/sample.json" not in entries:
                    raise UsageError(
                        f"lists a sample that it does not hold: {told(key[0])}, epoch {key[1]}",
                        where=str(path),
                        fix="the file is damaged, or of a version of Inspect that is not known here",
                    )
                yield read.pop(key) if key in read else _assembled(archive, _entry(key), entries)


def streamed(path: Path) -> Iterator[EvalSample]:
    """The samples of a log in JSON, in the order of the file."""
    from inspect_ai.log import EvalSample

    for fields in _json_samples(path):
        yield EvalSample.model_validate(
            {name: value for name, value in fields.items() if name not in _LEFT_OUT}
        )


def restored(text: str, attachments: Mapping[str, str]) -> str:
    """A text as it was, where the log keeps it apart."""
    if not text.startswith(_ATTACHMENT):
        return text
    return attachments.get(text.removeprefix(_ATTACHMENT), text)


def _entry(key: Key) -> str:
    return f"samples/{key[0]}_epoch_{key[1]}"


def _assembled(archive: ZipFile, prefix: str, entries: Iterable[str]) -> EvalSample:
    """A sample in the newer shape: its shell, with metadata and with the texts that it keeps apart."""
    from inspect_ai.log import EvalSample

    fields: dict[str, Any] = json.loads(archive.read(f"{prefix}/sample.json"))
    if f"{prefix}/metadata.json" in entries:
        fields["metadata"] = json.loads(archive.read(f"{prefix}/metadata.json"))
    if _ATTACHMENT in json.dumps(fields):
        start = f"{prefix}/attachments/"
        chunks = sorted(
            (int(name.removeprefix(start).removesuffix(".json")), name)
            for name in entries
            if name.startswith(start)
        )
        texts = {
            str(first + number): text
            for first, name in chunks
            for number, text in enumerate(json.loads(archive.read(name)))
        }
        fields["attachments"] = texts
    kept = {name: value for name, value in fields.items() if name not in _LEFT_OUT | {"message_refs"}}
    return EvalSample.model_validate(kept)


def _json_samples(path: Path) -> Iterator[dict[str, Any]]:
    import ijson

    read = 0
    try:
        with opened(path) as file:
            for fields in ijson.items(file, "samples.item", use_float=True):
                yield fields
                read += 1
    except (ijson.JSONError, ValueError):
        # Not-a-number and integers beyond 64 bits are no JSON for it, and are for those who write such logs.
        with opened(path) as file:
            yield from islice(json.load(file).get("samples") or (), read, None)
