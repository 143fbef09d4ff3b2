"""Templates from benchmarks and users are data: they reach nothing, and they cannot exhaust the machine.

Jinja's sandbox keeps a template from the program's objects. It does not keep it from asking for a gigabyte of
the letter a; that is added here: whatever multiplies a short text into a long one is refused, and what comes
out is counted while it is made.
"""

from __future__ import annotations

from typing import Any

import jinja2
from jinja2.exceptions import SecurityError
from jinja2.sandbox import SandboxedEnvironment

# A prompt holds a window (2 million characters at most) and what stands around it.
MOST_CHARACTERS = 10_000_000
_MOST_BITS = 4096
# Methods and filters whose result is as long as a number says.
_PADDING = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs", "format", "format_map"})
_PADDING_FILTERS = ("center", "format", "indent", "wordwrap", "batch", "slice", "tojson", "pprint")


class _Bounded(SandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        sized = [len(side) for side in (left, right) if hasattr(side, "__len__")]
        if operator == "%" and sized:
            raise SecurityError("texts are not formatted by %")
        if operator == "+" and sum(sized) > MOST_CHARACTERS:
            raise SecurityError("it asks for a text that is too long")
        if operator == "*" and sized:
            times = next((side for side in (left, right) if isinstance(side, int)), 0)
            if max(sized) * times > MOST_CHARACTERS:
                raise SecurityError("it asks for a text that is too long")
        if operator in ("*", "**") and not sized and _bits(operator, left, right) > _MOST_BITS:
            raise SecurityError("it asks for a number that is too long")
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Any:
        """Jinja keeps `format` of a text from reaching attributes, and lets it pad a letter to a terabyte."""
        if isinstance(getattr(value, "__self__", None), str) and value.__name__ in _PADDING:
            raise SecurityError("texts are not formatted by format")
        return None

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, (str, bytes)) and attr in _PADDING:
            return False
        return super().is_safe_attribute(obj, attr, value)


def _bits(operator: str, left: Any, right: Any) -> int:
    """How long the product or power of two whole numbers may be; 0 for other numbers, which are short."""
    if not (isinstance(left, int) and isinstance(right, int)):
        return 0
    if operator == "**":
        return left.bit_length() * max(right, 0)
    return left.bit_length() + right.bit_length()


def _environment() -> _Bounded:
    made = _Bounded(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=False)
    for name in _PADDING_FILTERS:
        made.filters.pop(name, None)
    return made


_ENVIRONMENT = _environment()


def fill(text: str, values: dict[str, str]) -> str:
    """The template `text` with `values` put in.

    Raises jinja2's errors: SecurityError for a template that reaches or asks for too much.
    """
    parts, length = [], 0
    for part in _ENVIRONMENT.from_string(text).generate(values):
        length += len(part)
        if length > MOST_CHARACTERS:
            raise SecurityError(f"it makes more than {MOST_CHARACTERS:,} characters")
        parts.append(part)
    return "".join(parts)
