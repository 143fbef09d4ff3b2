"""The list of pages that a built benchmark's text is from, in Markdown, and what may be done with it."""

from __future__ import annotations

from collections.abc import Iterable

from leadline.build.markdown import plain
from leadline.build.pages import Page, stored_name
from leadline.build.plan import Plan
from leadline.build.provenance import Provenance, provenance
from leadline.build.records import Article
from leadline.documents.sources import FOLDER_NAME


def attribution(plan: Plan, articles: Iterable[Article]) -> str:
    """The pages that quotes and sources come from, with what is known of revisions and addresses."""
    known = provenance(plan)
    if known.wikipedia:
        pages = "these pages of Wikipedia, by their authors, whom the history of each page names"
    elif known.source:
        pages = f"these pages of {plain(known.source)}"
    else:
        pages = "these pages; the plan that they were read by does not say where they are from"
    licence = plain(known.licence_told()) if known.of_text else ""
    may = f"The text is available under {licence}." if licence else "No licence of the text is named."
    return (
        f"# Attribution\n\nThe quotes in `items.jsonl` and the texts in `{FOLDER_NAME}/` are from {pages}. "
        f"{may} It was turned into plain text; nothing else was changed.\n\n"
        + "\n".join(_row(known, article) for article in articles)
        + "\n"
    )


def terms(plan: Plan) -> str:
    """The data statement's paragraph on licences."""
    known = provenance(plan)
    whole = (
        f"{plain(known.licence)}."
        if known.licence
        else "No licence is named: find out before you pass it on."
    )
    listed = "[ATTRIBUTION.md](ATTRIBUTION.md)"
    if known.wikipedia:
        text = f"text of Wikipedia, whose authors are named by the history of each page in {listed}."
    elif known.source:
        text = f"text of {plain(known.source)}, from the pages in {listed}."
    else:
        text = f"text of the pages in {listed}; the plan does not say where they are from."
    under = f" That text is under {plain(known.licence_told())}." if known.of_text else ""
    return f"{whole} Quotes and `{FOLDER_NAME}/` are {text}{under} Names and ids are from Wikidata (CC0)."


def _row(known: Provenance, article: Article) -> str:
    address = known.address(Page(article.id, article.title), article.revision)
    # Brackets of a title, or of a template's own words, would end the link.
    place = address.replace("(", "%28").replace(")", "%29")
    shown = (
        f"[{plain(article.title)}]({place})"
        if address
        else f"{plain(article.title)} (`{FOLDER_NAME}/{stored_name(article)}`)"
    )
    return (
        f"- {shown}"
        + (f", revision {plain(article.revision)}" if article.revision else "")
        + (f" of {plain(article.timestamp)}" if article.timestamp else "")
    )
