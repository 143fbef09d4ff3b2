from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

# A busy machine is no fault of what is tested. Examples are the same on every machine, so that a change is
# judged by what it changed; `--long` draws new ones.
hypothesis.settings.register_profile("same", deadline=None, derandomize=True)
hypothesis.settings.register_profile("long", deadline=None, print_blob=True)
hypothesis.settings.load_profile("same")
# As models/local.py, for tests that import torch before it does.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
# Tests that run side by side take a core each; torch reads this when it is loaded.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long",
        action="store_true",
        help="the long form of endurance and fuzzing: hundreds of faults, thousands of new examples",
    )


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what it puts into the background deaf to Ctrl-C, and processes of tests would be so too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--long"):
        hypothesis.settings.load_profile("long")


@pytest.fixture(scope="session")
def long(request: pytest.FixtureRequest) -> bool:
    """Whether the long form was asked for."""
    return bool(request.config.getoption("--long"))


@pytest.fixture(scope="session")
def smollm2() -> LocalModel:
    """The embedded model, from the user's own cache; loaded once for all tests that run it."""
    pytest.importorskip("torch", reason="local models need the 'local' extra")
    from leadline.models.local import LocalModel
    from leadline.models.resolve import resolve

    return LocalModel(resolve("smollm2"), device="cpu")
