"""Are configurations unsteady on the same items: by hand, under controls, and what no figure may hang on."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from leadline.lenses.finding import ClaimStatus
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Member, Protocol, Stability
from leadline.lenses.transfer import LENS
from leadline.lenses.transfer_controls import DIFFICULTY_FIXED
from leadline.lenses.whole import Whole
from tests.lenses.small import figures, samples, shuffled, table

ALL = "all configurations"
FEW = Stability(top=(1, 2), permutations=200)


def protocol(*names, stability=FEW, **members):
    return Protocol(
        baseline="",
        methods=(),
        bootstrap_draws=300,
        stability=stability,
        members=tuple(Member("small", name, **{"family": name, **members.get(name, {})}) for name in names),
    )


def readings(answers, samples_each=10, **more):
    """`answers`: configuration -> item -> how many of its samples differ from the others, or None."""
    return [
        row
        for configuration, items in answers.items()
        for item, off in items.items()
        for row in samples(
            configuration,
            item,
            *(["gold"] * (samples_each - off) + ["other"] * off if off is not None else [None] * 2),
            task=item[0],
            **more.get(item, {}),
        )
    ]


def looked(rows, told, everyone=None):
    frame = rows if isinstance(rows, pl.DataFrame) else readings_frame(rows)
    return LENS.whole(Whole(frame, frame if everyone is None else everyone, told))


ITEMS = [f"{task}{at}" for task in "abcd" for at in range(5)]


def spread(**unsteady):
    """All items steady but for those named."""
    return {item: unsteady.get(item, 0) for item in ITEMS}


SMALL = {
    "m": spread(a0=4, b1=3, c2=2),
    "n": spread(c2=4, a0=1),
    "o": spread(d3=2),
}


def test_shares_by_hand():
    # top 1 in top 2: m -> n yes (a0 in c2, a0), n -> m no (c2 third), nothing in common with o
    found = figures(
        table(looked(readings(SMALL), protocol("m", "n", "o")), "by k"), set=ALL, unit="items", k="1"
    )
    assert found["units"].value == 20
    assert (found["mean"].numerator, found["mean"].denominator) == (1, 6)
    assert (found["hits"].value, found["hits"].denominator) == (1, 6)
    # |top B| is 2, 2 and 1, each for two A
    assert found["expected"].value == pytest.approx((2 + 2 + 1) * 2 / 20)
    assert found["ratio"].value == pytest.approx(2)
    assert found["chance"].value == pytest.approx((2 + 2 + 1) / 3 / 20)
    assert found["median"].value == 0
    assert (found["pairs_sharing"].numerator, found["pairs_sharing"].denominator) == (1, 6)
    assert found["truncated"].value == 2  # o has one unstable item, not two
    assert found["mean_untied"].value == found["mean"].value  # no ties at a cut


def test_tasks_are_ranked_by_the_share_of_their_items_that_flip():
    found = figures(
        table(looked(readings(SMALL), protocol("m", "n", "o")), "by k"), set=ALL, unit="tasks", k="1"
    )
    assert found["units"].value == 4
    # m: a, b, c tie at 1/5, so a by name; n: a, c tie; both top twos hold a: two hits; o has d alone
    assert found["hits"].value == 2
    # untied: m's first is a, b or c; n's two are a and c: 2/3. n's is a or c; m's two are two of three: 2/3
    assert found["mean_untied"].value == pytest.approx(2 * (2 / 3) / 6)


def test_an_item_that_one_configuration_did_not_measure_is_left_out_for_all():
    answers = {**SMALL, "o": {**SMALL["o"], "a0": None}}
    whole = looked(readings(answers), protocol("m", "n", "o"))
    assert figures(table(whole, "by k"), set=ALL, unit="items", k="1")["units"].value == 19
    assert any("1 items left out" in note for note in table(whole, "by k").notes)


def crowd(members=6, items=60, common=8, seed=0, noise=0.0):
    """Configurations that are unsteady on the same items, at random strengths; some elsewhere too."""
    rng = np.random.default_rng(seed)
    names = [f"{'abcd'[at % 4]}{at:02}" for at in range(items)]
    return {
        f"c{member}": {
            name: int(rng.integers(2, 6)) if at < common else int(rng.random() < noise)
            for at, name in enumerate(names)
        }
        for member in range(members)
    }


def test_what_is_shared_by_all_is_supported_with_its_conservative_reading():
    told = protocol(*(f"c{at}" for at in range(6)), stability=Stability(top=(3, 4), permutations=400))
    found = table(looked(readings(crowd()), told), "by k")
    (claim,) = found.claims
    assert claim.status is ClaimStatus.SUPPORTED
    by_items = figures(found, set=ALL, unit="items", k="4")
    assert by_items["p"].value == 1 / 401 and "1/401" in by_items["p"].note
    assert f"{by_items['mean'].low:.3f}" in claim.conservative
    assert f"{by_items['hits'].value:.0f} hits" in claim.point
    assert by_items["mean"].low > by_items["null_mean"].high


def test_what_nobody_shares_is_not_supported():
    rng = np.random.default_rng(3)
    answers = {name: {item: int(rng.random() < 0.2) for item in ITEMS} for name in "mnop"}
    found = table(looked(readings(answers), protocol(*"mnop")), "by k")
    assert [claim.status for claim in found.claims] == [ClaimStatus.NOT_SUPPORTED]


@pytest.mark.parametrize(
    ("names", "answers", "why"),
    [
        ("mn", SMALL, "fewer than 3 configurations were asked"),
        ("mno", {name: spread(a0=1) for name in "mno"}, "no configuration has 2 unstable items"),
        ("mno", {"m": SMALL["m"], "n": SMALL["n"], "o": spread()}, "have an unstable item"),
    ],
)
def test_what_cannot_be_estimated_says_why(names, answers, why):
    rows = readings({name: answers[name] for name in names})
    (claim,) = table(looked(rows, protocol(*names)), "by k").claims
    assert claim.status is ClaimStatus.NOT_ESTIMABLE and why in claim.text


def test_where_the_wide_set_is_everything_sharing_shows_nothing():
    answers = {name: {"a0": at + 1, "a1": 3, "b0": 2} for at, name in enumerate("mnop")}
    told = protocol(*"mnop", stability=Stability(top=(2,), permutations=50))
    (claim,) = table(looked(readings(answers), told), "by k").claims
    assert claim.status is ClaimStatus.UNREACHABLE


def test_nothing_asked_twice_and_one_configuration_have_no_transfer():
    assert looked(readings({"m": SMALL["m"]}), protocol("m")) == []
    once = {name: spread() for name in SMALL}
    assert looked(readings(once, samples_each=1), protocol("m", "n", "o")) == []


def test_a_named_set_has_rows_of_its_own_as_if_the_others_were_not_there():
    stability = replace(FEW, subsets=(("pair", ("m", "n")),))
    found = table(looked(readings(SMALL), protocol("m", "n", "o", stability=stability)), "by k")
    alone = table(looked(readings({k: SMALL[k] for k in "mn"}), protocol("m", "n")), "by k")
    for unit in ("items", "tasks"):
        for k in "12":
            keys = {"unit": unit, "k": k}
            assert figures(found, set="pair", **keys) == figures(alone, set=ALL, **keys)


def test_rows_in_any_order_and_twice_over_change_nothing():
    frame, told = readings_frame(readings(crowd(noise=0.1))), protocol(*(f"c{at}" for at in range(6)))
    first = looked(frame, told)
    assert looked(shuffled(frame, 1), told) == first
    assert looked(pl.concat([frame, shuffled(frame, 2)]), told) == first


def test_difficulty_that_all_share_is_in_the_null_that_holds_it_fixed():
    # all are unsteady on the hard items, and there on different ones
    rng = np.random.default_rng(8)
    hard = [f"a{at:02}" for at in range(12)]
    easy = [f"b{at:02}" for at in range(100)]
    answers = {
        name: {item: 5 + int(4 * rng.random() + 1) for item in hard} | dict.fromkeys(easy, 0)
        for name in "mnopq"
    }
    told = protocol(*"mnopq", stability=Stability(top=(3,), permutations=400))
    whole = looked(readings(answers), told)
    raw = figures(table(whole, "by k"), set=ALL, unit="items", k="3")
    controls = table(whole, "controls")
    fixed = figures(controls, set=ALL, control=DIFFICULTY_FIXED)
    assert raw["p"].value == 1 / 401 and fixed["p"].value > 0.05
    (claim,) = table(whole, "by k").claims
    (beyond,) = controls.claims
    assert (claim.status, beyond.status) == (ClaimStatus.SUPPORTED, ClaimStatus.NOT_SUPPORTED)
    assert fixed["mean"] == raw["mean"] and fixed["null_hits"].value > 5 * raw["null_hits"].value
    inside = figures(controls, set=ALL, control="accuracy 0 to 0.25")
    assert inside["units"].value == 12 and inside["ratio"].value == pytest.approx(1, abs=0.6)
    for empty in ("0.25 to 0.5", "0.5 to 0.75"):
        assert "fewer than 6 items" in figures(controls, set=ALL, control=f"accuracy {empty}")["mean"].note


def test_three_of_four_right_is_in_the_last_stratum():
    answers = {name: {item: 6 if item == "a0" and name == "m" else 1 for item in ITEMS} for name in "mnop"}
    controls = table(looked(readings(answers), protocol(*"mnop")), "controls")
    assert figures(controls, set=ALL, control="accuracy 0.75 to 1")["units"].value == 20


def test_leaving_one_out_keeps_the_items_and_counts_the_pairs_of_the_others():
    whole = looked(readings(SMALL), protocol("m", "n", "o"))
    rows = table(whole, "leave one out")
    assert [row.keys["dropped"] for row in rows.rows] == ["none", "m", "n", "o"]
    # k = 2, top 4: m's top two hold a0, n's both are m's; without o, 2 pairs share 1/2 and 2/2
    without = figures(rows, set=ALL, dropped="o")
    assert (without["mean"].numerator, without["mean"].denominator) == (1.5, 2)
    assert without["ratio"].value == pytest.approx(3 / ((2 * 2 + 2 * 3) / 20))
    assert figures(rows, set=ALL, dropped="m")["hits"].value == 0


def test_pairs_are_split_by_serving_path_and_by_family():
    told = protocol(
        *"mno",
        m={"serving": "direct", "family": "x"},
        n={"serving": "direct", "family": "x"},
        o={"serving": "routed", "family": "y"},
    )
    rows = table(looked(readings(SMALL), told), "by serving")
    assert [row.keys["pairing"] for row in rows.rows] == ["all pairs", "both direct", "direct and routed"]
    direct, mixed = (figures(rows, set=ALL, pairing=row.keys["pairing"]) for row in rows.rows[1:])
    assert (direct["pairs"].value, direct["mean"].value, direct["cross_pairs"].value) == (2, 0.75, 0)
    assert direct["cross_mean"].value is None and direct["mean"].low is None
    assert (mixed["pairs"].value, mixed["mean"].value, mixed["cross_pairs"].value) == (4, 0, 4)


def test_flagged_and_excluded_items_are_a_control_where_there_are_any():
    flag = {item: {"audit": "evidence absent"} for item in ("a0", "b1")}
    rows = readings(SMALL, **flag)
    controls = table(looked(rows, protocol("m", "n", "o")), "controls")
    assert figures(controls, set=ALL, control="without flagged items")["units"].value == 18
    everyone = readings_frame(rows)
    kept = everyone.filter(pl.col("item") != "a0")
    controls = table(looked(kept, protocol("m", "n", "o"), everyone), "controls")
    more = figures(controls, set=ALL, control="with the items that were left out")
    assert more["units"].value == 20 and more["hits"].value == 3


def test_the_histogram_holds_every_permutation():
    told = protocol(*(f"c{at}" for at in range(6)), stability=Stability(top=(3,), permutations=500))
    rows = table(looked(readings(crowd(noise=0.2)), told), "null").rows
    assert sum(row.figures["permutations"].value for row in rows) == 500
    ends = [(float(row.keys["from"]), float(row.keys["to"])) for row in rows]
    assert all(low < high for low, high in ends) and [low for low, _ in ends[1:]] == [
        high for _, high in ends[:-1]
    ]


def test_overlap_of_ranks_is_shown_with_the_most_it_could_be():
    found = figures(table(looked(readings(SMALL), protocol("m", "n", "o")), "rank-biased overlap"), set=ALL)
    assert found["median_rbo"].value == 0 and found["median_rbo"].denominator == 3
    two = figures(
        table(looked(readings({k: SMALL[k] for k in "mn"}), protocol("m", "n")), "rank-biased overlap"),
        set=ALL,
    )
    # m: a0 b1 c2, n: c2 a0: nothing in common first, then a0, then both
    assert two["median_rbo"].value == pytest.approx(0.1 * (0.9 / 2 + 0.81 * 2 / 3))
    assert two["ceiling_rbo"].value == pytest.approx(0.1 * (1 + 0.9 + 0.81 * 2 / 3))


def families(sizes, seed, common=0, items=60, unsteady=6):
    """Answers and traits: each family unsteady on items of its own, all its members alike; some `common`."""
    rng = np.random.default_rng(seed)
    answers, traits = {}, {}
    for family, size in sizes.items():
        own = {*range(common), *rng.choice(items, unsteady - common, replace=False).tolist()}
        for number in range(size):
            traits[f"{family}{number}"] = {"family": family}
            answers[f"{family}{number}"] = {
                f"{'abcd'[at % 4]}{at:02}": int(rng.integers(1, 6)) if at in own else 0 for at in range(items)
            }
    return answers, traits


def claimed(answers, traits, stability=Stability(top=(4,), permutations=200)):
    told = protocol(*answers, stability=stability, **traits)
    found = looked(readings(answers), told)
    return found, {one.text.split(":")[0]: one for finding in found for one in finding.claims}


SHARED = "Instability is partly shared across families of configurations"


def test_runs_of_two_models_that_share_nothing_are_no_evidence_of_sharing():
    whole, claims = claimed(*families({"A": 6, "B": 4}, seed=1))
    by_k = figures(table(whole, "by k"), set=ALL, unit="items", k="4")
    assert by_k["mean"].low > by_k["null_mean"].high  # what pairs of one family make
    assert {one.status for one in claims.values()} == {ClaimStatus.NOT_ESTIMABLE}
    assert "of 2 families" in claims[SHARED].text and claims[SHARED].conservative


def test_a_set_of_one_family_has_no_claim_either():
    stability = Stability(top=(4,), permutations=200, subsets=(("runs of A", ("A0", "A1", "A2", "A3")),))
    whole, claims = claimed(*families({"A": 4, "B": 2, "C": 2}, seed=2), stability)
    one = claims[f"{SHARED} (within runs of A)"]
    assert one.status is ClaimStatus.NOT_ESTIMABLE and "are of 1 family" in one.text
    row = figures(table(whole, "across families"), set="runs of A", shuffled="among all items")
    assert (row["families"].value, row["pairs"].value, row["mean"].value) == (1, 0, None)
    assert row["mean"].note == "all are of one family"


@pytest.mark.parametrize("seed", range(6))
def test_families_that_share_nothing_are_not_supported_however_large_they_are(seed):
    _, claims = claimed(*families({"A": 5, "B": 4, "C": 4}, seed))
    assert {one.status for one in claims.values()} == {ClaimStatus.NOT_SUPPORTED}


def test_what_families_share_is_supported_by_their_pairs_alone():
    answers, traits = families({"A": 3, "B": 2, "C": 2, "D": 1}, seed=3, common=5)
    whole, claims = claimed(answers, traits)
    assert claims[SHARED].status is ClaimStatus.SUPPORTED
    row = figures(table(whole, "across families"), set=ALL, shuffled="among all items")
    assert (row["families"].value, row["configurations"].value) == (4, 8)
    assert (row["pairs"].value, row["pairs"].denominator) == (8 * 7 - 6 - 2 - 2, 8 * 7)
    assert "bootstrap over families" in row["mean"].method
    serving = figures(table(whole, "by serving"), set=ALL, pairing="all pairs")
    assert row["mean"].value == serving["cross_mean"].value
    # one of each family is a set in which none repeats, and has no such table
    alone = {name: answers[name] for name in ("A0", "B0", "C0", "D0")}
    assert "across families" not in {finding.table for finding in claimed(alone, traits)[0]}


def test_the_histogram_is_of_the_pairs_that_decide():
    whole, _ = claimed(*families({"A": 5, "B": 4, "C": 4}, seed=0))
    row = figures(table(whole, "across families"), set=ALL, shuffled="among all items")
    bins = [
        (float(one.keys["from"]) + float(one.keys["to"]), one.figures["permutations"].value)
        for one in table(whole, "null").rows
    ]
    middle = sum(ends / 2 * number for ends, number in bins) / sum(number for _, number in bins)
    assert middle == pytest.approx(row["null_mean"].value, abs=0.03)
