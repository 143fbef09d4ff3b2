"""URLs with a user's name or password in them: nobody asks for them, and no file or screen shows them."""

from __future__ import annotations

import re

REFUSAL = "is a URL with a password in it, which would be written into the index"
# What stands before the host, and what may be a password with unescaped signs: a port is digits.
_AUTHORITY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[/\\]*[^/?#\\]*@")
_BROKEN = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/?#@\[\]]*:(?![0-9]*(?:[/?#]|$)).*@", re.DOTALL)


def without_credentials(url: str) -> str:
    """`url` with `***` in the place of a name and a password; a URL that has none is returned as it is.

    A password with a slash or a hash sign in it is no valid URL, and is hidden all the same.

    >>> without_credentials("http://user:secret@example.org/a@b.htm")
    'http://***@example.org/a@b.htm'
    """
    for pattern in (_AUTHORITY, _BROKEN):
        if found := pattern.match(url):
            return f"{found[1]}***@{url[found.end() :]}"
    return url
