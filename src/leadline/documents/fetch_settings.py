"""How documents are fetched."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.documents.read import MAX_BYTES
from leadline.errors import UsageError

_LONGEST_AGENT = 300


@dataclass(frozen=True)
class FetchSettings:
    """How documents are fetched. Raises UsageError for what makes no sense.

    `user_agent` says who asks; several archives want a name and an address in it. `rate` is requests a
    second to one host, `timeout` the seconds that a server may be silent, `longest` the seconds that one
    document may take, `attempts` how often a passing failure is tried in all, `backoff` the seconds before
    the second of them (then doubled), `longest_wait` the longest Retry-After, in seconds, that is obeyed by
    waiting rather than by giving up. `refresh` asks again for what is held, `robots` obeys robots.txt,
    `hosts_at_once` is how many hosts are asked side by side, each for one document at a time. `private` lets
    addresses of this machine and of private networks be asked for; a list of URLs that somebody else wrote
    has no business there.
    """

    user_agent: str
    rate: float = 2.0
    timeout: float = 30.0
    longest: float = 900.0
    attempts: int = 5
    backoff: float = 1.0
    longest_wait: float = 300.0
    max_bytes: int = MAX_BYTES
    refresh: bool = False
    robots: bool = True
    hosts_at_once: int = 8
    private: bool = True

    def __post_init__(self) -> None:
        agent = self.user_agent
        if not agent.strip() or not agent.isprintable() or not agent.isascii() or len(agent) > _LONGEST_AGENT:
            raise UsageError(
                f"not a user agent: {agent[:60]!r}",
                fix='a line of plain letters such as "Jane Doe jane@example.org"',
            )
        for name in ("rate", "timeout", "longest", "attempts", "max_bytes", "hosts_at_once"):
            if not getattr(self, name) > 0:  # NaN is not, either
                raise UsageError(f"{name} is {getattr(self, name)}; it must be more than 0")
