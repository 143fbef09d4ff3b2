"""A user's mistake under Inspect: one line, as everywhere, in place of a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai._util.error import PrerequisiteError
from rich.markup import escape

from leadline.errors import LeadlineError


@contextmanager
def as_prerequisite() -> Iterator[None]:
    """Turn a `LeadlineError` into the error that Inspect prints in one line. Bugs keep their traceback.

    Inspect reads such messages as markup: brackets in ours are told to be brackets.
    """
    try:
        yield
    except LeadlineError as error:
        raise PrerequisiteError(escape(f"leadline: {error}")) from error
