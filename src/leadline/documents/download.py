"""One document from its URL, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from leadline.documents.courtesy import Pace, Robots, RobotsUnknown, Stopped, is_private, resolves_privately
from leadline.documents.fetch_settings import FetchSettings
from leadline.documents.file_name import file_name
from leadline.documents.index import IndexEntry
from leadline.documents.request import (
    PASSING_STATUS,
    Failed,
    Passing,
    asked,
    header_of,
    passing,
    patiently,
    status_line,
)

if TYPE_CHECKING:
    import httpx2

PART_PREFIX, PART_SUFFIX = ".fetch-", ".part"
_MOVED = frozenset((301, 302, 303, 307, 308))
_MAX_MOVES = 10
_ROBOTS_BYTES = 500 * 1024  # as much as RFC 9309 asks a reader to take
_T = TypeVar("_T")


@dataclass(frozen=True)
class Downloaded:
    """What came of one URL: its entry for the index, still without a file, and the body if it is new."""

    entry: IndexEntry
    outcome: Literal["fetched", "unchanged", "failed"]
    part: Path | None = None
    name: str = ""  # for the file, unless its content is held under another
    # Whether it failed at the host rather than at this document.
    at_host: bool = False


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
        except Failed as failure:
            entry = IndexEntry(url=url, fetched=_now(), status=failure.status, error=failure.reason)
            return Downloaded(entry, "failed", at_host=failure.at_host)

    def _patiently(self, attempt: Callable[[], _T]) -> _T:
        return patiently(attempt, self.pace, self.settings)

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
        raise Failed(f"redirects more than {_MAX_MOVES} times")

    def _respect_robots(self, target: httpx2.URL) -> None:
        if not self.settings.robots:
            return
        try:
            allowed = self.robots.allows(str(target), _origin(target), target.host)
        except RobotsUnknown as unknown:
            raise Failed(str(unknown), at_host=True) from None
        if not allowed:
            raise Failed("its host's robots.txt asks not to fetch it")

    def _checked(self, url: str, moved_from: httpx2.URL | None) -> httpx2.URL:
        import httpx2

        try:
            target = moved_from.join(url) if moved_from else httpx2.URL(url)
        except (httpx2.InvalidURL, ValueError) as error:
            raise Failed(f"is no valid URL: {error}") from None
        what = "redirects to a URL" if moved_from else "is a URL"
        if target.scheme not in ("http", "https"):
            raise Failed(f"{what} of scheme {target.scheme[:20]!r}; only http and https are fetched")
        if not target.host:
            raise Failed(f"{what} without a host")
        if target.userinfo:
            raise Failed(f"{what} with a password in it, which would be written into the index")
        if moved_from and is_private(target.host) and not is_private(moved_from.host):
            raise Failed("redirects into a private network")
        if not self.settings.private and (is_private(target.host) or resolves_privately(target.host)):
            raise Failed(f"{what} of this machine or a private network; --private fetches it")
        return target.copy_with(fragment=None)

    def _asked(self, target: httpx2.URL, headers: dict[str, str]) -> AbstractContextManager[httpx2.Response]:
        return asked(self.client, self.pace, target, headers)

    def _taken(self, url: str, answer: httpx2.Response, held: IndexEntry | None) -> Downloaded:
        status = answer.status_code
        if status == 304 and held is not None:
            entry = replace(
                held, fetched=_now(), status=304, etag=header_of(answer, "etag") or held.etag, error=""
            )
            return Downloaded(entry, "unchanged")
        if status in PASSING_STATUS:
            raise passing(answer)
        if status not in (200, 203):
            raise Failed(f"its host answers {status_line(status)}", status)
        part, digest, size = self._stored(answer)
        media_type = header_of(answer, "content-type")
        entry = IndexEntry(
            url=url,
            fetched=_now(),
            status=status,
            final_url=str(answer.url) if str(answer.url) != url else "",
            sha256=digest,
            size=size,
            media_type=media_type,
            etag=header_of(answer, "etag"),
            last_modified=header_of(answer, "last-modified"),
        )
        return Downloaded(entry, "fetched", part, file_name(answer.url.path, media_type, digest))

    def _stored(self, answer: httpx2.Response) -> tuple[Path, str, int]:
        """The body in a hidden file, its sha256 and its size. The file is gone again if anything fails."""
        allowed = self.settings.max_bytes
        announced = header_of(answer, "content-length")
        if announced.isascii() and announced.isdigit() and int(announced[:18]) > allowed:
            raise Failed(
                f"is too large: {int(announced[:18]):,} bytes, and {allowed:,} are allowed",
                answer.status_code,
            )
        digest, size, began = hashlib.sha256(), 0, time.monotonic()
        part = self.folder / f"{PART_PREFIX}{uuid.uuid4().hex}{PART_SUFFIX}"
        try:
            with part.open("xb") as file:
                for chunk in answer.iter_bytes():
                    size += len(chunk)
                    if size > allowed:
                        raise Failed(f"is larger than the {allowed:,} bytes allowed", answer.status_code)
                    if time.monotonic() - began > self.settings.longest:
                        raise Failed(
                            f"takes longer than {self.settings.longest:,.0f} seconds", answer.status_code
                        )
                    if self.pace.stopped:
                        raise Stopped
                    digest.update(chunk)
                    file.write(chunk)
                if not size:
                    raise Failed("is empty", answer.status_code)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return part, digest.hexdigest(), size

    def _robots_text(self, origin: str) -> str:
        import httpx2

        try:
            return self._patiently(lambda: self._robots_once(httpx2.URL(f"{origin}/robots.txt")))
        except Passing as failure:
            raise RobotsUnknown(f"{failure.reason} (asked for robots.txt)") from None
        except Failed:
            return ""

    def _robots_once(self, target: httpx2.URL) -> str:
        for _ in range(_MAX_MOVES):
            with self._asked(target, {}) as answer:
                if answer.status_code in _MOVED and "location" in answer.headers:
                    target = self._checked(answer.headers["location"], target)
                    continue
                if answer.status_code in PASSING_STATUS or answer.status_code >= 500:
                    raise passing(answer)
                return _beginning(answer) if answer.status_code == 200 else ""
        return ""


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


def _origin(target: httpx2.URL) -> str:
    return f"{target.scheme}://{target.netloc.decode('ascii')}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
