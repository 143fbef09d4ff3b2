"""What is wrong with a body, in plain words: which parameter, and what it must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.serving.problem import ProblemError, wrong

# Parameters that may have several forms; what is of none of them.
_FORMS = {
    "content": "must be a text, or a list of parts that are texts",
    "prompt": "must be a text, a list of texts, a list of token ids, or a list of such lists",
    "stop": "must be a text, or a list of texts",
}
_KINDS = {
    "bool_type": "must be true or false",
    "finite_number": "must be a number",
    "float_type": "must be a number",
    "int_from_float": "must be a whole number",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "model_attributes_type": "must be an object",
    "model_type": "must be an object",
    "string_type": "must be a text",
}
# A parameter's name can be longer than any that is known.
_MOST_SHOWN = 60


def complaint(faults: Sequence[Mapping[str, Any]], names: frozenset[str]) -> ProblemError:
    """The problem (400) that pydantic's `faults` of a body are. `names`: those of all parameters, which
    pydantic's words for the kinds that a value may have are told apart by.

    >>> fault = {"type": "greater_than_equal", "loc": ("n",), "ctx": {"ge": 1}}
    >>> complaint([fault], frozenset({"n"})).message
    'n: must be at least 1'
    """
    # Where several kinds are possible each complains: the one that got deepest says most, and then one that
    # the value is of.
    fault = max(faults[:50], key=lambda each: (_depth(each), each["type"] not in _KINDS))
    parts = [part for part in fault["loc"] if isinstance(part, int) or part in names]
    where = ".".join(str(part) for part in parts) or "body"
    if fault["type"] == "missing":
        return ProblemError(400, f"{where} is missing", param=where, code="missing_parameter")
    name = next((part for part in reversed(parts) if isinstance(part, str)), "")
    if fault["type"] in _KINDS and name in _FORMS and (name == "prompt" or parts[-1] == name):
        return wrong(name if name == "prompt" else where, _FORMS[name])
    return wrong(where, _words(fault))


def _depth(fault: Mapping[str, Any]) -> int:
    return sum(isinstance(part, int) for part in fault["loc"])


def _words(fault: Mapping[str, Any]) -> str:
    kind, limits = fault["type"], fault.get("ctx", {})
    if kind in _KINDS:
        return _KINDS[kind]
    match kind:
        case "greater_than_equal":
            return f"must be at least {_number(limits['ge'])}"
        case "greater_than":
            return f"must be more than {_number(limits['gt'])}"
        case "less_than_equal":
            return f"must be at most {_number(limits['le'])}"
        case "less_than":
            return f"must be less than {_number(limits['lt'])}"
        case "too_short" | "string_too_short":
            return "is empty"
        case "too_long":
            return f"has {limits['max_length']:,} entries at most"
        case "string_too_long":
            return f"has {limits['max_length']:,} characters at most"
        case _:  # a kind that none of the parameters can raise today
            message = str(fault["msg"])
            return message[:1].lower() + message[1:]


def _number(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"


def shown(name: str) -> str:
    """A name that a client made up, short and without signs that a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in name[:_MOST_SHOWN])
