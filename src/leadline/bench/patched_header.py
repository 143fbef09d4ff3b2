"""A header with other values, whose comments, order and spelling stay as somebody wrote them."""

from __future__ import annotations

import yaml
from pydantic import ValidationError

from leadline.bench.header import Header, header_of
from leadline.bench.yaml_lines import YamlFault, compose_text


def patched(text: str, old: Header, new: Header) -> str | None:
    """The text of a benchmark.yaml that says `old`, changed to say `new`; None where that takes more than
    other words for single keys.

    >>> old = Header(name="a", version="1")
    >>> patched("# Ours\\nname: a\\nversion: '1'  # first\\n", old, old.model_copy(update={"version": "2"}))
    '# Ours\\nname: a\\nversion: "2"  # first\\n'
    """
    changes = {
        name: getattr(new, name) for name in Header.model_fields if getattr(new, name) != getattr(old, name)
    }
    if not all(isinstance(value, str) for value in changes.values()):
        return None
    try:
        values = {key.value: value for key, value in compose_text(text).value}
        edits = []
        added = ""
        for name, value in changes.items():
            if name not in values:
                added += f"{name}: {_scalar(value)}\n"
            elif isinstance(values[name], yaml.ScalarNode):
                start, end = values[name].start_mark.index, values[name].end_mark.index
                tail = "\n" if text[start:end].endswith("\n") else ""  # of a block: it ends with its line
                edits.append((start, end, _scalar(value) + tail))
            else:
                return None
        for start, end, written in sorted(edits, reverse=True):
            text = text[:start] + written + text[end:]
        if added:
            text = text + ("" if text.endswith("\n") else "\n") + added
        # Whatever unusual form the file has: what comes out says what it should, or is not used.
        return text if header_of(text) == new else None
    except (YamlFault, ValidationError, AttributeError):
        return None


def _scalar(value: str) -> str:
    """The value in double quotes, on one line: a form that means the same in every place."""
    return str(yaml.safe_dump(value, default_style='"', allow_unicode=True, width=2**31)).strip()
