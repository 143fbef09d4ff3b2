"""The tables of a study's database. All are made if need be, so that one of an earlier version gains what it
lacks. The last column of each is the row's seal (`seals.py`)."""

from __future__ import annotations

import re

SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    run INTEGER PRIMARY KEY, started REAL NOT NULL, finished REAL, about TEXT NOT NULL, seal INTEGER);
CREATE TABLE IF NOT EXISTS models (
    label TEXT PRIMARY KEY, identity TEXT NOT NULL, seal INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS configurations (
    id TEXT PRIMARY KEY, description TEXT NOT NULL, seal INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS responses (
    configuration TEXT NOT NULL, item TEXT NOT NULL, asked TEXT NOT NULL, sample INTEGER NOT NULL,
    text TEXT NOT NULL, finish TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
    stages TEXT NOT NULL, probes TEXT NOT NULL, run INTEGER NOT NULL, created REAL NOT NULL, seal INTEGER,
    PRIMARY KEY (configuration, item, asked, sample)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (
    configuration TEXT NOT NULL, item TEXT NOT NULL, asked TEXT NOT NULL, sample INTEGER NOT NULL,
    kind TEXT NOT NULL, message TEXT NOT NULL, run INTEGER NOT NULL, created REAL NOT NULL,
    seal INTEGER);
CREATE TABLE IF NOT EXISTS registrations (
    sha256 TEXT PRIMARY KEY, prediction TEXT NOT NULL, created REAL NOT NULL, seal INTEGER);
-- Answers that were asked again, as they were; `replaced` is the run whose answer took their place.
CREATE TABLE IF NOT EXISTS set_aside (
    configuration TEXT NOT NULL, item TEXT NOT NULL, asked TEXT NOT NULL, sample INTEGER NOT NULL,
    text TEXT NOT NULL, finish TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
    stages TEXT NOT NULL, probes TEXT NOT NULL, run INTEGER NOT NULL, created REAL NOT NULL,
    replaced INTEGER NOT NULL, seal INTEGER);
-- Requests to providers, a row for each, written before it is sent: most_* is the most that it can take.
-- `outcome` is null while it is under way, and for ever where a sudden end came first; tokens and cost are
-- null where nobody told them. What is null counts at its most.
CREATE TABLE IF NOT EXISTS calls (
    call INTEGER PRIMARY KEY, run INTEGER NOT NULL, model TEXT NOT NULL, configuration TEXT NOT NULL,
    key TEXT NOT NULL,
    opened REAL NOT NULL, requests INTEGER NOT NULL, most_in INTEGER NOT NULL, most_out INTEGER NOT NULL,
    most_cost REAL NOT NULL, outcome TEXT, tokens_in INTEGER, tokens_out INTEGER, cost REAL,
    answered_by TEXT, fingerprint TEXT, finish TEXT, seconds REAL, cached INTEGER NOT NULL DEFAULT 0,
    seal INTEGER);
"""


def _columns() -> dict[str, dict[str, str]]:
    found = {}
    for name, body in re.findall(r"EXISTS (\w+) \((.*?)\)(?: WITHOUT ROWID)?;", SCHEMA, re.DOTALL):
        columns = re.sub(r"PRIMARY KEY \(.*", "", body, flags=re.DOTALL).split(",")
        named = [one.split() for one in columns if one.strip()]
        found[name] = {column: kind for column, kind, *_ in named if column != "seal"}
    return found


# Table → its columns in order, without the seal, and what they hold: TEXT, INTEGER, REAL.
TYPES = _columns()
COLUMNS = {table: tuple(columns) for table, columns in TYPES.items()}
