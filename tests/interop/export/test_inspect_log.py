"""`leadline export inspect-log`: Inspect opens the logs, shows them, and they come back."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest
from inspect_ai.analysis import samples_df
from inspect_ai.log import list_eval_logs, read_eval_log

from leadline.interop.export_answers import export_answers
from leadline.interop.export_inspect_log import export_inspect_logs
from leadline.study.study import open_study
from tests.interop.conftest import Leadline
from tests.interop.export.recorded import ITEMS, write_study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("recorded"))


@pytest.fixture(scope="module")
def logs(study: Path) -> Path:
    export_inspect_logs(open_study(study), study.parent / "logs")
    return study.parent / "logs"


def test_a_log_holds_what_the_study_holds(study: Path, logs: Path, tmp_path: Path) -> None:
    export_answers(open_study(study), tmp_path / "answers.parquet")
    table = pl.read_parquet(tmp_path / "answers.parquet")
    found = [read_eval_log(one) for one in list_eval_logs(str(logs))]
    assert sorted(one.eval.model for one in found) == ["large/plain", "large/step by step", "small/plain"]
    for log in found:
        model, name = log.eval.model.split("/")
        own = table.filter((pl.col("model") == model) & (pl.col("configuration") == name))
        assert log.status == "success" and log.samples and len(log.samples) == own.height == 18
        assert log.eval.config.epochs == 3 and len(log.eval.dataset.sample_ids or ()) == 6
        rows = {(row["item"], row["sample"]): row for row in own.iter_rows(named=True)}
        for sample in log.samples:
            row = rows[str(sample.id), sample.epoch - 1]
            if row["state"] == "error":
                assert sample.error is not None and sample.error.message.startswith("timeout: no answer")
                assert not sample.scores and not sample.output.choices
                continue
            assert sample.output.completion == row["text"]
            assert sample.scores is not None
            score = sample.scores["reading"]
            assert (score.value == "C") == row["correct"]
            assert (score.metadata or {})["leadline"]["state"] == row["state"]
            assert sample.output.stop_reason == {
                "length": "max_tokens", "content_filter": "content_filter", "stop": "stop"
            }.get(row["finish"], "unknown")  # fmt: skip
        shares = (
            own.filter(pl.col("state") != "error").group_by("item").agg(pl.col("correct").mean())["correct"]
        )
        assert log.results is not None
        accuracy = log.results.scores[0].metrics["accuracy"].value
        assert accuracy == pytest.approx(shares.mean())


def test_the_data_frames_of_inspect_read_the_logs(logs: Path) -> None:
    frame = samples_df(str(logs))
    assert len(frame) == 54
    assert set(frame["id"]) == {str(item["id"]) for item in ITEMS}
    assert (frame["error"] != "").sum() == 1


def test_logs_come_back_as_the_same_answers(
    study: Path, logs: Path, tmp_path: Path, leadline: Leadline
) -> None:
    command = ("import", "inspect", logs, "--study", tmp_path / "back", "--benchmark", study.parent / "bench")
    ended = leadline(*command)
    assert "54 answers of 3 configurations to 6 items" in ended.out
    for study_folder, name in ((study, "one"), (tmp_path / "back", "two")):
        export_answers(open_study(study_folder), tmp_path / f"{name}.parquet")
    kept = ["item", "sample", "text", "state", "value", "correct", "finish", "tokens_in", "tokens_out"]
    one, two = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("one", "two"))
    names = {"plain": "small/plain", "step by step": "step by step"}
    for model, name in (("large", "step by step"), ("small", "plain")):
        before = one.filter((pl.col("model") == model) & (pl.col("configuration") == name))
        after = two.filter(pl.col("configuration") == names[name])
        order = ["item", "sample"]
        assert after.height and after.sort(order).select(kept).equals(before.sort(order).select(kept))


def test_the_viewer_of_inspect_shows_the_logs(logs: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["view", "start", "--log-dir", str(logs), "--port", str(port), "--host", "127.0.0.1"]
    program = "import sys; from inspect_ai._cli.main import main; sys.argv[0] = 'inspect'; main()"
    viewer = subprocess.Popen(
        [sys.executable, "-c", program, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        listed = json.loads(fetched(f"http://127.0.0.1:{port}/api/logs", until=time.monotonic() + 60))
        names = [one["name"] for one in listed["files"]]
        assert len(names) == 3
        for name in names:
            place = quote(name, safe="")
            header = json.loads(fetched(f"http://127.0.0.1:{port}/api/logs/{place}?header-only=1"))
            assert header["status"] == "success" and header["eval"]["task"] == "odds and ends"
    finally:
        viewer.terminate()
        viewer.wait(timeout=20)


def fetched(address: str, until: float = 0) -> bytes:
    while True:
        try:
            with urllib.request.urlopen(address, timeout=20) as answer:
                return bytes(answer.read())
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.3)


def test_one_configuration_can_be_chosen(study: Path, tmp_path: Path, leadline: Leadline) -> None:
    command = ("export", "inspect-log", study, tmp_path / "logs", "--configuration")
    assert "there is no configuration 'plane' (did you mean 'plain'?)" in leadline(*command, "plane").fault
    ended = leadline(*command, "step by step")
    assert "large · step by step: 18 samples, of which with an error: 1" in ended.out
    assert len(list((tmp_path / "logs").iterdir())) == 1
