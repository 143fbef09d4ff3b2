"""What each domain covers, in the words that a classifier is told: `scope` in the table of domains."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from leadline.bench.yaml_lines import YamlFault, compose, compose_text, plain
from leadline.errors import UsageError

_PACKAGED = "data/domains.yaml"


def scopes(table: Path | None = None) -> Mapping[str, str]:
    """Domain to scope; of the packaged table without a file. Raises UsageError with the file.

    >>> scopes()["sports"].split(",")[0]
    'sports'
    """
    name = _PACKAGED if table is None else str(table)
    try:
        if table is None:
            node = compose_text(files("leadline.build").joinpath(_PACKAGED).read_text(encoding="utf-8"))
        else:
            node = compose(table)
        said = plain(node)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=name) from None
    except YamlFault as fault:
        raise UsageError(fault.message, where=fault.where(Path(name)), fix=fault.fix or None) from None
    listed = said.get("domains", ()) if isinstance(said, dict) else ()
    return {
        str(one["name"]): " ".join(str(one.get("scope") or "").split())
        for one in listed
        if isinstance(one, dict) and "name" in one
    }


def scope_of(domain: str, known: Mapping[str, str], table: Path | None = None) -> str:
    """The scope of a domain. Raises UsageError where the table has none."""
    if scope := known.get(domain):
        return scope
    raise UsageError(
        f"the domain {domain!r} has no scope, which its classifier is to be told",
        where=str(table or _PACKAGED),
        fix="scope: what the domain covers, in a line",
    )
