"""`leadline review serve` without the command line: read what is named, bind, say where it is, serve."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import socket
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette

from leadline.bench import load_benchmark
from leadline.errors import LeadlineError, UsageError
from leadline.places import cache_home
from leadline.review import adjudicating, annotating, labelling
from leadline.review.app import make_app
from leadline.review.asking import reader_name
from leadline.review.drafts import Drafts
from leadline.review.guard import Pass
from leadline.review.job import Job
from leadline.review.places import DRAFTS, pack_review_folder, review_folder
from leadline.review.wanted import Offer, Wanted
from leadline.serving.guard import LOOPBACK
from leadline.serving.server import listen, serve, url_of
from leadline.serving.start import is_loopback
from leadline.study.study import open_study

OFFERS: tuple[Offer, ...] = (labelling.offer, adjudicating.offer, annotating.offer)
# A secret that is older is made anew when a server starts: pages that are still open must be opened again.
_SECRET_SECONDS = 30 * 24 * 3600
_SECRET_BYTES = 32
_EVERYWHERE = frozenset({"0.0.0.0", "::"})


@dataclass(frozen=True)
class Named:
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


def start(named: Named) -> None:
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
            fix="a BENCHMARK with sources or --questions to label; --study or --flags to decide on doubts; "
            "--pack to answer a blind pack",
        )
    with listen(named.host, named.port) as bound:
        drafts.make()  # not before all that was named was found good
        entry = pass_for(wanted.folder, bound)
        # Faults go to the log whatever else does; addresses never do, for they could hold a token.
        logging.basicConfig(stream=sys.stderr, format="%(message)s", level=logging.WARNING)
        app = app_for(jobs, drafts, entry, hosts_of(named.host), title, reader)
        for line in greeting(jobs, wanted.folder, named.host):
            print(line, file=sys.stderr)
        print(f"{_reached(bound, named.host)}/?token={entry.token}", flush=True)
        serve(app, bound)


def app_for(
    jobs: list[Job], drafts: Drafts, entry: Pass, hosts: Collection[str] | None, title: str, reader: str
) -> Starlette:
    """The application over a review folder's drafts."""
    instance = hashlib.sha256(str(drafts.path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return make_app(jobs, drafts, entry, hosts=hosts, title=title, reader=reader, instance=instance)


def what_is_wanted(named: Named) -> tuple[Wanted, str]:
    """What the jobs are to be about, and what it is called. Raises LeadlineError."""
    benchmark = load_benchmark(named.benchmark) if named.benchmark is not None else None
    # A study's benchmark says where answers go; it is not named for new items to be written on it.
    about = open_study(named.study).whole if benchmark is None and named.study is not None else benchmark
    if about is not None:
        folder, title = review_folder(about, named.into), about.title or about.name
    elif named.pack is not None:
        folder, title = pack_review_folder(named.pack, named.into), "A blind pack"
    elif named.questions is not None:
        beside = named.questions.with_name(f"{named.questions.stem}-review")
        folder, title = named.into or beside, "New items"
    elif named.flags is not None:
        raise UsageError(
            "a list of flags holds no items", where=str(named.flags), fix="name its BENCHMARK, or --study"
        )
    else:
        raise UsageError("nothing was named to work on", fix="a BENCHMARK, --study, --pack or --questions")
    wanted = Wanted(
        folder, benchmark, named.study, named.flags, named.pack, named.questions, named.hide_quotes
    )
    return wanted, title


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
    yield f"answers are kept in {folder}"
    if not is_loopback(host):
        yield "warning: others on the network can read along: there is no encryption here"
    yield "open this address in a browser; stop with Ctrl-C"


def _reached(bound: socket.socket, host: str) -> str:
    if host not in _EVERYWHERE:
        return url_of(bound)
    return f"http://{socket.gethostname()}:{bound.getsockname()[1]}"
