"""A batch that does not fit into memory is halved, and nothing else changes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leadline.engine import Failure, Generation, Prompt, Request, Sampling
from leadline.engine.plan import Limits
from leadline.models.memory import Room
from tests.endurance.ledger import Ledger
from tests.serving.asked import at_once, completion, error, texts
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import small_study

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

pytestmark = pytest.mark.endurance
SAID = "[enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried"


@contextmanager
def little_memory(model: Any, tokens: int) -> Iterator[list[int]]:
    """Within it the model cannot compute more tokens than these in one pass; the passes that failed."""
    failed: list[int] = []

    def look(module: Any, given: tuple[Any, ...]) -> None:
        if given[0].numel() > tokens:
            failed.append(given[0].numel())
            raise RuntimeError(f"{SAID} to allocate {given[0].numel()} bytes. Error code 12")

    handle = model.get_input_embeddings().register_forward_pre_hook(look)
    try:
        yield failed
    finally:
        handle.remove()


@pytest.fixture(scope="module")
def little(model: Path) -> LocalModel:
    from leadline.models.local import LocalModel
    from leadline.models.resolve import resolve

    return LocalModel(resolve(str(model)), device="cpu")


@pytest.fixture(autouse=True)
def all_the_room(little: LocalModel) -> None:
    """What one test ran out of is no matter of the next."""
    little.room.limits = Limits()
    little.notes.clear()


def asked(number: int = 40) -> list[Request]:
    """Greedy and drawn requests, of prompts of several lengths."""
    return [
        Request(
            Prompt(text="q" * (10 + 7 * (at % 5)) + "abcdefgh"[at % 8]),
            Sampling(temperature=0.9 * (at % 3 > 0), max_tokens=6, logprobs=2 if at % 4 == 0 else None),
            (at,),
        )
        for at in range(number)
    ]


def answers(model: LocalModel, requests: list[Request], **more: Any) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for at, answer in model.generate(requests, **more):
        assert at not in found, "answered twice"
        found[at] = answer
    return found


def test_a_smaller_batch_gives_the_same_answers_and_stays(little: LocalModel, ledger: Ledger) -> None:
    requests = asked()
    expected = answers(little, requests)
    tally = ledger.tally("out of memory")
    with little_memory(little.lm.model, 150) as failed:
        found = answers(little, requests)
        assert failed and len(little.notes) == len(failed)
        smaller, before = little.room.limits.max_rows, len(failed)
        assert 1 <= smaller < 40
        again = answers(little, requests)
        assert len(failed) == before, "the size that fits stays"
    for one in (found, again):
        tally.answers += len(one)
        tally.expect(one == expected, "wrong reports", "another answer in a smaller batch")
    for _ in failed:
        tally.fault(midway=True)
    assert little.notes[0] == "out of memory with up to 40 answers side by side; going on with 20"
    assert little.notes[-1].endswith(f"; going on with {smaller}")
    tally.check(faults=2)


def test_a_request_that_does_not_fit_by_itself_fails_and_the_others_go_on(little: LocalModel) -> None:
    requests = asked(12)
    large = Request(Prompt(text="q" * 300), Sampling(max_tokens=6), ("large",))
    expected = answers(little, requests)
    with little_memory(little.lm.model, 200):
        found = answers(little, [*requests[:5], large, *requests[5:]])
    failure = found.pop(5)
    assert isinstance(failure, Failure) and failure.kind == "out_of_memory"
    assert failure.message.startswith("306 tokens do not fit into memory by themselves: [enforce fail")
    assert [found[at] for at in sorted(found)] == [expected[at] for at in sorted(expected)]
    assert little.room.limits == Limits(), "it was this one, and not how many there were"


def test_the_last_of_a_batch_is_asked_by_itself_before_it_is_given_up() -> None:
    sizes: list[int] = []

    def attempt(requests: Sequence[Request], limits: Limits, on_text: object) -> Iterator[tuple[int, Any]]:
        """There is no memory for the last of several."""
        sizes.append(len(requests))
        yield from ((at, at) for at in range(len(requests) - 1))
        if len(requests) > 1:
            raise MemoryError
        yield 0, "by itself"

    room = Room(Limits(), lambda line: None, lambda: None, lambda request: 1)
    assert dict(room.answers(attempt, asked(4), None)) == {0: 0, 1: 1, 2: 2, 3: "by itself"}
    assert sizes == [4, 1] and room.limits == Limits()


def test_who_is_told_of_texts_as_they_come_hears_each_once(little: LocalModel) -> None:
    requests = asked()
    whole = answers(little, requests)
    heard = dict.fromkeys(range(len(requests)), "")
    tokens = dict.fromkeys(range(len(requests)), 0)

    def listen(at: int, text: str, logprobs: tuple[Any, ...]) -> None:
        heard[at] += text
        tokens[at] += len(logprobs)

    steps = {"left": 9}

    def look(module: Any, given: tuple[Any, ...]) -> None:
        if given[0].shape[0] > 1 or given[0].numel() > 1:
            steps["left"] -= 1
            if steps["left"] in (0, 4, 5):  # in the midst of writing, too
                raise MemoryError
        assert steps["left"] > -1000

    handle = little.lm.model.get_input_embeddings().register_forward_pre_hook(look)
    try:
        found = answers(little, requests, on_text=listen)
    finally:
        handle.remove()
    assert little.notes and found == whole
    for at, answer in found.items():
        assert isinstance(answer, Generation)
        assert heard[at] == answer.text and tokens[at] == len(answer.logprobs)


def test_other_faults_are_passed_on(little: LocalModel) -> None:
    def look(module: Any, given: tuple[Any, ...]) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    handle = little.lm.model.get_input_embeddings().register_forward_pre_hook(look)
    with pytest.raises(RuntimeError, match="shapes"):
        answers(little, asked(3))
    handle.remove()
    assert not little.notes


def test_a_study_under_techniques_is_the_same_with_little_memory(
    tmp_path: Path, model: Path, leadline: Leadline, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leadline.models.local import LocalModel

    techniques = [
        {"technique": "recite", "paths": 2, "passage_tokens": 8, "max_tokens": 6},
        {"technique": "genread", "passage_tokens": 8, "max_tokens": 6},
        {"technique": "dola", "layers": "low", "max_tokens": 6},
    ]
    calm = small_study(tmp_path / "calm", model, 12, techniques=techniques)
    assert leadline("run", calm, "--quiet").code == 0
    load = LocalModel.__init__
    contexts = []

    def loaded(self: Any, *given: Any, **named: Any) -> None:
        load(self, *given, **named)
        contexts.append(little_memory(self.lm.model, 90))
        contexts[-1].__enter__()

    monkeypatch.setattr(LocalModel, "__init__", loaded)
    folder = small_study(tmp_path / "study", model, 12, techniques=techniques)
    ended = leadline("run", folder)
    assert ended.code == 0, ended.err
    assert "out of memory with up to" in ended.err
    tally = ledger.tally("out of memory, under techniques")
    tally.fault(midway=True)
    tally.answers += len(stored.texts(folder))
    tally.expect(stored.texts(folder) == stored.texts(calm), "lost", "answers differ")
    tally.expect(stored.findings(folder) == stored.findings(calm), "wrong reports", "the report differs")
    tally.check()


def test_a_server_goes_on_with_little_memory(little: LocalModel, ledger: Ledger) -> None:
    from leadline.serving import Batcher, make_app, offered, running

    with running(make_app(Batcher(offered(little, name="little")))) as url:
        many = [{"prompt": "q" * (20 + at), "max_tokens": 5, "seed": at, "n": 2} for at in range(8)]
        expected = [texts(completion(url, **one)) for one in many]
        tally = ledger.tally("out of memory, serving")
        with little_memory(little.lm.model, 60) as failed:
            found = at_once([lambda one=one: texts(completion(url, **one)) for one in many])
            tally.expect(found == expected, "wrong reports", "another answer with little memory")
            said = error(completion(url, "q" * 200, max_tokens=5), 503)
            assert said["code"] == "out_of_memory"
            assert texts(completion(url, **many[0])) == expected[0], "the server goes on"
        for _ in failed:
            tally.fault(midway=True)
        tally.answers += len(found)
    tally.check(faults=1)


LIMITED = """
import json, resource, sys
from pathlib import Path
import torch
from transformers import LlamaConfig, LlamaForCausalLM
from leadline.engine import Prompt, Request, Sampling
from leadline.models.local import LocalModel
from leadline.models.resolve import resolve

torch.set_num_threads(1)
folder = Path(sys.argv[1])
config = LlamaConfig.from_pretrained(folder)
for name, value in {"num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 64}.items():
    setattr(config, name, value)
torch.manual_seed(3)
LlamaForCausalLM(config).save_pretrained(folder)
model = LocalModel(resolve(str(folder)), device="cpu")
model.tell = lambda line: None
requests = [
    Request(Prompt(text="abcdefghij"[at % 10] + "q" * 300 + str(at)), Sampling(0.7, 4), (at,))
    for at in range(48)
]
first = dict(model.generate(requests[:2]))
whole = {at: one.text for at, one in model.generate(requests)}
assert not model.notes
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[2]) * 2**20, resource.RLIM_INFINITY))
limited = {at: getattr(one, "text", None) for at, one in model.generate(requests)}
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
same = all(text in (None, whole[at]) for at, text in limited.items())
failed = sum(text is None for text in limited.values())
print(json.dumps({"same": same, "failed": failed, "notes": model.notes, "answers": len(limited)}))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the size of a process is read in /proc")
def test_a_real_limit_of_memory_is_kept_within(tmp_path: Path, ledger: Ledger) -> None:
    from tests.study.small import write_model

    folder = write_model(tmp_path / "wide")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(folder), "160"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    tally = ledger.tally("out of memory, by a real limit")
    for _ in told["notes"]:
        tally.fault(midway=True)
    tally.answers += told["answers"]
    assert told["answers"] == 48
    assert told["failed"] <= 2, "what an allocator keeps may stand in the way of one by itself, not of many"
    tally.expect(told["same"], "wrong reports", "another answer within the limit")
    tally.check(faults=1)
