from __future__ import annotations

import os
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

# A busy machine is no fault of what is tested.
hypothesis.settings.register_profile("without-deadlines", deadline=None)
hypothesis.settings.load_profile("without-deadlines")
# As models/local.py, for tests that import torch before it does.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
# Tests that run side by side take a core each; torch reads this when it is loaded.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def smollm2() -> LocalModel:
    """The embedded model, from the user's own cache; loaded once for all tests that run it."""
    pytest.importorskip("torch", reason="local models need the 'local' extra")
    from leadline.models.local import LocalModel
    from leadline.models.resolve import resolve

    return LocalModel(resolve("smollm2"), device="cpu")
