"""Shared by the tests of endurance: the ledger, and its table at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.endurance.ledger import Ledger, keep, table
from tests.endurance.points import Killable
from tests.study.conftest import leadline, model, one_thread, own_cache

__all__ = ["leadline", "model", "one_thread", "own_cache"]

_LEDGER = Ledger()


@pytest.fixture(scope="session")
def ledger() -> Ledger:
    """The account of all faults of this run of the tests."""
    return _LEDGER


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What `make endurance` says at its end; kept, if it was the long form."""
    rows = _LEDGER.rows()
    if not rows or not config.getoption("--long"):
        return
    terminalreporter.section("endurance")
    terminalreporter.write_line(table(rows))
    keep(rows)


@pytest.fixture(scope="session")
def killable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killable]:
    """Starts processes of `leadline` in milliseconds."""
    server = Killable(tmp_path_factory.mktemp("killable"))
    yield server
    server.close()
