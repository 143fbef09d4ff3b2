"""`leadline serve` without the command line: check, bind, load, fit, say how to reach it, serve."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import secrets
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from leadline.engine import Prompt, Request, Sampling
from leadline.errors import UsageError
from leadline.models.probing import bench_for, loaded
from leadline.models.served.reference import is_served
from leadline.serving.app import make_app
from leadline.serving.batcher import Batcher
from leadline.serving.encryption import certificate_of
from leadline.serving.guard import LOOPBACK
from leadline.serving.journal import Journal, log_faults, on_stderr
from leadline.serving.offer import Offer, check, offered
from leadline.serving.server import listen, serve, url_of
from leadline.techniques.prompts_library import Prompts, Style
from leadline.techniques.spelling import technique_from
from leadline.techniques.technique import Technique

# A token that somebody could guess in passing is worse than none: it looks like one.
_SHORTEST_TOKEN = 8
# Stands in commands, addresses and logs, as it is.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+/:@-]{0,199}")


@dataclass(frozen=True)
class Wanted:
    """What is to be served, where, and to how many."""

    model: str
    technique: str | None = None
    settings: tuple[str, ...] = ()
    benchmark: str = "facts"
    prompt: str = "few-shot"
    name: str | None = None
    host: str = "127.0.0.1"
    port: int = 8080
    token_variable: str = "LEADLINE_TOKEN"
    max_batch: int = 64
    max_waiting: int = 256
    max_tokens: int = 512
    dtype: str = "float32"
    device: str = "auto"
    ssl_certfile: Path | None = None
    ssl_keyfile: Path | None = None


def start(wanted: Wanted, *, json_log: bool = False, log_prompts: bool = False, quiet: bool = False) -> None:
    """Serve until Ctrl-C. Raises UsageError for what cannot be served, before a model is loaded."""
    if is_served(wanted.model):
        raise UsageError(
            "a model behind an API is served already: nothing can be done inside it",
            where=f"--model {wanted.model}",
            fix="a model of this machine, or ask the provider itself",
        )
    if wanted.name is not None and not _NAME.fullmatch(wanted.name):
        raise UsageError(
            "cannot be a name" if wanted.name else "is empty",
            where=f"--name {shlex.quote(wanted.name)}",
            fix="letters, digits and . _ + - / : @, beginning with a letter or a digit",
        )
    technique = technique_of(wanted)
    if wanted.prompt not in get_args(Style):
        raise UsageError(f"there are no prompts of the style {wanted.prompt!r}", fix="few-shot or chat")
    prompts = Prompts("chat" if wanted.prompt == "chat" else "few-shot")
    on_loopback = is_loopback(wanted.host)
    token, made = token_for(wanted.token_variable, on_loopback)
    certificate = certificate_of(wanted.ssl_certfile, wanted.ssl_keyfile)
    with listen(wanted.host, wanted.port) as bound:
        model = loaded(wanted.model, wanted.dtype, wanted.device)
        if technique is not None and prompts.style == "chat" and not model.lm.has_chat_template:
            raise UsageError(f"model {model.identity.name} has no chat template", fix="--prompt few-shot")
        bench = bench_for(model, wanted.benchmark) if technique is not None else None
        offer = offered(model, technique, name=wanted.name, bench=bench, prompts=prompts)
        batcher = Batcher(offer, max_batch=wanted.max_batch, max_waiting=wanted.max_waiting)
        log_faults()
        app = make_app(
            batcher,
            token=token,
            hosts=LOOPBACK | {wanted.host.lower()} if on_loopback else None,
            max_tokens=wanted.max_tokens,
            journal=Journal() if quiet and not json_log else on_stderr(as_json=json_log, texts=log_prompts),
        )
        warm_up(offer)
        url = f"{url_of(bound, 'https' if certificate else 'http')}/v1"
        for line in greeting(offer, url, wanted.token_variable, token if made else None, token is not None):
            print(line, file=sys.stderr)
        if not on_loopback and certificate is None:
            print("warning: others on the network can read along: see --ssl-certfile", file=sys.stderr)
        print(url, flush=True)
        try:
            serve(app, bound, certificate)
        finally:
            batcher.close()


def warm_up(offer: Offer) -> None:
    """One token, so that the first client does not wait for what is made at the first use. Whatever is wrong
    with the model or the technique shows here, and not to a client."""
    prompt = Prompt(tokens=tuple(offer.lm.encode("The answer is", True)))
    request = Request(prompt, Sampling(0.0, 1), ("warm-up",))
    for _ in offer.model.generate([request], offer.prepared.intervention):
        pass


def technique_of(wanted: Wanted) -> Technique | None:
    """The technique with its settings; None for the model as it is. Raises UsageError for a wrong one."""
    if wanted.technique is None:
        if wanted.settings:
            raise UsageError("--set is a setting of a technique", fix="--technique NAME --set key=value")
        return None
    for setting in wanted.settings:
        if "=" not in setting:
            raise UsageError(f"--set {setting} says no value", fix="--set key=value")
    name, colon, own = wanted.technique.partition(":")
    settings = ",".join([*([own] if own else []), *wanted.settings])
    technique = technique_from(f"{name}:{settings}" if settings else f"{name}{colon}")
    if technique.kind == "baseline":
        if settings:
            raise UsageError(f"{technique.name} changes nothing, so it has no settings here")
        return None
    check(technique)
    return technique


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.lower() in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def token_for(variable: str, on_loopback: bool) -> tuple[str | None, bool]:
    """The token that clients must show, and whether it was made here. On loopback none is needed.

    Raises UsageError for one that could be guessed or cannot stand in a header.
    """
    token = os.environ.get(variable)
    if not token:
        return (None, False) if on_loopback else (secrets.token_urlsafe(24), True)
    if len(token) < _SHORTEST_TOKEN or not re.fullmatch(r"[\x21-\x7e]+", token):
        raise UsageError(
            f"is no good token: {_SHORTEST_TOKEN} letters, digits or signs at least, and no spaces",
            where=f"${variable}",
        )
    return token, False


def greeting(offer: Offer, url: str, variable: str, made: str | None, needed: bool) -> Iterator[str]:
    """What is served, and how others reach it."""
    identity = offer.model.identity
    what = f"{offer.technique.name}, " if offer.technique else ""
    yield f"{offer.name} ({what}{identity.dtype} on {identity.device}) is served at {url}"
    key = f'os.environ["{variable}"]' if needed else '"none"'
    shown = f"${variable}" if needed else "none"
    # A model's own name may be a folder's, with spaces in it.
    yield f'  openai   OpenAI(base_url="{url}", api_key={key}), model={json.dumps(offer.name)}'
    model = shlex.quote(f"openai-api/local/{offer.name}")
    yield f"  inspect  LOCAL_API_KEY={shown} inspect eval TASK --model {model} --model-base-url {url}"
    arguments = shlex.quote(f"model={offer.name},base_url={url}/chat/completions")
    yield (
        f"  lm-eval  OPENAI_API_KEY={shown} lm_eval --model local-chat-completions --apply_chat_template"
        f" --model_args {arguments} --tasks TASK"
    )
    if made is not None:
        yield f"  token    {made} (shown only here; set ${variable} for one of your own)"
    yield "stop it with Ctrl-C"
