"""Questions: templates and their faults, names of subjects, valid answers, and what is not asked."""

import csv
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.bench.folding import normalise
from leadline.bench.item import Item
from leadline.build.link.properties import properties
from leadline.build.plan import Plan
from leadline.build.progress import Quiet
from leadline.build.questions.answers import answer_of, stands_in
from leadline.build.questions.stage import QuestionsStage, asked_as
from leadline.build.questions.templates import packaged_templates, read_templates
from leadline.build.records import Drop, Fact, Statement
from leadline.build.stage import Job
from leadline.build.wikidata.entity import Claim, Entity, Text
from leadline.build.wikidata.json_form import Found
from leadline.build.wikidata.store import writing_store
from leadline.build.workspace import Workspace
from leadline.errors import UsageError
from leadline.workers.in_process import InProcess
from tests.build.real_inputs import DATA

# Relations of which no single short answer can be asked for: they place a thing in a taxonomy, list its
# parts, or say nothing about the world.
NOT_ASKED = {
    "instance of", "subclass of", "part of", "has part", "has parts of the class", "facet of", "is a list of",
    "opposite of", "different from", "said to be the same as", "subject has role", "significant event",
    "relative", "ranking", "event distance", "item operated",
}  # fmt: skip


def fact(**fields: object) -> Fact:
    given = {"id": "f-1", "article": "1", "title": "France", "subject": "France", "relation": "capital"}
    given |= {"object": "Paris", "extractor": "recorded", "relation_id": "P36", "kind": "entity"}
    return Fact.model_validate({**given, **fields})


def job(folder: Path, **sections: object) -> Job:
    given = {"name": "p", "articles": {"jsonl": "a"}, "extract": {"method": "recorded"}, **sections}
    made = Plan.model_validate(given)
    made._file = folder / "plan.yaml"
    made._file.write_text("name: p\nquestions:\n  templates: t.yaml\n")
    return Job(made, Workspace(folder), InProcess(), Quiet())


def asked(folder: Path, *facts: Fact, **sections: object) -> list[Fact | Drop]:
    return list(QuestionsStage().judge(job(folder, **sections), facts))


def reasons(results: list[Fact | Drop]) -> list[str]:
    return [one.reason if isinstance(one, Drop) else "kept" for one in results]


def test_a_fact_becomes_a_question_with_all_names_of_its_object(tmp_path: Path) -> None:
    names = ("Paris", "City of Light", "PARIS", "🇫🇷", "PA", "Ville Lumière")
    (found,) = asked(tmp_path, fact(object_names=names, subject_names=("France", "French Republic")))
    assert isinstance(found, Fact)
    assert (found.question, found.answer) == ("What is the capital of France?", "Paris")
    assert found.aliases == ("City of Light", "Ville Lumière")
    assert found.answer_type == "text"


def test_every_relation_of_rebel_is_asked_or_said_not_to_be() -> None:
    path = DATA / "rebel" / "relations_count.tsv"
    if not path.exists():
        pytest.skip(f"needs {path}")
    known = properties()
    with path.open(encoding="utf-8") as file:
        labels = [row[0] for row in csv.reader(file, delimiter="\t")]
    templates = packaged_templates().by_property
    assert len(labels) == 230
    assert {label for label in labels if (known.id(label) or "") not in templates} == NOT_ASKED


def test_packaged_templates_ask_for_what_wikidata_says_that_the_property_holds() -> None:
    kinds = {
        "wikibase-item": "entity",
        "time": "date",
        "quantity": "quantity",
        "string": "string",
        "monolingualtext": "string",
    }
    known = properties()
    for name, variants in packaged_templates().by_property.items():
        assert {one.kind for one in variants} == {kinds[known.datatype(name) or ""]}, name
        asked = [text for one in variants for text in (one.question, one.ever) if text]
        assert all(text.count("[X]") == 1 for text in asked), name


def test_of_a_packaged_template_of_two_forms_the_first_asks_for_today_and_the_second_in_both_tenses() -> None:
    past = re.compile(r"\b(was|were|did|won|took)\b")
    both = re.compile(r"\b(is or was|does or did|can or could|holds or held|(\w{3})\w* or \2\w*d)\b")
    found = [
        one
        for variants in packaged_templates().by_property.values()
        for one in variants
        if one.kind != "date"  # what happened once at a time
    ]
    for one in found:
        assert not both.search(one.question or ""), one.question
        if one.question and one.ever:
            assert not past.search(one.question), one.question
            assert both.search(one.ever), one.ever
        elif one.ever:
            assert past.search(one.ever), one.ever
            assert not both.search(one.ever), one.ever
    assert len([one for one in found if one.question and one.ever]) > 100


def test_the_question_is_in_the_tense_in_which_the_values_were_counted(tmp_path: Path) -> None:
    one = {"values": 1, "rank": "normal", "agrees": True}
    team = {"relation_id": "P54", "relation": "member of sports team", "object": "Leeds"}
    school = {"relation_id": "P69", "relation": "educated at", "object": "Eton"}
    results = asked(
        tmp_path,
        fact(id="f-1", subject="A", **team, statement=Statement(**one)),
        fact(id="f-2", subject="B", **team, statement=Statement(**one, ever=True)),
        fact(id="f-3", subject="C", **team),  # nobody counted
        fact(id="f-4", subject="D", **school),
        fact(id="f-5", subject="E", statement=Statement(**one, ever=True)),
        fact(id="f-6", subject="F", relation_id="P19", object="Ulm", statement=Statement(**one, ever=True)),
    )
    assert [one.question for one in results if isinstance(one, Fact)] == [
        "Which team does A play for?",
        "Which team does or did B play for?",
        "Which team does C play for?",
        "At which institution was D educated?",
        "What is or was the capital of E?",
        "In which place was F born?",
    ]


def test_a_file_may_have_one_form_and_it_is_asked_of_all_subjects(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(
        'P1: "Who is [X]?"\nP2: {ever: "Who was [X]?"}\nP3: {question: "A [X]?", ever: "B [X]?"}\n'
    )
    found = read_templates(path)
    forms = {
        name: [found.question(name, "entity", ever=ever) for ever in (False, True)]
        for name in ("P1", "P2", "P3")
    }
    assert forms == {"P1": ["Who is [X]?"] * 2, "P2": ["Who was [X]?"] * 2, "P3": ["A [X]?", "B [X]?"]}


def test_no_packaged_template_is_one_of_entityquestions_but_where_only_one_wording_is_plain() -> None:
    path = DATA / "entityquestions" / "relation_query_templates.json"
    if not path.exists():
        pytest.skip(f"needs {path}")
    theirs = set(json.loads(path.read_text("utf-8")).values())
    variants = [one for several in packaged_templates().by_property.values() for one in several]
    ours = {text for one in variants for text in (one.question, one.ever)}
    assert (
        ours & theirs
        == {
            "What is the capital of [X]?",
            "Who founded [X]?",
            "Who owns [X]?",
            "Who performed [X]?",
            "Who is the author of [X]?",
        }
        & theirs
        & ours
    )


def test_a_genre_is_asked_of_works_and_bands_and_not_of_an_organisation(tmp_path: Path) -> None:
    def entity(name: str, *classes: str) -> Found:
        claims = {"P31": tuple(Claim(value=one, datatype="wikibase-item") for one in classes)}
        return Found(name, Entity(id=name, labels={"en": name}, claims=claims))

    with writing_store(tmp_path / "stages" / "entities" / "entities.sqlite") as store:
        for found in (entity("Q1", "Q482994"), entity("Q2", "Q5"), entity("Q3", "Q43229")):
            store.add(found)
    facts = [
        fact(
            id=f"f-{n}",
            subject=f"S{n}",
            subject_id=f"Q{n}",
            relation="genre",
            relation_id="P136",
            object="jazz",
        )
        for n in (1, 2, 3)
    ]
    results = asked(tmp_path, *facts)
    assert [one.question for one in results if isinstance(one, Fact)] == [
        "What is the genre of S1?",
        "In which genre does S2 work?",
    ]
    assert reasons(results)[2] == "no-template"


def test_titles_of_redirects_are_valid_answers_if_asked_for_and_demonyms_are_not(tmp_path: Path) -> None:
    (tmp_path / "titles.tsv").write_text(
        "Ivory Coast\tQ1008\nCôte d'Ivoire\tQ1008\nIvorian\tQ1008\nIC (land)\tQ1008\n"
    )
    demonym = Claim(value=Text(text="Ivorian", language="en"), datatype="monolingualtext")
    with writing_store(tmp_path / "stages" / "entities" / "entities.sqlite") as store:
        store.add(
            Found("Q1008", Entity(id="Q1008", labels={"en": "Ivory Coast"}, claims={"P1549": (demonym,)}))
        )
    given = fact(subject="Abidjan", relation_id="P17", object_id="Q1008", object_names=("Ivory Coast",))
    link = {"titles": "titles.tsv"}
    (without,) = asked(tmp_path, given, link=link)
    (found,) = asked(tmp_path, given, link=link, questions={"redirects": True})
    assert isinstance(without, Fact)
    assert isinstance(found, Fact)
    assert (without.aliases, found.aliases) == ((), ("Côte d'Ivoire",))


@pytest.mark.parametrize(
    ("label", "title", "name"),
    [
        ("Mercury", "Mercury (planet)", "Mercury (planet)"),
        ("Paris", "Paris, Texas", "Paris, Texas"),
        ("Mercury", "Mercury", "Mercury"),
        ("Mercury", None, "Mercury"),
        ("Alien", "Aliens (film)", "Alien"),
        ("Mercury", "Mercury_(planet)", "Mercury (planet)"),
        ("Bad\u202ename\n", None, "Badname"),
    ],
)
def test_a_subject_is_called_by_its_label_and_told_from_its_namesakes(
    label: str, title: str | None, name: str
) -> None:
    assert asked_as(fact(subject_names=(label, "other")), title) == name


@pytest.mark.parametrize(
    ("written", "precision", "answer"),
    [
        ("8 October 1951", None, "1951-10-08"),
        ("1951-01-01", "year", "1951"),
        ("October 1951", "day", "1951-10"),
        ("+1990-11-00T00:00:00Z", None, "1990-11"),
        ("the 1950s", None, None),
        ("44 BC", None, None),
        ("1951", "century", None),
        ("11 August 184827 June 1934", None, None),
        ("a fine day", None, None),
    ],
)
def test_dates_are_as_full_as_both_text_and_wikidata_know(
    written: str, precision: str | None, answer: str | None
) -> None:
    found = answer_of(fact(kind="date", object=written, precision=precision))
    assert (found.text if found else None) == answer


def test_a_date_is_asked_for_as_precisely_as_it_is_known(tmp_path: Path) -> None:
    born = {"relation_id": "P569", "relation": "date of birth", "kind": "date"}
    results = asked(
        tmp_path,
        fact(id="f-1", subject="A", **born, object="1951-10-08"),
        fact(id="f-2", subject="B", **born, object="1951-01-01", precision="year"),
        fact(id="f-3", subject="C", **born, object="1951-10"),
    )
    assert [one.question for one in results if isinstance(one, Fact)] == [
        "On what date was A born?",
        "In which year was B born?",
        "When was C born?",
    ]


@pytest.mark.parametrize(
    ("written", "unit", "answer"),
    [
        ("1,234.50 km", None, ("1234.5", "km")),
        ("12", "1", ("12", "")),
        ("12", "Q712226", ("12", "km²")),
        ("12", "Q42", None),
        ("12 bushels", None, None),
        ("a dozen", None, None),
    ],
)
def test_quantities_keep_their_unit_and_an_unknown_one_is_not_asked_for(
    written: str, unit: str | None, answer: tuple[str, str] | None
) -> None:
    found = answer_of(fact(kind="quantity", object=written, unit=unit))
    assert ((found.text, found.unit) if found else None) == answer


def test_an_answer_that_its_own_reader_cannot_read_is_not_asked_for(tmp_path: Path) -> None:
    dated = {"relation_id": "P571", "kind": "date"}
    sized = {"relation_id": "P2046", "kind": "quantity"}
    results = asked(
        tmp_path,
        fact(id="f-1", subject="A", **dated, object="October 1951"),
        fact(id="f-2", subject="B", **dated, object="476"),
        fact(id="f-3", subject="C", **dated, object="29 February 1900"),
        fact(id="f-4", subject="D", **sized, object="1,234,567", unit="Q712226"),
    )
    assert [one.answer if isinstance(one, Fact) else one.reason for one in results] == [
        "1951-10",
        "answer-form",  # years before 1000 are not read as dates
        "answer-form",
        "1234567",
    ]
    assert isinstance(results[3], Fact)
    assert results[3].answer_unit == "km²"


def test_an_answer_in_the_question_is_not_asked_for(tmp_path: Path) -> None:
    city = fact(subject="Mexico City", title="Mexico City", relation_id="P17")
    results = asked(
        tmp_path,
        city.model_copy(update={"object_names": ("Mexico",)}),
        city.model_copy(update={"object_names": ("United Mexican States", "México")}),
        filter={"overlap": "off"},
    )
    assert reasons(results) == ["answer-in-question"] * 2


def test_an_alias_that_the_template_holds_is_dropped_and_the_fact_is_not(tmp_path: Path) -> None:
    (found,) = asked(
        tmp_path, fact(subject="Delhi", relation_id="P17", object_names=("India", "IN", "which"))
    )
    assert isinstance(found, Fact)
    assert found.aliases == ()


def test_words_that_the_title_adds_are_overlap(tmp_path: Path) -> None:
    paris = fact(subject="Paris", title="Paris, Texas", subject_names=("Paris",), relation_id="P131")
    paris = paris.model_copy(update={"subject": "Paris, Texas", "object_names": ("Texas State",)})
    assert reasons(asked(tmp_path, paris)) == ["overlap"]
    assert reasons(asked(tmp_path, paris, filter={"overlap": "off"})) == ["kept"]


def test_one_question_with_two_answers_is_dropped_twice_and_with_one_answer_once(tmp_path: Path) -> None:
    def located(number: int, subject: str, object_: str, relation: str = "P17") -> Fact:
        return fact(id=f"f-{number}", subject=subject, title=subject, relation_id=relation, object=object_)

    results = asked(
        tmp_path,
        located(1, "Springfield", "Canada"),
        located(2, "Boston", "Peru"),
        located(3, "springfield", "Brazil"),
        located(4, "Boston", "Peru"),
        located(5, "Leeds", "Chile"),
    )
    assert reasons(results) == ["same-question", "kept", "same-question", "same-question", "kept"]
    details = [one.detail for one in results if isinstance(one, Drop)]
    assert details == ["answered differently by f-3", "answered differently by f-1", "asked by f-2"]


def test_two_relations_that_a_users_file_asks_alike_are_one_question(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text('P131: "Where is [X]?"\nP276: "Where is [X]?"\n')
    results = asked(
        tmp_path,
        fact(id="f-1", relation_id="P131", object="Kent"),
        fact(id="f-2", relation_id="P276", object="Dover"),
        fact(id="f-3", relation_id="P17", object="Peru"),
        questions={"templates": "t.yaml"},
    )
    assert reasons(results) == ["same-question", "same-question", "no-template"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("P36: What is the capital?\n", ":1: P36: has no [X] for the subject"),
        ('# x\n\nP36: "What is [Y] of [X]?"\n', ":3: P36: has [Y], and only [X] is filled in"),
        ("P36: The capital of [X]\n", "P36"),
        ("capital: Who is it?\n", ":1: not a property's id: 'capital' (such as P36)"),
        ("P36:\n", ":1: P36: no question"),
        ("P36: 7\n", ":1: P36"),
        ("P1: {question: 'Who is [X]?'}\nP2: {qestion: 'Who is [X]?'}\n", ":2: P2: unknown key 'qestion'"),
        ("P1:\n  - {question: 'Who is [X]?'}\n  - {question: 'Who is [X]?', when: [human]}\n", ":3: P1"),
        ("P1:\n  - {question: 'Who is [X]?'}\n  - {question: 'Who is [X]?', kind: thing}\n", ":3: P1"),
        ("P1: {when: [Q5]}\n", ":1: P1: has neither 'question' nor 'ever'"),
        ("P1: {question: 'Who is [X]?', ever: 'Who was it?'}\n", ":1: P1.ever: has no [X] for the subject"),
        ("P1: 'Who is [X]?'\nP1: 'Who is [X]?'\n", ":2: the key 'P1' occurs twice"),
        ("[1, 2\n", "broken YAML"),
        ("", ":1: the file is empty"),
    ],
)
def test_a_fault_in_a_file_of_templates_is_one_line_that_says_where(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_templates(path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@given(st.text(max_size=30), st.lists(st.text(max_size=12), max_size=8))
def test_valid_answers_are_all_different_and_can_be_compared(name: str, others: list[str]) -> None:
    found = answer_of(fact(object_names=(name, *others)))
    if found is None:
        assert not normalise(name)
        return
    folded = [normalise(one) for one in (found.text, *found.aliases)]
    assert all(folded)
    assert len(set(folded)) == len(folded)
    Item(id="i", question="q", answer=found.text, aliases=found.aliases)
    assert stands_in(found.text, f"so {found.text} it is")
