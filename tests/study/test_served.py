"""Studies of models behind an API: asked once, counted before they are asked, and every answer told apart."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leadline.bundle.running import verify_bundle
from leadline.study.config_file import read_config
from leadline.study.ledger import StudyLedger, spent
from leadline.study.readings import readings
from leadline.study.served_entry import Budget
from leadline.study.store import open_store
from leadline.study.study import open_study
from tests.bundle.conftest import seal
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.provider import Reply, provider, question_of, say, served_study
from tests.study.recorded import edit
from tests.study.small import STUDY, change, write_config

pytest.importorskip("inspect_ai", reason="models behind an API need the 'served' extra")

# Six items, asked once greedily and twice at a temperature.
ANSWERS = 18


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_API_KEY", raising=False)


def manifest(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return document


def states(folder: Path) -> Counter[str]:
    study = open_study(folder)
    with open_store(folder, write=False) as store:
        return Counter(readings(study, store)["state"].to_list())


def calls(folder: Path) -> list[dict[str, Any]]:
    with sqlite3.connect(folder / "responses.sqlite") as database:
        database.row_factory = sqlite3.Row
        found = [dict(row) for row in database.execute("SELECT * FROM calls ORDER BY call")]
    database.close()
    return found


def test_every_answer_is_asked_once_with_a_seed_of_its_own_and_what_the_provider_told_is_kept(
    tmp_path: Path, leadline: Leadline
) -> None:
    with provider(say("a b")) as house:
        folder = served_study(tmp_path / "study", house.url, entry={"price": {"input": 1.0, "output": 2.0}})
        assert leadline("run", folder, "--quiet", "--no-report").code == 0
        assert leadline("run", folder, "--quiet").code == 0, "nothing is left to ask"
    assert len(house.requests) == len(stored.rows(folder)) == ANSWERS
    drawn = [one for one in house.requests if one["temperature"] > 0]
    assert len({(question_of(one), one["seed"]) for one in drawn}) == 12
    (told,) = manifest(folder)["served"]
    assert told["answered_by"] == {"house-1": ANSWERS} and told["fingerprints"] == {"fp-1": ANSWERS}
    assert told["outcomes"] == {"answer": ANSWERS} and told["finishes"] == {"stop": ANSWERS}
    assert (told["requests"], told["retries"], told["never_ended"]) == (ANSWERS, 0, 0)
    assert (told["tokens_in"], told["tokens_out"]) == (10 * ANSWERS, 3 * ANSWERS)
    assert told["money"] == pytest.approx(ANSWERS * (10 * 1.0 + 3 * 2.0) / 1e6)
    document = stored.findings(folder)
    assert document["served"] == [told] and document["remarks"] == manifest(folder)["remarks"]
    (model,) = document["models"]
    assert model["digest"].startswith("served:") and "behind the API" in model["description"]
    assert {one["serving"] for one in document["protocol"]["members"]} == {house.url.split("/")[2]}


def test_ranks_are_said_once_not_to_be_estimable_and_no_table_speaks_of_them(
    tmp_path: Path, leadline: Leadline
) -> None:
    with provider(say("a b")) as house:
        folder = served_study(tmp_path / "study", house.url)
        ended = leadline("run", folder)
    assert ended.code == 0
    document = stored.findings(folder)
    assert sum("not estimable for models behind an API" in one for one in document["remarks"]) == 1
    assert not any(one["lens"] == "rank_shift" for one in document["findings"])
    assert not any(one["table"] == "answer position" for one in document["findings"])
    assert "How the answers were asked for" in (folder / "report" / "report.html").read_text("utf-8")
    assert "not estimable for models behind an API" in (folder / "report" / "tables.md").read_text("utf-8")


def test_answers_that_are_all_the_same_though_they_were_drawn_are_pointed_out(
    tmp_path: Path, leadline: Leadline
) -> None:
    with provider(say("a b")) as house:
        folder = served_study(tmp_path / "same", house.url)
        assert leadline("run", folder, "--quiet").code == 0
    with provider(lambda body, number: Reply(f"a {number}")) as house:
        other = served_study(tmp_path / "different", house.url)
        assert leadline("run", other, "--quiet").code == 0
    (told,) = manifest(folder)["served"]
    assert told["identical_repeats"] == ["tau-0.7"], "greedy answers are not drawn"
    assert any("a cache or a fixed seed" in one for one in stored.findings(folder)["remarks"])
    (told,) = manifest(other)["served"]
    assert told["identical_repeats"] == []


def test_several_models_and_set_ups_of_the_provider_are_named_over_all_runs(
    tmp_path: Path, leadline: Leadline
) -> None:
    with provider(say("a b", model="house-may", fingerprint="fp-a")) as house:
        folder = served_study(tmp_path / "study", house.url, items=3)
        assert leadline("run", folder, "--quiet", "--no-report").code == 0
        house.rule = say("b c", model="house-june", fingerprint="fp-b")
        change(folder, items=6)
        ended = leadline("run", folder)
    assert ended.code == 0
    assert "answered by 2 models of the provider: house-june (9), house-may (9)" in ended.err
    assert any("2 set-ups (system_fingerprint)" in one for one in stored.findings(folder)["remarks"])


def test_the_budget_of_requests_ends_the_run_with_every_answer_stored_and_raising_it_goes_on(
    tmp_path: Path, leadline: Leadline
) -> None:
    with provider(say("a b")) as house:
        folder = served_study(tmp_path / "study", house.url, budget={"requests": 11})
        ended = leadline("run", folder, "--quiet", "--no-report")
        assert len(house.requests) == len(stored.rows(folder)) == 11
        assert "the budget of requests is used up: 11 of 11; 7 answers are left to ask" in ended.fault
        assert "about 7 requests" in ended.fault and ended.code == 3
        again = leadline("run", folder, "--quiet", "--no-report")
        assert again.code == 3 and len(house.requests) == 11, "a second run has no budget of its own"
        change(folder, budget={"requests": 18})
        assert leadline("run", folder, "--quiet", "--no-report").code == 0
    assert len(house.requests) == ANSWERS
    assert Counter(map(question_of, house.requests)) == {question_of(one): 3 for one in house.requests}
    first, _, third = manifest(folder)["runs"]
    assert "budget of requests" in first["stopped"] and first["finished"] and "stopped" not in third


@pytest.mark.parametrize("what", ["tokens", "money"])
def test_tokens_and_money_are_never_exceeded_and_nearly_used_up(
    tmp_path: Path, leadline: Leadline, what: str
) -> None:
    price = {"input": 1e4, "output": 1e4}
    limit = {"tokens": 700, "money": 7.0}[what]
    with provider(say("a b", usage=(50, 6))) as house:
        folder = served_study(
            tmp_path / "study", house.url, entry={"price": price, "connections": 3}, budget={what: limit}
        )
        ended = leadline("run", folder, "--quiet", "--no-report")
    assert f"the budget of {what} is used up" in ended.fault
    with open_store(folder, write=False) as store:
        used = spent(store)
    assert used.tokens == 56 * len(house.requests) == 56 * len(stored.rows(folder))
    # What one request may take at most (its bytes and six tokens) is what may be left.
    assert limit - (2.0 if what == "money" else 200) < getattr(used, what) <= limit


def test_requests_under_way_when_a_run_is_killed_stay_counted_at_their_most(
    tmp_path: Path, leadline: Leadline
) -> None:
    budget = Budget(requests=12)
    with provider(say("a b")) as house:
        folder = served_study(tmp_path / "study", house.url, budget={"requests": 12})
        with open_store(folder, write=True) as store:
            ledger = StudyLedger(store, store.begin_run({}), "house", budget)
            for sample in range(5):
                ledger.open((0, "i00", sample), requests=1, tokens_in=100, tokens_out=6, price=None)
            assert ledger.spent == spent(store)
        assert leadline("run", folder, "--quiet").code == 3
    assert len(house.requests) == 7
    with open_store(folder, write=False) as store:
        assert spent(store).requests == 12 and spent(store).tokens == 5 * 106 + 7 * 13
    (told,) = manifest(folder)["served"]
    assert told["never_ended"] == 5
    assert any("5 requests were under way" in one for one in manifest(folder)["remarks"])


def test_what_passes_is_asked_again_by_the_next_run_and_what_lasts_only_when_told(
    tmp_path: Path, leadline: Leadline
) -> None:
    broken = {"i00": 400, "i01": 503}

    def rule(body: dict[str, Any], number: int) -> Reply:
        status = next((status for item, status in broken.items() if item[2] in question_of(body)), 200)
        return Reply("a b", status=status)

    with provider(rule) as house:
        folder = served_study(tmp_path / "study", house.url, entry={"retries": 1})
        ended = leadline("run", folder, "--quiet", "--no-report")
        assert ended.code == 3 and "6 calls failed" in ended.fault and "run it again" in ended.fault
        assert Counter(one["outcome"] for one in calls(folder)) == {
            "answer": 12, "bad_request": 3, "server_error": 6,
        }  # fmt: skip
        del broken["i01"]
        asked = len(house.requests)
        ended = leadline("run", folder, "--no-report")
        assert ended.code == 3 and len(house.requests) == asked + 3
        assert "1 call failed for good in earlier runs (bad_request 1)" in ended.err
        assert "(--retry-failed asks it)" in ended.err
        assert states(folder) == {"ok": 15, "error": 3}
        ended = leadline("run", folder)
        assert ended.code == 3 and len(house.requests) == asked + 3
        assert "note: 3 answers are missing: their calls failed" in ended.err and "report.html" in ended.out
        assert "3 calls failed for good in earlier runs, the study is not complete (--retry" in ended.err
        del broken["i00"]
        assert leadline("run", folder, "--quiet", "--no-report", "--retry-failed").code == 0
        assert len(house.requests) == asked + 6
    assert states(folder) == {"ok": ANSWERS}


def test_a_key_that_is_refused_ends_the_run_in_one_line(tmp_path: Path, leadline: Leadline) -> None:
    with provider(say("no such key", status=401)) as house:
        folder = served_study(tmp_path / "study", house.url)
        ended = leadline("run", folder, "--quiet")
    assert "the provider refuses the account" in ended.fault and ended.code == 3
    assert len(house.requests) <= 4, "no more than were under way"


def test_a_provider_that_breaks_down_ends_the_run_with_a_report_of_what_is_there(
    tmp_path: Path, leadline: Leadline
) -> None:
    with provider(lambda body, number: Reply("a b", status=200 if number < 4 else 400)) as house:
        folder = served_study(
            tmp_path / "study",
            house.url,
            entry={"connections": 2},
            sampling={"temperatures": [0.7], "vote": 8},
        )
        ended = leadline("run", folder)
        assert ended.code == 3 and (folder / "report" / "report.html").exists()
        assert "house: 20 requests failed one after the other, the last: HTTP 400" in ended.err
        assert "answers are left to ask" in ended.err and "when the provider answers" in ended.err
        by_outcome = Counter(one["outcome"] for one in calls(folder))
        assert by_outcome == {"answer": 4, "bad_request": states(folder)["error"]}, "the ledger says the same"
        (run,) = manifest(folder)["runs"]
        assert run["finished"] and run["drawn"] == 4
        asked = {json.dumps(one, sort_keys=True) for one in house.requests}
        before = len(house.requests)
        leadline("run", folder, "--quiet")
        assert not asked & {json.dumps(one, sort_keys=True) for one in house.requests[before:]}


def test_empty_answers_are_asked_again_under_another_seed_and_set_aside(
    tmp_path: Path, leadline: Leadline
) -> None:
    with provider(lambda body, number: Reply("" if "number 1" in question_of(body) else "a")) as house:
        folder = served_study(tmp_path / "study", house.url)
        assert leadline("run", folder, "--quiet").code == 0
        assert states(folder) == {"ok": 15, "empty": 3}
        seeds = {one["seed"] for one in house.requests}
        before = stored.rows(folder)
        assert leadline("run", folder, "--quiet", "--refill-empty").code == 0  # as empty as before
        assert states(folder) == {"ok": 15, "empty": 3}
        house.rule = say("b")
        ended = leadline("run", folder, "--refill-empty")
        assert (
            ended.code == 0
            and "3 answers drawn (3 of them in place of empty ones), 15 were there" in ended.err
        )
        assert leadline("run", folder, "--quiet", "--refill-empty").code == 0
    assert len(house.requests) == ANSWERS + 6
    # Greedy and drawn answers of one item and sample share a seed: 12, and 2 more each time.
    assert (len(seeds), len({one["seed"] for one in house.requests})) == (12, 16)
    assert states(folder) == {"ok": ANSWERS}
    after = stored.rows(folder)
    assert all(after[key] == row for key, row in before.items() if row["text"])
    with sqlite3.connect(folder / "responses.sqlite") as database:
        rows = database.execute("SELECT text, run, replaced FROM set_aside ORDER BY replaced, run").fetchall()
    database.close()
    assert rows == [("", 1, 2)] * 3 + [("", 2, 3)] * 3
    told = manifest(folder)
    assert told["asked_again"] == {"house/greedy": {"2": 1, "3": 1}, "house/tau-0.7": {"2": 2, "3": 2}}
    assert [run.get("refilled") for run in told["runs"]] == [None, 3, 3, None]
    said = [one for one in stored.findings(folder)["remarks"] if "asked again" in one]
    assert "replaced: 4 (run 2: 2, run 3: 2)" in said[1]


def test_empty_answers_of_a_local_greedy_model_would_come_out_the_same_and_are_left(
    study: Path, leadline: Leadline
) -> None:
    # Both configurations have an empty answer, as if the model had said nothing.
    for technique in ("greedy", "sampling"):
        edit(
            study,
            "UPDATE responses SET text = '' WHERE item = 'i00' AND sample = 0 AND configuration IN "
            "(SELECT id FROM configurations WHERE description LIKE ?)",
            f'%"technique": "{technique}"%',
        )
    ended = leadline("run", study, "--refill-empty", "--no-report")
    assert ended.code == 0
    assert "1 empty answer is not asked again, for nothing in them is drawn" in ended.err
    assert set(manifest(study)["asked_again"]) >= {"tiny/tau-0.7"}
    assert "tiny/greedy" not in manifest(study)["asked_again"]


@pytest.fixture(scope="module")
def odd_ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A study whose answers end in every way there is."""
    from leadline.study.progress import Quiet
    from leadline.study.run import run_study

    ends = {
        "0": Reply("a", finish="length"),
        "1": Reply("", finish="length"),
        "2": Reply("   ", finish="stop"),
        "3": Reply("It has a and", finish="content_filter"),
        "4": Reply("b", finish="stop"),
        "5": Reply("none", status=400),
    }
    with provider(lambda body, number: ends[question_of(body).split("number ")[1][0]]) as house:
        folder = served_study(tmp_path_factory.mktemp("ends") / "study", house.url)
        outcome = run_study(open_study(folder), Quiet())
    assert (outcome.failed, outcome.lasting) == (3, 3)
    yield folder


def test_cut_off_filtered_empty_refused_and_failed_answers_are_told_apart(
    odd_ends: Path, leadline: Leadline
) -> None:
    assert states(odd_ends) == {"ok": 6, "truncated": 3, "empty": 3, "refused": 3, "error": 3}
    assert leadline("report", odd_ends).code == 0
    rows = stored.table(stored.findings(odd_ends), "accuracy", "states")
    (greedy,) = (row["figures"] for row in rows if row["keys"]["configuration"] == "greedy")
    assert {name: figure["numerator"] for name, figure in greedy.items()} == {
        "ok": 2, "truncated": 1, "empty": 1, "refused": 1, "unreadable": 0, "error": 1,
    }  # fmt: skip


def test_the_verifier_reads_how_answers_ended_for_itself(
    odd_ends: Path, tmp_path: Path, leadline: Leadline
) -> None:
    bundle = tmp_path / "release"
    assert leadline("bundle", odd_ends, bundle).code == 0, "verified before it is released"
    path = bundle / "readings.jsonl"
    honest = path.read_text("utf-8")
    for was, now, said in (
        ("truncated", "empty", "it was cut off, and is empty in place of truncated"),
        ("truncated", "unreadable", "it was cut off, and is unreadable in place of truncated"),
        ("empty", "truncated", "it is called truncated, and was not cut off"),
        ("refused", "unreadable", "a filter stopped it, and it is read as unreadable"),
    ):
        path.write_text(honest.replace(f'"state":"{was}"', f'"state":"{now}"', 1), "utf-8")
        seal(bundle)
        assert any(said in one for one in verify_bundle(bundle).report["faults"]), (was, now)
    path.write_text(honest, "utf-8")
    document = json.loads((bundle / "findings.json").read_text("utf-8"))
    document["served"][0]["identical_repeats"] = []
    (bundle / "findings.json").write_text(json.dumps(document), "utf-8")
    seal(bundle)
    assert any("identical repeats" in one for one in verify_bundle(bundle).report["faults"])


def test_no_key_stands_in_any_file_or_output(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = {"LOCAL_API_KEY": "planted-key-0123456789", "SOME_TOKEN": "planted-token-abcdefgh"}
    for name, value in planted.items():
        monkeypatch.setenv(name, value)

    def rule(body: dict[str, Any], number: int) -> Reply:
        if number % 3 == 0:  # a careless server that says what it was sent
            said = f"rejected: Authorization: Bearer {planted['LOCAL_API_KEY']}; {planted['SOME_TOKEN']}"
            return Reply(said, status=500 if number % 2 else 400)
        return Reply("a b")

    with provider(rule) as house:
        folder = served_study(tmp_path / "study", house.url)
        outputs = [
            leadline("run", folder),
            leadline("run", folder, "--json"),
            leadline("run", folder, "--dry-run"),
        ]
    assert house.headers[0]["authorization"] == f"Bearer {planted['LOCAL_API_KEY']}", "it was really used"
    assert any(one["outcome"] != "answer" for one in calls(folder))
    for value in planted.values():
        assert not any(value in ended.out + ended.err for ended in outputs)
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert len(files) > 5
        assert not [path for path in files if value.encode() in path.read_bytes()]


def test_a_dry_run_says_what_would_be_asked_and_asks_nothing(tmp_path: Path, leadline: Leadline) -> None:
    techniques = [{"technique": "recite", "paths": 2, "passage_tokens": 8, "max_tokens": 6}, "genread"]
    with provider(say("a b")) as house:
        folder = served_study(
            tmp_path / "study",
            house.url,
            entry={"price": {"input": 1.0, "output": 2.0}},
            techniques=techniques,
            budget={"requests": 20, "money": 1.0},
        )
        told = json.loads(leadline("run", folder, "--dry-run", "--json").out)
        assert house.requests == [] and not (folder / "responses.sqlite").exists()
        assert told["may_exceed"] == ["requests"]
        change(folder, budget={})
        assert leadline("run", folder, "--quiet", "--no-report").code == 0
        assert told["total"]["requests"] == len(house.requests) == 6 + 12 + 24 + 12
        assert told["total"]["money"] >= manifest(folder)["served"][0]["money"] > 0
        after = json.loads(leadline("run", folder, "--dry-run", "--json").out)
        change(folder, budget={"requests": 10})
        small = json.loads(leadline("run", folder, "--dry-run", "--json").out)
    assert after["total"]["requests"] == 0 and after["used_so_far"]["requests"] == 54
    assert small["may_exceed"] == [], "a study that has everything fits into any budget"


def test_greedy_requests_in_the_same_words_are_each_asked(tmp_path: Path, leadline: Leadline) -> None:
    """Two recitations that are alike lead to one prompt; of a served model its two answers may differ."""
    techniques = [{"technique": "recite", "paths": 3, "passage_tokens": 8, "max_tokens": 6}]
    with provider(say("a b")) as house:
        folder = served_study(tmp_path / "study", house.url, number=1, techniques=techniques)
        assert leadline("run", folder, "--quiet", "--no-report").code == 0
    assert sum(question_of(one).startswith("R: a b") for one in house.requests) == 3


def test_techniques_that_look_inside_are_refused_before_anything_is_asked(
    tmp_path: Path, leadline: Leadline
) -> None:
    with provider(say("a")) as house:
        folder = served_study(tmp_path / "study", house.url, techniques=["recite", "dola"])
        ended = leadline("run", folder)
    line = (folder / "study.yaml").read_text().splitlines().index("- dola") + 1
    assert f"study.yaml:{line}: dola reads or changes what a model computes inside" in ended.fault
    assert ended.code == 2 and house.requests == []


def test_another_address_or_option_is_another_model(tmp_path: Path, leadline: Leadline) -> None:
    with provider(say("a b")) as house, provider(say("b c")) as other:
        folder = served_study(tmp_path / "study", house.url)
        assert leadline("run", folder, "--quiet", "--no-report").code == 0
        served_study(tmp_path / "study", other.url)
        assert "model house is not the one that was asked" in leadline("run", folder, "--quiet").fault
        assert other.requests == []


def test_a_database_of_an_earlier_version_opens_and_gains_the_tables(study: Path, leadline: Leadline) -> None:
    with sqlite3.connect(study / "responses.sqlite") as database:
        gone = "DROP TABLE calls; DROP TABLE set_aside; DROP TABLE registrations;"
        database.executescript(f"{gone} PRAGMA user_version = 1;")
    database.close()
    assert leadline("report", study).code == 0
    assert "served" not in stored.findings(study) and "remarks" not in stored.findings(study)
    assert leadline("run", study, "--quiet", "--no-report").code == 0
    assert calls(study) == []
    told = json.loads(leadline("run", study, "--dry-run", "--json").out)
    assert {line["answers"] for line in told["lines"]} == {0}


# Further keys of a served model, and what is said of them, with the line.
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "dtype": ({"dtype": "float32"}, "dtype is for models on this machine"),
    "key": ({"api_key": "sk-0123456789"}, "'api_key' has no place in a file"),
    "password": ({"base_url": "http://me:word@here/v1"}, "has a name or a password in it"),
    "connections": ({"connections": 0}, "connections: must be at least 1, not 0"),
    "price": ({"price": {"input": 1}}, "the key 'output' is missing"),
    "temperature": ({"options": {"temperature": 1}}, "the technique's temperature decides it"),
    "option": ({"options": {"reasoning_efort": "low"}}, "options: reasoning_efort is no setting of"),
    "argument": ({"args": {"respnses": False}}, "args: respnses is no argument of this provider's"),
    "provider": ({"ref": "inspect:opnai/house"}, "there is no provider 'opnai'; did you mean 'openai'?"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_a_served_model_are_told_with_their_line_and_no_secret(
    tmp_path: Path, leadline: Leadline, fault: str
) -> None:
    entry, said = FAULTS[fault]
    folder = served_study(tmp_path / "study", "http://127.0.0.1:9/v1", entry=entry)
    line = leadline("run", folder).fault
    assert said in line
    keys = (folder / "study.yaml").read_text("utf-8").splitlines()
    number = int(line.partition("study.yaml:")[2].partition(":")[0])
    assert next(iter(entry)) in keys[number - 1], "the line is the key's own"
    assert leadline("run", folder, "--dry-run").fault == line, "whoever only looks is told the same"
    assert "word@" not in line and "sk-0123456789" not in line


def test_a_budget_of_money_needs_prices_and_local_models_have_no_address(
    tmp_path: Path, leadline: Leadline
) -> None:
    folder = served_study(tmp_path / "study", "http://127.0.0.1:9/v1", budget={"money": 1.0})
    assert "'house' has none: give it price" in leadline("run", folder).fault
    change(folder, budget={"money": float("inf")})
    assert "budget.money: must be a number, not inf" in leadline("run", folder).fault
    write_config(folder, {**STUDY, "models": [{"ref": "tiny", "base_url": "http://127.0.0.1:9/v1"}]})
    assert "base_url is for models behind an API" in leadline("run", folder).fault


def test_init_writes_a_study_that_fits_a_served_model(tmp_path: Path, leadline: Leadline) -> None:
    address = "http://127.0.0.1:8000/v1"
    ended = leadline(
        "init",
        tmp_path / "study",
        "--model",
        "inspect:openai-api/local/house",
        "--base-url",
        address,
        "--items",
        "5",
    )
    assert ended.code == 0 and ended.out.endswith("--dry-run\n")
    config = read_config(tmp_path / "study" / "study.yaml")
    study = open_study(tmp_path / "study")
    assert config.prompt == "chat" and config.models[0].label == "house" and config.budget.requests
    assert not any(one.technique.opens_the_model for one in study.configurations)
    told = json.loads(leadline("run", tmp_path / "study", "--dry-run", "--json").out)
    assert told["total"]["requests"] > 0
    refused = leadline("init", tmp_path / "other", "--model", "smollm2", "--base-url", address)
    assert "--base-url is for models behind an API" in refused.fault
