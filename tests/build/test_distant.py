"""Sentences that name two items give what Wikidata holds between them, and nothing else."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from leadline.build.extract.distant import DistantExtractor
from leadline.build.extract.extractor import Passage, make_extractor
from leadline.build.link.index import index_of_titles
from leadline.build.link.properties import properties
from leadline.build.link.spelling import canonical
from leadline.build.records import Article, Link
from leadline.build.wikidata.open import open_entities
from leadline.build.workspace import Workspace
from leadline.errors import LeadlineError
from tests.build.extracting import article, extract, plan_of
from tests.build.real_inputs import DATA, abstracts, needs_data, write_inputs

WIKIDATA = DATA / "wikidata"
TITLES = {
    "Douglas Adams": "Q42",
    "Cambridge": "Q350",
    "Cambridge (disambiguation)": "Q1",
    "University of Cambridge": "Q35794",
    "Santa Barbara, California": "Q159288",
    "Jane Belson": "Q14623681",
    "The Hitchhiker's Guide to the Galaxy": "Q25169",
    "St John's College, Cambridge": "Q691283",
    "St John's College, Oxford": "Q691283000",
    "United Kingdom": "Q145",
    "UK": "Q145",
    "Bielefeld": "Q2112",
    "Germany": "Q183",
    "Big city": "Q1964689",
}
pytestmark = needs_data


def links(text: str, *pairs: tuple[str, str]) -> tuple[Link, ...]:
    return article("-", text, links=pairs).links


@pytest.fixture(scope="module")
def adams(tmp_path_factory: pytest.TempPathFactory) -> DistantExtractor:
    folder = tmp_path_factory.mktemp("adams")
    files = f"[{WIKIDATA / 'Q42.json'}, {WIKIDATA / 'Q2112.json'}]"
    plan = plan_of(folder, "{method: distant}", f"wikidata: {{entities: {files}}}")
    store = open_entities(plan, Workspace(plan.work), ["Q42", "Q2112"])
    return DistantExtractor(index_of_titles(TITLES), store, properties())


def said(extractor: DistantExtractor, passage: Passage) -> set[str]:
    ((found),) = extractor.extract([passage])
    return {f"{one.subject}|{one.relation}|{one.object}" for one in found}


def test_a_link_and_a_date_that_wikidata_states_are_facts(adams: DistantExtractor) -> None:
    text = "Douglas Adams was born on March 11, 1952 in Cambridge, went to the University of Cambridge, died."
    passage = Passage(
        "Douglas Adams",
        text,
        links=links(text, ("Cambridge", "Cambridge"), ("University of Cambridge", "University of Cambridge")),
    )
    assert said(adams, passage) == {
        "Douglas Adams|place of birth|Cambridge",
        "Douglas Adams|date of birth|March 11, 1952",
    }
    (found,) = adams.extract([passage])
    birth = next(one for one in found if one.object == "Cambridge")
    assert (birth.subject_id, birth.relation_id, birth.object_id) == ("Q42", "P19", "Q350")
    date = next(one for one in found if one.object != "Cambridge")
    assert (date.subject_id, date.relation_id, date.object_id) == ("Q42", "P569", None)


def test_a_pronoun_stands_for_the_page_and_an_alias_for_itself(adams: DistantExtractor) -> None:
    text = "He married Jane Belson."
    passage = Passage("Douglas Adams", text, links=links(text, ("Jane Belson", "Jane Belson")))
    assert said(adams, passage) == {"Douglas Adams|spouse|Jane Belson"}
    text = "Douglas Noel Adams married Jane Belson."
    passage = Passage("Douglas Adams", text, links=links(text, ("Jane Belson", "Jane Belson")))
    assert said(adams, passage) == {"Douglas Noel Adams|spouse|Jane Belson"}
    text = "One day Jane Belson came."
    passage = Passage("Douglas Adams", text, links=links(text, ("Jane Belson", "Jane Belson")))
    assert said(adams, passage) == set()


def test_a_link_whose_text_is_no_name_names_nobody(adams: DistantExtractor) -> None:
    text = "Douglas Adams and his wife lived in the UK."
    passage = Passage(
        "Douglas Adams", text, links=links(text, ("his wife", "Jane Belson"), ("UK", "United Kingdom"))
    )
    # "UK" is a redirect to what the link leads to.
    assert said(adams, passage) == {"Douglas Adams|country of citizenship|UK"}


def test_two_links_may_make_a_fact_about_another_page(adams: DistantExtractor) -> None:
    text = "Its author Douglas Adams died in Santa Barbara, California on 11 May 2001."
    passage = Passage(
        "The Hitchhiker's Guide to the Galaxy",
        text,
        links=links(
            text,
            ("Douglas Adams", "Douglas Adams"),
            ("Santa Barbara, California", "Santa Barbara, California"),
        ),
    )
    # "Its" is the page, which is a notable work of his; but a pronoun is no object.
    assert said(adams, passage) == {
        "Douglas Adams|place of death|Santa Barbara, California",
        "Douglas Adams|date of death|11 May 2001",
    }


def test_the_title_inside_a_longer_link_is_not_the_page(adams: DistantExtractor) -> None:
    text = "The Bielefeld University is in Germany."
    passage = Passage(
        "Bielefeld", text, links=links(text, ("Bielefeld University", "Elsewhere"), ("Germany", "Germany"))
    )
    assert said(adams, passage) == set()


def test_a_deprecated_statement_counts_for_nothing(adams: DistantExtractor) -> None:
    text = "Bielefeld is a big city in Germany, founded in 1214."
    passage = Passage("Bielefeld", text, links=links(text, ("big city", "Big city"), ("Germany", "Germany")))
    assert said(adams, passage) == {
        "Bielefeld|country|Germany",
        "Bielefeld|inception|1214",
        "Bielefeld|time of earliest written record|1214",
    }


def test_a_year_is_no_day_and_a_part_of_a_number_no_year(adams: DistantExtractor) -> None:
    text = "Douglas Adams was born in 1952."
    assert said(adams, Passage("Douglas Adams", text, links=())) == set()
    text = "Bielefeld has 12,140 trees and 1214.5 m."
    assert said(adams, Passage("Bielefeld", text, links=())) == set()


def test_a_sentence_without_links_is_read_by_its_names(adams: DistantExtractor) -> None:
    text = (
        "Douglas Adams was born in Cambridge on 11 March 1952, and studied at St John's College, Cambridge."
    )
    assert said(adams, Passage("Douglas Adams", text)) == {
        "Douglas Adams|place of birth|Cambridge",
        "Douglas Adams|date of birth|11 March 1952",
        "Douglas Adams|educated at|St John's College, Cambridge",
    }
    # About somebody else than the page, capitalised words that are titles are all there is.
    assert said(adams, Passage("Cambridge", "The writer Douglas Adams was born in Cambridge.")) == {
        "Douglas Adams|place of birth|Cambridge"
    }
    assert said(adams, Passage("Nowhere", "It rained.")) == set()


def gold_links(page: dict[str, object], titles: dict[str, str]) -> Article:
    """An abstract with REBEL's annotations of entities as its links."""
    text = str(page["text"])
    made = article(str(page["title"]), text, id_=str(page["docid"]), entity=str(page["uri"]))
    found = {}
    for one in page["entities"]:  # type: ignore[attr-defined]
        start, end = one["boundaries"]
        if text[start:end] == one["surfaceform"] and one["uri"] in titles and one["uri"] != page["uri"]:
            found[start] = Link(start=start, end=end, target=titles[one["uri"]])
    return made.model_copy(update={"links": tuple(found[start] for start in sorted(found))})


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Article]]:
    folder = tmp_path_factory.mktemp("real")
    write_inputs(folder)
    pages = list(abstracts())
    names: dict[str, Counter[str]] = {}
    for page in pages:
        names.setdefault(page["uri"], Counter())[page["title"]] += 1000
        for one in page["entities"]:
            if one["uri"].startswith("Q"):
                names.setdefault(one["uri"], Counter())[one["surfaceform"]] += 1
    # The qualifier keeps apart what is called the same, as it does on Wikipedia.
    titles = {uri: f"{called.most_common(1)[0][0]} ({uri})" for uri, called in names.items()}
    titles |= {page["uri"]: page["title"] for page in pages}
    plain = {canonical(called.most_common(1)[0][0]): uri for uri, called in names.items()}
    plain |= {canonical(title): uri for uri, title in titles.items()}
    lines = [f"{title}\t{uri}\n" for title, uri in plain.items()]
    (folder / "titles.tsv").write_text("".join(lines), "utf-8")
    return folder, [gold_links(page, titles) for page in pages]


MORE = "link: {titles: titles.tsv}\nwikidata: {dump: entities.json.gz}"


@pytest.fixture(scope="module")
def extracted(real: tuple[Path, list[Article]]) -> Path:
    folder, articles = real
    started = time.process_time()
    here = extract(plan_of(folder, "{method: distant}", MORE), articles)
    sentences = here.counts()["passages"]["read"]
    print(f"{sentences:,} sentences, {sentences / (time.process_time() - started):,.0f}/s with all steps")
    return folder


def test_gold_that_stands_between_links_of_a_sentence_is_found_again(
    real: tuple[Path, list[Article]], extracted: Path
) -> None:
    here = Workspace(plan_of(extracted, "{method: distant}", MORE).work).stage("extract")
    facts = list(here.facts())
    found = {(fact.article, fact.subject_id, fact.relation_id, fact.object_id) for fact in facts}
    by_id = {one.id: one for one in real[1]}
    gold = stated = 0
    for page in abstracts():
        whole = by_id[page["docid"]]
        for triple in page["triples"]:
            key = (
                page["docid"],
                triple["subject"]["uri"],
                triple["predicate"]["uri"],
                triple["object"]["uri"],
            )
            ends = [triple["subject"]["boundaries"], triple["object"]["boundaries"]]
            linked = all(
                whole.text[start:end] == part["surfaceform"]
                for (start, end), part in zip(ends, (triple["subject"], triple["object"]), strict=True)
            )
            together = any(
                all(one.start <= start and end <= one.end for start, end in ends) for one in whole.sentences
            )
            # Annotated inside a word ("Indian"), it is no link.
            if linked and together and key[3].startswith("Q") and key[1] != key[3]:
                gold += 1
                stated += key in found
    assert gold > 1500
    assert stated / gold > 0.95
    assert all(fact.relation_id and fact.subject_id and fact.support for fact in facts)
    # Nothing is extracted that the statements do not hold.
    held = {
        (t["subject"]["uri"], t["predicate"]["uri"], t["object"]["uri"])
        for p in abstracts()
        for t in p["triples"]
    }
    assert {key[1:] for key in found if key[3]} <= held


def test_pronouns_are_marked_and_dates_have_no_id(extracted: Path) -> None:
    here = Workspace(plan_of(extracted, "{method: distant}", MORE).work).stage("extract")
    facts = list(here.facts())
    assert here.counts()["pronoun"] > 20
    dates = [fact for fact in facts if fact.object_id is None]
    assert len(dates) > 100
    assert all(any(character.isdigit() for character in fact.object) for fact in dates)


def test_the_sentence_alone_gives_most_facts_again(extracted: Path) -> None:
    """What presence asks: the supporting sentence out of a corpus, without links, read anew."""
    plan = plan_of(extracted, "{method: distant}", MORE)
    work = Workspace(plan.work)
    facts = list(work.stage("extract").facts())[:400]
    again = make_extractor(plan, work).extract([Passage(one.title, one.support[0].sentence) for one in facts])
    same = sum(
        any(
            (one.subject_id, one.relation_id, one.object_id)
            == (fact.subject_id, fact.relation_id, fact.object_id)
            for one in triplets
        )
        for fact, triplets in zip(facts, again, strict=True)
    )
    assert same / len(facts) > 0.7


def test_before_the_stage_has_run_nothing_can_be_extracted_again(tmp_path: Path) -> None:
    (tmp_path / "titles.tsv").write_text("Bielefeld\tQ2112\n")
    plan = plan_of(tmp_path, "{method: distant}", "link: {titles: titles.tsv}\nwikidata: {entities: []}")
    with pytest.raises(LeadlineError, match="run the stage extract"):
        make_extractor(plan, Workspace(plan.work))


def test_recorded_inputs_are_what_this_test_thinks(real: tuple[Path, list[Article]]) -> None:
    assert len(real[1]) == 1000
    assert sum(len(one.links) for one in real[1]) > 4000
    assert json.loads((WIKIDATA / "Q42.json").read_text())["id"] == "Q42"
