"""A study of the small model behind `leadline serve`, asked through inspect-ai, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from leadline.models.local import LocalModel
from tests.end_to_end.asked import questions, write_study
from tests.end_to_end.commands import QUIET, Ended, done, leadline
from tests.end_to_end.holding import answers_under, files_with, stored
from tests.end_to_end.house import KEY, House, Said, drawn_again, until

pytestmark = pytest.mark.model

ITEMS = len(questions())
ANSWERS = 3 * ITEMS  # once greedily and twice at a temperature


def entry(house: House) -> dict[str, Any]:
    return {
        "ref": "inspect:openai-api/house/smollm2",
        "name": "house",
        "base_url": house.url,
        "connections": 2,
    }


@dataclass(frozen=True)
class Story:
    """A study that Ctrl-C stopped and that was run again: `asked` and `kept` until it was stopped."""

    folder: Path
    stopped: Ended
    asked: int
    kept: int
    finished: Ended
    said: list[Said]


@pytest.fixture(scope="module")
def story(house: House, tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = write_study(tmp_path_factory.mktemp("studies") / "behind-the-server", questions(), entry(house))
    before = len(house.records())
    process = subprocess.Popen(
        [sys.executable, "-m", "leadline", "run", str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **QUIET, "HOUSE_API_KEY": KEY},
    )  # fmt: skip
    until(lambda: len(house.records()) >= before + 5 or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    asked, kept = len(house.records()) - before, stored(folder)
    finished = leadline("run", folder, HOUSE_API_KEY=KEY)
    return Story(folder, Ended(process.returncode, out, err), asked, kept, finished, house.said(since=before))


def test_ctrl_c_loses_no_answer_and_the_next_run_asks_none_twice(story: Story) -> None:
    assert story.stopped.code == 130 and "Traceback" not in story.stopped.err
    assert 5 <= story.kept == story.asked < ANSWERS
    assert story.finished.code == 0, story.finished.err
    assert len(story.said) == stored(story.folder) == ANSWERS
    asked = Counter((one.question, one.asked["temperature"], one.seed) for one in story.said)
    assert set(asked.values()) == {1}
    assert set(Counter(question for question, *_ in asked).values()) == {3}


def test_manifest_and_report_name_what_the_server_says_of_itself(house: House, story: Story) -> None:
    (card,) = httpx2.get(f"{house.url}/models", headers={"Authorization": f"Bearer {KEY}"}).json()["data"]
    (told,) = json.loads((story.folder / "manifest.json").read_text("utf-8"))["served"]
    assert told["answered_by"] == {"smollm2": ANSWERS}
    assert told["fingerprints"] == {card["leadline"]["system_fingerprint"]: ANSWERS}
    assert (told["requests"], told["outcomes"]) == (ANSWERS, {"answer": ANSWERS})
    counted = [record for record in house.records() if record["id"]][-ANSWERS:]
    assert told["tokens_out"] == sum(record["completion_tokens"] for record in counted)
    page = (story.folder / "report" / "report.html").read_text("utf-8")
    assert (
        f"house: answered by smollm2 ({card['leadline']['system_fingerprint']}); {ANSWERS} requests" in page
    )
    assert "baseline greedy" in story.finished.out and "τ = 0.7" in story.finished.out


def test_greedy_answers_behind_the_server_are_those_of_a_study_without_one(
    story: Story, tmp_path: Path
) -> None:
    here = write_study(tmp_path / "in-this-process", questions(), {"ref": "smollm2", "device": "cpu"})
    done("run", here, "--no-report")
    served, local = answers_under(story.folder, "greedy"), answers_under(here, "greedy")
    assert served == local and len(served) == ITEMS
    compared = json.loads(done("compare", f"{story.folder}:greedy", f"{here}:greedy", "--json").out)
    assert compared["items"] == ITEMS and compared["gained"] == compared["lost"] == 0


def test_every_answer_is_drawn_again_in_this_process_from_its_seed(story: Story, smollm2: LocalModel) -> None:
    assert [one.text for one in drawn_again(smollm2, story.said)] == [one.text for one in story.said]
    assert Counter(one.text for one in story.said) == Counter(
        text for name in ("greedy", "tau-0.7") for text, _, _ in answers_under(story.folder, name).values()
    )


def test_a_wrong_key_is_one_line_and_no_key_is_in_any_file(
    house: House, story: Story, tmp_path: Path
) -> None:
    wrong = "another-key-that-no-file-may-hold"
    folder = write_study(tmp_path / "refused", questions(), entry(house))
    refused = leadline("run", folder, HOUSE_API_KEY=wrong)
    assert refused.code == 3 and "HTTP 401" in refused.fault and "check HOUSE_API_KEY" in refused.fault
    assert stored(folder) == 0
    for key, said in ((wrong, refused), (KEY, story.stopped), (KEY, story.finished)):
        assert key not in said.out + said.err
        assert files_with(key, folder, story.folder, house.log.parent) == []
