"""Per-item counts of a published study: 463 items under twelve configurations.

How many of the configurations were unstable on each item and how many had the right majority, as the public
artefact of Probity lists them (eikiyo/FoFinNLP, out/tables/flagged_profile.csv). Every item was measured by
all twelve but two, by 6 and by 10.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import polars as pl

from leadline.lenses.frame import readings_frame

_STATED = {"s": "stated", "n": "not stated", "u": ""}
_FAILURES = {"e": "evidence absent", "c": "computational", "q": "label untraceable", "": "clean"}
CONFIGURATIONS = 12

# A line: task; category; # numeric or - not; the gold answer stated, not stated or undecidable; then for each
# item unstable.right[failure], and @measured where that is not twelve.
_ITEMS = """
post_money_valuation priced # s 0.12 0.10 2.11 0.11
pre_vs_post_money priced - u 2.11 2.11 1.10 3.10 1.10 2.12 1.12 1.12 1.12 1.12
pre_vs_post_money priced - u 1.10 2.11 1.10 1.12 1.12 6.3 1.12 1.12 1.12
price_per_share priced # s 2.12 0.12 2.11 0.11 4.5 1.11 1.2
round_size priced # s 0.12 1.10 0.12 1.10q 0.12 1.10 1.10 0.10 1.10 0.10
per_investor_allocation priced # s 0.12 4.10 2.11 1.12 0.12
liquidation_preference_multiple priced - u 2.10 1.11 7.0 3.1 0.11 1.11 2.10 3.11
participation_type priced - u 1.10e 3.12 2.1 1.3 1.11 1.12 2.12 2.12 2.0e 2.9 4.9 2.11 3.10 3.10 1.10 2.9 3.2e
participation_cap priced # s 0.12 0.12 0.12
preference_seniority priced - u 0.12 1.12 1.12 0.12 0.12 0.10 0.10 2.10 2.10
dividend_rate_pct priced # s 0.12 0.12 2.12 1.12 0.12 1.12
dividend_cumulative priced - u 1.11 1.10 0.12 0.12 0.12 1.11 0.12 0.12 1.12 0.12 1.12 0.12 0.12 0.12 1.11 1.12
antidilution_type priced - u 1.11 1.12 1.10 0.12 0.10
antidilution_base priced - u 0.12 0.12 0.12 0.12 0.12 0.12 1.12 1.10 1.10 1.10
conversion_ratio priced # s 1.11 0.12 3.12 2.10 0.12
auto_conversion_trigger priced # s 0.12 0.12 1.11 0.12 1.12
redemption_rights priced - u 1.10 2.11 1.11 1.11 5.9 0.12 0.12 0.12 0.12 0.12
safe_valuation_cap conv # s 0.12 0.12 0.12 0.12 1.12 1.12 2.12 1.10
safe_discount_rate conv # s 0.12 1.9 0.12 1.12 2.10
safe_discount_rate conv # n 2.10 2.11 4.11 2.9
safe_cap_vs_discount_applies conv - u 1.10 3.10 0.10 2.11 3.12 1.12 2.12 0.12 2.11 2.12 2.12 2.11 0.12
safe_pre_post conv - u 0.12 0.12 0.12 0.12 0.12 0.12 0.12 0.12 0.12 0.12 1.10 2.10 2.10 1.10 2.10 0.10
safe_mfn_present conv - u 0.12 0.11 1.11 1.11 0.12 0.12 0.12
safe_pro_rata_side_letter conv - u 1.12 2.12 0.12 0.12 0.12 1.12 0.12 2.12 0.12 0.12 1.12 0.12 0.12 2.11 0.12
note_principal conv # s 0.12 0.12 0.12 0.12 0.12 0.12 0.12
note_interest_rate conv # s 1.12 0.12 1.12 1.12 1.12 1.10
note_maturity_date conv # u 2.11 1.4@6 0.12 1.12
note_valuation_cap conv # s 2.11 0.12 0.12 1.12
note_discount conv # n 1.10 0.10
note_discount conv # s 1.10 0.9@10
note_qualified_financing_threshold conv # s 0.12 2.12
current_ownership_pct cap # n 3.9c 2.10c 2.10c 2.10c 3.10c 2.10c 2.10c 2.10c 3.10c
founder_ownership_pct cap # n 3.9c 2.10c 2.10c
investor_ownership_pct cap # n 1.10c 2.10c 2.10c 1.10c
employee_pool_pct cap # n 4.10c
option_pool_shuffle cap # n 10.5e 2.11e 10.0e
fully_diluted_basis cap - u 1.12 1.12 1.12 1.12 1.10 2.11 2.10 2.10
multi_round_stacked_dilution cap # n 2.9e 2.10e 1.10e 2.10e 2.10e
liquidation_waterfall_payout exit # n 6.10e 8.7e 12.2e 6.5e
preference_stack_payout exit # n 3.11 2.10
convert_vs_preference_decision exit - u 0.12e 0.10e
board_seats_investor rights # s 1.12 3.11 3.3 0.12 7.9 7.2 5.7 2.11 0.12
protective_provisions rights - u 0.12 1.11 5.10 2.11 0.11 4.10 0.11 1.11 1.11 0.11 0.12 0.11
information_rights rights - u 0.12 0.12 0.12 0.12 0.12 3.4 1.10 1.10 2.10 0.10 0.10 0.10
pro_rata_rights rights - u 0.12 0.12 0.12 4.11 2.12 2.11 0.12 0.12 1.12 1.12 0.12 1.12
rofr_cosale rights - u 0.12 0.12 1.12 1.12 0.12 1.11 1.11 0.11 1.11 2.4 2.6 0.12
drag_along rights - u 0.12 0.12 7.6 0.12 2.10 2.6 1.11 1.11 0.10 0.12 0.11 0.10
vesting_acceleration rights - u 1.10 1.11 0.12 1.10 0.12 0.11 1.10 0.12 0.12
vesting_schedule founder - u 0.12 0.12 2.10 0.10 0.10 0.10 0.10 6.5 1.11
cliff_present founder - u 2.12 0.12 0.12 0.12 0.12 3.12 0.12 1.11 0.12 0.10 2.9 4.10
acceleration_trigger founder - u 1.12 0.12 0.12 0.12 0.12 1.12 0.12 1.11 0.12 1.12 2.10 0.12 1.12
option_strike_409a founder # s 1.10 1.12 1.12 2.11 1.10 0.12 0.12
exercise_window founder # u 2.10 1.12 1.12 1.12 3.12
securities_exemption regulatory - u 0.12 0.12 0.12 2.11q 1.12 4.10 3.10 5.10 0.12 1.12
form_d_fields regulatory # u 2.11 0.12
s1_use_of_proceeds regulatory - u 1.12 3.10 4.10 2.10 6.9
s1_risk_factors regulatory - u 2.11 2.11 2.11 2.11 2.10
financial_statement_qa regulatory # s 2.10 1.9 1.12 3.10 5.9
flag_offmarket_liqpref risk - u 2.11 1.10 0.10 1.11 1.11 1.11 1.10 0.11 4.2 2.11
flag_full_ratchet risk - u 0.12 0.12 0.12 0.11 1.10 1.10 0.10
flag_uncapped_participation risk - u 0.11 0.11 0.11 0.11 1.8 1.11 0.11 0.11 1.10 0.11 2.9
flag_missing_pro_rata risk - u 1.11 2.10 0.10 1.11
flag_internal_inconsistency risk - u 3.9 1.11 1.12 2.12 1.11
"""


class PublishedItem(NamedTuple):
    """One item: of `measured` configurations `unstable` wavered and `right` had the right majority."""

    item: str
    task: str
    category: str
    numeric: bool
    stated: str
    audit: str
    unstable: int
    right: int
    measured: int


def published_items() -> list[PublishedItem]:
    """All 463, in the order of the tasks."""
    found = []
    for line in _ITEMS.strip().splitlines():
        task, category, numeric, stated, *items = line.split()
        for token in items:
            counts, _, measured = token.partition("@")
            failure = counts[-1] if counts[-1].isalpha() else ""
            unstable, right = counts.removesuffix(failure).split(".")
            found.append(
                PublishedItem(
                    item=f"{task}/{len(found):03d}",
                    task=task,
                    category=category,
                    numeric=numeric == "#",
                    stated=_STATED[stated],
                    audit=_FAILURES[failure],
                    unstable=int(unstable),
                    right=int(right),
                    measured=int(measured or CONFIGURATIONS),
                )
            )
    return found


@cache
def published_frame() -> pl.DataFrame:
    """Readings with these counts: three answers to an item, alike where a configuration was stable.

    Which configuration wavered is not in the counts: here it is the first ones.
    """
    rows: list[dict[str, Any]] = []
    for one in published_items():
        for number in range(one.measured):
            for sample in range(3):
                stray = number < one.unstable and sample == 2
                right = number >= one.measured - one.right
                rows.append(
                    {
                        "model": f"m{number:02d}",
                        "configuration": "tau-0.7",
                        "item": one.item,
                        "category": one.category,
                        "task": one.task,
                        "answer_type": "number" if one.numeric else "enum",
                        "sample": sample,
                        "state": "ok",
                        "text": "",
                        "value": "stray" if stray else "gold" if right else "other",
                        "correct": right and not stray,
                        "correct_strict": right and not stray,
                        "leads": True,
                        "audit": one.audit,
                        "stated": one.stated,
                        "excluded": "" if one.audit == "clean" else one.audit,
                    }
                )
    return readings_frame(rows)
