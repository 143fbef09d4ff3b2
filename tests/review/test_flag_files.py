"""A flag list is a file that says what it is about, and is read for that benchmark alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.bench import Benchmark, load_benchmark
from leadline.bench.adjudications import label_hash
from leadline.errors import UsageError
from leadline.review.flag_files import flags_jsonl, read_flags, write_flags
from leadline.review.flags import Flag, FlagList, blinded, flag_list


@pytest.fixture(scope="module")
def licences() -> Benchmark:
    return load_benchmark("licences")


@pytest.fixture
def flags(licences: Benchmark) -> FlagList:
    first, second = licences.items[3], licences.items[1]
    return flag_list(
        licences,
        [
            Flag(
                item=first.id,
                kind="unstable",
                label_hash=label_hash(first),
                configurations=3,
                least=0.25,
                largest=0.5,
            ),
            Flag(
                item=first.id,
                kind="label",
                task=first.task,
                label_hash=label_hash(first),
                label=first.answer,
                value="quite another answer",
                runs=(11, 12),
                floor=(3, 4),
                weakest="c",
                unanimous=True,
            ),
            Flag(
                item=second.id,
                kind="audit",
                label_hash=label_hash(second),
                failure="evidence absent",
                reason="the quote does not stand in the window",
            ),
        ],
        study="s",
        configurations=("a", "b", "c"),
        decided=2,
        notes=["one of a kind"],
    )


def test_what_is_written_is_read(flags: FlagList, licences: Benchmark, tmp_path: Path) -> None:
    write_flags(flags, tmp_path / "flags.jsonl")
    assert read_flags(tmp_path / "flags.jsonl", licences) == flags
    assert flags.items == (licences.items[3].id, licences.items[1].id)
    assert flags.counts == {"label": 1, "audit": 1, "unstable": 1}
    assert [flag.kind for flag in flags.of(licences.items[3].id)] == ["label", "unstable"]


def test_flags_about_other_content_are_refused(flags: FlagList, licences: Benchmark, tmp_path: Path) -> None:
    changed = licences.items[0].model_copy(update={"answer": "another label"})
    other = licences.with_items((changed, *licences.items[1:]))
    write_flags(flags, tmp_path / "flags.jsonl")
    with pytest.raises(UsageError, match=r"flags\.jsonl: the flags are about other content"):
        read_flags(tmp_path / "flags.jsonl", other)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("no json", ":3: is no JSON object"),
        ('{"item": "x"}', ":3: kind is missing"),
        ('{"item": "x", "kind": "label", "label_hash": "sha256:00"}', ":3: label_hash is no sha256"),
        ('{"item": "x", "kind": "guess", "label_hash": ""}', ":3: kind must be"),
    ],
)
def test_a_line_that_is_no_flag_is_named(
    flags: FlagList, licences: Benchmark, tmp_path: Path, line: str, fault: str
) -> None:
    path = tmp_path / "flags.jsonl"
    write_flags(flags, path)
    head, first, *rest = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([head, first, line, *rest]), "utf-8")
    with pytest.raises(UsageError) as caught:
        read_flags(path, licences)
    assert fault in str(caught.value) and "\n" not in str(caught.value)


def test_a_flag_that_does_not_say_what_its_kind_says_is_none(licences: Benchmark) -> None:
    item = licences.items[0]
    with pytest.raises(ValueError, match="a flag of kind label has a value"):
        Flag(item=item.id, kind="label", label_hash=label_hash(item))


def test_other_files_are_no_flag_lists(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"id": "1"}\n', "utf-8")
    (tmp_path / "empty.jsonl").write_text("", "utf-8")
    for name in ("items.jsonl", "empty.jsonl"):
        with pytest.raises(UsageError, match="no flag list"):
            read_flags(tmp_path / name)
    with pytest.raises(UsageError, match="no flag list here"):
        read_flags(tmp_path / "absent.jsonl")


def test_a_blind_list_says_which_items_and_nothing_else(
    flags: FlagList, licences: Benchmark, tmp_path: Path
) -> None:
    path = tmp_path / "blind.jsonl"
    write_flags(blinded(flags, licences), path)
    text = path.read_text("utf-8")
    head, *lines = [json.loads(line) for line in text.splitlines()]
    # In the benchmark's order: that of the full list would tell which flag comes first.
    assert lines == [{"item": "#2", "kind": "withheld"}, {"item": "#4", "kind": "withheld"}]
    assert head["blind"] is True and "notes" not in head and "content_hash" not in head
    assert read_flags(path, licences).items == (licences.items[1].id, licences.items[3].id)


def test_no_hash_of_a_blind_list_tells_a_label_to_whoever_tries_them_all(
    flags: FlagList, licences: Benchmark, tmp_path: Path
) -> None:
    """What holds the label's hash holds the label, where there are two that it could be."""
    item = licences.items[1]
    hashes = {label_hash(item), licences.content_hash}
    moved = licences.with_items(
        tuple(one.model_copy(update={"answer": "another", "aliases": ()}) for one in licences.items)
    )
    text = flags_jsonl(blinded(flags, licences))
    assert not any(one in text or one.removeprefix("sha256:") in text for one in hashes)
    assert flags_jsonl(blinded(flags, moved)) == text, "no label moves anything in it"


def test_a_blind_list_is_read_for_the_questions_that_it_was_made_of(
    flags: FlagList, licences: Benchmark, tmp_path: Path
) -> None:
    path = tmp_path / "blind.jsonl"
    write_flags(blinded(flags, licences), path)
    with pytest.raises(UsageError, match="about other questions"):
        read_flags(path, licences.with_items(licences.items[1:]))
    path.write_text(path.read_text("utf-8").replace('"#4"', '"#4000"'), "utf-8")
    with pytest.raises(UsageError, match="no item '#4000'"):
        read_flags(path, licences)


@pytest.mark.parametrize(
    ("name", "value"), [("runs", [-5, -1]), ("runs", [3, 2]), ("runs", [0, 0]), ("floor", [-1, 4])]
)
def test_readings_that_cannot_be_counted_are_no_flag(
    name: str, value: list[int], flags: FlagList, tmp_path: Path
) -> None:
    path = tmp_path / "flags.jsonl"
    head, label, *_ = flags_jsonl(flags).splitlines()
    path.write_text(f"{head}\n{json.dumps({**json.loads(label), name: value})}\n", "utf-8")
    with pytest.raises(UsageError, match=f"{name}.*cannot be"):
        read_flags(path)


def test_half_a_character_is_named_in_words(flags: FlagList, tmp_path: Path) -> None:
    path = tmp_path / "flags.jsonl"
    head, label, *_ = flags_jsonl(flags).splitlines()
    path.write_text(f"{head}\n{json.dumps({**json.loads(label), 'dissent': chr(0xD800)})}\n", "utf-8")
    with pytest.raises(UsageError) as refused:
        read_flags(path)
    assert str(refused.value).startswith(f"{path}:2: ") and "no UTF-8" in str(refused.value)
    assert "escape" not in str(refused.value)
