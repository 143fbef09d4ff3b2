"""What importing logs of any tool has in common, on logs of no tool in particular."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.interop.log_benchmark import item_of, logged_benchmark
from leadline.interop.log_import import import_logs
from leadline.interop.log_names import named
from leadline.interop.logs import LoggedAnswer, LoggedItem
from leadline.study.readings import readings
from leadline.study.store import open_store
from leadline.study.study import open_study


@dataclass(frozen=True)
class Written:
    """A log that is written down here. `said` are texts of items 1, 2, ..., one for each sample."""

    said: Sequence[Sequence[str | None]]
    sha256: str = "0"
    model: str = "maker/small"
    task: str = "sums"
    run: str = ""
    created: str = "2026-01-01"
    settings: Mapping[str, str] = field(default_factory=dict)
    path: Path = Path("sums.log")
    about: Mapping[str, Any] = field(default_factory=lambda: {"tool": "none", "status": "success"})
    plus: int = 0

    def items(self) -> Iterator[LoggedItem]:
        for number in range(1, len(self.said) + 1):
            question, gold = f"{number} + {self.plus}?", str(number + self.plus)
            yield LoggedItem(str(number), question, (gold,), where=f"{self.path}:{number}")

    def answers(self) -> Iterator[LoggedAnswer]:
        for number, texts in enumerate(self.said, 1):
            for sample, text in enumerate(texts):
                yield LoggedAnswer(str(number), sample, text, "" if text is not None else "error")

    def notes(self) -> Sequence[str]:
        return ()


def _stored(study: Path) -> dict[str, list[tuple[str, int, str]]]:
    with open_store(study, write=False) as store:
        return {
            description["recorded"]["configuration"]: [
                (one.key.item, one.key.sample, one.text) for one in store.responses(name)
            ]
            for name, description in store.configurations().items()
        }


def test_runs_that_come_one_by_one_are_named_as_runs_that_come_together(tmp_path: Path) -> None:
    first = Written([["1"], ["2"]], "a", run="r1", settings={"temperature": "0"})
    second = Written([["1"], ["3"]], "b", run="r2", settings={"temperature": "1"}, created="2026-01-02")
    together = import_logs([second, first], tmp_path / "together")
    assert [name for _, name in together.configurations] == ["small temperature=0", "small temperature=1"]
    alone = import_logs([first], tmp_path / "apart")
    then = import_logs([second], tmp_path / "apart")
    assert [name for _, name in (*alone.configurations, *then.configurations)] == [
        "small",
        "small temperature=1",
    ]
    again = import_logs([Written([["1"], ["2"]], "c", run="r1", settings=first.settings)], tmp_path / "apart")
    assert again.configurations == (("recorded", "small"),) and (again.stored, again.known) == (0, 2)


def test_of_a_run_in_two_logs_the_newer_answers_count(tmp_path: Path) -> None:
    old = Written([["1", "9"], [None, "2"]], "a", run="r", created="2026-01-01")
    new = Written([["1", "9"], ["2", "2"]], "b", run="r", created="2026-01-02")
    done = import_logs([old, new], tmp_path / "study")
    assert (done.stored, done.known, done.failed) == (4, 4, 0)
    assert _stored(tmp_path / "study") == {
        "small": [("1", 0, "1"), ("1", 1, "9"), ("2", 0, "2"), ("2", 1, "2")]
    }


def test_two_answers_of_one_run_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    import_logs([Written([["1"]], "a", run="r")], tmp_path / "study")
    with pytest.raises(UsageError, match="is answered '7' here and '1' before"):
        import_logs([Written([["7"]], "b", run="r")], tmp_path / "study")
    assert _stored(tmp_path / "study") == {"small": [("1", 0, "1")]}


def test_repeats_of_one_configuration_are_numbered_on_where_they_are_uneven(tmp_path: Path) -> None:
    import_logs([Written([["1", "1", "1"], ["2"]], "a")], tmp_path / "study", configuration="greedy")
    import_logs([Written([["4"], ["5", "5"]], "b")], tmp_path / "study", configuration="greedy")
    assert [(item, sample) for item, sample, _ in _stored(tmp_path / "study")["greedy"]] == [
        ("1", 0),
        ("1", 1),
        ("1", 2),
        ("1", 3),
        ("2", 0),
        ("2", 3),
        ("2", 4),
    ]


def test_two_tasks_of_one_model_are_one_configuration(tmp_path: Path) -> None:
    logs = [Written([["1"]], "a"), Written([["1"], ["2"]], "b", task="more")]
    done = import_logs(logs, tmp_path / "study")
    assert done.configurations == (("recorded", "small"),)
    assert {item for item, *_ in _stored(tmp_path / "study")["small"]} == {"sums/1", "more/1", "more/2"}


def test_keys_stay_out_of_names_and_of_the_database(tmp_path: Path) -> None:
    secrets = {"api_key": "0123456789abc", "base_url": "http://me:0123456789abc@localhost/v1"}
    logs = [
        Written([["1"]], "a", settings=secrets),
        Written([["1"]], "b", settings={"base_url": "http://localhost/v1"}),
    ]
    done = import_logs(logs, tmp_path / "study")
    assert {name for _, name in done.configurations} == {
        "small base_url=http://***@localhost/v1",
        "small base_url=http://localhost/v1",
    }
    for one in (tmp_path / "study").iterdir():
        assert one.is_dir() or b"0123456789abc" not in one.read_bytes()


def test_a_model_that_is_named_makes_a_group_of_its_own(tmp_path: Path) -> None:
    done = import_logs([Written([["1"]])], tmp_path / "study", model="small")
    assert done.configurations == (("small", "small"),)


def test_an_import_that_fails_in_the_middle_leaves_an_older_study_as_it_was(tmp_path: Path) -> None:
    import_logs([Written([["1"], ["2"]], "a")], tmp_path / "study")
    before = _stored(tmp_path / "study")
    items = (tmp_path / "study" / "benchmark" / "items.jsonl").read_bytes()
    good = Written([["1"], ["2"], ["3"]], "b", model="maker/large", created="2026-01-02")
    with pytest.raises(UsageError, match=r"item '1' asks '1 \+ 1\?' here and '1 \+ 0\?' in the study"):
        import_logs([Written([["1"]], "c", plus=1)], tmp_path / "study")
    # The benchmark has grown already when this one's answer is found to contradict what is there.
    contrary = Written([["8"]], "a2", run="r", created="2026-01-03")
    import_logs([Written([["1"]], "a1", run="r")], tmp_path / "study")
    before = _stored(tmp_path / "study")
    with pytest.raises(UsageError, match="is answered '8' here and '1' before"):
        import_logs([good, contrary], tmp_path / "study")
    assert _stored(tmp_path / "study") == before
    assert (tmp_path / "study" / "benchmark" / "items.jsonl").read_bytes() == items


def test_a_benchmark_that_was_made_of_a_partial_log_takes_in_what_its_retry_asks(tmp_path: Path) -> None:
    import_logs([Written([["1"], ["2"]], "a", run="r")], tmp_path / "study")
    file = tmp_path / "study" / "benchmark" / "items.jsonl"
    corrected = file.read_text("utf-8").replace('"answer": "2"', '"answer": "two", "aliases": ["2"]')
    file.write_text(corrected, "utf-8")
    retry = Written([["1"], ["2"], ["3"], ["4"]], "b", run="r", created="2026-01-02")
    tried = import_logs([retry], tmp_path / "study", dry=True)
    assert tried.grown == 2 and file.read_text("utf-8") == corrected
    done = import_logs([retry], tmp_path / "study")
    assert (done.grown, done.stored, done.known) == (2, 2, 2)
    assert any("2 items that are new in these logs were added" in note for note in done.notes)
    study = open_study(tmp_path / "study")
    assert [item.id for item in study.whole.items] == ["1", "2", "3", "4"]
    assert {item.answer_type for item in study.whole.items} == {"number"}
    assert file.read_text("utf-8").startswith(corrected)
    with open_store(study.folder, write=False) as store:
        added = store.history()[-1].about["recorded"]["added"]
    assert added == {"items": ["3", "4"], "content_hash": study.whole.content_hash}


def test_items_of_another_task_with_ids_that_are_taken_go_behind_its_name(tmp_path: Path) -> None:
    import_logs([Written([["1"], ["2"]], "a")], tmp_path / "study")
    done = import_logs([Written([["2"], ["3"], ["4"]], "b", task="more", plus=1)], tmp_path / "study")
    assert done.configurations == (("recorded", "small"),) and done.grown == 3
    assert [item.id for item in open_study(tmp_path / "study").whole.items] == [
        "1",
        "2",
        "more/1",
        "more/2",
        "more/3",
    ]


def test_settings_of_different_tasks_tell_no_configurations_apart(tmp_path: Path) -> None:
    def log(model: str, task: str, temperature: str, solver: str) -> Written:
        settings = {"temperature": temperature, "solver": solver}
        return Written([["1"]], f"{model}{task}{temperature}", model=model, task=task, settings=settings)

    logs = [log(model, *of) for model in ("a", "b") for of in (("sums", "0", "x"), ("caps", "0", "y"))]
    done = import_logs(logs, tmp_path / "plain")
    assert [name for _, name in done.configurations] == ["a", "b"]
    # Where one task was asked at two temperatures, the temperature names the other task's logs too.
    done = import_logs([*logs, log("a", "sums", "1", "x")], tmp_path / "warm")
    assert [name for _, name in done.configurations] == ["a temperature=0", "a temperature=1", "b"]
    assert {item for item, *_ in _stored(tmp_path / "warm")["a temperature=0"]} == {"sums/1", "caps/1"}
    done = import_logs([log("a", "caps", "1", "y")], tmp_path / "warm")
    assert [name for _, name in done.configurations] == ["a temperature=1"]
    done = import_logs([logs[0], log("a", "caps", "1", "y")], tmp_path / "mixed")
    assert any("asked at different temperatures: 0 (sums), 1 (caps)" in note for note in done.notes)


OPTIONS = ("Seine", "Loire", "Rhône")


@dataclass(frozen=True)
class Chosen(Written):
    """A log of one question with options, in the order that its answers have letters for."""

    order: Sequence[str] = OPTIONS
    right: Sequence[str] = ("Seine",)

    def items(self) -> Iterator[LoggedItem]:
        letters = tuple("ABC"[self.order.index(one)] for one in self.right)
        yield LoggedItem("p", "Which flows through Paris?", letters, tuple(self.order), where="chosen.log:1")

    def answers(self) -> Iterator[LoggedAnswer]:
        for sample, text in enumerate(self.said[0]):
            yield LoggedAnswer("p", sample, text, choices=tuple(self.order), where="chosen.log:1")


TURNED = ("Rhône", "Seine", "Loire")
SAID = ["ANSWER: B", "It is C) Loire.", "the Rhône", "no idea", "A or B"]


@pytest.mark.parametrize("together", [True, False])
def test_letters_of_shuffled_options_are_taken_to_the_benchmarks(tmp_path: Path, together: bool) -> None:
    first = Chosen([["A"]], "a", model="one")
    second = Chosen([SAID], "b", model="two", order=TURNED, created="2026-01-02")
    for logs in ([first, second],) if together else ([first], [second]):
        done = import_logs(logs, tmp_path / "study")
    assert any("two: of 1 item the options stood in another order" in note for note in done.notes)
    study = open_study(tmp_path / "study")
    with open_store(study.folder, write=False) as store:
        frame = readings(study, store).filter(pl.col("configuration") == "two").sort("sample")
        (name,) = (
            one for one, told in store.configurations().items() if told["recorded"]["configuration"] == "two"
        )
        raw = {key.sample: [stage.text for stage in stages] for key, _, _, stages in store.stamps(name)}
    assert frame["value"].to_list() == ["A", "B", "C", None, None]
    assert frame["correct"].to_list()[:3] == [True, False, False]
    # What was said in other letters is kept beside; what needs no letter stays as it is.
    assert raw == {0: ["ANSWER: B"], 1: ["It is C) Loire."], 2: [], 3: [], 4: []}


@pytest.mark.parametrize(
    ("item", "fits"),
    [
        ({"answer_type": "enum", "vocabulary": {"A": ["seine"], "B": ["Loire"], "C": ["Rhône"]}}, True),
        ({"answer_type": "enum", "vocabulary": ["A", "B", "C"], "question": "Which? (A) Seine (B) Loire "
          "(C) Rhône"}, True),
        ({"answer_type": "enum", "vocabulary": ["A", "B", "C"]}, False),
        ({"answer_type": "enum", "vocabulary": {"A": ["Seine"], "B": ["Oise"], "C": ["Rhône"]}}, False),
        ({"answer_type": "text", "question": "Which?\nA) Seine\nB) Loire\nC) Rhône"}, False),
        ({"answer_type": "text", "answer": "Seine"}, None),  # letters mean nothing to it
    ],
)  # fmt: skip
def test_letters_that_cannot_be_taken_to_a_named_benchmark_are_refused(
    tmp_path: Path, item: dict[str, Any], fits: bool | None
) -> None:
    file = tmp_path / "paris.jsonl"
    file.write_text(json.dumps({"id": "p", "question": "Which?", "answer": "A", **item}), "utf-8")
    log = Chosen([["B"]], "b", order=TURNED)
    if fits is False:
        with pytest.raises(UsageError, match=r"options A\) 'Rhône', B\) 'Seine'.* cannot be told") as caught:
            import_logs([log], tmp_path / "study", benchmark=str(file))
        assert "\n" not in str(caught.value) and not (tmp_path / "study").exists()
        return
    import_logs([log], tmp_path / "study", benchmark=str(file))
    assert _stored(tmp_path / "study")["small"] == [("p", 0, "A" if fits else "B")]


def test_two_logs_that_hold_other_options_right_say_so_in_plain_words(tmp_path: Path) -> None:
    logs = [Chosen([["A"]], "a"), Chosen([["A"]], "b", order=TURNED, right=("Loire",))]
    with pytest.raises(UsageError, match=r"has the answer 'Loire' here and 'Seine' in chosen\.log:1"):
        import_logs(logs, tmp_path / "study")


def test_several_right_options_at_once_are_no_answer_of_ours(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="item 'p' has several right options at once, A, C"):
        import_logs([Chosen([["A, C"]], right=("Seine", "Rhône"))], tmp_path / "study")


@pytest.mark.parametrize("name", ["a\nb", "", " 1", "x" * 500, "\x1b[31mred"])
def test_ids_that_no_benchmark_can_hold_have_a_readable_form_and_a_digest(tmp_path: Path, name: str) -> None:
    @dataclass(frozen=True)
    class Odd(Written):
        def items(self) -> Iterator[LoggedItem]:
            yield LoggedItem(name, "1 + 0?", ("1",))

        def answers(self) -> Iterator[LoggedAnswer]:
            yield LoggedAnswer(name, 0, "1")

    for sha in "ab":  # the same in each log
        done = import_logs([Odd([], sha, model=sha)], tmp_path / "study")
        assert sum("have a digest instead: 1, such as" in note for note in done.notes) == 1
    (item,) = open_study(tmp_path / "study").whole.items
    assert re.fullmatch(r"(a b|blank|1|x{100}|\[31mred)~[0-9a-f]{8}", item.id)
    assert [len(rows) for rows in _stored(tmp_path / "study").values()] == [1, 1]


def test_two_tasks_that_ask_the_same_are_told(tmp_path: Path) -> None:
    logs = [Written([["1"], ["2"]], "a"), Written([["1"]], "b", task="sums_cot", model="other")]
    done = import_logs(logs, tmp_path / "study")
    assert any("sums and sums_cot ask 1 of the same questions, such as 1" in note for note in done.notes)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 101])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is no name"):
        named([Written([["1"]])], [], configuration=name)


def test_an_option_whose_text_is_another_options_letter_does_not_stand_for_it() -> None:
    item = LoggedItem("1", "Which letter comes first?", ("B",), ("B", "A", "both", "Both", "x" * 300))
    made = item_of(item, "1", "letters")
    assert {term.value: term.synonyms for term in made.vocabulary} == dict.fromkeys(
        ("A", "B", "C", "D", "E"), ()
    )


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)


@settings(max_examples=150, deadline=None)
@given(
    question=TEXTS,
    golds=st.lists(TEXTS, min_size=1, max_size=3),
    choices=st.lists(TEXTS, max_size=30),
    category=st.one_of(st.none(), st.integers(), TEXTS),
)
def test_every_item_is_taken_or_refused_in_one_line(
    question: str, golds: list[str], choices: list[str], category: object
) -> None:
    item = LoggedItem("1", question, tuple(golds), tuple(choices), metadata={"category": category})

    class Single(Written):
        def items(self) -> Iterator[LoggedItem]:
            yield item

    try:
        made = logged_benchmark([Single([])]).benchmark
    except UsageError as error:
        assert "\n" not in str(error)
        has_letters = bool(choices) and any(gold.strip() in ascii_uppercase for gold in golds)
        has_sets = "no answer type of Leadline reads sets" in str(error) and len(set(golds)) > 1
        assert not question.strip() or not any(gold.strip() for gold in golds) or has_letters or has_sets
        return
    assert len(made.items) == 1 and made.items[0].question.startswith(question)
