"""Task wobble of ten configurations, and how many tasks their rankings share: published counts.

Source: the public artefact of Probity (FoFinNLP, out/tables/wobble_matrix.csv and transfer.csv), all 470
items, the ten hosted configurations, tasks that are unsteady under one of them.
"""

CONFIGURATIONS = (
    "deepseek-v4f",
    "deepseek-v4p",
    "gemma4-31b",
    "mistral-large",
    "minimax-m2.5",
    "llama3.3-70b",
    "gemini3-flash",
    "haiku-4.5",
    "gpt-oss-120b",
    "gpt5-mini",
)

# By task, the share of its items that are unstable under each configuration, to four digits.
# fmt: off
TASK_WOBBLE = {
    "board_seats_investor": (0.1111, 0.2222, 0.3333, 0.2222, 0.4444, 0.3333, 0.1111, 0, 0.1111, 0.4444),
    "cliff_present": (0, 0.0833, 0, 0, 0.1667, 0.0833, 0, 0, 0.0833, 0.1667),
    "conversion_ratio": (0.2, 0.2, 0, 0, 0, 0, 0, 0, 0, 0.2),
    "current_ownership_pct": (0, 0, 0.2222, 0, 0, 0, 0, 0.1111, 0, 0),
    "drag_along": (0.0833, 0.0833, 0, 0, 0.0833, 0, 0, 0.1667, 0.0833, 0.1667),
    "employee_pool_pct": (0, 0, 0, 0, 1, 0, 0, 0, 1, 0),
    "exercise_window": (0, 0, 0, 0.4, 0, 0, 0, 0, 0, 0),
    "financial_statement_qa": (0.2, 0, 0, 0.2, 0.4, 0, 0, 0, 0.4, 0.2),
    "flag_internal_inconsistency": (0, 0.2, 0, 0.2, 0, 0, 0.2, 0, 0, 0),
    "flag_missing_pro_rata": (0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "flag_offmarket_liqpref": (0.1, 0, 0, 0, 0, 0, 0.1, 0, 0, 0),
    "flag_uncapped_participation": (0.0769, 0, 0, 0, 0, 0, 0, 0.0769, 0.0769, 0),
    "form_d_fields": (0, 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0),
    "founder_ownership_pct": (0, 0, 0, 0, 0, 0, 0, 0.3333, 0, 0),
    "information_rights": (0, 0, 0.0833, 0, 0, 0, 0, 0, 0.0833, 0.0833),
    "investor_ownership_pct": (0, 0, 0, 0, 0, 0, 0, 0, 0.25, 0),
    "liquidation_preference_multiple": (0.3333, 0.1111, 0, 0.1111, 0, 0.1111, 0.1111, 0.1111, 0, 0),
    "liquidation_waterfall_payout": (0.25, 0.25, 1, 0.5, 0.5, 0.75, 0.25, 1, 0.5, 1),
    "multi_round_stacked_dilution": (0, 0, 0, 0, 0, 0.2, 0, 0, 0.2, 0),
    "option_pool_shuffle": (0.6667, 0, 0.6667, 0.3333, 0.6667, 0.6667, 0.6667, 0.3333, 0.6667, 0.6667),
    "participation_type": (0.1111, 0, 0, 0.0556, 0.1111, 0.1111, 0.0556, 0, 0.2222, 0.0556),
    "per_investor_allocation": (0, 0, 0, 0, 0.4, 0, 0.2, 0, 0, 0),
    "post_money_valuation": (0, 0, 0, 0, 0, 0, 0.25, 0, 0, 0),
    "pre_vs_post_money": (0, 0.0526, 0, 0, 0, 0, 0.0526, 0, 0.0526, 0.1053),
    "preference_seniority": (0, 0, 0, 0, 0.0909, 0, 0, 0, 0.0909, 0),
    "preference_stack_payout": (0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0),
    "price_per_share": (0, 0, 0.125, 0, 0, 0, 0.125, 0, 0.125, 0.125),
    "pro_rata_rights": (0.0833, 0, 0, 0.0833, 0.0833, 0, 0, 0, 0.1667, 0),
    "protective_provisions": (0, 0.0833, 0, 0, 0.1667, 0, 0, 0, 0.1667, 0.1667),
    "redemption_rights": (0.1, 0.1, 0, 0.1, 0.1, 0, 0, 0.1, 0, 0),
    "rofr_cosale": (0.1667, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "s1_use_of_proceeds": (0, 0.2, 0.2, 0.2, 0.4, 0.2, 0, 0.2, 0, 0.4),
    "safe_cap_vs_discount_applies": (0.0769, 0.3077, 0, 0, 0, 0, 0, 0, 0, 0),
    "safe_discount_rate": (0, 0, 0, 0, 0.4444, 0, 0, 0, 0.2222, 0),
    "safe_pre_post": (0.1875, 0.1875, 0, 0, 0, 0, 0, 0, 0, 0),
    "securities_exemption": (0.3, 0, 0, 0, 0.4, 0, 0, 0, 0.1, 0.1),
    "vesting_schedule": (0.1111, 0.1111, 0, 0.1111, 0.1111, 0, 0, 0, 0.1111, 0),
}
# fmt: on

# Tasks shared by the first five of the row and the first ten of the column; 0 on the diagonal.
SHARED_AT_5 = (
    (0, 2, 2, 3, 3, 3, 3, 3, 2, 2),
    (3, 0, 2, 2, 2, 3, 2, 1, 1, 3),
    (3, 3, 0, 4, 4, 4, 3, 4, 2, 4),
    (4, 2, 3, 0, 4, 3, 3, 2, 3, 4),
    (3, 2, 3, 3, 0, 3, 3, 2, 3, 3),
    (3, 3, 3, 3, 3, 0, 3, 2, 3, 3),
    (2, 2, 2, 3, 3, 2, 0, 2, 2, 2),
    (2, 2, 3, 3, 3, 3, 2, 0, 2, 4),
    (3, 1, 2, 3, 4, 2, 2, 2, 0, 3),
    (4, 4, 4, 4, 4, 4, 3, 3, 2, 0),
)
