"""Prefixes of links to other wikis: languages of Wikipedia and sister projects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True)
class Interwiki:
    """Prefixes in small letters. A link to a language stands in the margin, one to a sister in the text."""

    languages: frozenset[str]
    sisters: frozenset[str]


@lru_cache(maxsize=1)
def interwiki() -> Interwiki:
    """The packaged table, data/interwiki.yaml.

    >>> "nds-nl" in interwiki().languages, "wikt" in interwiki().sisters
    (True, True)
    """
    import yaml

    said = yaml.safe_load((files("leadline.build") / "data" / "interwiki.yaml").read_text("utf-8"))
    return Interwiki(frozenset(said["languages"]), frozenset(said["sisters"]))
