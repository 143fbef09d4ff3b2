"""One file per answer type, found by its name."""

from __future__ import annotations

import pytest

from leadline.answers import State, failed, read_answer, reader_for
from leadline.bench import Item
from leadline.errors import UsageError


def test_text_is_read_by_the_module_of_that_name() -> None:
    assert reader_for("text").__module__ == "leadline.answers.text"


def test_an_answer_type_without_a_reader_is_named_with_its_item() -> None:
    item = Item(id="n-1", question="How many?", answer="3", answer_type="number")
    try:
        read_answer(item, "3")
    except UsageError as error:
        assert "item n-1" in str(error) and "'number'" in str(error)
    else:
        assert reader_for("number").__module__ == "leadline.answers.number"


@pytest.mark.parametrize("name", ["nonsense", "../text", "text.read", ""])
def test_names_that_are_no_answer_type_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        reader_for(name)


def test_a_failed_call_is_an_error_with_its_kind() -> None:
    reading = failed("timeout")
    assert (reading.state, reading.reason, reading.value) == (State.ERROR, "timeout", None)
