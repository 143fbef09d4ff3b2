"""Where Leadline keeps what it can make again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """$LEADLINE_CACHE, or the user's cache folder as the operating system has it."""
    if chosen := os.environ.get("LEADLINE_CACHE"):
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("leadline", appauthor=False))
