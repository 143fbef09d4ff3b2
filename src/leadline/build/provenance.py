"""Where the pages of a build are from: their source's name, their addresses, the licence of their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from string import Formatter
from urllib.parse import quote

from leadline.build.pages import Page, address
from leadline.build.plan import Plan
from leadline.build.plan_dates import span

WIKIPEDIA = "Wikipedia"
# Wikimedia's terms of use of 7 June 2023 moved its text from 3.0 to 4.0.
# Source: https://foundation.wikimedia.org/wiki/Policy:Terms_of_Use
_SINCE = date(2023, 6, 7)
_BEFORE, _AFTER = "CC BY-SA 3.0", "CC BY-SA 4.0"
_EITHER = "CC BY-SA (3.0 until June 2023, 4.0 since)"
_TOLD: Mapping[str, str] = {
    _BEFORE: f"{_BEFORE} (https://creativecommons.org/licenses/by-sa/3.0/), and the GNU FDL",
    _AFTER: f"{_AFTER} (https://creativecommons.org/licenses/by-sa/4.0/)",
}


@dataclass(frozen=True)
class Provenance:
    """`source` is "" where nobody says where the pages are from, a licence is "" where none is known.

    `licence` is that of the whole benchmark, `of_text` that of the pages' text, which quotes and sources/
    hold. `wikipedia`: the source is Wikipedia, whose pages name their authors in their history.
    """

    source: str
    wikipedia: bool
    language: str
    url: str
    spaces: str
    licence: str
    of_text: str

    def address(self, page: Page, revision: str = "") -> str:
        """The page's address; "" where none is known: then the stored text is all that there is.

        A template that wants a revision gives no address to a page that has none.
        """
        if self.url:
            given = {"title": page.title.replace(" ", self.spaces), "id": page.id, "revision": revision}
            filled = {name: quote(text, safe="/:,()!*'-._~") for name, text in given.items()}
            lacking = any(not filled[name] for _, name, _, _ in Formatter().parse(self.url) if name)
            return "" if lacking else self.url.format(**filled)
        return address(self.language, page.title, revision) if self.wikipedia else ""

    def licence_told(self) -> str:
        """The text's licence with the address of its words, where that is known."""
        return _TOLD.get(self.of_text, self.of_text)


def provenance(plan: Plan) -> Provenance:
    """What the plan says; of dumps alone what is known of Wikipedia, unless it names another source.

    Pages of one's own (JSON lines, Parquet) are from Wikipedia only if the plan says `source: Wikipedia`.
    """
    said = plan.articles
    dumps_alone = bool(said.dump) and not (said.jsonl or said.parquet)
    source = said.source or (WIKIPEDIA if dumps_alone else "")
    wikipedia = source == WIKIPEDIA
    text = said.licence or plan.licence or (_of_wikipedia(said.date) if wikipedia else "")
    return Provenance(
        source=source,
        wikipedia=wikipedia,
        language=said.language,
        url=said.url,
        spaces="_" if wikipedia or dumps_alone else " ",  # MediaWiki's addresses hold no spaces
        licence=plan.licence or text,
        of_text=text,
    )


def _of_wikipedia(said: str) -> str:
    """The licence of Wikipedia's text on a date; both where the date leaves it open."""
    if not said:
        return _EITHER
    first, last = span(said)
    if last < _SINCE:
        return _BEFORE
    return _AFTER if first >= _SINCE else _EITHER
