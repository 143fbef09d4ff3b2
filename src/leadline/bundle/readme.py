"""README.md of a bundle: what lies where, and how to check it."""

from __future__ import annotations

from leadline.bundle.answers import Written
from leadline.report.document import FindingsDocument

_FILES = (
    ("report.html", "the findings for people, with every answer; open it in a browser"),
    ("findings.json", "the findings for programs: every figure with its counts and its interval"),
    ("benchmark/", "the items, with their windows"),
    ("responses.jsonl, responses.parquet", "every answer as it was given"),
    ("{readings}", "what each answer was read as, and whether it is right"),
    ("study.yaml, manifest.json", "what was asked of whom, and on what"),
    ("DATASHEET_EXCLUSIONS.md", "which items were left out, in order, and why"),
    ("DATA_STATEMENT.md", "what is known about the data; gaps are marked TO FILL"),
    (
        "PERSONAL_DATA.md, LICENCES.md",
        "counts of what may be personal, and under which licences the parts stand",
    ),
    ("CHECKSUMS.sha256", "for `sha256sum -c CHECKSUMS.sha256`"),
    ("verify.py", "recomputes every figure from the answers"),
)
_DECISIONS = ("adjudications.jsonl", "what people decided on labels; `benchmark/` keeps them as annotated")
_PACKS = (
    "packs/",
    "blind packs that the benchmark was read again on: pages, sheets as they were filled, scores",
)
_ON_TRUST = (
    "",
    "Of the packs' scores it recomputes what was drawn, the strata, under which name agreement goes, and",
    "shares, kappa and nominal alpha where a simple reader can read the sheets' answers; shares of other",
    "answers are held between bounds. Not recomputed: other coefficients, and the intervals of all.",
)
_EVIDENCE = ("evidence.html", "the items with their windows, quotes and labels; report.html leads to it")
_BEFORE = ("before/readings.jsonl", "the same of the items as they were before a change, with the texts")
# What lines hold more where a study follows decisions.
_DECIDED = (
    "`adjudication`: what people decided of the item's label (corrected, wrong, ambiguous, rejected);",
    "`correct_labelled`: right by the label as it was annotated, where that is another thing than `correct`.",
)


def readme_text(
    document: FindingsDocument, written: Written, *, has_packs: bool = False, has_evidence: bool = False
) -> str:
    """README.md."""
    total = sum(written.readings.values())
    benchmark = document.benchmark
    follows = bool(benchmark.adjudications)
    files = [
        *_FILES[:1],
        *([_EVIDENCE] if has_evidence else ()),
        *_FILES[1:5],
        *([_BEFORE] if document.protocol.before else ()),
        *_FILES[5:6],
        *([_DECISIONS] if follows else ()),
        *([_PACKS] if has_packs else ()),
        *_FILES[6:],
    ]
    lines = [
        f"# {document.study}",
        "",
        f"{total:,} answers of {len(written.readings):,} configurations to {benchmark.items_asked:,} items "
        f"of {benchmark.title or benchmark.name} {benchmark.version}, and what they show.",
        "",
        "## Check it",
        "",
        "    python3 verify.py",
        "",
        "Needs Python 3.9 or newer and nothing else. It checks the checksums, reads answers a second time",
        "where a simple reader can, and recomputes every count, share and interval of findings.json from the",
        "answers. Exit code 0: everything agrees. Shares, counts, tests and rank correlations are compared",
        "to nine digits; intervals that were made by drawing again are drawn again and must end where chance",
        "allows (4.5 standard errors of the report's draws, or one step of the figure).",
        *(_ON_TRUST if has_packs else ()),
        "",
        "## What lies where",
        "",
        *(f"- `{name.format(readings=written.name)}`: {meaning}" for name, meaning in files),
        "",
        "## What a line holds",
        "",
        "`responses.jsonl`: `model`, `configuration`, `configuration_id`, `item`, `sample`, `text` (whole),",
        "`finish`, `tokens_in`, `tokens_out`, `created` (seconds since 1970); a call that failed has its",
        "kind as `failure` and no text. `stages`: what the model wrote on the way to the answer, a list of",
        "`name` and `text` (a recitation, a background document).",
        "",
        f"`{written.name}`: the same four keys; `state` (ok, empty, refused, unreadable, truncated, error),",
        "`value`, for numbers also `value_exact`, `value_declared`, `value_rounding`, `value_shared`;",
        "`correct`, `correct_strict`, `leads`; `gold_rank` and its like where the gold token was probed;",
        "`audit`, `stated`, `excluded`. What is false or empty is left out.",
        *(_DECIDED if follows else ()),
        "",
        f"Made by Leadline {document.leadline_version}.",
        "",
    ]
    return "\n".join(lines)
