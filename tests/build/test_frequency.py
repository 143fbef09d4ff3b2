"""Page views: the dumps' rows, the window, the bins, and the stage over all of them."""

import bz2
import gzip
import random
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from leadline.build.frequency.bins import bins
from leadline.build.frequency.pageviews import Wanted, count_views, title_key
from leadline.build.frequency.stage import FrequencyStage
from leadline.build.frequency.window import Window, choose
from leadline.build.parts import writing
from leadline.build.plan import LinkSection, Plan
from leadline.build.progress import Quiet
from leadline.build.records import Drop, Fact
from leadline.build.stage import Job
from leadline.build.workspace import Workspace
from leadline.errors import LeadlineError, UsageError
from leadline.workers.in_process import InProcess
from leadline.workers.processes import Processes
from tests.build.real_inputs import DATA

VIEWS = DATA / "pageviews"
needs_views = pytest.mark.skipif(not VIEWS.is_dir(), reason=f"needs the page views in {VIEWS}")


def rows(folder: Path, *lines: str, name: str = "pageviews-202103-user") -> Path:
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def views(path: Path, *titles: str, ids: dict[str, str] | None = None) -> dict[str, int]:
    wanted = Wanted("en.wikipedia", {title_key(title): title for title in titles}, ids or {})
    return dict(count_views(path, wanted).views)


@needs_views
def test_rows_of_the_real_dumps_are_summed_over_days_and_ways_of_access() -> None:
    found: dict[str, int] = {}
    for path in sorted(VIEWS.iterdir()):
        for entity, number in count_views(path, Wanted("de.wikipedia", {"Obergesteln": "Q"})).views.items():
            found[entity] = found.get(entity, 0) + number
    # By day: 2 + 2, 1, none, 4 + 4, 3, 6; as `bzgrep "^de.wikipedia Obergesteln "` shows.
    assert found == {"Q": 22}


@needs_views
def test_another_wiki_another_namespace_and_a_longer_title_do_not_count() -> None:
    path = VIEWS / "pageviews-20230320-user.bz2"
    assert views(path, "Obergesteln", "Obergesteln railway station") == {
        "Obergesteln": 2,
        "Obergesteln railway station": 1,
    }
    rm = count_views(path, Wanted("rm.wikipedia", {"Obergesteln": "Q"}))
    assert (dict(rm.views), rm.rows) == ({"Q": 1}, 3)


def test_titles_are_found_however_a_row_spells_them(tmp_path: Path) -> None:
    path = rows(
        tmp_path,
        "en.wikipedia 9/11_conspiracy_theories 1 desktop 3 A3",
        "en.wikipedia 9%2F11_conspiracy_theories null mobile-web 2 A2",
        "en.wikipedia 9/11 conspiracy theories 1 mobile-app 4 A4",
        "en.wikipedia caf\u00e9 2 desktop 5 A5",
        "en.wikipedia Caf%C3%A9 2 desktop 6 A6",
    )
    assert views(path, "9/11 conspiracy theories", "Cafe\u0301") == {
        "9/11 conspiracy theories": 9,
        "Cafe\u0301": 11,
    }


def test_a_row_without_a_page_id_as_before_2015_counts(tmp_path: Path) -> None:
    assert views(rows(tmp_path, "en.wikipedia Earth desktop 7 A7"), "Earth") == {"Earth": 7}


def test_a_moved_page_is_found_by_its_id_and_counted_once(tmp_path: Path) -> None:
    path = rows(tmp_path, "en.wikipedia Old_name 42 desktop 7 A7", "en.wikipedia New_name 42 desktop 1 A1")
    assert views(path, "New name", ids={"42": "New name"}) == {"New name": 8}


def test_broken_lines_are_counted_and_end_nothing(tmp_path: Path) -> None:
    path = rows(
        tmp_path,
        "en.wikipedia Earth 1 desktop many A1",
        "en.wikipedia",
        "en.wikipedia Earth",
        "en.wikipedia desktop 1 A1",
        "",
        "en.wikipedia Earth 1 desktop 2 A2",
    )
    counted = count_views(path, Wanted("en.wikipedia", {"Earth": "Q2"}))
    assert (dict(counted.views), counted.rows, counted.broken) == ({"Q2": 2}, 1, 3)


def test_every_packing_gives_the_same(tmp_path: Path) -> None:
    lines = "".join(f"en.wikipedia T{n % 7} {n} desktop {n} A{n}\n" for n in range(1, 9000)).encode()
    packed = {
        "a.bz2": bz2.compress(lines[:100]) + bz2.compress(lines[100:]),  # several streams
        "a.gz": gzip.compress(lines),
        "a.zst": zstandard.ZstdCompressor().compress(lines),
        "a": lines,
    }
    found = []
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
        found.append(views(tmp_path / name, "T3"))
    assert found == [{"T3": sum(range(3, 9000, 7))}] * 4


def test_lines_across_the_borders_of_blocks_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rows(tmp_path, *(f"en.wikipedia T{n % 3} {n} desktop 1 A1" for n in range(300)))
    for size in (1, 7, 64):
        monkeypatch.setattr("leadline.build.frequency.pageviews._BLOCK", size)
        assert views(path, "T0", "T1", "T2") == {"T0": 100, "T1": 100, "T2": 100}


@pytest.mark.parametrize("suffix", [".bz2", ".gz", ".zst"])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, suffix: str) -> None:
    data = random.Random(1).randbytes(40_000).hex().encode()
    packs = {".bz2": bz2.compress, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}
    path = tmp_path / f"pageviews-202103-user{suffix}"
    path.write_bytes(packs[suffix](data)[:9000])
    with pytest.raises(LeadlineError, match="cannot be read to its end"):
        views(path, "Earth")


def names(folder: Path, *names: str) -> list[Path]:
    return [folder / f"pageviews-{name}.bz2" for name in names]


def test_files_outside_the_window_and_of_programs_are_left_out_with_a_note(tmp_path: Path) -> None:
    paths = names(tmp_path, "202102-user", "202103-user", "202104-spider", "20210405-user", "202106-user")
    chosen = choose(paths, Window("2021-03", "2021-05"))
    assert [path.name for path in chosen.files] == [
        "pageviews-202103-user.bz2",
        "pageviews-20210405-user.bz2",
    ]
    assert [note.partition(":")[0] for note in chosen.notes] == [
        "pageviews-202102-user.bz2 left out",
        "pageviews-202104-spider.bz2 left out",
        "pageviews-202106-user.bz2 left out",
        "files of 1 of the 30 days of 2021-04",
        "no file of 2021-05",
    ]
    assert chosen.days == (32, 31 + 30 + 31)


def test_a_window_of_whole_months_or_of_all_their_days_is_whole(tmp_path: Path) -> None:
    every = names(tmp_path, *(f"202402{day:02d}-user" for day in range(1, 30)))
    for files in (every, names(tmp_path, "202402-user")):
        assert (choose(files, Window()).days, choose(files, Window()).notes) == ((29, 29), ())
    undated = [*every, tmp_path / "views.bz2"]
    assert choose(undated, Window()).days is None  # who knows which days it counts
    assert choose(names(tmp_path, "202413-user"), Window()).days is None


@pytest.mark.parametrize(
    "twice", [("202103-user", "20210301-user"), ("20210301-user", "202103-user"), ("202103-user",) * 2]
)
def test_views_that_would_count_twice_are_refused(tmp_path: Path, twice: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="counts what"):
        choose(names(tmp_path, *twice), Window())


def test_a_window_without_files_and_a_wrong_window_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file of page views lies in the window 2022-01 to 2022-02"):
        choose(names(tmp_path, "202103-user"), Window("2022-01", "2022-02"))
    with pytest.raises(UsageError, match="not a month"):
        Window("2021-13")
    with pytest.raises(UsageError, match="before it begins"):
        Window("2021-03", "2021-02")


def test_ten_entities_make_one_head_two_buffers_of_two_four_of_torso_and_one_tail() -> None:
    found = bins({f"e{n}": n for n in range(10)})
    assert "".join(found[f"e{n}"][0] for n in range(9, -1, -1)) == "hbb" + "tttt" + "bbt"
    assert found["e0"] == "tail"


def test_a_tie_across_a_border_is_in_the_buffer_whole() -> None:
    views = {f"e{n}": n for n in range(10)} | {"e8": 9}
    found = bins(views)
    assert found["e9"] == found["e8"] == "buffer"
    assert "head" not in found.values()


def test_ties_within_a_bin_stay_in_it() -> None:
    found = bins({f"e{n}": max(n, 3) if n < 7 else n for n in range(10)})
    assert {found[f"e{n}"] for n in range(4)} == {"buffer"}  # torso, buffer and tail in one group of equals
    assert found["e6"] == "torso"


@given(
    st.dictionaries(st.text("abcdef", min_size=1, max_size=4), st.integers(0, 40), max_size=60),
    st.randoms(use_true_random=False),
)
def test_bins_are_ordered_never_split_equals_and_do_not_depend_on_the_order(
    views: dict[str, int], order: random.Random
) -> None:
    found = bins(views)
    assert found.keys() == views.keys()
    by_views: dict[int, set[str]] = {}
    for entity, number in views.items():
        by_views.setdefault(number, set()).add(found[entity])
    assert all(len(names) == 1 for names in by_views.values())
    ranks = {"head": 2, "torso": 1, "tail": 0}
    ranked = [
        ranks[found[entity]] for entity in sorted(views, key=lambda e: -views[e]) if found[entity] in ranks
    ]
    assert ranked == sorted(ranked, reverse=True)
    for name, share in (("head", 0.1), ("torso", 0.4), ("tail", 0.1)):
        assert sum(one == name for one in found.values()) <= len(views) * share + 1
    shuffled = list(views.items())
    order.shuffle(shuffled)
    assert bins(dict(shuffled)) == found


@given(st.integers(1, 400))
def test_without_ties_bins_hold_their_shares_to_the_nearest_whole_number(number: int) -> None:
    found = list(bins({f"e{n}": n for n in range(number)}).values())
    assert abs(found.count("head") - number * 0.1) <= 0.5
    assert abs(found.count("torso") - number * 0.4) <= 1
    assert abs(found.count("tail") - number * 0.1) <= 0.5


def fact(number: int, **fields: object) -> Fact:
    given = {"id": f"f-{number}", "article": str(number), "title": f"T{number}", "subject": f"T{number}"}
    given |= {"relation": "capital", "object": "X", "extractor": "recorded"}
    return Fact.model_validate({**given, **fields})


def plan(folder: Path, **frequency: object) -> Plan:
    made = Plan.model_validate(
        {
            "name": "p",
            "articles": {"jsonl": "a.jsonl"},
            "extract": {"method": "recorded"},
            "frequency": frequency,
        }
    )
    made._file = folder / "plan.yaml"
    made._file.write_text("name: p\n")
    return made


def judged(job: Job, facts: list[Fact]) -> list[Fact | Drop]:
    return list(FrequencyStage().judge(job, facts))


def test_the_stage_bins_subjects_over_several_files_and_keeps_parts_of_an_interrupted_run(
    tmp_path: Path,
) -> None:
    rows(tmp_path, *(f"en.wikipedia T{n} {n} desktop {n} A" for n in range(10)), name="pageviews-202103-user")
    rows(
        tmp_path, *(f"en.wikipedia T{n} {n} mobile-web 1 A" for n in range(10)), name="pageviews-202104-user"
    )
    job = Job(
        plan(tmp_path, pageviews="pageviews-*", start="2021-03", end="2021-04"),
        Workspace(tmp_path),
        InProcess(),
        Quiet(),
    )
    facts = [*(fact(n) for n in range(10)), fact(99), fact(7, id="f-7b")]
    result = judged(job, facts)
    said = [one.reason if isinstance(one, Drop) else one.bin for one in result]
    assert said == ["tail", *["buffer"] * 2, *["torso"] * 4, *["buffer"] * 2, "head", "no-views", "buffer"]
    assert isinstance(result[9], Fact)
    assert result[9].views == 10
    parts = job.work.stage("frequency").parts(suffix=".json")
    assert len(parts) == 2
    (tmp_path / "pageviews-202103-user").write_text("en.wikipedia T0 0 desktop 10000 A\n")
    assert judged(job, facts) == result  # the part is there: the file is not read again


def test_buffers_stay_where_the_plan_keeps_them(tmp_path: Path) -> None:
    rows(tmp_path, *(f"en.wikipedia T{n} {n} desktop {n} A" for n in range(10)))
    job = Job(
        plan(tmp_path, pageviews="pageviews-*", keep_buffer=True), Workspace(tmp_path), InProcess(), Quiet()
    )
    assert [one.bin for one in judged(job, [fact(n) for n in range(10)]) if isinstance(one, Fact)].count(
        "buffer"
    ) == 4


def test_done_by_run_the_stage_leaves_facts_and_drops(tmp_path: Path) -> None:
    rows(tmp_path, *(f"en.wikipedia T{n} {n} desktop {n} A" for n in range(10)))
    work = Workspace(tmp_path)
    before = work.stage("cardinality")
    with writing(before.kept) as keep:
        for n in range(10):
            keep(fact(n))
    job = Job(plan(tmp_path, pageviews="pageviews-*"), work, InProcess(), Quiet())
    counts = FrequencyStage().run(job, work.stage("frequency"), before)
    assert counts == {"kept": 6, "dropped": {"buffer": 4}, "days": {"counted": 31, "of": 31}}
    assert {drop.fact.bin for drop in work.stage("frequency").drops()} == {"buffer"}


def test_a_section_that_names_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither files of page views nor the API"):
        FrequencyStage().inputs(plan(tmp_path))


def test_views_of_redirects_are_the_pages_own(tmp_path: Path) -> None:
    (tmp_path / "titles.tsv").write_text("UK\tQ145\nUnited Kingdom\tQ145\nBritain\tQ145\n")
    rows(
        tmp_path,
        "en.wikipedia United_Kingdom 31717 desktop 5 A",
        "en.wikipedia UK 19999 desktop 3 A",
        "en.wikipedia Britain 19998 mobile-web 2 A",
    )
    made = plan(tmp_path, pageviews="pageviews-*", keep_buffer=True)
    made = made.model_copy(update={"link": LinkSection(titles="titles.tsv")})
    made._file = tmp_path / "plan.yaml"
    job = Job(made, Workspace(tmp_path), InProcess(), Quiet())
    (found,) = judged(job, [fact(1, title="Another page", subject="UK", subject_id="Q145")])
    assert isinstance(found, Fact)
    assert found.views == 10


@needs_views
def test_six_days_of_a_month_are_told_as_six_days() -> None:
    chosen = choose(sorted(VIEWS.glob("*-user.bz2")), Window("2023-03", "2023-03"))
    assert chosen.days == (6, 31)
    assert chosen.notes == ("files of 6 of the 31 days of 2023-03: the views of 25 are missing",)


@needs_views
def test_the_stage_over_the_real_dumps_is_the_same_in_two_processes(tmp_path: Path) -> None:
    names = ("Obergesteln", "Obergesteln railway station", "Nowhere")
    facts = [fact(n, title=name, subject=name) for n, name in enumerate(names)]
    section = {"start": "2023-03", "end": "2023-03", "keep_buffer": True}
    made = plan(tmp_path, pageviews=str(VIEWS / "pageviews-*-user.bz2"), **section)
    alone = judged(Job(made, Workspace(tmp_path / "a"), InProcess(), Quiet()), facts)
    both = judged(Job(made, Workspace(tmp_path / "b"), Processes(2), Quiet()), facts)
    assert alone == both
    # 2 + 2, and 1 + 1 + 1: as `bzgrep "^en.wikipedia Obergesteln"` shows.
    assert [one.views if isinstance(one, Fact) else one.reason for one in both] == [4, 3, "no-views"]
