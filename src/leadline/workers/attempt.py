"""One task in a worker: its results, or what went wrong, in a form that travels."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import GeneratorType
from typing import Any

from leadline.errors import LeadlineError


@dataclass(frozen=True)
class Ready:
    """A worker has prepared and can be given tasks. `who` it is, in words."""

    who: str = ""


@dataclass(frozen=True)
class Part:
    """One result of several; more may come."""

    result: Any


@dataclass(frozen=True)
class Done:
    """The task is done: its result, or none where all of them came as parts."""

    results: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Failed:
    """What was raised; `trace` is where, for the traceback of a bug."""

    error: Exception
    trace: str

    def again(self) -> Exception:
        """The exception, to be raised in the caller: a LeadlineError as it was, a bug with its traceback."""
        if not isinstance(self.error, LeadlineError) and self.trace:
            self.error.add_note(f"In a worker:\n{self.trace}")
        return self.error


@dataclass(frozen=True)
class Died:
    """A worker is no more: why, and `who` it was, as far as is known."""

    why: str
    who: str = "a worker"


def attempt(work: Callable[..., Any], *given: Any) -> Iterator[Part | Done | Failed]:
    """Call `work` and tell what it gives: part by part from a generator; what it raises comes last."""
    try:
        result = work(*given)
        if not isinstance(result, GeneratorType):
            yield Done((result,))
            return
        for part in result:
            yield Part(part)
        yield Done()
    except Exception as error:
        trace = traceback.format_exc()
        yield Failed(_travelling(error), trace)


def _travelling(error: Exception) -> Exception:
    """The same, or its text where it cannot be pickled."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            error.__traceback__ = None
            return error
    except Exception:  # an exception's own pickling may raise anything
        pass
    return RuntimeError(f"{type(error).__name__}: {error}")
