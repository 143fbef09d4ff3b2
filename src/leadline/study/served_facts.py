"""What the ledger of a study tells of its models behind an API, for manifest and report: who answered, how
often it was asked, what it cost, and what a reader of the answers should know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.study.asking import counted
from leadline.study.ledger import money
from leadline.study.members import StudyMember
from leadline.study.rehearsal import requests_of
from leadline.study.served_entry import ServedEntry
from leadline.study.set_aside import set_aside
from leadline.study.store import Store
from leadline.study.study import Study

_TOTALS = (
    "SELECT COALESCE(SUM(requests), 0), COALESCE(SUM(1 - cached), 0) - "
    "COUNT(DISTINCT CASE WHEN cached = 0 THEN configuration || key END), "
    "COALESCE(SUM(tokens_in), 0), COALESCE(SUM(tokens_out), 0), "
    "COALESCE(SUM(COALESCE(cost, most_cost)), 0.0), COALESCE(SUM(cached), 0), "
    "COALESCE(SUM(outcome IS NULL), 0), "
    "COALESCE(SUM(outcome = 'answer' AND (tokens_in IS NULL OR tokens_out IS NULL)), 0) "
    "FROM calls WHERE model = ?"
)
_BY = "SELECT {0}, COUNT(*) FROM calls WHERE model = ? AND {0} IS NOT NULL {1} GROUP BY 1 ORDER BY 2 DESC, 1"
_ANSWERED = "AND outcome = 'answer'"
_REPEATS = (
    "SELECT item, asked, COUNT(DISTINCT text) FROM responses WHERE configuration = ? AND sample < ? "
    "GROUP BY 1, 2 HAVING COUNT(*) > 1"
)
# So many names are told in a sentence.
_NAMED = 4


def served_facts(study: Study, store: Store, found: Sequence[StudyMember]) -> list[dict[str, Any]]:
    """One entry for each served model that was asked, as JSON: counts over all runs."""
    facts = []
    for entry in study.config.models:
        own = [one for one in found if one.model == entry.label and one.asked]
        if not isinstance(entry, ServedEntry) or not own:
            continue
        totals = store.select("calls", _TOTALS, (entry.label,))
        requests, retries, tokens_in, tokens_out, cost, cached, lost, untold = (
            totals[0] if totals else [0] * 8
        )
        facts.append(
            {
                "model": entry.label,
                "provider": entry.reference.provider,
                "host": own[0].serving,
                "answered_by": _counts(store, "answered_by", entry.label),
                "fingerprints": _counts(store, "fingerprint", entry.label),
                "requests": requests,
                "retries": retries,
                "outcomes": _counts(store, "outcome", entry.label, ""),
                "finishes": _counts(store, "finish", entry.label),
                "cached": cached,
                "never_ended": lost,
                "tokens_in": tokens_in,
                "tokens_out": tokens_out,
                "without_usage": untold,
                "money": None if entry.price is None else round(cost, 9),
                "identical_repeats": [one.name for one in own if _is_repeating(study, store, one)],
                "remarks": _said_in_runs(store, entry.label),
            }
        )
    return facts


def asked_again(store: Store, found: Sequence[StudyMember]) -> dict[str, dict[str, int]]:
    """Model/configuration → run → answers of it that took the place of empty ones."""
    replaced = set_aside(store)
    return {
        f"{one.model}/{one.name}": {str(run): number for run, number in replaced[one.id].items()}
        for one in found
        if one.id in replaced
    }


def remarks(
    facts: Sequence[Mapping[str, Any]],
    again: Mapping[str, Mapping[str, int]],
    found: Sequence[StudyMember],
) -> list[str]:
    """What a reader should know, a sentence each, without a full stop; configurations are called as in
    tables."""
    labels = {f"{one.model}/{one.name}": one.label for one in found}
    said = []
    for one in facts:
        model = one["model"]
        for key, what in (("answered_by", "models"), ("fingerprints", "set-ups (system_fingerprint)")):
            if len(one[key]) > 1:
                names = _named(one[key])
                said.append(f"{model} was answered by {len(one[key])} {what} of the provider: {names}")
        said += [f"{model}: {line}" for line in one["remarks"]]
        if one["identical_repeats"]:
            names = ", ".join(labels[f"{model}/{name}"] for name in one["identical_repeats"])
            said.append(
                f"{model}, {names}: all repeated answers of every item are the same text, though they were "
                "drawn; a cache or a fixed seed on the way may have answered, and then they say nothing of "
                "steadiness"
            )
        if one["without_usage"]:
            said.append(
                f"{model}: the provider did not say how many tokens "
                f"{counted(one['without_usage'], 'answer')} took; "
                "these count as none in figures of tokens, and at their most in the budget"
            )
        if one["never_ended"]:
            were = "was" if one["never_ended"] == 1 else "were"
            said.append(
                f"{model}: {counted(one['never_ended'], 'request')} {were} under way when a run ended "
                "suddenly, and what this may have taken counts at its most"
            )
    for name, runs in again.items():
        total = sum(runs.values())
        in_runs = ", ".join(f"run {run}: {number:,}" for run, number in runs.items())
        said.append(
            f"{name.partition('/')[0]}, {labels[name]}: empty answers that were asked again and replaced: "
            f"{total:,} ({in_runs}); shares of empty answers are those after that"
        )
    if facts:
        models = ", ".join(one["model"] for one in facts)
        said.append(
            f"Ranks of gold answers are not estimable for models behind an API ({models}): the distributions "
            "that answers are drawn from are not told"
        )
    return said


def calls_told(one: Mapping[str, Any]) -> str:
    """Who answered and what it took: "answered by gpt-4o-mini-2024-07-18 (fp_1); 1,203 requests (14 again),
    40,112 + 3,004 tokens, 0.42 spent". Where several answered, `remarks` names them."""
    again = f" ({one['retries']:,} again)" if one["retries"] else ""
    cost = "" if one["money"] is None else f", {money(one['money'])} spent"
    tokens = f"{one['tokens_in']:,} + {one['tokens_out']:,} tokens"
    took = f"{counted(one['requests'], 'request')}{again}, {tokens}{cost}"
    who = _alone(one["answered_by"])
    set_up = _alone(one["fingerprints"])
    return f"answered by {who}{f' ({set_up})' if set_up else ''}; {took}" if who else took


def _alone(counts: Mapping[str, int]) -> str:
    """The one name that was told; "" for none or several."""
    return next(iter(counts)) if len(counts) == 1 else ""


def _counts(store: Store, column: str, label: str, which: str = _ANSWERED) -> dict[str, int]:
    return dict(store.select("calls", _BY.format(column, which), (label,)))


def _is_repeating(study: Study, store: Store, one: StudyMember) -> bool:
    """Whether answers were drawn several times, and every item's came out the same to the letter."""
    if one.asked is None or one.samples < 2:
        return False
    _, last = requests_of(one.asked.technique, study.prompts)[-1]
    if last.sampling.temperature == 0:
        return False
    items = study.benchmark.by_id
    repeats = [
        different
        for item, asked, different in store.select("responses", _REPEATS, (one.id, one.samples))
        if item in items and asked == study.asked(items[item])
    ]
    return len(repeats) > 1 and max(repeats) == 1


def _said_in_runs(store: Store, label: str) -> list[str]:
    """What runs noted of the provider: once each, in the order in which it was first noted."""
    lines = [line for run in store.history() for line in run.about.get("remarks", {}).get(label, ())]
    return list(dict.fromkeys(lines))


def _named(counts: Mapping[str, int]) -> str:
    shown = [f"{name} ({number:,})" for name, number in list(counts.items())[:_NAMED]]
    return ", ".join(shown) + (", ..." if len(counts) > _NAMED else "")
