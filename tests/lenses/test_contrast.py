"""Two groups of items: published counts, what is in which group, and when a difference may be claimed."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from leadline.lenses.contrast import LENS
from leadline.lenses.finding import ClaimStatus
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Contrast, Member, Protocol, Selection, Stability
from leadline.lenses.whole import Whole
from leadline.stats.intervals import newcombe, wilson
from tests.lenses.panels import frame_of, whole_of
from tests.lenses.published_items import CONFIGURATIONS, published_frame, published_items
from tests.lenses.small import figures, samples, shuffled, table

MODELS = tuple(f"m{number:02d}" for number in range(CONFIGURATIONS))
PUBLISHED = Protocol(
    baseline="",
    methods=(),
    members=tuple(Member(model, "tau-0.7") for model in MODELS),
    stability=Stability(
        contrasts=(
            Contrast("clean, not stated", Selection(("clean",), ("not stated",)), Selection(("clean",))),
        ),
        subsets=(("two", MODELS[:2]), ("rest", MODELS[2:])),
    ),
)
WOBBLE = {"measure": "wobble", "stratum": "all items", "subset": "all configurations"}


def looked(frame, protocol=PUBLISHED):
    population = frame.filter(pl.col("excluded").fill_null("") == "")
    return LENS.whole(Whole(population, frame, protocol))


@pytest.fixture(scope="module")
def published():
    return looked(published_frame())


def counts(found):
    return [(found[side].numerator, found[side].denominator) for side in ("of", "against")]


def ends(figure):
    return [figure.low, figure.high]


# Flips and cells of both groups, then what was printed: both rates with their item bootstrap, the difference
# with Newcombe's interval and its own item bootstrap.
STRATA = [
    (stratum, of, against, difference, *[[low, high] for low, high in intervals])
    for stratum, of, against, difference, intervals in (
        (
            "all items",
            (110, 432),
            (447, 5116),
            0.167,
            ((0.185, 0.329), (0.077, 0.098), (0.128, 0.211), (0.097, 0.243)),
        ),
        (
            "numbers",
            (102, 360),
            (131, 1408),
            0.190,
            ((0.205, 0.378), (0.073, 0.115), (0.143, 0.241), (0.109, 0.282)),
        ),
        (
            "other types",
            (8, 72),
            (316, 3708),
            0.026,
            ((0.042, 0.181), (0.074, 0.097), (-0.029, 0.119), (-0.046, 0.103)),
        ),
    )
]
FAILURES = [
    ("evidence absent", (69, 204), 0.251, [0.201, 0.495], [0.189, 0.319], [0.115, 0.409]),
    ("computational", (38, 204), 0.099, [0.157, 0.216], [0.051, 0.158], [0.068, 0.130]),
    ("label untraceable", (3, 24), 0.038, [0.083, 0.167], [-0.044, 0.223], [-0.010, 0.087]),
]
# Two runs of 2,000 draws differ by about this much in the ends of so wide an interval.
DRAWN = 0.012


@pytest.mark.parametrize(
    ("stratum", "of", "against", "difference", "boot_of", "boot_against", "newcombe", "boot"), STRATA
)
def test_the_published_strata_come_out(
    published, stratum, of, against, difference, boot_of, boot_against, newcombe, boot
):
    found = figures(table(published, "flagged against clean"), **{**WOBBLE, "stratum": stratum})
    assert counts(found) == [of, against]
    assert found["difference"].value == pytest.approx(difference, abs=5e-4)
    assert ends(found["difference_newcombe"]) == pytest.approx(newcombe, abs=5.1e-4)
    assert ends(found["of"]) == pytest.approx(boot_of, abs=DRAWN)
    assert ends(found["against"]) == pytest.approx(boot_against, abs=0.003)
    assert ends(found["difference"]) == pytest.approx(boot, abs=DRAWN)


@pytest.mark.parametrize(("failure", "of", "difference", "boot_of", "newcombe", "boot"), FAILURES)
def test_each_published_failure_type_against_all_clean_items(
    published, failure, of, difference, boot_of, newcombe, boot
):
    found = figures(table(published, "by failure type"), failure=failure, measure="wobble")
    assert counts(found) == [of, (447, 5116)]
    assert found["difference"].value == pytest.approx(difference, abs=5e-4)
    assert ends(found["difference_newcombe"]) == pytest.approx(newcombe, abs=5.1e-4)
    assert ends(found["of"]) == pytest.approx(boot_of, abs=DRAWN)
    assert ends(found["difference"]) == pytest.approx(boot, abs=DRAWN)


def test_the_published_intervals_over_cells(published):
    found = figures(table(published, "flagged against clean"), **WOBBLE)
    assert ends(found["of_wilson"]) == pytest.approx([0.2158, 0.2977], abs=5e-5)
    assert ends(found["against_wilson"]) == pytest.approx([0.0799, 0.0954], abs=5e-5)
    assert found["difference_newcombe"].value == pytest.approx(0.1673, abs=5e-5)
    assert ends(found["difference_newcombe"]) == pytest.approx([0.1276, 0.2110], abs=5e-5)


def test_flagged_items_are_harder_by_as_much_as_was_published(published):
    found = figures(table(published, "flagged against clean"), **{**WOBBLE, "measure": "accuracy"})
    assert counts(found) == [(312, 432), (4654, 5116)]
    assert -found["difference"].value == pytest.approx(0.187, abs=5e-4)
    low, high = ends(found["difference_newcombe"])
    assert [-high, -low] == pytest.approx([0.146, 0.232], abs=7e-4)


def test_the_published_claim_stands_and_that_on_two_items_does_not(published):
    (claim,) = table(published, "flagged against clean").claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert "25.5 % (110/432) against 8.7 % (447/5116)" in claim.text
    assert "does not say why" in claim.text
    assert claim.point.startswith("+16.7 points")
    by_failure = table(published, "by failure type")
    statuses = [claim.status.value for claim in by_failure.claims]
    assert statuses == ["supported", "supported", "not estimable"]
    assert by_failure.claims[1].conservative.endswith("after Holm over 2 contrasts")


def test_two_items_of_two_tasks_say_nothing_of_other_tasks(published):
    found = figures(table(published, "by failure type"), failure="label untraceable", measure="wobble")
    assert found["tasks_of"].value == 2
    assert found["difference"].value is not None
    assert found["difference_tasks"].value is None
    assert found["difference_tasks"].note == "2 tasks, at least 3 are needed on either side"
    claim = table(published, "by failure type").claims[2]
    assert "Beyond these tasks it cannot be told: the groups are of 2 and" in claim.text


def test_flagged_items_share_tasks_with_clean_ones_so_tasks_are_drawn_and_items_dealt_out(published):
    found = figures(table(published, "flagged against clean"), **WOBBLE)
    assert "p_tasks" not in found
    assert found["difference_tasks"].value == found["difference"].value
    assert found["difference_tasks"].method.startswith("bootstrap over tasks")
    assert ends(found["difference_tasks"])[0] > 0


def test_published_counts_by_whether_the_window_states_the_answer(published):
    stated = table(published, "stated in window")
    assert counts(figures(stated, **WOBBLE)) == [(102, 1198), (117, 444)]
    clean = figures(stated, **{**WOBBLE, "stratum": "clean items"})
    assert counts(clean)[1] == (16, 96)
    assert clean["items_against"].value == 8


def test_a_categorys_row_needs_two_items_on_either_side(published):
    found = table(published, "flagged against clean")
    single = figures(found, **{**WOBBLE, "stratum": "category regulatory"})
    assert single["items_of"].value == 1
    assert single["of"].value is single["difference"].value is single["difference_newcombe"].value is None
    assert counts(single)[0] == (2, 12)
    assert single["difference"].note == "1 item, at least 2 are needed"
    # both groups have items in four of the eight categories
    strata = {row.keys["stratum"] for row in found.rows}
    assert {name for name in strata if name.startswith("category")} == {
        f"category {name}" for name in ("cap", "exit", "priced", "regulatory")
    }


def test_a_subset_counts_its_own_cells_and_subsets_add_up(published):
    rows = table(published, "flagged against clean")
    two, rest = (figures(rows, **{**WOBBLE, "subset": name}) for name in ("two", "rest"))
    assert two["of"].numerator + rest["of"].numerator == 110
    assert two["against"].denominator + rest["against"].denominator == 5116


def test_a_studys_own_contrast_counts_items_of_both_groups_in_the_first_alone(published):
    chosen = table(published, "chosen")
    found = figures(chosen, contrast="clean, not stated", **WOBBLE)
    assert counts(found) == [(16, 96), (447 - 16, 5116 - 96)]
    assert chosen.notes[0] == "clean, not stated: 8 items of both groups count in the first alone."


def test_without_a_verdict_in_it_a_contrast_keeps_to_the_population():
    numbers = Contrast("numbers", Selection(answer_types=("number",)), Selection())
    protocol = replace(PUBLISHED, stability=Stability(contrasts=(numbers,)))
    found = table(looked(published_frame(), protocol), "chosen")
    assert counts(figures(found, contrast="numbers", **WOBBLE)) == [(131, 1408), (316, 3708)]


def test_items_left_out_by_name_are_in_no_group():
    frame = published_frame()
    gone = [one.item for one in published_items() if one.task == "option_pool_shuffle"]
    named = pl.when(pl.col("item").is_in(gone)).then(pl.lit("named")).otherwise("excluded").alias("excluded")
    found = looked(frame.with_columns(named))
    assert counts(figures(table(found, "flagged against clean"), **WOBBLE))[0] == (110 - 22, 432 - 36)
    assert counts(figures(table(found, "by failure type"), failure="evidence absent", measure="wobble"))[
        0
    ] == (69 - 22, 204 - 36)


def test_neither_order_nor_duplicates_of_rows_change_anything(published):
    frame = published_frame()
    assert looked(shuffled(frame, seed=3)) == published
    assert looked(pl.concat([frame, frame.head(2000)])) == published


def small(protocol_more=None, **groups):
    """`groups`: audit verdict (words joined by _) -> for each item, the answers of the one configuration."""
    rows = [
        row
        for verdict, items in groups.items()
        for at, values in enumerate(items)
        for row in samples(
            "m", f"{verdict}{at}", *values, audit=verdict.replace("_", " "), answer_type="text"
        )
    ]
    return looked(readings_frame(rows), Protocol(baseline="", methods=(), bootstrap_draws=200))


STEADY, UNSTEADY = ["gold", "gold"], ["gold", "other"]


def test_items_that_are_all_alike_leave_open_what_so_many_items_do():
    found = small(clean=[STEADY] * 6 + [UNSTEADY] * 2, computational=[UNSTEADY] * 5)
    row = figures(table(found, "flagged against clean"), **WOBBLE)
    assert ends(row["of"]) == list(wilson(5, 5))
    assert row["of"].method == "wilson over items"
    assert ends(row["difference"]) == list(newcombe(5, 5, 2, 8))
    assert row["difference"].method == "newcombe over items"
    assert row["of"].note == row["difference"].note == "all 5 items alike: not resampled"
    assert (row["against"].note, row["against"].method) == ("", "bootstrap over items, 200 draws, seed 0")


def test_two_items_against_three_cannot_support_anything():
    # ten ways to deal out five items: even the clearest is one in ten
    found = small(clean=[STEADY] * 3, computational=[UNSTEADY] * 2)
    (claim,) = table(found, "flagged against clean").claims
    row = figures(table(found, "flagged against clean"), **WOBBLE)
    assert row["difference"].low == newcombe(2, 2, 0, 3).low > 0
    assert claim.status is ClaimStatus.UNREACHABLE


def test_a_group_of_one_item_is_not_compared():
    (claim,) = table(small(clean=[STEADY] * 9, computational=[UNSTEADY]), "flagged against clean").claims
    assert claim.status is ClaimStatus.NOT_ESTIMABLE


def test_numbers_are_compared_by_rounding_as_well():
    rows = []
    for at in range(8):
        verdict = "computational" if at < 4 else "clean"
        for sample, written in enumerate(("0.909", "0.9091")):
            rows += [
                {
                    **samples("m", f"i{at}", written)[0],
                    "sample": sample,
                    "audit": verdict,
                    "answer_type": "number",
                    "value_exact": written,
                    "value_rounding": "0.909",
                }
            ]
    found = table(looked(readings_frame(rows), Protocol(baseline="", methods=())), "flagged against clean")
    assert figures(found, **WOBBLE)["of"].value == 1
    assert figures(found, **{**WOBBLE, "measure": "wobble, rounding"})["of"].value == 0


def test_rarefied_wobble_of_a_group_by_hand():
    # of five answers of six, one of which differs: five of the six choices hold the odd one
    odd = ["gold"] * 5 + ["other"]
    found = small(clean=[["gold"] * 6] * 3, computational=[odd] * 3)
    row = figures(table(found, "flagged against clean"), **{**WOBBLE, "measure": "wobble, rarefied"})
    assert row["of"].value == pytest.approx(5 / 6)
    assert "of_wilson" not in row


def test_without_an_audit_there_is_nothing_to_compare():
    assert small(**{"": [STEADY, UNSTEADY]}) == []
    assert looked(readings_frame([])) == []


def clustered(seed, tasks=6, per_task=12, configurations=4, against=None):
    """Two groups of whole tasks alike: each task has a rate of its own, from one distribution for both."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(0.5, 3, 2 * tasks) if against is None else np.repeat([0.02, against], tasks)
    names = [f"t{at:02d}" for at in range(2 * tasks) for _ in range(per_task)]
    wavers = rng.random((configurations, len(names), 1)) < np.repeat(rates, per_task)[:, None]
    values = np.where(wavers, [0, 1, 0, 1], 0)
    contrast = Contrast(
        "first",
        Selection(tasks=tuple(f"t{at:02d}" for at in range(tasks))),
        Selection(tasks=tuple(f"t{at:02d}" for at in range(tasks, 2 * tasks))),
    )
    protocol = Protocol(
        baseline="",
        methods=(),
        bootstrap_draws=400,
        stability=Stability(contrasts=(contrast,), permutations=400),
    )
    (found,) = LENS.whole(whole_of(frame_of(values, names), protocol))
    return found, figures(found, contrast="first", **WOBBLE)


def is_off_zero(figure):
    return figure.low > 0 or figure.high < 0


def test_groups_of_tasks_that_are_alike_are_hardly_ever_said_to_differ():
    studies = [clustered(seed) for seed in range(12)]
    over_items = [row["p"].value <= 0.05 and is_off_zero(row["difference"]) for _, row in studies]
    assert sum(over_items) >= 4  # items taken as exchangeable find something far too often
    supported = [found.claims[0].status is ClaimStatus.SUPPORTED for found, _ in studies]
    assert sum(supported) <= 1
    assert any("interval over tasks" in found.claims[0].conservative for found, _ in studies)


def test_groups_of_whole_tasks_that_do_differ_are_told_apart():
    found, row = clustered(seed=1, against=0.4)
    assert row["p_tasks"].denominator == 12
    assert found.claims[0].status is ClaimStatus.SUPPORTED
    assert "when tasks change groups" in found.claims[0].conservative


def test_three_tasks_against_three_cannot_support_anything():
    # of the twenty ways to deal out six tasks two are as clear as the clearest
    found, row = clustered(seed=1, tasks=3, against=0.9)
    assert row["difference_tasks"].high < 0
    assert found.claims[0].status is ClaimStatus.UNREACHABLE


def contrasts(number, of=3, against=5, permutations=2000):
    """The same clear difference of `of` tasks against `against`, contrasted so many times."""
    names = [f"t{at}" for at in range(of + against) for _ in range(4)]
    wavers = np.array([name < f"t{of}" for name in names])
    values = np.where(wavers[None, :, None], [0, 1, 0, 1], 0)
    first, second = (
        Selection(tasks=tuple(f"t{at}" for at in numbers)) for numbers in (range(of), range(of, of + against))
    )
    asked = tuple(Contrast(f"c{at}", first, second) for at in range(number))
    stability = Stability(contrasts=asked, permutations=permutations)
    protocol = Protocol(baseline="", methods=(), bootstrap_draws=200, stability=stability)
    (found,) = LENS.whole(whole_of(frame_of(values, names), protocol))
    return found


def test_p_after_holm_is_a_figure_of_the_row_that_the_claim_is_about():
    found = contrasts(2)
    row = figures(found, contrast="c1", **WOBBLE)
    assert row["p_tasks"].value == pytest.approx(1 / 56)
    assert row["p_tasks"].method == "tasks relabelled, all 56 ways, two-sided"
    assert (row["p_holm"].value, row["p_holm"].denominator) == (pytest.approx(2 / 56), 8)
    assert "p = 0.036 when tasks change groups, after Holm over 2" in found.claims[1].conservative
    assert [claim.status for claim in found.claims] == [ClaimStatus.SUPPORTED] * 2
    others = [row for row in found.rows if row.keys["measure"] != "wobble"]
    assert others and not any("p_holm" in row.figures for row in others)


@pytest.mark.parametrize("permutations", [100, 5000])
def test_contrasts_that_no_deal_could_support_after_holm_are_unreachable(permutations):
    # one way of 56, three times: the smallest p after Holm's correction is 0.054
    found = contrasts(3, permutations=permutations)
    assert [claim.status for claim in found.claims] == [ClaimStatus.UNREACHABLE] * 3


def test_a_contrast_is_within_reach_where_the_others_can_be_far_clearer():
    # Holm takes the few tasks last: the other contrasts' p may be so small that it need not be below 0.05/3
    names = [f"t{at:02d}" for at in range(24) for _ in range(2)]
    wavers = np.array([name < "t12" for name in names])
    values = np.where(wavers[None, :, None], [0, 1, 0, 1], 0)
    low, high = [f"t{at:02d}" for at in range(12)], [f"t{at:02d}" for at in range(12, 24)]
    pairs = ((low, high), (low[:11], high), (low[:3], high[:5]))
    stability = Stability(
        contrasts=tuple(
            Contrast(f"c{at}", Selection(tasks=tuple(one)), Selection(tasks=tuple(other)))
            for at, (one, other) in enumerate(pairs)
        )
    )
    protocol = Protocol(baseline="", methods=(), bootstrap_draws=200, stability=stability)
    (found,) = LENS.whole(whole_of(frame_of(values, names), protocol))
    assert figures(found, contrast="c2", **WOBBLE)["p_holm"].value == pytest.approx(1 / 56)
    assert [claim.status for claim in found.claims] == [ClaimStatus.SUPPORTED] * 3


def test_too_few_permutations_for_many_contrasts_are_named():
    found = contrasts(6, of=8, against=9, permutations=100)  # 24,310 ways
    assert found.notes[0].startswith("100 permutations are too few for 6 contrasts")
    assert not any("too few" in note for note in contrasts(6, of=8, against=9).notes)


def test_a_group_without_measured_items_cannot_be_told():
    empty = Contrast("nobody", Selection(items=("i99",)), Selection())
    inside = Contrast("the same", Selection(), Selection(tasks=("t0",)))
    protocol = Protocol(
        baseline="", methods=(), bootstrap_draws=200, stability=Stability(contrasts=(empty, inside))
    )
    values = np.zeros((1, 4, 2), dtype=int)
    (found,) = LENS.whole(whole_of(frame_of(values, ["t0", "t0", "t1", "t1"]), protocol))
    assert [claim.status for claim in found.claims] == [ClaimStatus.NOT_ESTIMABLE] * 2
    assert found.claims[0].text == "nobody cannot be told: no item is in the first group."
    assert found.claims[1].text == "the same cannot be told: every item of the second group is in the first."


def test_without_tasks_a_contrast_rests_on_items():
    found = small(clean=[STEADY] * 6, computational=[UNSTEADY] * 6)
    row = figures(table(found, "flagged against clean"), **WOBBLE)
    assert not {"tasks_of", "difference_tasks", "p_tasks"} & set(row)
    assert table(found, "flagged against clean").claims[0].status is ClaimStatus.SUPPORTED
