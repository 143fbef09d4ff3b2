"""`python -m tests.fuzz.apart package.module:function TEXT ...`: one call of a reader, in this process.

A LeadlineError is printed as the command line prints it; whatever else is raised keeps its traceback.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from pathlib import Path

from leadline.documents.read import read_document
from leadline.errors import LeadlineError


def document(path: str) -> object:
    """`read_document` of a path that is a text."""
    return read_document(Path(path))


def main(reader: str, *arguments: str) -> int:
    module, _, name = reader.partition(":")
    function = getattr(importlib.import_module(module), name)
    try:
        result = function(*arguments)
        if isinstance(result, Iterable) and not isinstance(result, str | bytes):
            for _ in result:
                pass
    except LeadlineError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
