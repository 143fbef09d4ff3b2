"""What keys are called on paper. A key without an entry is spelt out, so that a new lens needs none."""

from __future__ import annotations

from collections.abc import Mapping

from leadline.lenses.registry import ALL_MODELS
from leadline.report.document import FindingsDocument

# Columns whose keys do not read well when their underscores become spaces.
FIGURES = {
    "acc": "Acc",
    "acc_baseline": "Acc, baseline",
    "acc_sampling": "Acc, sampling",
    "only_method": "Only it",
    "only_sampling": "Only sampling",
    "mcnemar_p": "McNemar p",
    "mcnemar_p_holm": "p, Holm",
    "median_log2_shift": "Median log₂ shift",
    "sgr": "SGR",
    "dgr": "DGR",
    "kendall_sgr": "τ-b, SGR",
    "kendall_dgr": "τ-b, DGR",
    "found_share": "Found",
    "found_share_expected": "Found, expected",
    "sgr_margin": "SGR margin",
    "dgr_margin": "DGR margin",
    "dgr_p_holm": "p of DGR, Holm",
    "sgr_p_holm": "p of SGR, Holm",
    "sign_p": "Sign test p",
    "sign_p_holm": "p, Holm",
    "acc_strict": "Acc, strict rule",
    "tokens_out_per_recovered": "Generated tokens per recovered item",
    "tokens_in_per_recovered": "Prompt tokens per recovered item",
    "gain_equal_budget": "Gain of sampling",
    "expected_next_k": "Expected in the next K",
    "wobble_exact": "Wobble, exact",
    "wobble_declared": "Wobble, declared",
    "wobble_rounding": "Wobble, rounding",
    "wobble_wilson": "Wobble, Wilson over cells",
    "p": "p",
    "p_one": "p = 1",
    "p_one_of_asked": "p = 1, of all asked",
    "p_zero": "p = 0",
    "band": "0.3 ≤ p ≤ 0.7",
    "band_half_open": "0.3 ≤ p < 0.7",
    "r": "r, halves",
    "corrected": "r, full length",
    "median_corrected": "Median r, full length",
    "median_r": "Median r, halves",
    "random_median": "Random splits, median",
    "largest_lower": "Largest, lower model",
    "largest_upper": "Largest, upper model",
    "ceiling_lower": "Ceiling, lower model",
    "ceiling_upper": "Ceiling, upper model",
    "rho": "ρ",
    "residual_rho": "ρ, residual",
    "r_squared": "R²",
    "residual_rho_lower": "ρ, residual, lower model",
    "residual_rho_upper": "ρ, residual, upper model",
    "median_rbo": "RBO, median",
    "ceiling_rbo": "RBO, ceiling",
    "relative_rbo": "RBO / ceiling",
    "null_mean": "Null, mean",
    "null_hits": "Null, hits",
    "of_wilson": "Of, Wilson",
    "against_wilson": "Against, Wilson",
    "difference_newcombe": "Difference, Newcombe",
    "difference_tasks": "Difference, over tasks",
    "tasks_of": "Tasks, of",
    "tasks_against": "Tasks, against",
    "p_tasks": "p, tasks",
    "p_holm": "p, Holm",
    "items_of": "Items, of",
    "items_against": "Items, against",
    "corrected_all_tasks": "r, full length, all tasks",
    "median_corrected_all_tasks": "Median r, full length, all tasks",
    "above_1": "Above 1×",
    "above_2": "Above 2×",
    "rarefied_plain": "Rarefied, plain",
    "rarefied_difference": "Difference, rarefied",
    "wobble_plain": "Wobble, plain",
    "dispersion_difference": "Difference, dispersion",
    "gain_flagged": "Gain, flagged",
    "gain_clean": "Gain, clean",
    "gain_difference": "Difference, Gain",
    "gain_p": "Fisher p, Gain",
    "gain_p_holm": "p of Gain, Holm",
    "recovered_flagged": "Flagged of recovered",
    "failures_flagged": "Flagged of failures",
    "loss_flagged": "Loss, flagged",
    "loss_clean": "Loss, clean",
    "loss_difference": "Difference, Loss",
    "loss_p": "Fisher p, Loss",
    "p_median": "Median p",
    "plain_p_median": "Median p, plain",
    "plain_steady": "Steady, plain",
    "majority_p": "Sign test p",
    "majority_p_holm": "p, Holm",
    "fall_newcombe": "Fall, Newcombe",
    "acc_before": "Acc, before",
    "acc_after": "Acc, after",
    "acc_rise": "Acc, rise",
    "acc_labelled": "Acc, labelled",
    "acc_adjudicated": "Acc, adjudicated",
    "acc_change": "Acc, change",
    "wobble_labelled": "Wobble, labelled",
    "wobble_adjudicated": "Wobble, adjudicated",
    "wobble_change": "Wobble, change",
    "once_for_label": "For label, asked once",
    "taken_right": "Taken out, right",
    "taken_items": "Taken out, items",
    "measured_items": "Measured, over items",
    "rho_p": "Permutation p",
    "rho_p_holm": "p, Holm",
}
KEYS = {"temperature": "τ", "k": "K", "from": "From", "to": "To"}


def figure_label(key: str) -> str:
    """The heading of a figure's column."""
    return FIGURES.get(key) or spelt_out(key)


def key_label(document: FindingsDocument, key: str) -> str:
    """The heading of a key's column; categories and tasks are called what the benchmark calls them."""
    named = {
        "category": document.benchmark.category_name,
        "task": document.benchmark.task_name,
    }
    return KEYS.get(key) or spelt_out(named.get(key) or key)


def key_value(document: FindingsDocument, key: str, value: str, model: str = "") -> str:
    """What a row's key says: configurations by their label, everything else as it is.

    Findings of one model name configurations; findings over `ALL_MODELS` say what they are called already,
    and a label may well be another configuration's name.
    """
    if key == "configuration" and model == ALL_MODELS:
        return value
    return document.label(value) if key in ("method", "configuration", "sampling") else value


def spelt_out(key: str) -> str:
    """ "rank_shift" -> "Rank shift"."""
    words = key.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def key_columns(rows_keys: list[Mapping[str, str]]) -> list[str]:
    """All keys of the rows in the order in which they first appear."""
    return list(dict.fromkeys(key for keys in rows_keys for key in keys))
