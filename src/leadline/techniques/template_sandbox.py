"""Templates from benchmarks and users are data: they reach nothing, and they cannot exhaust the machine.

Jinja's sandbox keeps a template from the program's objects. It does not keep it from asking for a gigabyte of
the letter a, or from going round a loop for a year; that is added here. Whatever multiplies a short text into
a long one is refused, and each template has so much work to spend: every turn of a loop and every call costs
as much as the template is long, every text that is made costs its length.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import SandboxedEnvironment

# A prompt holds a window (2 million characters at most) and what stands around it.
MOST_CHARACTERS = 10_000_000
# Work that a template may do: a second or two of a processor, some hundred megabytes at worst.
_MOST_WORK = 40_000_000
_CALL = 50
_MOST_BITS = 4096
# Methods and filters whose result is as long as a number says, or whose time is not that of the text.
_PADDING = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs", "format", "format_map", "translate"})
_PADDING_FILTERS = (
    "center",
    "format",
    "indent",
    "wordwrap",
    "batch",
    "slice",
    "tojson",
    "pprint",
    "urlize",
    "striptags",
)
_GLOBALS = ("lipsum", "cycler")


class _Work:
    """What a template has left to spend."""

    def __init__(self, template: str) -> None:
        self.left, self.turn = _MOST_WORK, len(template) + _CALL

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise SecurityError("it asks for too much work, or for a text that is too long")


_WORK: ContextVar[_Work] = ContextVar("work")


class _Bounded(SandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """The template's tree, in which loops count their turns and `~` what it makes."""
        tree = super()._parse(source, name, filename)
        for loop in list(tree.find_all(nodes.For)):
            loop.iter = nodes.Filter(loop.iter, "_turns", [], [], None, None, lineno=loop.lineno)
        for one in list(tree.find_all(nodes.Concat)):
            first = nodes.Filter(one.nodes[0], "_joined", one.nodes[1:], [], None, None, lineno=one.lineno)
            one.nodes = [first]
        return tree

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        work = _WORK.get()
        work.spend(work.turn)
        text = getattr(obj, "__self__", None)
        if isinstance(text, str):
            work.spend(_made(text, obj.__name__, args))
        return super().call(context, obj, *args, **kwargs)

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
        made = super().call_binop(context, operator, left, right)
        _WORK.get().spend(_length(made))
        return made

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


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 1


def _made(text: str, method: str, given: tuple[Any, ...]) -> int:
    """How long what a method of a text gives is at most, without calling it."""
    if method == "replace" and len(given) >= 2 and all(isinstance(one, str) for one in given[:2]):
        return len(text) + text.count(given[0]) * len(given[1])
    if method == "join" and given and hasattr(given[0], "__len__"):
        return len(text) * len(given[0]) + sum(map(_length, given[0]))
    return len(text)


def _turns(values: Iterable[Any]) -> Iterator[Any]:
    work = _WORK.get()
    for value in values:
        work.spend(work.turn)
        yield value


def _joined(first: Any, *rest: Any) -> str:
    texts = [str(one) for one in (first, *rest)]
    _WORK.get().spend(sum(map(len, texts)))
    return "".join(texts)


def _join(values: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    if attribute is not None:
        raise SecurityError("texts are joined as they are")
    texts = [str(value) for value in values]
    _WORK.get().spend(len(d) * len(texts) + sum(map(len, texts)))
    return d.join(texts)


def _replace(text: Any, old: str, new: str, count: int = -1) -> str:
    _WORK.get().spend(_made(str(text), "replace", (old, new)))
    return str(text).replace(old, new, -1 if count is None else count)


def _told(value: Any) -> Any:
    """What a template puts out of an expression."""
    _WORK.get().spend(_length(value))
    return value


def _counted(filtering: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that costs what it is given and what it makes."""

    @functools.wraps(filtering)
    def counted(*args: Any, **kwargs: Any) -> Any:
        work = _WORK.get()
        work.spend(_CALL + sum(len(one) for one in args if isinstance(one, (str, list, tuple, dict))))
        made = filtering(*args, **kwargs)
        if isinstance(made, (str, list, tuple, dict)):
            work.spend(len(made))
        return made

    return counted


def _environment() -> _Bounded:
    made = _Bounded(
        undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=False, finalize=_told
    )
    for name in _PADDING_FILTERS:
        made.filters.pop(name, None)
    for name in _GLOBALS:
        made.globals.pop(name, None)
    made.filters = {name: _counted(filtering) for name, filtering in made.filters.items()}
    made.filters |= {"join": _join, "replace": _replace, "_turns": _turns, "_joined": _joined}
    return made


_ENVIRONMENT = _environment()


def fill(text: str, values: dict[str, str]) -> str:
    """The template `text` with `values` put in.

    Raises jinja2's errors: SecurityError for a template that reaches or asks for too much.
    """
    _WORK.set(_Work(text))
    parts, length = [], 0
    for part in _ENVIRONMENT.from_string(text).generate(values):
        length += len(part)
        if length > MOST_CHARACTERS:
            raise SecurityError(f"it makes more than {MOST_CHARACTERS:,} characters")
        parts.append(part)
    return "".join(parts)
