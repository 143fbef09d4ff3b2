from __future__ import annotations

from tests.study.conftest import forks, leadline, model, one_thread, own_cache, place_of_one_run, study

__all__ = ["forks", "leadline", "model", "one_thread", "own_cache", "place_of_one_run", "study"]
