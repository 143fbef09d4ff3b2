"""What is wrong with a value in a YAML file, in plain words: one place for every kind of fault.

Pydantic says what does not fit; its own sentences ("List should have at least 1 item after validation") are
for programmers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from leadline.bench.problem import shortened

# Kinds of fault whose remedy is the same whatever the value is.
_WHOLE = "plain digits such as 20, without quotes"
_NUMBER = "a number such as 0.7, without quotes"
# Faults of our own that are told whole, without the key's name.
REPEATED = "leadline_repeated"
OWN = frozenset({REPEATED})


def complaint(error: Mapping[str, Any]) -> tuple[str, str | None]:
    """What follows the key's name ("must be at least 1, not 0"), and what to do about it, if that is clear.

    `error` is one entry of `ValidationError.errors()`.
    """
    kind, value, limits = error["type"], error["input"], error.get("ctx", {})
    if isinstance(value, float) and not math.isfinite(value):
        kind = "finite_number"  # it may also be said to be out of bounds
    match kind:
        case "too_short":
            return "is empty", "name at least one"
        case "string_too_short":
            return "is empty", None
        case "string_pattern_mismatch":
            allowed = "letters, digits and . _ + -, beginning with a letter or a digit"
            return f"{shortened(str(value))} cannot be a name", allowed
        case "greater_than_equal":
            return f"must be at least {_plain(limits['ge'])}, not {said(value)}", None
        case "greater_than":
            return f"must be more than {_plain(limits['gt'])}, not {said(value)}", None
        case "less_than_equal":
            return f"must be at most {_plain(limits['le'])}, not {said(value)}", None
        case "less_than":
            return f"must be less than {_plain(limits['lt'])}, not {said(value)}", None
        case "int_type" | "int_parsing" | "int_from_float" | "int_parsing_size":
            return f"must be a whole number, not {said(value)}", _WHOLE
        case "float_type" | "float_parsing" | "finite_number":
            return f"must be a number, not {said(value)}", _NUMBER
        case "bool_type" | "bool_parsing":
            return f"must be true or false, not {said(value)}", None
        case "string_type":
            quotable = isinstance(value, (bool, int, float)) or hasattr(value, "isoformat")
            return f"must be text, not {said(value)}", "put it in quotes" if quotable else None
        case "literal_error" | "enum":
            return f"must be {limits['expected']}, not {said(value)}", None
        case "tuple_type" | "list_type":
            single = isinstance(value, (str, int, float)) and not isinstance(value, bool)
            return f"must be a list, not {said(value)}", f"write [{said(value)}]" if single else None
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"must be keys and values, not {said(value)}", None
        case "invalid_key":
            return f"the key {said(value)} is not a word", "put it in quotes if it is meant"
        case "value_error":
            return str(error["msg"]).removeprefix("Value error, "), None
        case _ if kind in OWN:
            return str(error["msg"]), None
        case _:  # a kind that none of our fields can raise today: better somebody's words than none
            message = str(error["msg"])
            return f"{message[:1].lower()}{message[1:]}, not {said(value)}", None


def said(value: object) -> str:
    """A value as its writer would recognise it: short, in YAML's words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case dict():
            return "keys and values"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case str():
            return shortened(value) if value else "an empty text"
        case _:
            text = str(value)
            return text if len(text) <= 40 else f"{text[:39]}…"


def _plain(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
