"""A flag list as one page that needs nothing else and runs nothing: to be printed, or read beside a text."""

from __future__ import annotations

from collections.abc import Mapping

from leadline import __version__
from leadline.report.page_frame import CSP, assets, environment
from leadline.review.flags import SENTENCE, FlagList
from leadline.review.flags_text import counted, sections


def flags_page(flags: FlagList, questions: Mapping[str, str]) -> str:
    """The page as text. `questions` are shown under their items' ids; all texts are shown as text."""
    # What the policy of every page allows to scripts, this one does not need.
    policy = CSP.replace("script-src 'unsafe-inline'; ", "")
    return (
        environment("leadline.review")
        .get_template("flags.html.j2")
        .render(
            flags=flags,
            sections=sections(flags),
            counted=counted(flags),
            sentence=SENTENCE,
            questions=questions,
            csp=policy,
            css=assets("report.css", "audit.css"),
            leadline_version=__version__,
        )
    )
