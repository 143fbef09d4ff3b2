"""All tables of findings.json, recomputed: which lens makes which, and what is left over on either side."""

from __future__ import annotations

from typing import Any

from leadline.bundle.verifier.cells import Sides
from leadline.bundle.verifier.expected import Table, check_table
from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.files import read_json
from leadline.bundle.verifier.lens_accuracy import accuracy_tables
from leadline.bundle.verifier.lens_adjudication import adjudication_tables
from leadline.bundle.verifier.lens_beyond import beyond_sampling_tables, mean_sweep, sweep_table
from leadline.bundle.verifier.lens_budget import budget_table, equal_budget_table, unseen_table
from leadline.bundle.verifier.lens_contrast import contrast_tables
from leadline.bundle.verifier.lens_equivalence import equivalence_tables
from leadline.bundle.verifier.lens_exclusion import exclusion_tables
from leadline.bundle.verifier.lens_labels import label_error_tables
from leadline.bundle.verifier.lens_observability import difficulty_tables, observability_tables
from leadline.bundle.verifier.lens_rank_shift import rank_shift_tables
from leadline.bundle.verifier.lens_reliability import reliability_tables
from leadline.bundle.verifier.lens_repair import repair_tables
from leadline.bundle.verifier.lens_steadiness import steadiness_tables
from leadline.bundle.verifier.lens_transfer import transfer_tables
from leadline.bundle.verifier.lens_transitions import against_sampling_tables, transition_tables
from leadline.bundle.verifier.lens_wobble import sameness_tables, wobble_tables
from leadline.bundle.verifier.lens_worst import worst_category_tables
from leadline.bundle.verifier.loading import Bundle
from leadline.bundle.verifier.votes import Parts

ALL_MODELS = "all models"
_SHOWN = ("wobble change", "rank shift")
_CONTRASTS = ("flagged against clean", "by failure type", "stated in window", "chosen")


def recomputed_tables(bundle: Bundle) -> dict[tuple[str, str, str], Table]:
    """(lens, table, model) -> the table."""
    found: dict[tuple[str, str, str], Table] = {}

    def keep(lens: str, model: str, tables: dict[str, Table]) -> None:
        for name, table in tables.items():
            found[lens, name, model] = table

    for model in bundle.models:
        parts = Parts(bundle, model)
        keep("accuracy", model, accuracy_tables(parts))
        keep("transitions", model, transition_tables(parts))
        keep("against_sampling", model, against_sampling_tables(parts))
        keep("rank_shift", model, rank_shift_tables(parts))
        keep("beyond_sampling", model, beyond_sampling_tables(parts))
        keep(
            "steadiness",
            model,
            steadiness_tables(parts, {name: rows(bundle, "steadiness", name, model) for name in _SHOWN}),
        )
        keep(
            "beyond_sampling",
            model,
            {"budget": budget_table(parts), "equal budget": equal_budget_table(parts)},
        )
        if parts.partitions:
            keep("beyond_sampling", model, {"sweep": sweep_table(parts), "unseen": unseen_table(parts)})
    sweeps = [table for (_, name, _), table in found.items() if name == "sweep" and table]
    if len(sweeps) > 1:
        keep("beyond_sampling", ALL_MODELS, {"sweep": mean_sweep(sweeps)})
    sides = Sides(bundle)
    keep("wobble", ALL_MODELS, wobble_tables(sides))
    keep("sameness", ALL_MODELS, sameness_tables(sides))
    keep("worst_category", ALL_MODELS, worst_category_tables(sides))
    permutations = sides.stability["permutations"]
    keep(
        "transfer",
        ALL_MODELS,
        transfer_tables(sides, permutations, rows(bundle, "transfer", "null", ALL_MODELS)),
    )
    keep("reliability", ALL_MODELS, reliability_tables(sides))
    keep("observability", ALL_MODELS, observability_tables(sides))
    keep("difficulty", ALL_MODELS, difficulty_tables(sides))
    contrasts = {name: rows(bundle, "contrast", name, ALL_MODELS) for name in _CONTRASTS}
    keep("contrast", ALL_MODELS, contrast_tables(sides, contrasts))
    keep("repair", ALL_MODELS, repair_tables(sides))
    keep("exclusion", ALL_MODELS, exclusion_tables(sides))
    keep("adjudication", ALL_MODELS, adjudication_tables(sides))
    keep(
        "equivalence", ALL_MODELS, equivalence_tables(sides, rows(bundle, "equivalence", "pairs", ALL_MODELS))
    )
    keep("label_errors", ALL_MODELS, label_error_tables(sides))
    return found


def rows(bundle: Bundle, lens: str, table: str, model: str) -> list[dict[str, Any]]:
    """The rows that the report shows: for bins and pairings that its own draws or the study's file decide."""
    for finding in bundle.document["findings"]:
        if (finding["lens"], finding["table"], finding["model"]) == (lens, table, model):
            return list(finding["rows"])
    return []


def check_findings(bundle: Bundle, book: Book) -> None:
    """Hold every table of findings.json against its second computation."""
    theirs: int = bundle.protocol["bootstrap_draws"]
    own = recomputed_tables(bundle)
    seen: set[tuple[str, str, str]] = set()
    for finding in bundle.document["findings"]:
        key = (finding["lens"], finding["table"], finding["model"])
        if key in seen:
            book.fault("table", f"{', '.join(key)} is there twice")
        seen.add(key)
        if key in own or not finding["rows"]:
            check_table(finding, own.get(key, {}), theirs, book)
        else:
            figures = sum(len(row["figures"]) for row in finding["rows"])
            book.not_recomputed(f"{key[0]}, {key[1]} ({key[2]}): the whole table")
            book.count(key[0], "not recomputed", figures)
    for key in sorted(key for key in set(own) - seen if own[key]):
        book.fault("table", f"{', '.join(key)} is missing")


def check_document(bundle: Bundle, book: Book) -> None:
    """What the document and the datasheet say of items, against the readings."""
    told = read_json(bundle.folder, "DATASHEET_EXCLUSIONS.json", book) or {}
    wanted = bundle.manifest.get("bundle", {}).get("excluded")
    if wanted != told.get("reasons"):
        book.fault("exclusion", "manifest.json and DATASHEET_EXCLUSIONS.json leave out other items")
    reasons = told.get("reasons") or {}
    seen = {
        (item, answers[0].excluded) for cells in bundle.everyone.values() for item, answers in cells.items()
    }
    for item, reason in sorted(seen):
        if reasons.get(item, "") != reason:
            book.fault(
                "exclusion",
                f"item {item} is {reason or 'not left out'} by its readings, "
                f"{reasons.get(item) or 'not left out'} by DATASHEET_EXCLUSIONS.json",
            )
    entry = bundle.document["benchmark"]
    if entry["items_total"] != len(bundle.items):
        book.fault(
            "structure",
            f"findings.json speaks of {entry['items_total']} items, {len(bundle.items)} are there",
        )
