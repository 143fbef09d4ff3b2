"""Manners towards the hosts of documents: not too often, and nothing that they ask not to fetch."""

from __future__ import annotations

import email.utils
import ipaddress
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from protego import Protego

# A host that wants more seconds between two requests than this gets this.
_LONGEST_WISH = 60.0


class Stopped(Exception):  # noqa: N818  # not an error: somebody asked for it
    """The run is being ended; whoever waits, stops waiting."""


@dataclass
class Pace:
    """How soon each host may be asked again. Safe to use from several threads.

    `interval` is in seconds. A host's own wish (`Crawl-delay`, `Retry-After`) can only make it longer.
    """

    interval: float
    _next: dict[str, float] = field(default_factory=dict)
    _wishes: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def wait(self, host: str) -> None:
        """Return when `host` may be asked, with the turn taken. Raises Stopped when the run is ended."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next.get(host, now))
            self._next[host] = turn + max(self.interval, self._wishes.get(host, 0.0))
        if self._stopped.wait(max(0.0, turn - now)):
            raise Stopped

    def hold(self, host: str, seconds: float) -> None:
        """Nobody asks `host` for so long."""
        with self._lock:
            self._next[host] = max(self._next.get(host, 0.0), time.monotonic() + seconds)

    def wish(self, host: str, seconds: float) -> None:
        """`host` asks for so much time between two requests."""
        with self._lock:
            self._wishes[host] = seconds

    def stop(self) -> None:
        """End all waiting, now and later."""
        self._stopped.set()

    @property
    def stopped(self) -> bool:
        """Whether the run is being ended."""
        return self._stopped.is_set()


class RobotsUnknown(Exception):  # noqa: N818  # an answer like any other
    """A host could not say what it allows, and why not."""


@dataclass
class Robots:
    """What the hosts' robots.txt allow (RFC 9309), each asked for once, when the first document is wanted.

    `load(origin)` gives the text of an origin's file, "" where there is none, and raises RobotsUnknown where
    the host could not say: then nothing of it is fetched, as the standard wants.
    """

    load: Callable[[str], str]
    user_agent: str
    pace: Pace
    _rules: dict[str, Protego | RobotsUnknown] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)

    def allows(self, url: str, origin: str, host: str) -> bool:
        """Whether `url` may be fetched. Raises RobotsUnknown where its host could not say."""
        with self._lock:
            own = self._locks.setdefault(origin, threading.Lock())
        with own:
            if origin not in self._rules:
                self._rules[origin] = self._read(origin, host)
        rules = self._rules[origin]
        if isinstance(rules, RobotsUnknown):
            raise rules
        return rules.can_fetch(url, self.user_agent)

    def _read(self, origin: str, host: str) -> Protego | RobotsUnknown:
        try:
            rules = Protego.parse(self.load(origin))
        except RobotsUnknown as unknown:
            return unknown
        if delay := rules.crawl_delay(self.user_agent):
            self.pace.wish(host, min(float(delay), _LONGEST_WISH))
        return rules


def retry_after(value: str, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or a date; None where it says neither.

    >>> retry_after("120")
    120.0
    """
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        when = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def is_private(host: str) -> bool:
    """Whether a host is this machine or of a private network, as far as its name or address tells.

    >>> is_private("127.0.0.1"), is_private("localhost"), is_private("example.org"), is_private("127.1")
    (True, True, False, True)
    """
    name = host.strip("[]").lower().rstrip(".")
    try:
        return not ipaddress.ip_address(name).is_global
    except ValueError:
        pass
    try:
        # What resolvers take for an address, too: 127.1, 0x7f000001, 2130706433.
        return not ipaddress.ip_address(socket.inet_aton(name)).is_global
    except (OSError, ValueError):
        return name == "localhost" or name.endswith((".localhost", ".local", ".internal"))


@lru_cache(maxsize=1024)
def resolves_privately(host: str) -> bool:
    """Whether a name means this machine or a private network to this machine's resolver, which it asks."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False  # a proxy may know it
    return any(is_private(str(address[0]).partition("%")[0]) for *_, address in found)
