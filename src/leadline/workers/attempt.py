"""One task in a worker: its result, or what went wrong, in a form that travels."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from leadline.errors import LeadlineError

# So often the same task may end the life of its worker (killed, out of memory) before the run ends.
ATTEMPTS = 3


@dataclass(frozen=True)
class Done:
    """What came out."""

    result: Any


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


def attempt(work: Callable[..., Any], *given: Any) -> Done | Failed:
    """Call `work`; what it raises is given back."""
    try:
        return Done(work(*given))
    except Exception as error:
        trace = traceback.format_exc()
        return Failed(_travelling(error), trace)


def lost(task: object, why: str) -> LeadlineError:
    """What is said of a task that no worker survives."""
    name = repr(task)
    return LeadlineError(
        f"no worker survives the task {name[:200]}{'…' if len(name) > 200 else ''}: {why}, {ATTEMPTS} times",
        fix="give each worker more memory: fewer workers",
    )


def _travelling(error: Exception) -> Exception:
    """The same, or its text where it cannot be pickled."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            error.__traceback__ = None
            return error
    except Exception:  # an exception's own pickling may raise anything
        pass
    return RuntimeError(f"{type(error).__name__}: {error}")
