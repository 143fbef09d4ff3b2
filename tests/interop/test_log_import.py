"""What importing logs of any tool has in common, on logs of no tool in particular."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.interop.log_benchmark import item_of, logged_benchmark
from leadline.interop.log_import import import_logs
from leadline.interop.log_names import named
from leadline.interop.logs import LoggedAnswer, LoggedItem
from leadline.study.store import open_store


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

    def items(self) -> Iterator[LoggedItem]:
        for number in range(1, len(self.said) + 1):
            yield LoggedItem(str(number), f"{number} + 0?", (str(number),), where=f"{self.path}:{number}")

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
    good = Written([["1"], ["2"]], "b", model="maker/large", created="2026-01-02")
    with pytest.raises(UsageError, match="sums has no item '3'"):
        import_logs([good, Written([["1"], ["2"], ["3"]], "c", created="2026-01-03")], tmp_path / "study")
    assert _stored(tmp_path / "study") == before


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
        assert not question.strip() or not any(gold.strip() for gold in golds)
        return
    assert len(made.items) == 1 and made.items[0].question.startswith(question)
