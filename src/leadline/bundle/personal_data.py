"""How much of what a release shows may be personal: counts alone, never what was found."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

# Conformed signatures: "/s/ Jane Doe" on a line of its own, and the block "By: ____ / Name: / Title:".
_SIGNED = re.compile(r"^[ \t]*(?:By:?[ \t]*)?/s/[ \t]*\S", re.MULTILINE | re.IGNORECASE)
_BY_BLOCK = re.compile(
    r"^[ \t]*By:[^\n]*(?:\n[^\n]*){0,4}?\n[ \t]*(?:Name|Title|Its)[ \t]*:", re.MULTILINE | re.IGNORECASE
)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}\b")
# With a separator or a country code: bare runs of digits are amounts and file numbers.
_PHONE = re.compile(
    r"(?<![\w.-])(?:\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}"
    r"|\(\d{3}\)[ .-]?\d{3}[ .-]\d{4}|\d{3}[.-]\d{3}[.-]\d{4})(?![\w-])"
)
KINDS = {
    "signature lines": (_SIGNED, "lines that begin with /s/ and a name"),
    "signature blocks": (_BY_BLOCK, 'blocks "By: ... Name: ... Title: ..."'),
    "e-mail addresses": (_MAIL, "name@domain"),
    "telephone numbers": (_PHONE, "with a country code, an area code in brackets, or separators"),
}


@dataclass(frozen=True)
class Accounting:
    """Of one sort of text (windows, responses): how many there are, how many of them differ, and how many
    hold each kind."""

    sort: str
    texts: int
    distinct: int
    holding: dict[str, int]


def account(sort: str, texts: Iterable[str]) -> Accounting:
    """Count the texts that hold something personal of each kind.

    >>> account("windows", ["By: /s/ Jane Doe", "call (555) 123-4567"]).holding["telephone numbers"]
    1
    """
    # Not the texts themselves are kept: source documents are long.
    seen: set[bytes] = set()

    def told() -> Iterator[tuple[str, int]]:
        for text in texts:
            seen.add(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
            yield text, 1

    return replace(account_counted(sort, told()), distinct=len(seen))


def account_counted(sort: str, texts: Iterable[tuple[str, int]]) -> Accounting:
    """The same of distinct texts with how often each stands there.

    >>> account_counted("responses", [("mail a@example.org", 3), ("no", 2)]).texts
    5
    """
    number = distinct = 0
    holding = dict.fromkeys(KINDS, 0)
    for text, times in texts:
        number += times
        distinct += 1
        for kind, (pattern, _) in KINDS.items():
            holding[kind] += times * (pattern.search(text) is not None)
    return Accounting(sort, number, distinct, holding)


@dataclass(frozen=True)
class Named:
    """People whose names are released on purpose: `people` of them, in `entries` of a sort, in such files."""

    people: int
    entries: str
    files: str


def personal_data_text(accounts: Iterable[Accounting], readers: Iterable[Named] = ()) -> str:
    """The accounting for people: PERSONAL_DATA.md. `readers` are named on purpose."""
    lines = [
        "# Personal data",
        "",
        "How many texts of this release hold what may be personal data. Found by patterns, which overlook",
        "and mistake things: a count of nothing is no promise. The values themselves are written nowhere but",
        "in the texts. Each text counts, also one that stands there several times; how many of them differ",
        "is said beside.",
        "",
        "| texts | number | of them distinct | " + " | ".join(KINDS) + " |",
        "| --- | ---: | ---: |" + " ---: |" * len(KINDS),
    ]
    for one in accounts:
        counts = " | ".join(f"{one.holding[kind]:,}" for kind in KINDS)
        lines.append(f"| {one.sort} | {one.texts:,} | {one.distinct:,} | {counts} |")
    lines += ["", *(f"- **{kind}**: {meaning}" for kind, (_, meaning) in KINDS.items())]
    lines += ["", "Names of persons in running text, addresses and dates of birth are not looked for.", ""]
    if told := list(readers):
        lines += [
            "## People, named on purpose",
            "",
            "Who wrote labels, decided on one, or read it again, is released under the name that they gave,",
            "for a decision counts as much as whoever made it can be asked about it. The name is personal",
            "data, and its bearer has to agree; a code in its place, chosen when reading, does as well.",
            "",
            "| where | entries | people |",
            "| --- | ---: | ---: |",
            *(f"| {one.files} | {one.entries} | {one.people:,} |" for one in told),
            "",
        ]
    return "\n".join(lines)
