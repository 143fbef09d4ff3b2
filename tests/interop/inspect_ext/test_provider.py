"""`leadline/MODEL` in Inspect: the engine's answers, and what is said of what it does not do."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

inspect_ai = pytest.importorskip("inspect_ai", reason="needs the extra 'served'")
pytest.importorskip("torch", reason="local models need the 'local' extra")

from inspect_ai import Epochs, Task  # noqa: E402
from inspect_ai._util.error import PrerequisiteError  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import EvalLog, read_eval_log  # noqa: E402
from inspect_ai.model import ChatMessageUser, GenerateConfig, Model, get_model  # noqa: E402
from inspect_ai.tool import ToolInfo  # noqa: E402

from leadline.engine import Failure, Prompt, Request, Sampling  # noqa: E402
from leadline.interop.inspect_extension import reading  # noqa: E402
from leadline.models.local import LocalModel  # noqa: E402
from leadline.models.resolve import resolve  # noqa: E402
from leadline.techniques.spelling import technique_from  # noqa: E402
from tests.study.small import write_model  # noqa: E402

if TYPE_CHECKING:
    from leadline.engine.intervention import Intervention

ROOT = Path(__file__).parents[3]
QUESTIONS = [f"Which letters does number {number} have?" for number in range(6)]
Found = TypeVar("Found")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("inspect") / "tiny")


@pytest.fixture(scope="module")
def plain(folder: Path) -> Iterator[Model]:
    model = get_model(f"leadline/{folder}", memoize=False)
    yield model
    model.api.close()


@pytest.fixture(scope="module")
def engine(folder: Path) -> LocalModel:
    return LocalModel(resolve(str(folder)), device="cpu")


def run(coroutine: Coroutine[Any, Any, Found]) -> Found:
    return asyncio.run(coroutine)


async def ask(model: Model, questions: list[str], **config: Any) -> list[Any]:
    calls = (model.generate(question, config=GenerateConfig(**config)) for question in questions)
    return list(await asyncio.gather(*calls))


def by_engine(engine: LocalModel, sampling: Sampling, intervention: Intervention | None = None) -> list[str]:
    """What the engine itself answers the questions, one at a time."""
    found = []
    for question in QUESTIONS:
        request = Request(Prompt(messages=(("user", question),)), sampling, (0,))
        more = (intervention,) if intervention else ()
        [(_, generation)] = engine.generate([request], *more)
        assert not isinstance(generation, Failure)
        found.append(generation.text)
    return found


def test_greedy_answers_are_the_engines_own_however_many_are_asked_at_once(
    plain: Model, engine: LocalModel
) -> None:
    outputs = run(ask(plain, QUESTIONS, temperature=0, max_tokens=8))
    assert [one.completion for one in outputs] == by_engine(engine, Sampling(0.0, 8))
    assert {one.stop_reason for one in outputs} <= {"stop", "max_tokens"}
    assert all(0 < one.usage.output_tokens <= 8 and one.usage.input_tokens > 30 for one in outputs)
    assert len({one.metadata["system_fingerprint"] for one in outputs}) == 1


@pytest.mark.parametrize("way", ["arguments", "name"])
def test_a_technique_is_the_engines_technique(folder: Path, engine: LocalModel, way: str) -> None:
    if way == "name":
        model = get_model(f"leadline/{folder}?technique=dola&layers=0,1&relative_top=0", memoize=False)
    else:
        arguments: dict[str, Any] = {"technique": "dola", "layers": [0, 1], "relative_top": 0}
        model = get_model(f"leadline/{folder}", memoize=False, **arguments)
    outputs = run(ask(model, QUESTIONS, temperature=0, max_tokens=8))
    technique = technique_from("dola:layers=0,1,relative_top=0")
    from leadline.techniques.prepared import Bench

    intervention = technique.prepare(engine.lm, Bench()).intervention
    under = by_engine(engine, Sampling(0.0, 8, repetition_penalty=technique.repetition_penalty), intervention)  # type: ignore[attr-defined]
    assert [one.completion for one in outputs] == under != by_engine(engine, Sampling(0.0, 8))
    model.api.close()


def epochs_of(model: Model, tmp_path: Path, **config: Any) -> list[str]:
    """Five epochs of one question, in order."""
    samples = [Sample(id="q", input=QUESTIONS[0], target="a")]
    task = Task(dataset=samples, scorer=reading(), epochs=Epochs(5, "leadline/wobble"))
    [log] = inspect_ai.eval(
        task, model=model, log_dir=str(tmp_path), display="none", temperature=1.0, max_tokens=8, **config
    )
    assert log.status == "success", log.error
    return [one.output.completion for one in sorted(log.samples, key=lambda one: one.epoch)]


def test_epochs_differ_without_a_seed_and_with_one_and_that_comes_out_again(
    plain: Model, tmp_path: Path
) -> None:
    free, again = epochs_of(plain, tmp_path), epochs_of(plain, tmp_path)
    assert len({*free, *again}) > 5
    seeded = epochs_of(plain, tmp_path, seed=7)
    assert len(set(seeded)) == 5
    assert epochs_of(plain, tmp_path, seed=7) == seeded != epochs_of(plain, tmp_path, seed=8)


def test_choices_stops_and_probabilities(plain: Model) -> None:
    asked = {"temperature": 1.0, "max_tokens": 8, "seed": 3}
    [several] = run(ask(plain, QUESTIONS[:1], num_choices=4, **asked))
    texts = [choice.message.text for choice in several.choices]
    assert len(texts) == 4 and len(set(texts)) > 1
    [alone] = run(ask(plain, QUESTIONS[:1], **asked))
    assert alone.completion == texts[0]
    # A stop string cuts the text, and is no part of it.
    stop = texts[0][3]
    [cut] = run(ask(plain, QUESTIONS[:1], stop_seqs=[stop], **asked))
    assert cut.completion == texts[0][: texts[0].index(stop)] and cut.stop_reason == "stop"
    # Of a nucleus of next to nothing only the likeliest token is left.
    [nucleus] = run(ask(plain, QUESTIONS[:1], top_p=1e-6, **asked))
    [greedy] = run(ask(plain, QUESTIONS[:1], temperature=0, max_tokens=8))
    assert nucleus.completion == greedy.completion
    [told] = run(ask(plain, QUESTIONS[:1], logprobs=True, top_logprobs=2, temperature=0, max_tokens=8))
    tokens = told.choices[0].logprobs.content
    assert "".join(token.token for token in tokens) == told.completion
    assert all(
        token.top_logprobs[0].token == token.token and len(token.top_logprobs) == 2 for token in tokens
    )


def test_a_prompt_that_does_not_fit_is_an_answer_that_says_so(plain: Model) -> None:
    [output] = run(ask(plain, ["a" * 600], max_tokens=8))
    assert output.stop_reason == "model_length" and output.completion == ""
    assert "512" in output.error


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"frequency_penalty": 0.5}, "does not do frequency_penalty"),
        ({"top_k": 5}, "does not do top_k"),
        ({"logit_bias": {3: 1.0}}, "does not do logit_bias"),
        ({"reasoning_effort": "low"}, "does not do reasoning_effort"),
        ({"temperature": -1.0}, "temperature: must be at least 0"),
        ({"num_choices": 1000}, "n: must be at most 128"),
    ],
)
def test_what_would_change_an_answer_is_refused_by_name(
    plain: Model, config: dict[str, Any], said: str
) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        run(ask(plain, QUESTIONS[:1], **config))
    assert said in str(caught.value.message) and "\n" not in str(caught.value.message)


def test_a_model_that_was_closed_answers_again(folder: Path) -> None:
    model = get_model(f"leadline/{folder}", memoize=False)
    for _ in range(2):
        [output] = run(ask(model, QUESTIONS[:1], temperature=0, max_tokens=4))
        assert output.completion
        model.api.close()


def test_what_asks_for_nothing_is_not_refused(plain: Model) -> None:
    config = {"frequency_penalty": 0, "max_retries": 2, "timeout": 60, "cache_prompt": False, "best_of": 1}
    [output] = run(ask(plain, QUESTIONS[:1], temperature=0, max_tokens=4, **config))
    assert output.completion


def test_tools_and_images_are_refused(plain: Model) -> None:
    from inspect_ai.model import ContentImage

    tool = ToolInfo(name="look", description="looks")
    with pytest.raises(PrerequisiteError, match="calls no tools"):
        run(plain.generate("q", tools=[tool]))
    picture = ChatMessageUser(content=[ContentImage(image="data:image/png;base64,AAAA")])
    with pytest.raises(PrerequisiteError, match="reads text, not image"):
        run(plain.generate([picture]))


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("", {"technique": "dolla"}, "there is no technique 'dolla' (did you mean 'dola'?)"),
        ("", {"tehcnique": "dola"}, "there is no argument 'tehcnique'"),
        ("", {"technique": "dola", "layer": 3}, "dola has no setting 'layer' (did you mean 'layers'?)"),
        ("", {"layers": "high"}, "there is no argument 'layers', and no technique whose setting it is"),
        (
            "?technique=dola",
            {"technique": "sled"},
            "technique is 'dola' in the model's name and 'sled' in -M",
        ),
        ("", {"max_batch": 0}, "max_batch is not 0"),
        ("", {"dtype": "float8"}, "there is no dtype 'float8'"),
        ("", {"prompt": "poem"}, "prompt is not 'poem'"),
        ("", {"technique": "sampling"}, "sampling: the temperature is the client's to say"),
        ("-absent", {}, "tiny-absent: no such file or folder"),
        ("", {"base_url": "http://x"}, "has no URL"),
    ],
)
def test_a_mistake_in_the_arguments_is_one_line(
    folder: Path, name: str, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        get_model(f"leadline/{folder}{name}", memoize=False, **arguments)
    message = str(caught.value.message)
    assert said in message and "\n" not in message


def test_importing_the_extension_loads_no_model_code() -> None:
    code = (
        "import sys, inspect_ai, leadline.interop.inspect_extension\n"
        "assert not {'torch', 'transformers', 'polars'} & set(sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def inspect_eval(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "inspect"), "eval", "examples/inspect/rivers.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.model
def test_the_example_shows_wobble_in_its_log(smollm2: LocalModel, tmp_path: Path) -> None:
    """Command line, entry point and the real model. (The fixture sees to it that the model is there.)"""
    ran = inspect_eval(
        "--model", "leadline/smollm2", "-M", "max_batch=8",
        "--limit", "2", "--seed", "11", "--log-dir", str(tmp_path), "--display", "plain",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    [path] = tmp_path.glob("*.eval")
    log: EvalLog = read_eval_log(str(path))
    assert log.status == "success" and log.eval.model_args == {"max_batch": 8}
    assert log.results is not None and log.samples is not None
    found = {one.reducer: {name: m.value for name, m in one.metrics.items()} for one in log.results.scores}
    told: dict[Any, list[str]] = {}
    for sample in log.samples:
        told.setdefault(sample.id, []).append((sample.scores or {})["reading"].answer or "")
    assert {len(answers) for answers in told.values()} == {5}
    unstable = sum(len(set(answers)) > 1 for answers in told.values())
    assert found["leadline/wobble"]["wobble"] == unstable / 2 > 0
    assert set(found["leadline/vote"]) == {"accuracy", "interval_low", "interval_high", "samples"}
    assert "wobble" in ran.stdout


def test_a_mistake_on_the_command_line_is_one_line(tmp_path: Path) -> None:
    ran = inspect_eval(
        "--model", "leadline/smollm2", "-M", "technique=dolla",
        "--log-dir", str(tmp_path), "--display", "plain",
    )  # fmt: skip
    assert ran.returncode != 0
    said = " ".join((ran.stdout + ran.stderr).split())
    assert said.endswith("leadline: there is no technique 'dolla' (did you mean 'dola'?)"), said
    assert "Traceback" not in said
