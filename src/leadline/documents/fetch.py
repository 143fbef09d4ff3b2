"""The documents that a benchmark's items point to, fetched once, politely, and kept as they came."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from leadline.documents.courtesy import Pace, Stopped
from leadline.documents.credentials import REFUSAL, without_credentials
from leadline.documents.download import PART_PREFIX, PART_SUFFIX, Downloaded, Downloader
from leadline.documents.fetch_settings import FetchSettings
from leadline.documents.index import IndexEntry, IndexWriter, read_index
from leadline.documents.sources import Sources, is_url
from leadline.errors import LeadlineError

if TYPE_CHECKING:
    import httpx2

# After so many documents in a row that failed at one host, the rest of them is left for another run.
_ENOUGH = 3

Outcome = Literal["fetched", "unchanged", "held", "failed"]


@dataclass(frozen=True)
class FetchStep:
    """One URL is done: `done` of `total`, what came of it, and why it failed."""

    done: int
    total: int
    url: str
    outcome: Outcome
    size: int = 0
    reason: str = ""


@dataclass(frozen=True)
class FetchOutcome:
    """What a run did. Each list is of index entries, in the order of the pointers.

    `fetched` are new (or changed, if an earlier document of the same URL was held: `changed` names these
    URLs), `unchanged` were asked for again and are as they were, `held` were not asked for, `failed` have an
    `error`. `missing` are pointers to names that are not in the folder, which nobody can fetch.
    """

    folder: Path
    fetched: tuple[IndexEntry, ...] = ()
    unchanged: tuple[IndexEntry, ...] = ()
    held: tuple[IndexEntry, ...] = ()
    failed: tuple[IndexEntry, ...] = ()
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


Report = Callable[[FetchStep], None]


def fetch(
    pointers: Iterable[str], folder: Path, settings: FetchSettings, progress: Report | None = None
) -> FetchOutcome:
    """Fetch the URLs among `pointers` into `folder`, each once; `index.jsonl` there says which is which.

    What an earlier run stored is not asked for again, but with `settings.refresh`, and then only if the
    server says that it changed. Documents are stored as their servers sent them, without the packing of the
    transport; the same content is one file. A run that is killed leaves whole documents and whole entries,
    and the next one goes on. Whatever cannot be had is in the outcome with a reason.

    Raises LeadlineError when another run is fetching into the
    folder, OSError when the disk cannot be written, and passes KeyboardInterrupt on.
    """
    urls: dict[str, None] = {}
    names: dict[str, None] = {}
    for pointer in pointers:
        text = pointer.strip()
        if is_url(text):
            # Looked at whole: a password may have a hash sign in it.
            urls[text.partition("#")[0] if without_credentials(text) == text else text] = None
        elif text:
            names[text] = None
    sources = Sources(folder)
    missing = tuple(name for name in names if sources.find(name) is None)
    if not urls:
        return FetchOutcome(folder, missing=missing)
    with _alone(folder):
        run = _Run(folder, settings, progress, total=len(urls))
        run.all(urls)
    return run.outcome(urls, missing)


@dataclass
class _Run:
    folder: Path
    settings: FetchSettings
    progress: Report | None
    total: int
    results: dict[str, tuple[Outcome, IndexEntry]] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _broken: BaseException | None = None

    def all(self, urls: Iterable[str]) -> None:
        """Every URL: those of one host after each other, those of several side by side."""
        self._known = {
            url: entry
            for url, entry in read_index(self.folder).items()
            if entry.file and Sources(self.folder).find(entry.file) is not None
        }
        self._files = {entry.sha256: entry.file for entry in self._known.values() if entry.sha256}
        by_host: dict[str, list[str]] = {}
        for url in urls:
            if (shown := without_credentials(url)) != url:
                # Not in the index, and never shown as it is.
                self._note(url, "failed", IndexEntry(url=shown, fetched="", error=REFUSAL))
            elif url in self._known and not self.settings.refresh:
                self._note(url, "held", self._known[url])
            else:
                by_host.setdefault(_host(url), []).append(url)
        if not by_host:
            return
        pace = Pace(1 / self.settings.rate)
        hosts: SimpleQueue[list[str]] = SimpleQueue()
        for own in by_host.values():
            hosts.put(own)
        with IndexWriter(self.folder) as self._index, _client(self.settings) as client:
            downloader = Downloader(client, self.folder, self.settings, pace)
            # Daemons: one that waits for a silent server does not keep Ctrl-C waiting. What it leaves is a
            # hidden part of a file, which the next run removes.
            workers = [
                threading.Thread(target=self._work, args=(downloader, hosts), daemon=True)
                for _ in range(min(self.settings.hosts_at_once, len(by_host)))
            ]
            try:
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
            finally:
                with self._lock:  # nobody is writing an entry now, or begins to
                    pace.stop()
        if self._broken is not None:
            raise self._broken

    def _work(self, downloader: Downloader, hosts: SimpleQueue[list[str]]) -> None:
        try:
            while not downloader.pace.stopped:
                self._one_host(downloader, hosts.get_nowait())
        except (Empty, Stopped):
            return
        except BaseException as error:  # a full disk, or a bug: told by the thread that is listened to
            self._broken = error
            downloader.pace.stop()

    def _one_host(self, downloader: Downloader, urls: list[str]) -> None:
        in_a_row, reason = 0, ""
        for url in urls:
            if in_a_row >= _ENOUGH:
                error = f"not tried: {_ENOUGH} documents of its host had failed in a row ({reason})"
                # Not in the index: nobody asked for it.
                self._note(url, "failed", IndexEntry(url=url, fetched="", error=error))
                continue
            got = downloader.get(url, self._intact(url))
            in_a_row = in_a_row + 1 if got.at_host else 0
            reason = got.entry.error
            with self._lock:
                if downloader.pace.stopped:
                    raise Stopped
                entry = self._kept(got)
            self._note(url, got.outcome, entry)

    def _intact(self, url: str) -> IndexEntry | None:
        """What is held of a URL, if it is as it came: "not modified" says nothing of an altered file."""
        entry = self._known.get(url)
        if entry is None:
            return None
        with (self.folder / entry.file).open("rb") as file:
            return entry if hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256 else None

    def _kept(self, got: Downloaded) -> IndexEntry:
        """Give the body its name, then write the entry: an entry without its file can never be seen."""
        entry = got.entry
        if got.part is not None:
            name = self._files.get(entry.sha256, "") or got.name
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            got.part.replace(self.folder / name)  # over the same content, or over what somebody has altered
            self._files[entry.sha256] = name
            entry = replace(entry, file=name)
            before = self._known.get(entry.url)
            if before is not None and before.sha256 != entry.sha256:
                self.changed.append(entry.url)
        self._index.append(entry)
        return entry

    def _note(self, url: str, outcome: Outcome, entry: IndexEntry) -> None:
        with self._lock:
            self.results[url] = (outcome, entry)
            if self.progress is not None:
                step = FetchStep(len(self.results), self.total, entry.url, outcome, entry.size, entry.error)
                self.progress(step)

    def outcome(self, urls: Iterable[str], missing: tuple[str, ...]) -> FetchOutcome:
        """What was done, in the order of the URLs."""
        found: dict[Outcome, list[IndexEntry]] = {"fetched": [], "unchanged": [], "held": [], "failed": []}
        for url in urls:
            outcome, entry = self.results[url]
            found[outcome].append(entry)
        return FetchOutcome(
            self.folder,
            tuple(found["fetched"]),
            tuple(found["unchanged"]),
            tuple(found["held"]),
            tuple(found["failed"]),
            tuple(self.changed),
            missing,
        )


def _client(settings: FetchSettings) -> httpx2.Client:
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    import httpx2

    return httpx2.Client(
        headers={"User-Agent": settings.user_agent, "Accept": "*/*"},
        timeout=settings.timeout,
        follow_redirects=False,  # each step is checked, and waits for its host's turn
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One run at a time in a folder; what a killed one left half-written is removed."""
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".fetch.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise LeadlineError(
            "another run is fetching into this folder", where=str(folder), fix="wait for it to end"
        ) from None
    try:
        for part in folder.glob(f"{PART_PREFIX}*{PART_SUFFIX}"):
            part.unlink(missing_ok=True)
        yield
    finally:
        lock.release()


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
