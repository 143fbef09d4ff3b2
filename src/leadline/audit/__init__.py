"""Is the question answerable from what the model is shown? The provenance audit of a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leadline.audit.run import audit

__all__ = ["audit"]


def __getattr__(name: str) -> Any:
    """`audit` when it is asked for: a report needs the verdicts of an audit, and not what makes them."""
    if name == "audit":
        from leadline.audit.run import audit

        return audit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
