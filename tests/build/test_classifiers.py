"""Votes become verdicts and verdicts reasons; prompts are files; a plan's faults are one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leadline.build.classify.entry import style_of
from leadline.build.classify.scopes import scopes
from leadline.build.classify.stage import verdict_reason
from leadline.build.classify.study_files import reference
from leadline.build.classify.template import Template, template
from leadline.build.classify.votes import verdict
from leadline.build.filters.cardinality import CARDINALITY
from leadline.build.filters.relevance import RELEVANCE
from leadline.build.plan import ClassifierSection
from leadline.build.plan_file import read_plan
from leadline.errors import LeadlineError, UsageError
from tests.build.classified import answers, build, write_plan
from tests.study.small import write_model

SHORT = "Say SINGLE or MULTIPLE. {{ question }}:"


@pytest.mark.parametrize(
    ("votes", "asked", "label", "reason", "with_all_kept"),
    [
        ({"SINGLE": 5}, 5, "SINGLE", "", ""),
        ({"SINGLE": 4, "MULTIPLE": 1}, 5, "SINGLE", "", ""),  # 0.8 is enough
        ({"SINGLE": 4}, 5, "SINGLE", "", ""),  # an answer that is no vote counts among those asked for
        ({"SINGLE": 3}, 5, "SINGLE", "unstable", ""),
        ({"SINGLE": 3, "MULTIPLE": 2}, 5, "SINGLE", "unstable", ""),
        ({"SINGLE": 2, "MULTIPLE": 2}, 4, None, "unstable", ""),  # half is not most
        ({"SINGLE": 2}, 5, None, "unstable", ""),
        ({"SINGLE": 2, "UNSURE": 2}, 5, None, "unstable", ""),
        ({"MULTIPLE": 5}, 5, "MULTIPLE", "multiple", "multiple"),
        ({"MULTIPLE": 2, "SINGLE": 1}, 3, "MULTIPLE", "multiple", "multiple"),  # against it, if unsteadily
        ({"MULTIPLE": 2}, 5, None, "unstable", "multiple"),  # no majority, but nothing speaks for it
        ({"MULTIPLE": 2, "UNSURE": 2}, 5, None, "unstable", "multiple"),
        ({"MULTIPLE": 1, "UNSURE": 2}, 5, None, "unstable", ""),
        ({"UNSURE": 4, "SINGLE": 1}, 5, "UNSURE", "unsure", ""),
        ({"UNSURE": 3, "MULTIPLE": 2}, 5, "UNSURE", "unsure", ""),
        ({}, 5, None, "unanswered", "unanswered"),
    ],
)
def test_the_label_of_most_answers_decides_if_it_is_steady_enough(
    votes: dict[str, int], asked: int, label: str | None, reason: str, with_all_kept: str
) -> None:
    said = verdict(votes, asked, CARDINALITY)
    assert said.label == label
    assert verdict_reason(said, CARDINALITY, ClassifierSection(model="smollm2")) == reason
    lenient = ClassifierSection(model="smollm2", unsure="keep", unstable="keep")
    assert verdict_reason(said, CARDINALITY, lenient) == with_all_kept


@pytest.mark.parametrize(
    ("votes", "unsure", "unstable"),
    [
        ({"IRRELEVANT": 2, "RELEVANT": 1}, "irrelevant", "irrelevant"),
        ({"UNSURE": 2, "RELEVANT": 1}, "", "unsure"),
        ({"RELEVANT": 2, "IRRELEVANT": 1}, "unstable", ""),
    ],
)
def test_each_flag_keeps_its_own_and_none_a_fact_that_most_answers_are_against(
    votes: dict[str, int], unsure: str, unstable: str
) -> None:
    said = verdict(votes, 3, RELEVANCE)
    sections = (
        ClassifierSection(model="smollm2", samples=3, unsure="keep"),
        ClassifierSection(model="smollm2", samples=3, unstable="keep"),
    )
    assert [verdict_reason(said, RELEVANCE, section) for section in sections] == [unsure, unstable]


def test_votes_stand_in_the_order_of_the_labels_whatever_came_first() -> None:
    one = verdict({"UNSURE": 1, "MULTIPLE": 2, "SINGLE": 1}, 4, CARDINALITY)
    other = verdict({"SINGLE": 1, "UNSURE": 1, "MULTIPLE": 2}, 4, CARDINALITY)
    assert one.model_dump_json() == other.model_dump_json()
    assert list(one.votes) == ["SINGLE", "MULTIPLE", "UNSURE"]


def test_every_packaged_domain_has_a_scope() -> None:
    known = scopes()
    assert len(known) == 10 and all(known.values())


@pytest.mark.parametrize("classifier", [CARDINALITY, RELEVANCE], ids=lambda one: one.name)
@pytest.mark.parametrize("style", ["few-shot", "chat"])
def test_packaged_prompts_name_every_label_and_leave_no_place_open(classifier: Any, style: Any) -> None:
    found = template(classifier.name, style)
    filled = found.filled("law", "courts")
    assert all(label in filled for label in classifier.labels)
    assert "<" not in filled and filled.count("{{ question }}") == 1
    assert found.needs_domain is (classifier is RELEVANCE)


def test_a_scope_is_words_and_never_a_template() -> None:
    found = Template("<DOMAIN>: <SCOPE>. {{ question }}", "here", "few-shot")
    from leadline.study.own_prompts import filled

    prompt = found.filled("law", "a {{ question }}\n{% raw %} {# b #}")
    assert filled("Who?", None, prompt) == "law: a {{ question }} {% raw %} {# b #}. Who?"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Say SINGLE.", "does not show the triplet"),
        ("{{ question }} {{ answer }}", "answer"),
        ("{{ question", "broken template"),
        (None, "no prompt for the style"),
        (b"{{ question }} \xff", "UTF-8"),
    ],
)
def test_a_fault_of_the_users_prompt_is_named_with_its_file(
    tmp_path: Path, text: str | bytes | None, what: str
) -> None:
    file = tmp_path / "prompt.txt"
    if text is not None:
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(UsageError, match=what) as caught:
        template("cardinality", "few-shot", tmp_path)
    assert str(caught.value.where).startswith(str(file))


def test_models_behind_an_api_are_asked_by_chat_and_others_by_a_text(tmp_path: Path) -> None:
    def style(model: str, **more: Any) -> str:
        return style_of(ClassifierSection(model=model, **more))

    assert style("smollm2") == "few-shot" and style("smollm2", style="chat") == "chat"
    assert style("inspect:openai/gpt-4o-mini") == "chat"
    assert style("inspect:openai-api-completions/local/base") == "few-shot"


@pytest.mark.parametrize(
    ("section", "what"),
    [
        ({"model": "inspect:opnai/gpt"}, "did you mean 'openai'"),
        ({"model": "smollm2", "base_url": "http://127.0.0.1:1/v1"}, "behind an API"),
        ({"model": "inspect:openai/gpt", "budget": {"money": 3}}, "prices"),
        ({"model": "inspect:openai/gpt", "budget": {"reqests": 3}}, "budget.reqests is no key"),
        ({"model": "inspect:openai/gpt", "options": {"api_key": "x"}}, "environment"),
        ({"model": "smollm2", "device": "gpu"}, "auto, cpu"),
        ({"model": "smollm2", "temperature": 0}, "more than 0"),
        ({"model": "smollm2", "samples": 0}, "samples"),
    ],
)
def test_what_a_study_would_refuse_is_refused_with_the_line_of_the_plan(
    tmp_path: Path, section: dict[str, Any], what: str
) -> None:
    plan = write_plan(tmp_path, cardinality=section)
    with pytest.raises(UsageError, match=what) as caught:
        read_plan(plan)
    assert str(caught.value.where).startswith(f"{plan}:")


def test_relevance_without_domains_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="domain is off"):
        read_plan(write_plan(tmp_path, domain=None, relevance={"model": "smollm2"}))


def test_a_model_named_by_its_place_is_found_from_the_studys_folder(tmp_path: Path) -> None:
    (tmp_path / "models" / "mine").mkdir(parents=True)
    study = tmp_path / "out" / "studies" / "cardinality"
    assert reference("models/mine", tmp_path, study) == "../../../models/mine"
    assert reference("smollm2", tmp_path, study) == "smollm2"
    assert reference("org/name", tmp_path, study) == "org/name"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="local models need the 'local' extra")
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


def test_other_weights_under_the_same_name_are_refused_with_two_ways_on(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="local models need the 'local' extra")
    write_model(tmp_path / "model")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "prompt.txt").write_text(SHORT, "utf-8")
    asked = {"model": "model", "prompt": "mine", "max_tokens": 2}
    work = build(write_plan(tmp_path, cardinality={**asked, "samples": 2}))
    study = work.folder / "studies" / "cardinality"
    assert len(answers(study)) == 6 * 3
    # Random letters are no labels.
    assert work.stage("cardinality").counts()["dropped"] == {"unanswered": 6}
    write_model(tmp_path / "model", seed=1)
    plan = write_plan(tmp_path, cardinality={**asked, "samples": 3})
    with pytest.raises(UsageError, match="is not the one that was asked") as caught:
        build(plan)
    assert f"leadline run {study} --accept-changes" in str(caught.value.fix)


def test_a_prompt_that_no_fact_fits_into_is_an_error_and_not_six_drops(tmp_path: Path, tiny: Path) -> None:
    plan = write_plan(tmp_path, cardinality={"model": str(tiny), "samples": 2})
    with pytest.raises(LeadlineError, match="none of 18 calls was answered"):
        build(plan)  # the packaged prompt has more letters than the model has places
