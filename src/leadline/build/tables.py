"""The packaged tables that a plan may replace by files of its own."""

from __future__ import annotations

from importlib.resources import files

from leadline.bench.problem import did_you_mean
from leadline.errors import UsageError

TABLES = {
    "domains": "domains.yaml",  # filter.domain.table
    "templates": "templates.yaml",  # questions.templates
    "relations": "relations.tsv",  # link.relations
    "uninformative": "uninformative.txt",  # filter.relations
}


def table(name: str) -> str:
    """The text of a packaged table, to be edited and named in a plan. Raises UsageError for another name."""
    if name not in TABLES:
        known = did_you_mean(name, TABLES, otherwise=f"tables: {', '.join(TABLES)}")
        raise UsageError(f"no table is called {name!r}", fix=known)
    return (files("leadline.build") / "data" / TABLES[name]).read_text(encoding="utf-8")
