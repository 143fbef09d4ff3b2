"""Who reads: how a name is kept, and which names are one reader's."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_READER = 100
_LONGEST_SLUG = 40
_PLAIN = re.compile(r"[a-z0-9]+( [a-z0-9]+)*")


def reader_name(text: str) -> str:
    """A reader's name as it is kept: Unicode composed, one space between words. "" where it is none.

    >>> reader_name("  Ana   María ")
    'Ana María'
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    plain = all(unicodedata.category(sign)[0] != "C" for sign in name)
    return name if plain and len(name) <= MAX_READER else ""


def reader_key(name: str) -> str:
    """What the names of one reader have in common: capitals, blanks and how Unicode composes a sign do not
    count; letters do.

    Full case folding would make one of Strauß and Strauss, compatibility forms one of names that differ: who
    is taken for somebody else is shown what only that one may see.

    >>> reader_key("  Ana   MARÍA ")
    'ana maría'
    """
    return unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", name).lower().split()))


def same_reader(one: str, other: str) -> bool:
    """Whether two names are one reader's.

    >>> same_reader("Ann  Lee ", "ann lee"), same_reader("Ann Lee", "Ann-Lee")
    (True, False)
    >>> same_reader("Jörg Strauß", "Jörg Strauss")
    False
    """
    return reader_key(one) == reader_key(other)


def reader_slug(name: str) -> str:
    """A reader's name as part of a file's name, which any file system takes; no two readers share one.

    Plain names are told as they are; of others what can be told, and a number. In no plain one is there a _.

    >>> reader_slug("Ann Lee"), reader_slug("../Ann")
    ('ann-lee', 'ann_2a8c40f72d4a')
    """
    key = reader_key(name)
    slug = re.sub(r"[^a-z0-9]+", "-", key).strip("-")[:_LONGEST_SLUG].strip("-")
    if _PLAIN.fullmatch(key) and len(key) <= _LONGEST_SLUG:
        return slug
    return f"{slug}_{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:12]}"
