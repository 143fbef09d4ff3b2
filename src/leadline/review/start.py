"""`leadline review serve` without the command line: read what is named, bind, say where it is, serve."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import socket
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from leadline.bench import load_benchmark
from leadline.bench.benchmark import Benchmark
from leadline.documents import Sources
from leadline.documents.sources import FOLDER_NAME
from leadline.errors import LeadlineError, UsageError
from leadline.places import cache_home
from leadline.review import adjudicating, annotating, labelling
from leadline.review.app import make_app
from leadline.review.drafts import Drafts
from leadline.review.guard import Pass
from leadline.review.job import Job
from leadline.review.passages import Documents, documents_of
from leadline.review.places import DRAFTS, pack_review_folder, review_folder
from leadline.review.reader import reader_name
from leadline.review.wanted import Offer, Wanted
from leadline.serving.guard import LOOPBACK
from leadline.serving.journal import log_faults
from leadline.serving.server import listen, serve, url_of
from leadline.serving.start import is_loopback
from leadline.study.study import Study, open_study

OFFERS: tuple[Offer, ...] = (labelling.offer, adjudicating.offer, annotating.offer)
# A secret that is older is made anew when a server starts: pages that are still open must be opened again.
_SECRET_SECONDS = 30 * 24 * 3600
_SECRET_BYTES = 32
_EVERYWHERE = frozenset({"0.0.0.0", "::"})


@dataclass(frozen=True)
class ServeOptions:
    """What the command line names: see `leadline review serve --help`."""

    benchmark: str | None = None
    study: Path | None = None
    flags: Path | None = None
    pack: Path | None = None
    questions: Path | None = None
    reader: str = ""
    into: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8090
    hide_quotes: bool = False
    audit: Path | None = None


def start(named: ServeOptions) -> None:
    """Serve until Ctrl-C. Prints the address on standard output when it can be opened. Raises LeadlineError
    for what cannot be served."""
    reader = reader_name(named.reader)
    if named.reader and not reader:
        raise UsageError(
            "is no name", where="--reader", fix="up to 100 letters, digits and signs, in one line"
        )
    wanted, title = what_is_wanted(named)
    drafts = Drafts(wanted.folder / DRAFTS)
    jobs = [job for offer in OFFERS if (job := offer(wanted, drafts)) is not None]
    if not jobs:
        raise UsageError(
            "there is nothing to do",
            fix="a BENCHMARK with sources or --questions to label; --study, --flags or --audit to decide on "
            "doubts; --pack to answer a blind pack",
        )
    with listen(named.host, named.port) as bound:
        drafts.make()  # not before the port is ours
        reader = drafts.known_reader(reader) if reader else ""
        entry = pass_for(wanted.folder, bound)
        # Addresses are never logged, for they could hold a token.
        log_faults()
        app = make_app(
            jobs,
            drafts,
            entry,
            hosts=hosts_of(named.host),
            title=title,
            reader=reader,
            instance=_instance(drafts),
            documents=wanted.documents,
        )
        for line in greeting(jobs, wanted.folder, named.host):
            print(line, file=sys.stderr)
        print(f"{_reached(bound, named.host)}/?token={entry.token}", flush=True)
        serve(app, bound)


def what_is_wanted(named: ServeOptions) -> tuple[Wanted, str]:
    """What the jobs are to be about, and what it is called. Raises LeadlineError."""
    benchmark = load_benchmark(named.benchmark) if named.benchmark is not None else None
    study = None
    if named.study is not None:
        print(f"reading the study {named.study} and its answers …", file=sys.stderr)
        study = open_study(named.study, None, named.audit)
    if benchmark is not None and study is not None:
        _check_same(benchmark, study)
    # A study's benchmark says where answers go; it is not named for new items to be written on it.
    about = study.whole if benchmark is None and study is not None else benchmark
    if about is None and named.flags is not None:
        raise UsageError(
            "a list of flags holds no items", where=str(named.flags), fix="name its BENCHMARK, or --study"
        )
    if about is None and named.audit is not None:
        raise UsageError(
            "an audit holds no items", where=str(named.audit), fix="name its BENCHMARK, or --study"
        )
    if about is not None:
        folder, title = review_folder(about, named.into), about.title or about.name
    elif named.pack is not None:
        folder, title = pack_review_folder(named.pack, named.into), "A blind pack"
    elif named.questions is not None:
        beside = named.questions.with_name(f"{named.questions.stem}-review")
        folder, title = named.into or beside, "New items"
    else:
        raise UsageError("nothing was named to work on", fix="a BENCHMARK, --study, --pack or --questions")
    documents = documents_of(about) if about is not None else None
    if documents is None and named.questions is not None:
        documents = Documents(Sources((named.questions.parent / FOLDER_NAME).resolve()))
    wanted = Wanted(
        folder,
        benchmark,
        study,
        documents,
        named.flags,
        named.pack,
        named.questions,
        named.hide_quotes,
        named.audit,
    )
    return wanted, title


def _check_same(benchmark: Benchmark, study: Study) -> None:
    """Raises UsageError where a study is about another benchmark than the one that was named."""
    asked = study.whole
    if asked.content_hash != benchmark.content_hash:
        raise UsageError(
            f"the study is about {asked.name} {asked.version} with other content than "
            f"{benchmark.name} {benchmark.version}",
            where=str(study.file),
            fix="leave the benchmark out, or name the one that the study asks",
        )


def hosts_of(host: str) -> Collection[str] | None:
    """Names under which a server on `host` is asked; None (any) where it listens on every address."""
    if host in _EVERYWHERE:
        return None
    return LOOPBACK | {host.lower()} if is_loopback(host) else {host.lower()}


def pass_for(folder: Path, bound: socket.socket) -> Pass:
    """The token and the cookie of a server. The token is new each time. The cookie's value comes of a secret
    that outlives the server: a page that is open when it ends goes on when it is started again.

    The secret lies in the user's cache, not in the review folder, which may be given away. Raises
    LeadlineError where it cannot be kept.
    """
    cookie = f"leadline_review_{bound.getsockname()[1]}"
    about = f"{folder.resolve()}\0{cookie}".encode("utf-8", "surrogateescape")
    value = hmac.new(_secret(), about, hashlib.sha256).hexdigest()
    return Pass(secrets.token_urlsafe(24), cookie, value)


def _secret() -> bytes:
    path = cache_home() / "review" / "secret"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _SECRET_SECONDS:
                path.unlink()
        with suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(_SECRET_BYTES))
        for _ in range(40):  # another process may be just writing it
            if len(secret := path.read_bytes()) == _SECRET_BYTES:
                return secret
            time.sleep(0.05)
    except OSError as error:
        raise LeadlineError(
            f"cannot be kept: {error.strerror}", where=str(path), fix="set LEADLINE_CACHE to another folder"
        ) from None
    raise LeadlineError("is not whole", where=str(path), fix="remove it, and start again")


def greeting(jobs: list[Job], folder: Path, host: str) -> Iterator[str]:
    """What is offered, and where answers go."""
    for job in jobs:
        yield f"  {job.title}"
    yield f"answers are kept in {_plain(folder)}"
    if not is_loopback(host):
        yield "warning: others on the network can read along: there is no encryption here"
    yield "open this address in a browser; stop with Ctrl-C"


def _instance(drafts: Drafts) -> str:
    """A name for a review folder in a browser's store."""
    place = str(drafts.path.resolve()).encode("utf-8", "surrogateescape")
    return hashlib.sha256(place).hexdigest()[:12]


def _plain(folder: Path) -> Path:
    """A path as a person writes it: from the working folder where it is in there, and without detours."""
    whole, here = folder.resolve(), Path.cwd()
    return whole.relative_to(here) if whole.is_relative_to(here) else whole


def _reached(bound: socket.socket, host: str) -> str:
    if host not in _EVERYWHERE:
        return url_of(bound)
    return f"http://{socket.gethostname()}:{bound.getsockname()[1]}"
