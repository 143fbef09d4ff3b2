"""One request to a host, when its turn has come; what can go wrong with it, as one of two failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar

from leadline.documents.courtesy import Pace, retry_after
from leadline.documents.fetch_settings import FetchSettings

if TYPE_CHECKING:
    import httpx2

# Answers that may be others in a moment.
PASSING_STATUS = frozenset((408, 425, 429, 500, 502, 503, 504))
_LONGEST_HEADER = 1000
_T = TypeVar("_T")


class Failed(Exception):  # noqa: N818  # an outcome
    """A document cannot be had; `at_host` where others of its host cannot either."""

    def __init__(self, reason: str, status: int = 0, *, at_host: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.status, self.at_host = reason, status, at_host


class Passing(Failed):
    """It may be had a little later; `after` is how many seconds later its host says."""

    def __init__(self, reason: str, host: str, status: int = 0, after: float | None = None) -> None:
        super().__init__(reason, status, at_host=True)
        self.host, self.after = host, after


@contextmanager
def asked(
    client: httpx2.Client,
    pace: Pace,
    target: httpx2.URL,
    headers: Mapping[str, str],
    json: object = None,
) -> Iterator[httpx2.Response]:
    """Waits for the host's turn, asks for `target`, and gives the answer, its body still to be read.

    With `json`, that is what is sent, as POST.

    What goes wrong with the connection, before the answer or within it, is raised as Passing, and a body
    that cannot be unpacked as Failed.
    """
    import httpx2

    pace.wait(target.host)
    status = 0
    try:
        method = "GET" if json is None else "POST"
        with client.stream(method, target, headers=headers, json=json) as answer:
            status = answer.status_code
            yield answer
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        raise Passing(f"its host cannot be reached: {_line(error)}", target.host) from None
    except httpx2.TimeoutException:
        raise Passing(f"its host was silent for {client.timeout.read:g} seconds", target.host) from None
    except httpx2.TransportError as error:
        raise Passing(f"the connection broke: {_line(error)}", target.host) from None
    except httpx2.DecodingError as error:
        raise Failed(f"is packed wrongly by its server: {_line(error)}", status) from None


def patiently(attempt: Callable[[], _T], pace: Pace, settings: FetchSettings) -> _T:
    """Try again what passes, `settings.attempts` times in all; raises the last Failed.

    Between two attempts nobody asks the host: twice as long each time, or as long as the host says.
    """
    for number in range(1, settings.attempts + 1):
        try:
            return attempt()
        except Passing as failure:
            wait = max(settings.backoff * 2 ** (number - 1), failure.after or 0.0)
            if wait > settings.longest_wait:
                failure.reason += f", and asks to wait {wait:,.0f} seconds"
                raise
            if number == settings.attempts:
                failure.reason += f", {number} times" if number > 1 else ""
                raise
            pace.hold(failure.host, wait)
    raise AssertionError("at least one attempt is made")


def passing(answer: httpx2.Response) -> Passing:
    """The failure that an answer with a `PASSING_STATUS` is."""
    after = retry_after(header_of(answer, "retry-after"))
    reason = f"its host answers {status_line(answer.status_code)}"
    return Passing(reason, answer.url.host, answer.status_code, after)


def header_of(answer: httpx2.Response, name: str) -> str:
    """A header's value, or "": printable characters only, and not too many."""
    value: str = answer.headers.get(name, "")
    return "".join(character for character in value if character.isprintable())[:_LONGEST_HEADER]


def status_line(code: int) -> str:
    """A status code and what it is called.

    >>> status_line(404)
    '404 Not Found'
    """
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return "".join(character for character in text if character.isprintable())[:200] or type(error).__name__
