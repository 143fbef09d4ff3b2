"""Answers that other tools wrote, from sound files, and how each kind is brought into a study."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from leadline.errors import LeadlineError
from leadline.interop.inspect_log import inspect_logs
from leadline.interop.lm_eval_files import lm_eval_logs
from leadline.interop.log_import import import_logs
from leadline.interop.openai_batch import openai_batch_logs
from leadline.interop.probity_release import import_release
from leadline.interop.table import import_table
from tests.fuzz.mutations import written
from tests.fuzz.readers import Reader
from tests.interop import inspect_evals
from tests.interop.test_lm_eval_samples_shapes import TIME, generated, weighed
from tests.interop.test_openai_batch import answered, chat, expired, response
from tests.interop.test_probity_release import IRREGULAR, release

ITEMS = (
    {"id": "a", "question": "How much?", "answer": "12.5", "answer_type": "number"},
    {"id": "b", "question": "Who?", "answer": "Ada", "task": "t", "category": "c"},
)
ROWS: tuple[dict[str, Any], ...] = (
    {"item": "a", "configuration": "x", "sample": 0, "text": "12.5", "error": None, "serving": "local"},
    {"item": "a", "configuration": "x", "sample": 1, "text": "about 12", "error": None, "serving": "local"},
    {"item": "b", "configuration": "x", "sample": 0, "text": "Ada", "error": None, "serving": "local"},
    {"item": "b", "configuration": "y", "sample": 0, "text": "", "error": "timeout", "serving": "routed"},
)


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _taken(logs: Any, **options: Any) -> object:
    """The logs in a new study, and by themselves, so that a fault does not hide behind the first."""
    with TemporaryDirectory() as folder:
        for log in logs:
            for part in ("settings", "about", "created", "run", "task", "model"):
                getattr(log, part)
            for read in (log.items, log.answers, log.notes):
                try:
                    list(read())
                except LeadlineError as error:
                    found: object = error
        try:
            return import_logs(logs, Path(folder) / "study", dry=True, **options)
        except LeadlineError as error:
            found = error
        raise found


def _inspect(path: Path) -> object:
    return _taken(inspect_logs([path]))


def _lm_eval(path: Path) -> object:
    samples = path.parent / f"samples_capitals_{TIME}.jsonl"
    return _taken(lm_eval_logs([samples], model="m"))


def _batch(path: Path) -> object:
    return _taken(openai_batch_logs([path]), benchmark=str(path.parent / "items.jsonl"), holds_items=False)


def _table(path: Path) -> object:
    with TemporaryDirectory() as folder:
        return import_table(
            [path], Path(folder) / "study", benchmark=str(path.parent / "items.jsonl"), dry=True
        )


def _release(path: Path) -> object:
    root = next(parent for parent in path.parents if parent.name == "release")
    with TemporaryDirectory() as folder:
        import_release(root, Path(folder) / "study")
        return import_release(root, Path(folder) / "again", read_again=True)


def _items_beside(folder: Path) -> None:
    (folder / "items.jsonl").write_bytes(lines(*ITEMS))


@cache
def inspect_files() -> dict[str, bytes]:
    """One evaluation as Inspect writes it: ".json", and ".eval"."""
    found = {}
    for form in ("json", "eval"):
        with TemporaryDirectory() as folder:
            asked = inspect_evals.model(inspect_evals.UNSURE)
            log = inspect_evals.evaluated(Path(folder), asked, epochs=2, log_format=form)
            found[f".{form}"] = Path(log.location.removeprefix("file://")).read_bytes()
    return found


def inspect_entries() -> dict[str, Any]:
    """The entries of the archive, which are all JSON."""
    with zipfile.ZipFile(io.BytesIO(inspect_files()[".eval"])) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def archive_of(entries: Any) -> bytes:
    """Entries in an archive, whatever their names are; a list holds pairs, so that names may come twice."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items() if isinstance(entries, dict) else entries:
            archive.writestr(str(name).encode("utf-8", "replace").decode()[:60_000], written(content))
    return out.getvalue()


def _samples_beside(folder: Path) -> None:
    rows = [generated(1, "France", [" Paris", " Lyon"], "Paris"), generated(2, "Peru", [" Lima", ""], "Lima")]
    (folder / f"samples_capitals_{TIME}.jsonl").write_bytes(lines(*rows))
    _results_beside(folder)


def _results() -> dict[str, Any]:
    task = "capitals"
    return {
        "results": {task: {"alias": task, "exact_match,none": 0.5, "exact_match_stderr,none": "N/A"}},
        "configs": {task: {"output_type": "generate_until", "doc_to_text": "x {{country}}", "repeats": 2}},
        "n-shot": {task: 0},
        "n-samples": {task: {"original": 2, "effective": 2}},
        "higher_is_better": {task: {"exact_match": True}},
        "group_subtasks": {"all": [task]},
        "versions": {task: 1.0},
        "config": {"model": "hf", "model_args": "pretrained=my/model", "gen_kwargs": "temperature=0.7"},
        "model_name": "my/model",
        "model_source": "hf",
        "lm_eval_version": "0.4.9",
        "total_evaluation_time_seconds": "2.5",
    }  # fmt: skip


def _results_beside(folder: Path) -> None:
    (folder / f"results_{TIME}.json").write_bytes(json.dumps(_results()).encode())


def _samples() -> tuple[bytes, ...]:
    asked = [
        generated(1, "France", [" Paris", " Lyon"], "Paris"),
        generated(2, "Peru", [" Lima", ""], "Lima", "strict"),
    ]
    ours = generated(3, "Chad", [" N'Djamena"], "x")
    ours["doc"]["leadline"] = json.dumps({"id": "i", "question": "Which?", "answer": "N'Djamena"})
    chosen = [weighed(1, ["red", "blue"], [-1.5, -0.5], "1", choices=["red", "blue"], gold=1)]
    older = [{**row, "resps": str(row["resps"])} for row in asked]
    return lines(*asked, ours), lines(*chosen), lines(*older)


def _tables() -> dict[str, bytes]:
    frame = pl.DataFrame(ROWS)
    found = {}
    for form, write in (
        ("csv", frame.write_csv),
        ("parquet", frame.write_parquet),
        ("jsonl", frame.write_ndjson),
    ):
        out = io.BytesIO()
        write(out)
        found[form] = out.getvalue()
    return found


def _release_beside(folder: Path) -> None:
    release(folder / "release", IRREGULAR)


def brought() -> dict[str, Reader]:
    """Every kind of file of answers, by a name for the test."""
    tables, logs = _tables(), inspect_files()
    batch = lines(
        answered("a", chat("12.5", "12")), expired("b"), answered("b", response("Ada Lovelace")),
        answered("a", {"error": {"message": "no", "code": None}}, 429),
    )  # fmt: skip
    leaf = "release/leaves/round_size"
    with TemporaryDirectory() as folder:
        root = release(Path(folder) / "release", IRREGULAR)
        oracle, runs = (
            (root / "leaves" / "round_size" / name).read_bytes() for name in ("oracle.jsonl", "runs_a.jsonl")
        )
    kinds: dict[str, Reader] = {
        "inspect, json": Reader("log.json", (logs[".json"],), _inspect, "json"),
        "inspect, archive": Reader("log.eval", (logs[".eval"],), _inspect),
        "lm-eval, samples": Reader(
            f"samples_capitals_{TIME}.jsonl", _samples(), _lm_eval, "lines", _results_beside
        ),
        "lm-eval, results": Reader(
            f"results_{TIME}.json", (json.dumps(_results()).encode(),), _lm_eval, "json", _samples_beside
        ),
        "openai batch": Reader("batch.jsonl", (batch,), _batch, "lines", _items_beside),
        "table, lines": Reader("t.jsonl", (tables["jsonl"],), _table, "lines", _items_beside),
        "table, csv": Reader("t.csv", (tables["csv"],), _table, "text", _items_beside),
        "table, parquet": Reader("t.parquet", (tables["parquet"],), _table, "text", _items_beside),
        "release, oracle": Reader(f"{leaf}/oracle.jsonl", (oracle,), _release, "lines", _release_beside),
        "release, runs": Reader(f"{leaf}/runs_a.jsonl", (runs,), _release, "lines", _release_beside),
    }  # fmt: skip
    return kinds
