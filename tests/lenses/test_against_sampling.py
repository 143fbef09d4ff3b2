"""Techniques set against temperature sampling, on examples that can be checked on paper."""

from __future__ import annotations

from leadline.lenses import against_sampling
from leadline.lenses.finding import ClaimStatus, Figure
from leadline.lenses.protocol import Method, Protocol
from leadline.lenses.view import View
from leadline.stats.mcnemar import mcnemar_exact
from tests.lenses.small import answers, table, view

PROTOCOL = Protocol(
    baseline="greedy",
    methods=(
        Method("m", kind="decoding"),
        Method("hot", is_sampling=True, label="τ = 1.2"),
        Method("warm", is_sampling=True, label="τ = 0.7"),
    ),
    bootstrap_draws=200,
)


def _seen(m: str, hot: str, warm: str) -> View:
    return view(
        [
            *answers("greedy", "0" * len(m)),
            *answers("m", m),
            *answers("hot", hot),
            *answers("warm", warm),
        ],
        PROTOCOL,
    )


def _figures(found: View, sampling: str) -> dict[str, Figure]:
    overall = table(against_sampling.look(found), "overall")
    (row,) = [row for row in overall.rows if row.keys == {"method": "m", "sampling": sampling}]
    return row.figures


def test_the_difference_is_taken_over_the_items_that_both_answered() -> None:
    figures = _figures(_seen("1100-", "10010", "11110"), "hot")
    assert (figures["acc"].numerator, figures["acc"].denominator) == (2, 4)
    assert (figures["acc_sampling"].numerator, figures["acc_sampling"].denominator) == (2, 4)
    assert (figures["only_method"].value, figures["only_sampling"].value) == (1, 1)
    assert figures["difference"].value == 0


def test_holm_corrects_over_techniques_and_temperatures() -> None:
    found = _seen("1" * 10 + "0" * 10, "0" * 20, "1" * 10 + "0" * 10)
    p = mcnemar_exact(10, 0)
    assert _figures(found, "hot")["mcnemar_p_holm"].value == 2 * p
    assert _figures(found, "warm")["mcnemar_p_holm"].value == 1


def test_a_technique_is_claimed_to_differ_from_the_best_temperature_only() -> None:
    best = "1" * 12 + "0" * 8
    (claim,) = table(against_sampling.look(_seen(best, "0" * 20, best)), "overall").claims
    assert claim.status is ClaimStatus.NOT_SUPPORTED  # it beats τ = 1.2 by far, and τ = 0.7 not at all
    assert claim.text.startswith("m differs from sampling at τ = 0.7")
    (claim,) = table(against_sampling.look(_seen("0" * 20, "0" * 20, best)), "overall").claims
    assert claim.status is ClaimStatus.SUPPORTED
    assert claim.text.startswith(
        "m answers worse than sampling at τ = 0.7: 0 items only it, 12 only sampling"
    )


def test_few_items_could_never_support_a_claim() -> None:
    (claim,) = table(against_sampling.look(_seen("111", "000", "000")), "overall").claims
    assert claim.status is ClaimStatus.UNREACHABLE


def test_without_temperatures_or_techniques_there_is_nothing_to_say() -> None:
    assert against_sampling.look(view([*answers("greedy", "10"), *answers("m", "10")])) == []
