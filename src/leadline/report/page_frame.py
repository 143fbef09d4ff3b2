"""What every page is made with: a template environment that escapes, the policy, the packaged assets.

A page is one HTML file that needs nothing else. All text from files is hostile until proven otherwise: the
templates escape everything, and the content security policy in the page forbids every request.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import PackageLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from leadline.report.labels import spelt_out
from leadline.report.numbers import count, plural, printed
from leadline.report.tables import slug

CSP = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


@cache
def environment(package: str = "leadline.report") -> SandboxedEnvironment:
    """Templates of a package's folder `templates`, with the filters that all of them share."""
    made = SandboxedEnvironment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        printed_as=lambda figure, key: printed(key, figure),
        count=count,
        spelt_out=spelt_out,
        shortened=shortened,
    )
    made.globals.update(plural=plural, slug=slug)
    return made


def assets(*names: str) -> Markup:
    """Packaged style sheets or scripts, one after the other: text that may stand in a page as it is."""
    folder = files("leadline.report") / "templates"
    return Markup("\n").join(Markup((folder / name).read_text(encoding="utf-8")) for name in names)


def shortened(digest: str) -> str:
    """Enough of a digest to tell two apart at a glance; the whole stands elsewhere on the page."""
    algorithm, colon, digits = digest.rpartition(":")
    return digest if len(digits) <= 16 else f"{algorithm}{colon}{digits[:12]}…"
