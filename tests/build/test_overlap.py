"""Facts whose subject and object share words are let go, with what they share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.build.filters.name_words import has_stemmer, stemmer, words
from leadline.build.filters.overlap import OverlapStage, shared
from leadline.build.plan import Plan
from leadline.build.progress import Quiet
from leadline.build.records import Drop, Fact
from leadline.build.stage import Job
from leadline.build.workspace import Workspace
from leadline.workers.in_process import InProcess

QUESTIONS = Path(__file__).parents[3] / "shared" / "data" / "build" / "entityquestions"
ENGLISH = stemmer("en")


@pytest.mark.parametrize(
    ("subject", "object_", "common"),
    [
        ("Guatemala", "Guatemala City", "guatemala"),
        ("Panjgur District", "Panjgur", "panjgur"),
        ("Côte d'Ivoire", "Cote d’Ivoire national team", "cote"),
        ("Alsace-Lorraine", "Lorraine", "lorraine"),
        ("Timor-Leste", "Timorleste", "timorleste"),
        ("O'Brien County", "Robert O’Brien", "brien"),
        ("Benaki's house", "Benaki", "benaki"),
        ("Straße der Einheit", "STRASSE 7", "strasse"),
        ("World War II", "Class II", "ii"),
        ("George V", "Henry V of England", "v"),
        ("9/11 conspiracy theories", "11 September", "11"),
        ("東京都", "東京", "東京"),
    ],
)
def test_a_shared_word_is_found_whatever_its_case_accents_hyphens_and_apostrophes(
    subject: str, object_: str, common: str
) -> None:
    for rule in ("tokens", "stems"):
        assert shared(subject, object_, rule, ENGLISH) == common  # type: ignore[arg-type]
        assert shared(object_, subject, rule, ENGLISH) is not None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("subject", "object_"),
    [
        ("Aruba", "Oranjestad"),
        ("The Lord of the Rings", "The House of Stark"),  # function words only
        ("Rio de la Plata", "Juan de Solís"),  # those of other languages as well
        ("J. F. Kennedy", "J. K. Rowling"),  # initials
        ("V. S. Naipaul", "V for Vendetta"),  # initials are no numerals
        ("Tirana", "Iran"),  # inside a word, not at its beginning
        ("Oman", "Omagh"),
        ("東京", "大阪"),
        ("東京", "京都"),  # one character is no name
        ("", "Paris"),
        ("!!!", "???"),
    ],
)
def test_names_without_a_word_in_common_share_nothing(subject: str, object_: str) -> None:
    assert shared(subject, object_, "stems", ENGLISH) is None
    assert shared(object_, subject, "stems", ENGLISH) is None


@pytest.mark.parametrize(
    ("subject", "object_", "common"),
    [
        ("Benaki Museum", "Antonis Benakis", "benaki/benakis"),  # by its stem
        ("Penn", "Pennsylvania", "penn/pennsylvania"),  # by its beginning
        ("Japanese cuisine", "Japan", "japanese/japan"),
        ("Natalia Pushkina", "Alexander Pushkin", "pushkina/pushkin"),
    ],
)
def test_stems_and_beginnings_count_under_stems_and_not_under_tokens(
    subject: str, object_: str, common: str
) -> None:
    assert shared(subject, object_, "stems", ENGLISH) == common
    assert shared(subject, object_, "tokens", ENGLISH) is None


def test_without_a_stemmer_words_are_compared_as_they_stand() -> None:
    assert not has_stemmer("ja") and stemmer("ja")("houses") == "houses"
    assert has_stemmer("pt-br") and stemmer("de")("hauser") == "haus"


def test_a_name_of_function_words_alone_keeps_no_word() -> None:
    assert words("The Who") == {"who"} and words("Of the") == frozenset()


def _capitals() -> list[dict[str, object]]:
    file = QUESTIONS / "P36.test.json"
    if not file.exists():
        pytest.skip(f"needs {file}")
    found: list[dict[str, object]] = json.loads(file.read_text("utf-8"))
    return found


def test_in_entity_questions_p36_369_of_886_answers_stand_in_the_question_and_stems_find_them_all() -> None:
    before, after = len("What is the capital of "), len("?")
    asked = _capitals()
    plain = tokens = stems = missed = 0
    for one in asked:
        question, answers = str(one["question"]), one["answers"]
        assert isinstance(answers, list)
        subject = question[before:-after]
        stands_there = any(answer in question for answer in answers)
        by_stems = any(shared(subject, answer, "stems", ENGLISH) for answer in answers)
        plain += stands_there
        tokens += any(shared(subject, answer, "tokens") for answer in answers)
        stems += by_stems
        missed += stands_there and not by_stems
    assert (len(asked), plain, missed) == (886, 369, 0)
    assert (tokens, stems) == (369, 403)


def _job(tmp_path: Path, **rules: object) -> Job:
    plan = Plan.model_validate(
        {
            "name": "small",
            "articles": {"jsonl": "articles.jsonl"},
            "extract": {"method": "distant"},
            "filter": rules,
        }
    )
    return Job(plan, Workspace(tmp_path), InProcess(), Quiet())


def _fact(subject: str, object_: str, objects: tuple[str, ...] = ()) -> Fact:
    return Fact(
        id="f-1",
        article="1",
        title=subject,
        subject=subject,
        relation="capital",
        object=object_,
        extractor="distant",
        object_names=objects,
    )


def test_the_stage_drops_by_label_and_by_the_name_in_the_text_and_says_what_is_shared(tmp_path: Path) -> None:
    facts = [
        _fact("Guatemala", "Guatemala City"),
        _fact("Burma", "the old Burma town", ("Naypyidaw",)),  # the label shares nothing, the text does
        _fact("Aruba", "Oranjestad", ("Oranjestad", "Aruba Town")),
    ]
    results = list(OverlapStage().judge(_job(tmp_path), facts))
    assert [isinstance(one, Drop) and (one.reason, one.detail) for one in results] == [
        ("overlap", "guatemala: Guatemala and Guatemala City"),
        ("overlap", "burma: Burma and the old Burma town"),
        False,
    ]


def test_an_alias_counts_only_if_the_plan_says_so(tmp_path: Path) -> None:
    facts = [_fact("Aruba", "Oranjestad", ("Oranjestad", "Aruba Town"))]
    (kept,) = OverlapStage().judge(_job(tmp_path), facts)
    assert kept == facts[0]
    (dropped,) = OverlapStage().judge(_job(tmp_path, overlap_aliases=True), facts)
    assert isinstance(dropped, Drop) and dropped.detail == "alias: aruba: Aruba and Aruba Town"


def test_off_lets_everything_through(tmp_path: Path) -> None:
    job = _job(tmp_path, overlap="off")
    assert not OverlapStage().wanted(job.plan)
    facts = [_fact("Guatemala", "Guatemala City")]
    assert list(OverlapStage().judge(job, facts)) == facts
