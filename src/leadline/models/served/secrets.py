"""Keys and passwords are never stored, logged or shown: what looks like one is replaced.

The answers of a model are not touched: they are data. Everything else that comes from a provider or from the
environment (error messages, addresses) passes through here before it goes anywhere.
"""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qsl, urlsplit, urlunsplit

HIDDEN = "***"
_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
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
    re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s@]*@"),
)


def redacted(text: str) -> str:
    """`text` without the values of environment variables that are named like secrets, and without what is
    written like a key or an Authorization header.

    >>> redacted("Incorrect API key provided: sk-abcdefghijkl.")
    'Incorrect API key provided: ***.'
    >>> redacted("GET http://me:word@example.org/v1 failed")
    'GET http://***@example.org/v1 failed'
    """
    for value in _secrets():
        text = text.replace(value, HIDDEN)
    for pattern in _PATTERNS:
        kept = "@" if pattern is _PATTERNS[-1] else ""
        text = pattern.sub(lambda found, kept=kept: found[1] + HIDDEN + kept, text)  # type: ignore[misc]
    return text


def named_like_a_secret(name: str) -> bool:
    """Whether a setting or variable of this name holds a secret.

    >>> named_like_a_secret("api_key"), named_like_a_secret("reasoning_tokens")
    (True, False)
    """
    # max_tokens and its like count tokens; they hold none.
    return any(part in name.upper() for part in _NAMES) and not name.upper().endswith("TOKENS")


def holds_a_secret(text: str) -> bool:
    """Whether the value of a variable that is named like a secret stands in `text`."""
    return any(value in text for value in _secrets())


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
            or value in _secrets()
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


def _secrets() -> list[str]:
    values = {
        value.strip()
        for name, value in os.environ.items()
        if named_like_a_secret(name) and len(value.strip()) >= _SHORTEST
    }
    return sorted(values, key=lambda value: (-len(value), value))
