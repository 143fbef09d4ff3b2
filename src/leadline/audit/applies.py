"""Is an audit of this benchmark, as it is now, and of all of it? Asked before an audit decides anything."""

from __future__ import annotations

from leadline.audit.document import AuditDocument
from leadline.audit.evidence_hash import evidence_hash
from leadline.bench import Benchmark
from leadline.errors import UsageError


def check_applies(audit: AuditDocument, benchmark: Benchmark, where: str | None = None) -> None:
    """Raise UsageError for an audit of other content or other quotes, and for one of a part of the items.

    `where` is the audit's file.
    """
    again = "audit the benchmark as it is now: leadline audit … --json"
    audited = audit.benchmark
    if audited.content_hash != benchmark.content_hash:
        raise UsageError(
            f"the audit is of other content: {audited.name} {audited.version}, "
            f"{audited.content_hash[:19]}…, and not {benchmark.content_hash[:19]}…",
            where=where,
            fix=again,
        )
    if audited.evidence_hash != evidence_hash(benchmark.items):
        raise UsageError(
            "the audit is of other quotes: quotes or pointers were changed after it", where=where, fix=again
        )
    if len(audit.items) < audited.items:  # --task or --item were given
        raise UsageError(
            f"the audit has verdicts on {len(audit.items):,} of {audited.items:,} items only",
            where=where,
            fix="audit all of them: leadline audit … --json, without --task and --item",
        )
    for verdict in audit.items:
        if verdict.item not in benchmark.by_id:
            raise UsageError(
                f"the audit is about an item {verdict.item!r}, which the benchmark does not have",
                where=where,
                fix=again,
            )
