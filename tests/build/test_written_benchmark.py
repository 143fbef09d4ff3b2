"""The benchmark that a build writes: it loads, is valid, is audited and asked, and is the same each time."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from leadline.bench import load_benchmark
from leadline.build.benchmark import item_of, write_facts
from leadline.build.markdown import plain
from leadline.build.pages import Page, address, articles_of
from leadline.build.parts import writing
from leadline.build.plan import Plan, PresenceSection
from leadline.build.plan_file import read_plan
from leadline.build.provenance import provenance
from leadline.build.records import Article, Fact, Sentence, Support, Verdict
from leadline.build.workspace import Workspace
from leadline.errors import LeadlineError, UsageError

PLAN = """\
name: tiny-facts
title: Tiny facts
articles: {dump: a.xml, date: "2022-03-01"}
extract: {method: recorded}
frequency: {pageviews: "p*"}
"""
FRANCE = "France is a country.\nIts capital is Paris, on the Seine; “la Ville Lumière”."
TURING = "Alan Turing was born in London on 23 June 1912."


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "leadline", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def fact(number: int, article: str, title: str, **fields: object) -> Fact:
    given = {"id": f"f-{number}", "article": article, "title": title, "subject": title, "asked": title}
    given |= {
        "extractor": "recorded",
        "answer_type": "text",
        "bin": "head",
        "views": 7,
        "domain": "geography",
    }
    return Fact.model_validate({**given, **fields})


FACTS = (
    fact(
        2,
        "12",
        "France",
        relation="capital (city)",
        relation_id="P36",
        object="Paris",
        question="What is the capital of France?",
        answer="Paris",
        aliases=("City of Light",),
        support=(
            Support(sentence="Its capital is Paris, on the Seine; “la Ville Lumière”.", start=21),
            Support(
                sentence="France, capital Paris.", start=0, article="13", title="Other | page", tier="exact"
            ),
        ),
    ),
    fact(
        1,
        "1208",
        "Alan Turing",
        relation="date of birth",
        relation_id="P569",
        object="23 June 1912",
        kind="date",
        domain=None,
        bin="tail",
        question="On what date was Alan Turing born?",
        answer="1912-06-23",
        answer_type="date",
        support=(Support(sentence=TURING, start=0),),
    ),
)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return read_plan(path)


def left_by_the_stages(plan: Plan, facts: tuple[Fact, ...] = FACTS) -> Workspace:
    work = Workspace(plan.work)
    articles = work.stage("articles")
    with writing(articles.part(0)) as write:
        write(Article(id="12", title="Namesake of an id", text="Another input may use the same ids."))
        write(
            Article(
                id="12", title="France", text=FRANCE, revision="345", sentences=(Sentence(start=0, end=20),)
            )
        )
        write(Article(id="1208", title="Alan Turing", text=TURING, timestamp="2022-02-28T10:00:00Z"))
    with writing(articles.part(1)) as write:
        write(Article(id="99", title="Unused", text="Nobody asks."))
        write(Article(id="13", title="Other | page", text="So: France, capital Paris. Yes."))
    articles.finish("k", {"kept": 5, "dropped": {"redirect": 100}})
    questions = work.stage("questions")
    with writing(questions.kept) as write:
        for one in facts:
            write(one)
    questions.finish("k", {"kept": len(facts), "dropped": {"no-template": 3}})
    return work


def test_it_loads_with_questions_answers_domains_and_evidence(plan: Plan) -> None:
    folder = write_facts(plan, left_by_the_stages(plan))
    benchmark = load_benchmark(folder)
    assert (benchmark.name, benchmark.kind, benchmark.version) == ("tiny-facts", "facts", "0.1.0")
    assert [item.id for item in benchmark.items] == ["f-1", "f-2"]
    turing, france = benchmark.items
    assert (france.task, france.category, france.subject) == ("capital", "geography", "France")
    assert france.valid_answers == ("Paris", "City of Light")
    assert (turing.answer_type, turing.answer, turing.category) == ("date", "1912-06-23", "other")
    assert [one.source for one in france.evidence] == [
        "https://en.wikipedia.org/wiki/Other_%7C_page",  # found in the corpus, hence first
        "https://en.wikipedia.org/w/index.php?title=France&oldid=345",
    ]
    assert benchmark.data_statement.startswith("# Data statement: Tiny facts")
    rows = [json.loads(line) for line in (folder / "facts.jsonl").read_text("utf-8").splitlines()]
    assert [(row["id"], row["bin"], row["views"]) for row in rows] == [("f-1", "tail", 7), ("f-2", "head", 7)]


def test_where_presence_is_asked_for_only_confirmed_sentences_are_evidence() -> None:
    listed = (
        Support(sentence="exact", start=0, tier="exact", again=True),
        Support(sentence="normalised", start=0, tier="normalised", again=None),
        Support(sentence="too loose", start=0, tier="stripped", again=True),
        Support(sentence="says something else", start=0, tier="exact", again=False),
        Support(sentence="not in the corpus", start=0),
    )
    given = FACTS[0].model_copy(update={"support": listed})

    def quotes(presence: PresenceSection | None) -> list[str]:
        return [one.quote for one in item_of(given, {}, presence).evidence]

    section = PresenceSection(corpus=("c",), keep="normalised")
    assert quotes(section) == ["exact", "normalised"]
    assert quotes(section.model_copy(update={"keep": "exact"})) == ["exact"]
    assert len(quotes(None)) == 5


def test_validation_finds_nothing_wrong(plan: Plan) -> None:
    done = run("bench", "validate", write_facts(plan, left_by_the_stages(plan)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 errors, 0 warnings" in done.stdout


def test_an_audit_finds_every_quote_in_its_page(plan: Plan) -> None:
    folder = write_facts(plan, left_by_the_stages(plan))
    done = run("audit", folder, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((folder / "sources").glob("*.txt"))) == 3
    assert [item["state"] for item in json.loads(done.stdout)["items"]] == ["verified present"] * 2


@pytest.mark.model
def test_a_study_asks_it(plan: Plan, tmp_path: Path) -> None:
    folder = write_facts(plan, left_by_the_stages(plan))
    (tmp_path / "study").mkdir()
    said = f"name: study\nbenchmark: {folder}\nmodels: [smollm2]\nsampling: {{temperatures: []}}\n"
    (tmp_path / "study" / "study.yaml").write_text(said)
    done = run("run", tmp_path / "study", "--no-report", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["drawn"] == 2


def digest(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_written_twice_and_in_another_place_the_bytes_are_the_same(plan: Plan, tmp_path: Path) -> None:
    work = left_by_the_stages(plan)
    first = digest(write_facts(plan, work))
    assert digest(write_facts(plan, work)) == first
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "plan.yaml").write_text(PLAN)
    moved = read_plan(other / "plan.yaml")
    assert digest(write_facts(moved, left_by_the_stages(moved, FACTS[::-1]))) == first


def test_what_a_killed_run_left_is_swept_away_and_the_old_benchmark_stays_until_then(plan: Plan) -> None:
    work = left_by_the_stages(plan)
    first = digest(write_facts(plan, work))
    (work.folder / ".benchmark.new").mkdir()
    (work.folder / ".benchmark.new" / "items.jsonl").write_text("half")
    (work.benchmark / "stray.txt").write_text("not of this build")
    assert digest(write_facts(plan, work)) == first
    assert not list(work.folder.glob(".benchmark*"))


def test_the_statement_and_the_attribution_say_where_it_comes_from(plan: Plan) -> None:
    folder = write_facts(plan, left_by_the_stages(plan))
    statement = (folder / "DATA_STATEMENT.md").read_text("utf-8")
    for said in ("2022-03-01", "| head | 1 | 50.0% |", "| other | 1 |", "redirect 100", "no-template 3"):
        assert said in statement, said
    attribution = (folder / "ATTRIBUTION.md").read_text("utf-8")
    assert "title=France&oldid=345), revision 345" in attribution
    assert "Other \\| page" in attribution
    assert "Unused" not in attribution


def planned(folder: Path, articles: str, *more: str) -> Plan:
    lines = ["name: tiny-facts", f"articles: {articles}", *more]
    method = [] if any(line.startswith("extract") for line in more) else ["extract: {method: distant}"]
    (folder / "plan.yaml").write_text("\n".join([*lines, *method]) + "\n")
    return read_plan(folder / "plan.yaml")


def told(folder: Path) -> tuple[str, str, str]:
    """Licence, data statement and attribution."""
    statement = (folder / "DATA_STATEMENT.md").read_text("utf-8")
    return load_benchmark(folder).licence, statement, (folder / "ATTRIBUTION.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("date", "licence"),
    [
        ("2016-05-01", "CC BY-SA 3.0"),
        ("20230601", "CC BY-SA 3.0"),
        ("2023-07", "CC BY-SA 4.0"),
        ("2023-06", "CC BY-SA (3.0 until June 2023, 4.0 since)"),  # which half of the month?
        ('""', "CC BY-SA (3.0 until June 2023, 4.0 since)"),
    ],
)
def test_wikipedias_licence_goes_by_the_date_of_its_dump(tmp_path: Path, date: str, licence: str) -> None:
    known = provenance(planned(tmp_path, f"{{dump: a.xml, date: {date}}}"))
    assert (known.source, known.licence, known.of_text) == ("Wikipedia", licence, licence)


def test_a_licence_that_the_plan_names_is_the_licence(tmp_path: Path) -> None:
    known = provenance(planned(tmp_path, "{dump: a.xml, date: 2016}", "licence: CC0"))
    assert (known.licence, known.of_text) == ("CC0", "CC0")
    known = provenance(planned(tmp_path, "{dump: a.xml, licence: CC BY 2.0}", "licence: CC0"))
    assert (known.licence, known.of_text) == ("CC0", "CC BY 2.0")


def test_pages_of_ones_own_are_not_called_wikipedias_and_have_no_invented_address(tmp_path: Path) -> None:
    plan = planned(tmp_path, "{jsonl: a.jsonl}")
    folder = write_facts(plan, left_by_the_stages(plan))
    licence, statement, attribution = told(folder)
    assert licence == ""
    assert "No licence is named" in statement and "No licence of the text" in attribution
    for file in (path for path in folder.rglob("*") if path.is_file()):
        held = file.read_text("utf-8").lower()
        assert "wikipedia" not in held and "wikimedia" not in held, file.name
    items = load_benchmark(folder).items
    sources = {one.source for item in items for one in item.evidence}
    assert sources == {path.name for path in (folder / "sources").iterdir()}
    assert all(f"sources/{name}" in attribution for name in sources)
    done = run("audit", folder, "--json")
    assert [item["state"] for item in json.loads(done.stdout)["items"]] == ["verified present"] * 2


def test_source_address_and_licence_of_ones_own_pages_are_as_the_plan_says(tmp_path: Path) -> None:
    said = '{jsonl: a.jsonl, source: "Our <wiki>", url: "https://ex.org/{title}?r={revision}", licence: MIT}'
    plan = planned(tmp_path, said)
    folder = write_facts(plan, left_by_the_stages(plan))
    licence, statement, attribution = told(folder)
    assert licence == "MIT"
    assert "made from Our \\<wiki\\>" in statement and "under MIT" in statement
    assert "[France](https://ex.org/France?r=345), revision 345" in attribution
    evidence = load_benchmark(folder).items[1].evidence
    assert evidence[1].source == "https://ex.org/France?r=345"
    assert evidence[0].source.endswith(".txt")  # a page without a revision has no such address
    done = run("audit", folder, "--json")
    assert [item["state"] for item in json.loads(done.stdout)["items"]] == ["verified present"] * 2


def test_pages_of_ones_own_are_wikipedias_where_the_plan_says_so(tmp_path: Path) -> None:
    known = provenance(planned(tmp_path, "{parquet: a.parquet, source: Wikipedia, language: de, date: 2024}"))
    assert known.address(Page("1", "Bad Ems")) == "https://de.wikipedia.org/wiki/Bad_Ems"
    assert known.licence == "CC BY-SA 4.0"
    other = provenance(planned(tmp_path, '{dump: a.xml, source: Wikivoyage, url: "https://e.org/{title}"}'))
    assert (other.address(Page("1", "Bad Ems")), other.licence) == ("https://e.org/Bad_Ems", "")
    mine = provenance(planned(tmp_path, '{jsonl: a.jsonl, url: "https://e.org/{id}/{title}"}'))
    assert mine.address(Page("a&b", "Bad Ems")) == "https://e.org/a%26b/Bad%20Ems"


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        (("articles: {dump: a}", "wikidata:", "  date: soon"), 4, "wikidata.date: is no date: 'soon'"),
        (("articles:", "  dump: a", "  date: 2022-13-01"), 4, "articles.date: is no date: '2022-13-01'"),
        (("articles:", "  dump: a", "  date: 20220230"), 4, "articles.date: is no date"),
        (("articles: {dump: a}", "frequency:", "  start: 2022-3"), 4, "frequency.start: is no month"),
        (("articles: {dump: a}", "frequency:", "  end: 2022-03-01"), 4, "frequency.end: is no month"),
        (
            ("articles: {dump: a}", "frequency:", "  start: 2022-03", "  end: 2022-02"),
            5,
            "frequency.end: is before the start, 2022-03",
        ),
        (("articles:", "  jsonl: a", "  url: https://e.org/{name}"), 4, "only {title}, {id} and {revision}"),
        (("articles:", "  jsonl: a", "  url: https://e.org/{title"), 4, "each brace closed"),
        (("articles:", "  jsonl: a", "  url: https://e.org/{title.x}"), 4, "only {title}"),
        (("articles:", "  jsonl: a", "  url: https://e.org/page"), 4, "is no address of pages"),
        (("articles:", "  jsonl: a", '  url: "javascript:{title}"'), 4, "is no address of pages"),
    ],
)
def test_what_is_no_date_month_or_address_is_refused_with_its_line(
    tmp_path: Path, lines: tuple[str, ...], line: int, what: str
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("\n".join(["name: p", *lines, "extract: {method: distant}"]))
    with pytest.raises(UsageError, match=re.escape(what)) as caught:
        read_plan(path)
    assert caught.value.where == f"{path}:{line}"


@pytest.mark.parametrize("date", ["2022", "2022-03", "2022-03-01", "20220301", '"2022-03-01"'])
def test_years_months_and_days_are_dates_however_yaml_reads_them(tmp_path: Path, date: str) -> None:
    assert planned(tmp_path, f"{{dump: a.xml, date: {date}}}").articles.date == date.strip('"')


def judged(number: int, **votes: int) -> Fact:
    label = next((one for one, count in votes.items() if count >= 2), None)
    verdicts = {"relevance": Verdict(label=label, votes=votes, asked=3)} if votes else {}
    return FACTS[0].model_copy(update={"id": f"f-{number}", "verdicts": verdicts})


def test_the_statement_says_which_verdicts_were_kept_and_how_many_there_are(tmp_path: Path) -> None:
    facts = (
        judged(1, RELEVANT=3),
        judged(2, RELEVANT=2, IRRELEVANT=1),
        judged(3, UNSURE=2, RELEVANT=1),
        judged(4, RELEVANT=1, IRRELEVANT=1, UNSURE=1),
        judged(5),
    )
    asked = "filter: {relevance: {model: smollm2, samples: 3%s}}"
    plan = planned(tmp_path, "{dump: a.xml}", asked % ", unstable: keep, unsure: keep")
    _, statement, _ = told(write_facts(plan, left_by_the_stages(plan, facts)))
    assert (
        "judged relevance, 3 times each; at least 80% of its answers had to be RELEVANT; kept as well were "
        "those on which fewer answers agreed, unless a label against them led, and those of which most "
        "answers are UNSURE. Of the 5 facts here: RELEVANT 2 (1 of them below 80%), UNSURE 1 (1 of them "
        "below 80%), no label of most answers 1, not asked 1."
    ) in statement
    strict = planned(tmp_path, "{dump: a.xml}", asked % "")
    _, statement, _ = told(write_facts(strict, left_by_the_stages(strict, facts[:1])))
    assert "had to be RELEVANT. Of the 1 facts here: RELEVANT 1.\n" in statement


def test_the_statement_says_how_much_of_window_and_corpus_was_read(tmp_path: Path) -> None:
    more = (
        "extract: {method: recorded, recorded: r.jsonl}",
        'frequency: {pageviews: "p*", start: 2023-03, end: 2023-03}',
        "presence: {corpus: c}",
    )
    plan = planned(tmp_path, "{dump: a.xml}", *more)
    work = left_by_the_stages(plan)
    kept = {"kept": 2, "dropped": {}}
    work.stage("frequency").finish("k", {**kept, "days": {"counted": 6, "of": 31}})
    faulty = {name: {"cut": [1, 3]} for name in "abcd"} | {"e": {"warc": [1, 1]}}
    scanned = {"shards": 10, "documents": 1234, "faults": {"cut": 4, "warc": 1}, "faulty": faulty}
    work.stage("scan").finish("k", scanned)
    _, statement, _ = told(write_facts(plan, work))
    assert "2023-03 to 2023-03 (6 of 31 days)" in statement
    assert "1,234 documents of 10 shards were read; 5 of 10 shards had faults (cut 4, warc 1)" in statement
    assert "a replay of what was recorded" in statement
    assert "from which the same triplet was extracted again" not in statement
    work.stage("frequency").finish("k", {**kept, "days": {"counted": 31, "of": 31}})
    work.stage("scan").finish("k", {**scanned, "faults": {}, "faulty": {}})
    _, statement, _ = told(write_facts(plan, work))
    assert "days)" not in statement
    assert "1,234 documents of 10 shards were read, without a fault." in statement


def test_text_of_pages_obeys_nobody_in_markdown() -> None:
    assert plain("<b>[x](y)\x1b[31m\n|`#") == "\\<b\\>\\[x\\](y) \\[31m \\|\\`\\#"


def test_facts_without_questions_are_no_benchmark(plan: Plan) -> None:
    bare = tuple(one.model_copy(update={"question": None}) for one in FACTS)
    with pytest.raises(UsageError, match="there are no questions yet"):
        write_facts(plan, left_by_the_stages(plan, bare))
    with pytest.raises(UsageError, match="no fact is left"):
        write_facts(plan, left_by_the_stages(plan, ()))


def test_articles_are_found_by_id_and_title_and_others_are_not_parsed(plan: Plan) -> None:
    work = left_by_the_stages(plan)
    with writing(work.stage("articles").part(2)) as write:
        write(Article(id='q"ü', title="Odd", text="x"))
    work.stage("articles").finish("k", {})
    wanted = [Page("12", "France"), Page('q"ü', "Odd"), Page("7", "Not there")]
    assert [one.title for one in articles_of(work, wanted)] == ["France", "Odd"]


def test_a_damaged_part_is_an_error_that_names_it(plan: Plan) -> None:
    work = left_by_the_stages(plan)
    part = work.stage("articles").part(1)
    part.write_bytes(part.read_bytes()[:-9])
    with pytest.raises(LeadlineError, match=r"00001.jsonl.zst"):
        write_facts(plan, work)


def test_addresses_are_those_that_wikipedia_has() -> None:
    assert address("de", "Ångström (Einheit)") == "https://de.wikipedia.org/wiki/%C3%85ngstr%C3%B6m_(Einheit)"
    assert address("en", "C#", "7") == "https://en.wikipedia.org/w/index.php?title=C%23&oldid=7"
    assert "oldid" not in address("en", "X", "not a number")
    assert address("en", "AT&T", "1").endswith("title=AT%26T&oldid=1")
