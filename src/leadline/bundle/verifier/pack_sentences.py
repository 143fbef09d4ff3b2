"""The sentence that a score must be told with, made again: whose agreement it is, and how blind it was."""

from __future__ import annotations

import unicodedata
from typing import Any


def folded(name: str) -> str:
    """A name as it is compared with others."""
    # Capitals and blanks do not count, letters do: Strauß is not Strauss.
    folded = unicodedata.normalize("NFC", name).lower()
    return unicodedata.normalize("NFC", " ".join(folded.split()))


def sentence_of(score: dict[str, Any]) -> str:
    """What a score of its reader, author, earlier score and `stood` is called, in full."""
    reader, author, first, stood = (score[name] for name in ("reader", "author", "earlier", "stood"))
    if not author:
        said = [
            "Whether this is inter- or intra-annotator agreement cannot be told, as nobody is named as "
            "author of the labels; until it is, it must be read as intra-annotator agreement."
        ]
    elif folded(reader) == folded(author):
        said = [
            "This is intra-annotator agreement by the names given and must be reported in those words: "
            f"{author} labelled these items and read them again. It says how far one person repeats own "
            "labels; only an independent reader yields inter-annotator agreement."
        ]
    else:
        said = [
            f"This is inter-annotator agreement by the names given: {author} labelled these items, {reader} "
            "read them again."
        ]
        if _ends(reader) == _ends(author):
            said.append("The two names are alike; whether they are two people's is not known.")
    if first is not None:
        told = f"({first['file']}, {first['created'][:10]}) was {percent(first['agree'])}"
        if first["sheet"] == score["sheet"]:
            after = ". The sheet is the same: rules or names differ, no answer does."
        else:
            after = (
                ", and listed the disagreements with their labels, so that the key was seen in between; the "
                "sheet was changed since. Only the first is of a blind reading."
            )
        said.append(f"It is a second scoring: the first {told}{after}")
    if stood["items"]:
        plural = "s" * (stood["items"] != 1)
        said.append(
            f"{reader} is not known to be blind: {stood['items']:,} item{plural} of this benchmark, "
            f"{stood['rows']:,} of the pack's rows, had been read or decided on in that name, with the label "
            "shown."
        )
    return " ".join(said)


def percent(figure: dict[str, Any]) -> str:
    """A share, and what it is of."""
    if figure["value"] is None or figure["numerator"] is None:
        return "no share"
    return f"{100 * figure['value']:.1f} % ({figure['numerator']:.0f}/{figure['denominator']:.0f})"


def _ends(name: str) -> tuple[str, str]:
    """First letter and last word, without marks."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    words = "".join(sign for sign in plain if not unicodedata.combining(sign)).split()
    return words[0][0], words[-1]
