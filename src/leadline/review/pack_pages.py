"""The pages of a pack, for a reader without the server, and its protocol: inert files that need nothing."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files

from markupsafe import Markup

from leadline.report.page_frame import assets, environment
from leadline.review.pack import Pack, PackRow, strata_sentence

# Nothing is loaded and nothing runs: styles stand in the page.
CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@cache
def _style() -> Markup:
    own = files("leadline.review") / "templates" / "pack.css"
    return assets("report.css") + Markup("\n") + Markup(own.read_text(encoding="utf-8"))


def row_page(pack: Pack, row: PackRow) -> str:
    """The page of one row: its question, how to answer, and the text to answer from."""
    neighbours = {
        "before": pack.rows[row.number - 2] if row.number > 1 else None,
        "after": pack.rows[row.number] if row.number < len(pack.rows) else None,
    }
    template = environment("leadline.review").get_template("pack_page.html.j2")
    return template.render(pack=pack, row=row, csp=CSP, style=_style(), **neighbours)


def index_page(pack: Pack) -> str:
    """The page that lists the rows and says how to answer."""
    template = environment("leadline.review").get_template("pack_index.html.j2")
    return template.render(pack=pack, csp=CSP, style=_style(), strata=strata_sentence(pack.head.strata))


def protocol(pack: Pack) -> str:
    """PROTOCOL.md: how to answer, and what becomes of the answers."""
    text = (files("leadline.review") / "templates" / "protocol.md").read_text(encoding="utf-8")
    head = pack.head
    about = (
        f"Pack of {head.benchmark.name} {head.benchmark.version}, {head.benchmark.content_hash}: "
        f"{strata_sentence(head.strata)}; drawn and shuffled under seed {head.seed}."
    )
    # Names come from files, and a viewer of Markdown would obey HTML.
    return text.replace("{rows}", f"{len(pack.rows):,}").replace("{about}", escape(about))
