"""verify.py: checks a bundle from end to end, and says what was checked how."""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from pathlib import Path

from leadline.bundle.verifier.claim_numbers import check_claim_numbers
from leadline.bundle.verifier.claims import check_claims
from leadline.bundle.verifier.datasheet import check_datasheet
from leadline.bundle.verifier.decisions import check_decisions, load_decisions
from leadline.bundle.verifier.described import check_described, check_runs
from leadline.bundle.verifier.earlier import load_earlier
from leadline.bundle.verifier.faults import Book, plain
from leadline.bundle.verifier.files import check_checksums, check_forms, holds_only_files
from leadline.bundle.verifier.loading import load_bundle
from leadline.bundle.verifier.methods import check_methods
from leadline.bundle.verifier.packs import check_packs
from leadline.bundle.verifier.rereading import check_rereading
from leadline.bundle.verifier.tables import check_document, check_findings

VERSION = 1
# What values of another kind than expected make the checks raise; whoever writes a bundle chooses them.
_OTHER_FORM = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, AssertionError,
    StopIteration, OSError, EOFError, zlib.error,
)  # fmt: skip


def verify(folder: Path) -> Book:
    """Everything that can be checked of the bundle in `folder`."""
    book = Book()
    if not folder.is_dir():
        book.fault("structure", f"{folder.name} is no folder")
        return book
    if not holds_only_files(folder, book):
        return book
    try:
        check_checksums(folder, book)
        check_forms(folder, book)
        bundle = load_bundle(folder, book)
        if bundle is not None:
            load_earlier(bundle, book)
            load_decisions(bundle, book)
            check_document(bundle, book)
            check_described(bundle, book)
            check_runs(bundle, book)
            check_decisions(bundle, book)
            check_packs(bundle, book)
            check_datasheet(bundle, book)
            check_methods(bundle, book)
            check_rereading(bundle, book)
            check_findings(bundle, book)
            check_claims(bundle, book)
            check_claim_numbers(bundle, book)
    except _OTHER_FORM as error:
        # A file that has another form than a bundle's; where that is, is all that can be said.
        book.fault("structure", f"a file has another form than expected: {type(error).__name__} {error}")
        if "--debug" in sys.argv:
            raise
    return book


def printed(book: Book, seconds: float) -> str:
    """The report for people."""
    lines = []
    facts = book.facts
    lines.append(
        f"{facts.get('files', 0)} files, {facts.get('items', 0):,} items, "
        f"{facts.get('responses', 0):,} responses, {facts.get('readings', 0):,} readings; {seconds:.1f} s"
    )
    if "reread" in facts:
        lines.append(
            f"{facts['reread']:,} of {facts['readable']:,} readings read a second time from their text, "
            f"{facts['value_reread']:,} of them with their value"
        )
    if facts.get("agreement"):
        lines.append(
            f"agreement of packs: {', '.join(f'{n} {what}' for what, n in facts['agreement'].items())}"
        )
    if book.tally:
        lines.append(f"{'lens':<20} {'exactly':>8} {'resampling':>11} {'not recomputed':>15} {'claims':>7}")
        for lens, per in book.tally.items():
            lines.append(
                f"{lens:<20} {per['exactly']:>8,} {per['by resampling']:>11,} {per['not recomputed']:>15,} "
                f"{per['claims']:>7,}"
            )
    lines += [f"not recomputed: {name}" for name in sorted(set(book.unknown))]
    lines += book.shown
    lines.append(
        "not checked here: the rows of responses.parquet and the numbers of report.html (leadline verify "
        "does), the wording of claims, notes and papers, readings of answers that need the full reader"
    )
    lines.append("verified" if book.is_sound else "NOT VERIFIED")
    return "\n".join(plain(line) for line in lines)


def as_json(book: Book, seconds: float) -> str:
    """The report for programs."""
    return json.dumps(
        {
            "verified": book.is_sound,
            "seconds": round(seconds, 2),
            "facts": book.facts,
            "figures": book.tally,
            "not_recomputed": sorted(set(book.unknown)),
            "faults": book.faults,
            "more_faults": book.hidden,
        },
        indent=1,
    )


def main() -> int:
    """The command line: 0 where everything was recomputed and agrees, 1 otherwise."""
    parser = argparse.ArgumentParser(
        description="Recomputes every figure of a bundle's findings.json from its answers."
    )
    here = str(Path(__file__).resolve().parent) if "__file__" in globals() else "."
    parser.add_argument("folder", nargs="?", default=here, help="the bundle")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--debug", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    started = time.monotonic()
    book = verify(Path(asked.folder))
    seconds = time.monotonic() - started
    print((as_json if asked.json else printed)(book, seconds))
    return 0 if book.is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
