"""Keys and passwords are never stored, logged or shown: what looks like one is replaced.

The answers of a model are not touched: they are data. Everything else that comes from a provider or from the
environment (error messages, addresses) passes through here before it goes anywhere.
"""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import re
from functools import lru_cache
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit, urlunsplit

HIDDEN = "***"
_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")
# Shorter values ("true", "none") are no secrets, and stand in many a harmless text.
_SHORTEST = 8
_PATTERNS = (
    # Scheme and credentials of a header, in whatever form it was printed.
    re.compile(r"(?i)(authorization[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic|digest|token)\s+)?[^\s\"',;}]+"),
    re.compile(r"(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(
        r"(?i)(\b(?:api[-_ ]?key|access[-_ ]?token|secret|password)[\"']?\s*[:=]\s*[\"']?)[^\s\"',;&}]+"
    ),
    # The prefixes that providers give their keys, so that people and scanners recognise them.
    re.compile(r"()\b(?:sk|pk|rk|gsk|xai|hf|r8|nvapi|pplx|fw|tgp|key)[-_][A-Za-z0-9_*-]{8,}"),
    re.compile(r"()\bAIza[A-Za-z0-9_-]{20,}"),
    re.compile(r"()\b(?:gh[oprsu]|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}"),
    re.compile(r"()\bAKIA[A-Z0-9]{16}\b"),
    re.compile(r"()\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s@]*@"),
)
# Keys beyond doubt, each with what is said of it. Of the above, what may be a name is not among them
# (hf-internal-testing, key-value-store); so a text may be hidden that is not refused, and never the reverse.
_KEYS = (
    (re.compile(r"\bsk-[\w-]{0,40}?(?:(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{8}|[A-Za-z0-9]{12})", re.A), "sk-…"),
    (re.compile(r"\b(?:hf|gsk|r8|tgp|ghp|gho|ghr|ghs|ghu)_[A-Za-z0-9]{16}"), "hf_…, ghp_…"),
    (re.compile(r"\b(?:xai|nvapi|pplx)-[A-Za-z0-9]{16}"), "xai-…"),
    (re.compile(r"\b(?:github_pat_|glpat-|xox[abprs]-)\w{16}", re.A), "github_pat_…"),
    (re.compile(r"\bAIza[\w-]{20}", re.A), "AIza…"),
    (re.compile(r"\bAKIA[A-Z0-9]{16}\b"), "AKIA…"),
    (re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.", re.A), "a JWT"),
)


def redacted(text: str) -> str:
    """`text` without the secrets of this environment in any of their `spellings`, and without what is written
    like a key or an Authorization header.

    >>> redacted("Incorrect API key provided: sk-abcdefghijkl.")
    'Incorrect API key provided: ***.'
    >>> redacted("GET http://me:word@example.org/v1 failed")
    'GET http://***@example.org/v1 failed'
    """
    for spelling in _spellings_of(tuple(environment_secrets())):
        text = text.replace(spelling, HIDDEN)
    for pattern in _PATTERNS:
        kept = "@" if pattern is _PATTERNS[-1] else ""
        text = pattern.sub(lambda found, kept=kept: found[1] + HIDDEN + kept, text)  # type: ignore[misc]
    return text


def written_like_a_key(text: str) -> str | None:
    """The form of a provider's key that stands in `text` (it is not repeated), or None.

    >>> written_like_a_key("smollm2?token=sk-abcdefghijklmnop")
    'sk-…'
    >>> written_like_a_key("hf-internal-testing/tiny-random-gpt2")
    """
    return next((form for pattern, form in _KEYS if pattern.search(text)), None)


def named_like_a_secret(name: str) -> bool:
    """Whether a setting or variable of this name holds a secret.

    >>> named_like_a_secret("api_key"), named_like_a_secret("reasoning_tokens")
    (True, False)
    """
    # max_tokens and its like count tokens; they hold none.
    return any(part in name.upper() for part in _NAMES) and not name.upper().endswith("TOKENS")


def holds_a_secret(text: str) -> bool:
    """Whether a secret of this environment stands in `text`, in any of its `spellings`."""
    return any(spelling in text for spelling in _spellings_of(tuple(environment_secrets())))


def complaint_about(url: str) -> str | None:
    """What is wrong with an API's address, or None. It never repeats what might be a password.

    >>> complaint_about("http://127.0.0.1:8000/v1")
    >>> complaint_about("https://me:word@example.org/v1")
    'has a name or a password in it; keys come from the environment only'
    """
    try:
        parts = urlsplit(url)
        port_is_good = parts.port is None or parts.port > 0
    except ValueError:
        return "is not a web address"
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_good:
        return "is not a web address such as http://127.0.0.1:8000/v1"
    if parts.username or parts.password or "@" in parts.netloc:
        return "has a name or a password in it; keys come from the environment only"
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if (
            named_like_a_secret(name)
            or name.lower() in ("sig", "signature", "auth", "code")
            or value in environment_secrets()
        ):
            return "has a key in it; keys come from the environment only"
    if holds_a_secret(url):
        return "has a key in it; keys come from the environment only"
    return None


def bare_address(url: str) -> str:
    """Scheme, host, port and path: an address without user, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def host_of(url: str) -> str:
    """Host and port: what a report may show of an address.

    >>> host_of("http://127.0.0.1:8000/v1")
    '127.0.0.1:8000'
    """
    return urlsplit(url).netloc.rpartition("@")[2]


def environment_secrets() -> dict[str, str]:
    """The secrets of this environment, value -> the variable that holds it.

    Values of variables that are named like secrets, and names and passwords in addresses, such as a proxy's.
    Paths of files are none.
    """
    found: dict[str, str] = {}
    for name, value in os.environ.items():
        held = [value.strip()] if named_like_a_secret(name) else []
        if "://" in value and "@" in value:
            held += _of_address(value)
        for each in held:
            if len(each) >= _SHORTEST and not (each.startswith(("/", "~")) and os.path.lexists(each)):
                found.setdefault(each, name)
    return found


def spellings(secret: str) -> frozenset[str]:
    """`secret` as it stands in texts: plain, in URLs, JSON and HTML, as hexadecimal digits, and in base64,
    wherever it begins in what was encoded (as in `name:password`).

    >>> sorted(spellings("pass/word 1"))[3:6]
    ['cGFzcy93b3JkID', 'pass%2Fword%201', 'pass%2Fword+1']
    """
    data = secret.encode("utf-8", "surrogateescape")
    found = {secret, quote(data, safe=""), quote(data), quote_plus(data), html.escape(secret)}
    found |= {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], data.hex()}
    found.add(data.hex().upper())
    for before, lost in ((0, 0), (1, 2), (2, 3)):
        # Characters that depend on the bytes around the secret are not known.
        whole = (before + len(data)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            found.add(encode(bytes(before) + data).decode()[lost:whole])
    return frozenset(one for one in found if len(one) >= _SHORTEST)


class RedactingFormatter(logging.Formatter):
    """Formats log records, tracebacks among them, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """As `logging` wants it."""
        return redacted(super().format(record))


def _of_address(value: str) -> list[str]:
    try:
        parts = urlsplit(value.strip())
        held = [part for part in (parts.password or parts.username,) if part]
    except ValueError:
        return []
    return held + [unquote(each) for each in held if unquote(each) != each]


@lru_cache(maxsize=8)
def _spellings_of(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """All spellings, the longest first: one may be the beginning of another."""
    found = {spelling for secret in secrets for spelling in spellings(secret)}
    return tuple(sorted(found, key=lambda each: (-len(each), each)))
