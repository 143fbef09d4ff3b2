"""The scorer, the reducers and the metric, on answers that are known, in evals that Inspect really runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

inspect_ai = pytest.importorskip("inspect_ai", reason="needs the extra 'served'")

from inspect_ai import Epochs, Task  # noqa: E402
from inspect_ai._util.error import PrerequisiteError  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import EvalLog  # noqa: E402
from inspect_ai.log._samples import sample_active  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.scorer import SampleScore, Score, Scorer, exact  # noqa: E402
from inspect_ai.solver import multiple_choice  # noqa: E402

from leadline.bench import Item  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from leadline.interop.inspect_extension import accuracy_wilson, dispersion, reading, vote, wobble  # noqa: E402
from leadline.interop.inspect_scorer import item_of, scored  # noqa: E402
from leadline.lenses.frame import readings_frame  # noqa: E402
from leadline.lenses.protocol import Protocol  # noqa: E402
from leadline.lenses.registry import run_lenses  # noqa: E402
from leadline.stats.intervals import wilson  # noqa: E402

# For each sample what its epochs answer, in order.
ANSWERS = {
    "steady": ["about $1.25 million", "1250000", "1,250,000"],
    "rounded": ["0.909", "0.90909", "0.9090909090909091"],
    "torn": ["7", "8", "7"],
    "wrong but steady": ["4", "4", "four"],
    "tied": ["5", "6", "no number at all"],
    "unreadable": ["hm", "", "no number at all"],
}
GOLDS = {
    "steady": "1250000",
    "rounded": "0.909",
    "torn": "7",
    "wrong but steady": "3",
    "tied": "5",
    "unreadable": "1",
}


def evaluated(
    tmp_path: Path,
    answers: Mapping[str, Sequence[str | ModelOutput]],
    golds: Mapping[str, str],
    scorer: Scorer,
    reducers: list[str],
    metadata: Mapping[str, Any] | None = None,
) -> EvalLog:
    """What Inspect makes of these answers: a model that says them, sample by sample."""

    def says(messages: Sequence[Any], *_: Any) -> ModelOutput:
        active = sample_active()
        assert active is not None
        said = answers[messages[-1].text][active.epoch - 1]
        output = said if isinstance(said, ModelOutput) else ModelOutput.from_content("mockllm", said)
        # Without it the model would be asked for from a tokenizer that is fetched.
        return output.model_copy(
            update={"usage": ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)}
        )

    model = get_model("mockllm/model", custom_outputs=says)
    samples = [
        Sample(
            id=name, input=name, target=golds[name], metadata={"leadline": dict(metadata)} if metadata else {}
        )
        for name in answers
    ]
    epochs = Epochs(len(next(iter(answers.values()))), reducers)
    task = Task(dataset=samples, scorer=scorer, epochs=epochs)
    [log] = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", max_connections=1)
    assert log.status == "success", log.error
    return log


def metrics(log: EvalLog, reducer: str) -> dict[str, float]:
    assert log.results is not None
    [score] = [one for one in log.results.scores if one.reducer == reducer]
    return {name: one.value for name, one in score.metrics.items()}


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    return evaluated(
        tmp_path_factory.mktemp("numbers"),
        ANSWERS,
        GOLDS,
        reading(answer_type="number"),
        ["leadline/vote", "leadline/wobble", "leadline/dispersion"],
    )


def test_the_logs_wobble_and_accuracy_are_those_of_the_lens(numbers: EvalLog) -> None:
    """The same answers as a readings frame, through the lenses of a report."""
    rows = [
        {
            "model": "m", "configuration": "c", "item": name, "sample": sample, "text": text,
            "category": "", "task": "", "answer_type": "number", "audit": "", "stated": "", "excluded": "",
            "state": one.metadata["leadline"]["state"], "correct": one.value == "C",
            "value": value, "correct_strict": one.value == "C",
        }
        for name, said in ANSWERS.items()
        for sample, (text, one, value) in enumerate(
            zip(said, [score(name, text) for text in said], classes_of(name, said), strict=True)
        )
    ]  # fmt: skip
    findings = run_lenses(readings_frame(rows), Protocol("", ()))
    [lens] = [one for one in findings if (one.lens, one.table) == ("wobble", "overall")]
    [accuracy] = [one for one in findings if (one.lens, one.table) == ("accuracy", "overall")]
    figure = lens.rows[0].figures["wobble"]
    assert (figure.numerator, figure.denominator) == (2, 5)  # torn and tied, of five that could be read
    found = metrics(numbers, "leadline/wobble")
    assert found == {
        "wobble": figure.value, "interval_low": figure.low, "interval_high": figure.high, "samples": 5
    }  # fmt: skip
    figure = accuracy.rows[0].figures["acc"]
    assert (figure.numerator, figure.denominator) == (4, 6)
    assert metrics(numbers, "leadline/vote") == {
        "accuracy": figure.value, "interval_low": figure.low, "interval_high": figure.high, "samples": 6
    }  # fmt: skip
    assert metrics(numbers, "leadline/dispersion")["dispersion"] == pytest.approx((1 / 3 + 1 / 2) / 5)


def score(name: str, text: str) -> Score:
    return scored(item_of({"answer_type": "number"}, name, name, [GOLDS[name]]), text, "stop")


def classes_of(name: str, said: Sequence[str]) -> list[str | None]:
    from leadline.study.number_classes import same_values

    item = item_of({"answer_type": "number"}, name, name, [GOLDS[name]])
    told = [(score(name, text).metadata or {})["leadline"] for text in said]
    return same_values(item, [(one["value"], one["printed"]) for one in told])


def test_every_state_is_told_apart(tmp_path: Path) -> None:
    filtered = ModelOutput.from_content("mockllm", "It is 7.", stop_reason="content_filter")
    cut = ModelOutput.from_content("mockllm", "Let me think about", stop_reason="max_tokens")
    cut_late = ModelOutput.from_content("mockllm", "7, because", stop_reason="max_tokens")
    said = ["7", "", "no idea which", "I cannot answer that.", cut, cut_late, filtered]
    answers = {"q": said}
    log = evaluated(tmp_path, answers, {"q": "7"}, reading(answer_type="number"), ["leadline/wobble"])
    scores = [sample.scores["reading"] for sample in sorted(log.samples or (), key=lambda one: one.epoch)]
    told = [(one.metadata or {})["leadline"]["state"] for one in scores]
    assert told == ["ok", "empty", "unreadable", "refused", "truncated", "ok", "refused"]
    assert [one.value for one in scores] == ["C", "I", "I", "I", "I", "C", "I"]
    assert [one.answer for one in scores] == ["7", None, None, None, None, "7", None]
    assert metrics(log, "leadline/wobble")["wobble"] == 0  # both readable ones agree


def test_an_item_in_the_samples_metadata_counts_before_the_scorers_arguments(tmp_path: Path) -> None:
    form = {"answer_type": "enum", "vocabulary": {"capped": ["limited"], "uncapped": []}, "answer": "capped"}
    answers = {"q": ["It is limited.", "uncapped"]}
    log = evaluated(
        tmp_path, answers, {"q": "anything"}, reading(answer_type="number"), ["leadline/vote"], form
    )
    values = [sample.scores["reading"].answer for sample in log.samples or ()]
    assert values == ["capped", "uncapped"]


def test_options_are_read_by_letter_and_not_looked_for_as_text(tmp_path: Path) -> None:
    said = iter(["ANSWER: B", "A pear is a fruit, as is an apple. ANSWER: C"])
    model = get_model(
        "mockllm/model",
        custom_outputs=lambda *_: ModelOutput.from_content("mockllm", next(said)).model_copy(
            update={"usage": ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)}
        ),
    )
    samples = [Sample(id="q", input="Which?", choices=["apple", "pear", "stone"], target="B")]
    task = Task(dataset=samples, solver=multiple_choice(), scorer=reading(), epochs=2)
    [log] = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", max_connections=1)
    scores = [one.scores["reading"] for one in log.samples or ()]
    assert sorted((one.answer or "", one.value) for one in scores) == [("B", "C"), ("C", "I")]


def test_rules_of_correctness_and_sameness_are_the_scorers(tmp_path: Path) -> None:
    loose = reading()
    strict = reading(correctness="words", sameness="exact")
    said = {"q": ["Neither Paris nor Lyon.", "Paris"]}
    found = [
        [
            sample.scores["reading"].value
            for sample in evaluated(tmp_path, said, {"q": "Paris"}, rule, ["mode"]).samples or ()
        ]
        for rule in (loose, strict)
    ]
    assert found == [["C", "C"], ["I", "C"]]


def test_exact_sameness_tells_apart_what_rounding_does_not(tmp_path: Path) -> None:
    said, golds = {"q": ["0.909", "0.90909"]}, {"q": "0.909"}
    for rule, unstable in (("own", 0), ("exact", 1)):
        scorer = reading(answer_type="number", sameness=rule)
        log = evaluated(tmp_path, said, golds, scorer, ["leadline/wobble"])
        assert metrics(log, "leadline/wobble")["wobble"] == unstable, rule


def test_other_scorers_wobble_by_their_answers(tmp_path: Path) -> None:
    answers = {"a": ["x", "x "], "b": ["x", "y"]}
    log = evaluated(tmp_path, answers, {"a": "x", "b": "x"}, exact(), ["leadline/wobble"])
    assert metrics(log, "leadline/wobble")["mean"] == 0.5


@pytest.mark.parametrize("make", [wobble, dispersion, vote])
def test_reducers_keep_what_other_metadata_there_is_and_say_what_they_counted(make: Any) -> None:
    scores = [
        Score(value="I", answer=answer, metadata={"mine": 1}) for answer in ("b", "a", None, "a", "b", "a")
    ]
    scores[1].value = "C"
    reduced = make()(scores)
    assert reduced.metadata["mine"] == 1
    told = reduced.metadata["leadline"]
    assert told["counts"] == {"a": 3, "b": 2} and (told["epochs"], told["read"]) == (6, 5)
    assert told["pairs_that_disagree"] == pytest.approx(6 / 10)
    assert reduced.answer == "a"
    assert reduced.value == {"wobble": 1.0, "dispersion": 0.4, "accuracy": "C"}[told["measure"]]


def test_of_equally_frequent_answers_the_first_decides() -> None:
    scores = [
        Score(value="I", answer="b"),
        Score(value="C", answer="a"),
        Score(value="C", answer="a"),
        Score(value="I", answer="b"),
    ]
    assert vote()(scores).value == "I"
    assert vote()(scores[1:]).value == "C"


def test_one_epoch_says_nothing_of_wobble_and_a_lone_reading_of_several_does() -> None:
    alone = [Score(value="C", answer="a")]
    assert math.isnan(wobble()(alone).value)
    assert vote()(alone).value == "C"
    assert wobble()([*alone, Score(value="I", answer=None)]).value == 0
    nothing = [Score(value="I", answer=None)] * 2
    assert math.isnan(wobble()(nothing).value) and vote()(nothing).value == "I"


def test_epochs_that_were_not_reduced_count_a_sample_once() -> None:
    scores = [
        SampleScore(score=Score(value=value), sample_id=name)
        for name, value in [("a", "C"), ("a", "C"), ("a", "I"), ("a", "I"), ("b", "C")]
    ]
    found = accuracy_wilson()(scores)
    low, high = wilson(1.5, 2)
    assert found == {"accuracy": 0.75, "interval_low": low, "interval_high": high, "samples": 2}


def test_nothing_right_has_an_interval_and_no_sample_has_none() -> None:
    wrong = [SampleScore(score=Score(value="I"), sample_id=number) for number in range(20)]
    found = accuracy_wilson()(wrong)
    assert found["interval_low"] == 0 and found["interval_high"] == pytest.approx(0.1611, abs=1e-4)
    assert accuracy_wilson(level=0.8)(wrong)["interval_high"] < found["interval_high"]
    assert math.isnan(accuracy_wilson()([])["accuracy"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"answer_type": "numbr"}, "answer_type must be 'text', 'number'"),
        ({"answer_type": "number", "untit": "USD"}, "no field 'untit' (did you mean 'unit'?)"),
        ({"correctness": "exact"}, "correctness is not 'exact' (one of: maple, words)"),
        ({"sameness": "same"}, "sameness is not 'same'"),
        ({"answer_type": "number", "locale": "xx-XX"}, "locale"),
    ],
)
def test_a_wrong_argument_is_one_line(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        reading(**arguments)
    message = str(caught.value.message)
    assert said in message.replace("\\[", "[") and "\n" not in message


def test_a_sample_that_is_no_item_is_named(tmp_path: Path) -> None:
    item = {"answer_type": "number"}
    with pytest.raises(Exception, match=r"sample q: the gold answer is not of its type, number"):
        item_of(item, "q", "q", ["seven apples or nine"])
    with pytest.raises(Exception, match="sample q: there is no target"):
        item_of({}, "q", "q", [" "])
    assert isinstance(item_of({"task": "t", "id": "mine"}, "q", "asked?", ["x", "y"]), Item)
    assert item_of({}, "q", "asked?", ["x", "y"]).valid_answers == ("x", "y")


@pytest.mark.parametrize(("epochs", "text"), [(1, "7"), (2, "no number at all")])
def test_a_wobble_of_nothing_has_its_own_name(tmp_path: Path, epochs: int, text: str) -> None:
    """Inspect hands unscored samples to no metric: nothing tells it what its share would have been of."""
    reducers = ["leadline/wobble", "leadline/dispersion", "leadline/vote"]
    log = evaluated(tmp_path, {"q": [text] * epochs}, {"q": "7"}, reading(answer_type="number"), reducers)
    for reducer, name in zip(reducers, ["wobble", "dispersion", "accuracy"], strict=True):
        found = metrics(log, reducer)
        assert set(found) == {name, "interval_low", "interval_high", "samples"}
        assert math.isnan(found[name]) == (name != "accuracy")


@pytest.mark.parametrize("level", ["a", 0, 1, -1, 2, True, None])
def test_a_level_that_is_no_share_is_one_line(level: Any) -> None:
    with pytest.raises(PrerequisiteError, match="level is a share between 0 and 1") as caught:
        accuracy_wilson(level=level)
    assert "\n" not in str(caught.value.message)


@pytest.mark.parametrize(
    ("choices", "target", "said"),
    [
        (["x", "Paris"], "E", "has the target E, which is none of its 2 options"),
        (["x", "Paris"], "Lyon", "its target 'Lyon' is none of its 2 options"),
        (["x", "Paris", "y"], ["A", "B"], "several right options at once, A, B"),
    ],
)
def test_a_target_that_is_no_option_is_an_error(
    tmp_path: Path, choices: list[str], target: Any, said: str
) -> None:
    samples = [Sample(id="q", input="q", choices=choices, target=target)]
    output = ModelOutput.from_content("mockllm", "Paris")
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = get_model("mockllm/model", custom_outputs=lambda *_: output)
    task = Task(dataset=samples, scorer=reading())
    [log] = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "error" and log.error is not None
    assert said in log.error.message.replace("\\[", "["), log.error.message


def test_an_enum_without_a_vocabulary_is_an_error() -> None:
    with pytest.raises(PrerequisiteError, match="words of a vocabulary, and none is given"):
        reading(answer_type="enum")
    with pytest.raises(UsageError, match="sample q: answers of type enum are words of a vocabulary"):
        item_of({"answer_type": "enum"}, "q", "q", ["long"])
