"""One document from its URL, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeVar
from urllib.parse import unquote

from leadline.documents.courtesy import Pace, Robots, RobotsUnknown, Stopped, is_private, retry_after
from leadline.documents.index import IndexEntry
from leadline.documents.read import MAX_BYTES

if TYPE_CHECKING:
    import httpx2

PART_PREFIX, PART_SUFFIX = ".fetch-", ".part"
# Answers that may be others in a moment.
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))
_MOVED = frozenset((301, 302, 303, 307, 308))
_MAX_MOVES = 10
_ROBOTS_BYTES = 500 * 1024  # as much as RFC 9309 asks a reader to take
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/xml": ".xml",
    "application/xml": ".xml",
}
_T = TypeVar("_T")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class FetchSettings:
    """How documents are fetched.

    `user_agent` says who asks; several archives want a name and an address in it. `rate` is requests a
    second to one host, `timeout` the seconds that a server may be silent, `longest` the seconds that one
    document may take, `attempts` how often a passing failure is tried in all, `backoff` the seconds before
    the second of them (then doubled), `longest_wait` the longest Retry-After, in seconds, that is obeyed by
    waiting rather than by giving up. `refresh` asks again for what is held, `robots` obeys robots.txt,
    `hosts_at_once` is how many hosts are asked side by side, each for one document at a time.
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


@dataclass(frozen=True)
class Downloaded:
    """What came of one URL: its entry for the index, still without a file, and the body if it is new."""

    entry: IndexEntry
    outcome: Literal["fetched", "unchanged", "failed"]
    part: Path | None = None
    suggested: str = ""  # a readable beginning and ending for the file's name
    # Whether it failed at the host rather than at this document.
    at_host: bool = False


class _Failed(Exception):  # noqa: N818  # an outcome
    """This document cannot be had; `at_host` where others of its host cannot either."""

    def __init__(self, reason: str, status: int = 0, *, at_host: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.status, self.at_host = reason, status, at_host


class _Passing(_Failed):
    """It may be had a little later; `after` is how much later its host says."""

    def __init__(self, reason: str, host: str, status: int = 0, after: float | None = None) -> None:
        super().__init__(reason, status, at_host=True)
        self.host, self.after = host, after


@dataclass
class Downloader:
    """Fetches documents into a folder, with one client, pace and memory of robots.txt for all of them."""

    client: httpx2.Client
    folder: Path
    settings: FetchSettings
    pace: Pace
    robots: Robots = field(init=False)

    def __post_init__(self) -> None:
        self.robots = Robots(self._robots_text, self.settings.user_agent, self.pace)

    def get(self, url: str, held: IndexEntry | None) -> Downloaded:
        """Fetch `url`, with retries. `held` is what an earlier run stored: asked for only if it has changed.

        Failures of the network, the server or the document are an outcome; Stopped and OSError of the disk
        are raised.
        """
        try:
            return self._patiently(lambda: self._once(url, held))
        except _Failed as failure:
            entry = IndexEntry(url=url, fetched=_now(), status=failure.status, error=failure.reason)
            return Downloaded(entry, "failed", at_host=failure.at_host)

    def _patiently(self, attempt: Callable[[], _T]) -> _T:
        """Try again what passes; raises the last _Failed."""
        for number in range(1, self.settings.attempts + 1):
            try:
                return attempt()
            except _Passing as failure:
                wait = max(self.settings.backoff * 2 ** (number - 1), failure.after or 0.0)
                if wait > self.settings.longest_wait:
                    failure.reason += f", and asks to wait {wait:,.0f} seconds"
                    raise
                if number == self.settings.attempts:
                    failure.reason += f", {number} times" if number > 1 else ""
                    raise
                self.pace.hold(failure.host, wait)
        raise AssertionError("at least one attempt is made")

    def _once(self, url: str, held: IndexEntry | None) -> Downloaded:
        headers = _conditions(held)
        target = self._checked(url, None)
        for _ in range(_MAX_MOVES):
            self._respect_robots(target)
            with self._asked(target, headers) as answer:
                if answer.status_code in _MOVED and "location" in answer.headers:
                    target = self._checked(answer.headers["location"], target)
                    continue
                return self._taken(url, answer, held)
        raise _Failed(f"redirects more than {_MAX_MOVES} times")

    def _respect_robots(self, target: httpx2.URL) -> None:
        if not self.settings.robots:
            return
        try:
            allowed = self.robots.allows(str(target), _origin(target), target.host)
        except RobotsUnknown as unknown:
            raise _Failed(str(unknown), at_host=True) from None
        if not allowed:
            raise _Failed("its host's robots.txt asks not to fetch it")

    def _checked(self, url: str, moved_from: httpx2.URL | None) -> httpx2.URL:
        import httpx2

        try:
            target = moved_from.join(url) if moved_from else httpx2.URL(url)
        except (httpx2.InvalidURL, ValueError) as error:
            raise _Failed(f"is no valid URL: {error}") from None
        what = "redirects to a URL" if moved_from else "is a URL"
        if target.scheme not in ("http", "https"):
            raise _Failed(f"{what} of scheme {target.scheme[:20]!r}; only http and https are fetched")
        if not target.host:
            raise _Failed(f"{what} without a host")
        if target.userinfo:
            raise _Failed(f"{what} with a password in it, which would be written into the index")
        if moved_from and is_private(target.host) and not is_private(moved_from.host):
            raise _Failed("redirects into a private network")
        return target.copy_with(fragment=None)

    def _asked(self, target: httpx2.URL, headers: dict[str, str]) -> _Answering:
        return _Answering(self, target, headers)

    def _taken(self, url: str, answer: httpx2.Response, held: IndexEntry | None) -> Downloaded:
        status = answer.status_code
        if status == 304 and held is not None:
            entry = replace(
                held, fetched=_now(), status=304, etag=_header(answer, "etag") or held.etag, error=""
            )
            return Downloaded(entry, "unchanged")
        if status in _PASSING:
            raise _passing_status(answer)
        if status not in (200, 203):
            raise _Failed(f"its host answers {_status(status)}", status)
        part, digest, size = self._stored(answer)
        media_type = _header(answer, "content-type")
        entry = IndexEntry(
            url=url,
            fetched=_now(),
            status=status,
            final_url=str(answer.url) if str(answer.url) != url else "",
            sha256=digest,
            size=size,
            media_type=media_type,
            etag=_header(answer, "etag"),
            last_modified=_header(answer, "last-modified"),
        )
        return Downloaded(entry, "fetched", part, _suggested(answer.url.path, media_type))

    def _stored(self, answer: httpx2.Response) -> tuple[Path, str, int]:
        """The body in a hidden file, its sha256 and its size. The file is gone again if anything fails."""
        allowed = self.settings.max_bytes
        announced = _header(answer, "content-length")
        if announced.isascii() and announced.isdigit() and int(announced[:18]) > allowed:
            raise _Failed(
                f"is too large: {int(announced[:18]):,} bytes, and {allowed:,} are allowed",
                answer.status_code,
            )
        digest, size, began = hashlib.sha256(), 0, time.monotonic()
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=PART_PREFIX, suffix=PART_SUFFIX)
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                for chunk in answer.iter_bytes():
                    size += len(chunk)
                    if size > allowed:
                        raise _Failed(f"is larger than the {allowed:,} bytes allowed", answer.status_code)
                    if time.monotonic() - began > self.settings.longest:
                        raise _Failed(
                            f"takes longer than {self.settings.longest:,.0f} seconds", answer.status_code
                        )
                    if self.pace.stopped:
                        raise Stopped
                    digest.update(chunk)
                    file.write(chunk)
                if not size:
                    raise _Failed("is empty", answer.status_code)
                file.flush()
                os.fsync(file.fileno())
            part.chmod(0o644)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return part, digest.hexdigest(), size

    def _robots_text(self, origin: str) -> str:
        import httpx2

        try:
            return self._patiently(lambda: self._robots_once(httpx2.URL(f"{origin}/robots.txt")))
        except _Passing as failure:
            raise RobotsUnknown(f"{failure.reason} (asked for robots.txt)") from None
        except _Failed:
            return ""

    def _robots_once(self, target: httpx2.URL) -> str:
        for _ in range(_MAX_MOVES):
            with self._asked(target, {}) as answer:
                if answer.status_code in _MOVED and "location" in answer.headers:
                    target = self._checked(answer.headers["location"], target)
                    continue
                if answer.status_code in _PASSING or answer.status_code >= 500:
                    raise _passing_status(answer)
                return _beginning(answer) if answer.status_code == 200 else ""
        return ""


class _Answering:
    """One request, its turn waited for; what goes wrong on the way to it or within it is `_Passing`."""

    def __init__(self, downloader: Downloader, target: httpx2.URL, headers: dict[str, str]) -> None:
        self._downloader, self._target, self._headers = downloader, target, headers

    def __enter__(self) -> httpx2.Response:
        import httpx2

        self._downloader.pace.wait(self._target.host)
        client = self._downloader.client
        try:
            request = client.build_request("GET", self._target, headers=self._headers)
            self._response = client.send(request, stream=True)
        except httpx2.TransportError as error:
            raise self._passing(error) from None
        except (httpx2.InvalidURL, ValueError) as error:
            raise _Failed(f"is no valid URL: {error}") from None
        return self._response

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        import httpx2

        self._response.close()
        if isinstance(error, httpx2.TransportError):
            raise self._passing(error) from None
        if isinstance(error, httpx2.DecodingError):
            raise _Failed(f"is packed wrongly by its server: {error}", self._response.status_code) from None

    def _passing(self, error: Exception) -> _Passing:
        import httpx2

        host = self._target.host
        if isinstance(error, httpx2.ConnectTimeout | httpx2.ConnectError):
            return _Passing(f"its host cannot be reached: {_line(error)}", host)
        if isinstance(error, httpx2.TimeoutException):
            return _Passing(f"its host was silent for {self._downloader.settings.timeout:g} seconds", host)
        return _Passing(f"the connection broke: {_line(error)}", host)


def _passing_status(answer: httpx2.Response) -> _Passing:
    status, after = answer.status_code, retry_after(_header(answer, "retry-after"))
    return _Passing(f"its host answers {_status(status)}", answer.url.host, status, after)


def _beginning(answer: httpx2.Response) -> str:
    data = bytearray()
    for chunk in answer.iter_bytes():
        data += chunk
        if len(data) > _ROBOTS_BYTES:
            break
    return bytes(data[:_ROBOTS_BYTES]).decode("utf-8", "replace")


def _conditions(held: IndexEntry | None) -> dict[str, str]:
    if held is None:
        return {}
    wanted = {"If-None-Match": held.etag, "If-Modified-Since": held.last_modified}
    return {
        name: value for name, value in wanted.items() if value and value.isascii() and value.isprintable()
    }


def _suggested(path: str, media_type: str) -> str:
    last = PurePosixPath(unquote(path)).name
    stem, dot, ending = last.rpartition(".")
    if not dot or not re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,4}", ending):
        stem, ending = last, _SUFFIXES.get(media_type.partition(";")[0].strip().lower(), "").lstrip(".")
    stem = _UNSAFE.sub("-", stem).strip(".-_")[:80] or "document"
    return f"{stem}.{ending.lower()}" if ending else stem


def _origin(target: httpx2.URL) -> str:
    return f"{target.scheme}://{target.netloc.decode('ascii')}"


def _header(answer: httpx2.Response, name: str) -> str:
    value: str = answer.headers.get(name, "")
    return "".join(character for character in value if character.isprintable())[:1000]


def _status(code: int) -> str:
    from http import HTTPStatus

    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return "".join(character for character in text if character.isprintable())[:200] or type(error).__name__


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
