"""How long to wait before the next attempt."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

# A server that wants a longer wait than this is not waited for: a later run asks again.
LONGEST_WISH = 600.0


@dataclass
class Backoff:
    """Waits that double, with jitter, so that requests that failed together do not come again together.

    `first` and `longest` are in seconds. A server's own wish (`Retry-After`) is the least that is waited.
    """

    first: float = 0.5
    longest: float = 30.0
    _random: random.Random = field(default_factory=random.Random)

    def wait(self, failures: int, wish: float | None = None) -> float:
        """Seconds until the next attempt, after `failures` attempts (1 or more).

        >>> 2.0 <= Backoff().wait(1, wish=2.0) <= 2.5
        True
        """
        own = min(self.longest, self.first * 2.0 ** min(failures - 1, 30)) * self._random.uniform(0.5, 1.0)
        if wish is None:
            return own
        return max(own, wish) + self._random.uniform(0.0, min(0.1 * wish + 0.05, 5.0))


@dataclass
class Pause:
    """When a server limits everything that comes, nobody asks until it said so.

    One request among many that is limited waits by itself; limits one after the other, without an answer in
    between, are the account's.
    """

    until: float = 0.0
    _in_row: int = 0

    def limited(self, seconds: float) -> None:
        """A request was told to wait."""
        self._in_row += 1
        if self._in_row > 1:
            self.until = max(self.until, time.monotonic() + seconds)

    def answered(self) -> None:
        """A request was answered."""
        self._in_row = 0
