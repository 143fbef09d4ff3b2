"""Flags of a study: the published list of label errors, counts by hand, an audit's findings, instability."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from leadline.bench import load_benchmark
from leadline.bench.adjudications import Adjudication, label_hash
from leadline.report.audit_files import rendered
from leadline.report.audit_gate import read_gate
from leadline.report.audit_report import Selection, audit_benchmark
from leadline.review.flagging import flags_of
from leadline.review.flags import FlagList
from leadline.study.recording import RecordedAnswer, record
from leadline.study.study import open_study

RELEASE = Path(__file__).parents[3] / "shared" / "data" / "probity" / "release-sample"

# Table 11 of Probity (task, label, what models say, runs, floor, unanimous), and a panel that gives these
# figures: of each configuration its readings, and how many of them give its most frequent answer.
FULL = (20, 20)
TABLE_11 = [
    ("seniority-1", "pari-passu", "stacked", (235, 237), 17, True, [(17, 17), *[(20, 19)] * 2, *[FULL] * 9]),
    ("seniority-2", "pari-passu", "stacked", (224, 226), 5, True, [(6, 5), (20, 19), *[FULL] * 10]),
    ("participation", "participating", "capped", (228, 237), 13, True, [(17, 13), *[(20, 19)] * 5, *[FULL] * 6]),  # noqa: E501
    ("multiple", "1x", "other", (220, 229), 11, True, [(12, 11), *[(19, 19)] * 3, *[(20, 16)] * 2, *[FULL] * 6]),  # noqa: E501
    ("uncapped-1", "yes", "no", (220, 234), 14, False, [(14, 14), *[FULL] * 11]),
    ("uncapped-2", "yes", "no", (220, 236), 16, False, [(16, 16), *[FULL] * 11]),
    ("price", "0.2", "2.0", (220, 239), 10, False, [(19, 10), *[FULL] * 11]),
]  # fmt: skip
TYPES = {"uncapped-1": "boolean", "uncapped-2": "boolean", "price": "number"}
Answers = Mapping[str, Mapping[str, Sequence[str]]]  # configuration → item → its readings


def a_study(folder: Path, items: Sequence[Mapping[str, object]], answers: Answers, more: str = "") -> Path:
    """A study of recorded answers in `folder`."""
    folder.mkdir()
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    (folder / "study.yaml").write_text(f"name: flagged\nbenchmark: items.jsonl\n{more}", "utf-8")
    tell(folder, answers)
    return folder


def tell(folder: Path, answers: Answers) -> None:
    for name, by_item in answers.items():
        said = [
            RecordedAnswer(item, sample, text)
            for item, texts in by_item.items()
            for sample, text in enumerate(texts)
        ]
        record(folder, name, "asked", {}, said)


@pytest.fixture(scope="module")
def table_11(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # The last item is steady and right everywhere; the file's order is not that of the list.
    items: list[dict[str, object]] = [
        {"id": name, "question": f"{name}?", "answer": label, "answer_type": TYPES.get(name, "text")}
        for name, label, *_ in reversed(TABLE_11)
    ]
    items.append({"id": "sound", "question": "sound?", "answer": "yes", "answer_type": "boolean"})
    answers: dict[str, dict[str, list[str]]] = {
        f"m{at:02}": {"sound": ["yes"] * 20} for at in range(len(TABLE_11[0][-1]))
    }
    for name, label, says, _, _, unanimous, cells in TABLE_11:
        for at, (n, top) in enumerate(cells):
            # The dissenter of a flag that is not unanimous is the first.
            own = label if at == 0 and not unanimous else says
            others = ["7", "8", "9"] * n if TYPES.get(name) == "number" else ["sundry"] * n
            answers[f"m{at:02}"][name] = [own] * top + others[: n - top]
    return a_study(tmp_path_factory.mktemp("table11") / "s", items, answers)


@pytest.fixture(scope="module")
def flags(table_11: Path) -> FlagList:
    return flags_of(open_study(table_11))


def test_the_published_list_comes_out_in_its_order_with_its_figures(flags: FlagList) -> None:
    found = [flag for flag in flags.flags if flag.kind == "label"]
    assert [(flag.item, flag.label, flag.value, flag.runs, flag.unanimous) for flag in found] == [
        (name, label, {"2.0": "2"}.get(says, says), runs, unanimous)  # a number, as read
        for name, label, says, runs, _, unanimous, _ in TABLE_11
    ]
    assert [flag.floor[0] for flag in found if flag.floor] == [row[4] for row in TABLE_11]
    assert {(flag.dissenter, flag.dissent) for flag in found[4:]} == {("m00", "the label")}
    assert all(flag.weakest == "m00" for flag in found)


def test_an_item_that_all_get_right_is_in_no_list(flags: FlagList) -> None:
    assert "sound" not in flags.items


def test_a_flag_is_about_the_label_as_it_is(flags: FlagList, table_11: Path) -> None:
    items = load_benchmark(table_11 / "items.jsonl").by_id
    assert all(flag.label_hash == label_hash(items[flag.item]) for flag in flags.flags)


def test_few_that_agree_are_said_to_be_few(tmp_path: Path) -> None:
    item = {"id": "one", "question": "?", "answer": "yes", "answer_type": "boolean"}
    folder = a_study(tmp_path / "s", [item], {"a": {"one": ["no", "no"]}, "b": {"one": ["no", "no"]}})
    found = flags_of(open_study(folder))
    assert found.counts == {"label": 1}
    assert any("sharing" in note and "2 configurations" in note for note in found.notes)
    assert any("No audit is named" in note for note in found.notes)


def test_of_one_configuration_neither_agreement_nor_instability_is_told(tmp_path: Path) -> None:
    item = {"id": "one", "question": "?", "answer": "yes", "answer_type": "boolean"}
    found = flags_of(open_study(a_study(tmp_path / "s", [item], {"a": {"one": ["no", "no", "yes"]}})))
    assert found.flags == ()
    assert sum("Fewer than two configurations" in note for note in found.notes) == 2


# Unstable everywhere


def test_unstable_everywhere_is_unstable_in_each_configuration_that_was_asked_again(tmp_path: Path) -> None:
    items = [
        {"id": name, "question": f"{name}?", "answer": "yes", "answer_type": "boolean"}
        for name in ("all", "most", "some")
    ]
    wavers, steady, single = ["yes", "no", "yes", "yes"], ["yes"] * 4, ["yes"]
    answers = {
        "a": {"all": wavers, "most": wavers, "some": wavers},
        "b": {"all": ["no", "yes"], "most": wavers, "some": steady},
        # Of a single reading nothing can be told: such an item is not unstable everywhere.
        "c": {"all": wavers, "most": single, "some": wavers},
        # Asked once throughout: is no witness, and does not stand in the way.
        "d": {"all": single, "most": single, "some": single},
    }
    found = flags_of(open_study(a_study(tmp_path / "s", items, answers)))
    (flag,) = [flag for flag in found.flags if flag.kind == "unstable"]
    assert (flag.item, flag.configurations, flag.least, flag.largest) == ("all", 3, 0.25, 0.5)


@pytest.mark.skipif(not RELEASE.is_dir(), reason=f"the published task is not at {RELEASE}")
def test_the_flags_of_a_published_task_are_those_counted_by_hand(tmp_path: Path) -> None:
    from leadline.interop.probity_release import import_release

    import_release(RELEASE, tmp_path / "s")
    found = flags_of(open_study(tmp_path / "s"))
    task = "liquidation_waterfall_payout"
    cells: dict[str, dict[str, Counter[float]]] = defaultdict(lambda: defaultdict(Counter))
    for file in (RELEASE / "leaves" / task).glob("runs_*.jsonl"):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            value = (row.get("normalized") or {}).get(task)
            if value is not None:
                cells[row["item_id"]][file.stem][value] += 1
    wavering = {
        item: [1 - max(votes.values()) / votes.total() for votes in by_file.values()]
        for item, by_file in cells.items()
        if all(len(votes) > 1 for votes in by_file.values())
    }
    assert len(cells) == 4 and {len(by_file) for by_file in cells.values()} == {12}
    assert {(flag.kind, flag.item.rpartition("/")[2], flag.least, flag.largest) for flag in found.flags} == {
        ("unstable", item, min(spread), max(spread)) for item, spread in wavering.items()
    }
    # No answer is agreed on by eleven of the twelve: the small models and one other say other things.
    assert found.counts == {"unstable": 1} and len(found.configurations) == 12


# The audit


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of the planted licences (faults that an audit must find), with their audit."""
    folder = tmp_path_factory.mktemp("planted") / "s"
    folder.mkdir()
    document = audit_benchmark("licences/planted", Selection(), workers=1)
    (folder / "audit.json").write_text(rendered(document, "json", read_gate("0", [], False), folder, {}))
    origin = load_benchmark("licences").origin
    (folder / "study.yaml").write_text(
        f"name: planted\nbenchmark: {origin}/planted.yaml\naudit: audit.json\n", "utf-8"
    )
    items = load_benchmark("licences/planted").items
    tell(folder, {name: {item.id: [item.answer] for item in items} for name in ("a", "b")})
    return folder


def test_what_the_audit_flags_is_listed_with_its_reason(planted: Path) -> None:
    study = open_study(planted)
    audited = json.loads((planted / "audit.json").read_text("utf-8"))
    flagged = {item["item"]: item for item in audited["items"] if item["flagged"]}
    found = flags_of(study)
    origin = load_benchmark("licences").origin
    assert origin is not None
    expected = json.loads((origin / "expected.json").read_text("utf-8"))
    assert set(found.items) == {item for item, told in expected.items() if told["expect"].get("flagged")}
    assert found.counts == {"audit": len(flagged)} and len(flagged) == 63
    for flag in found.flags:
        assert flag.failure == flagged[flag.item]["failure"]
        assert flag.reason == "; ".join(flagged[flag.item]["reasons"]) != ""


def test_flags_beyond_the_items_drawn_are_counted_not_listed(planted: Path, tmp_path: Path) -> None:
    text = (planted / "study.yaml").read_text("utf-8").replace("audit.json", str(planted / "audit.json"))
    (tmp_path / "study.yaml").write_text(f"{text}items:\n  limit: 10\n", "utf-8")
    study = open_study(tmp_path)
    answers = {item.id: [item.answer] for item in study.benchmark.items}
    tell(tmp_path, {"a": answers, "b": answers})
    found, everything = flags_of(study), flags_of(open_study(planted))
    assert set(found.items) <= set(answers)
    more = len(everything.flags) - len(found.flags)
    assert more > 0 and any(f"flags {more} more items that this study did not draw" in n for n in found.notes)


# Decisions


def decision(folder: Path, item: str, outcome: str, **more: str) -> Adjudication:
    about = load_benchmark(folder / "items.jsonl").by_id[item]
    said = {"item": item, "outcome": outcome, "reader": "me", "date": "2026-01-01", "reason": "as it says"}
    return Adjudication.model_validate({**said, "label": label_hash(about), **more})


def test_settled_items_are_left_out_and_counted(table_11: Path, flags: FlagList) -> None:
    settled = [decision(table_11, "price", "rejected"), decision(table_11, "multiple", "excluded-ambiguous")]
    found = flags_of(open_study(table_11), settled)
    assert set(flags.items) - set(found.items) == {"price", "multiple"} and found.decided == 2
    everything = flags_of(open_study(table_11), settled, with_decided=True)
    assert everything.items == flags.items and everything.decided == 0
    assert {flag.item: flag.adjudication for flag in everything.flags if flag.adjudication} == {
        "price": "rejected",
        "multiple": "excluded-ambiguous",
    }


def test_a_decision_taken_back_or_on_another_label_settles_nothing(table_11: Path) -> None:
    decisions = [
        decision(table_11, "price", "rejected"),
        decision(table_11, "price", "withdrawn"),
        decision(table_11, "multiple", "rejected", label="sha256:" + "0" * 64),
    ]
    found = flags_of(open_study(table_11), decisions)
    assert found.decided == 0 and {"price", "multiple"} <= set(found.items)
    assert any("another wording or label" in note and "multiple" in note for note in found.notes)


def test_a_corrected_label_is_still_told_as_annotated(table_11: Path, tmp_path: Path) -> None:
    """The study applies the correction; the list goes on doubting the label that it was decided on."""
    corrected = decision(table_11, "price", "upheld", corrected="2.0")
    file = tmp_path / "adjudications.jsonl"
    file.write_text(corrected.model_dump_json() + "\n", "utf-8")
    study = open_study(table_11, adjudications=file)
    assert study.population.everyone.by_id["price"].answer == "2.0"
    (flag,) = flags_of(study, [corrected], with_decided=True).of("price")
    assert (flag.label, flag.value, flag.runs, flag.adjudication) == ("0.2", "2", (220, 239), "upheld")
