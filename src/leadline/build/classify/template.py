"""The prompt of a classifier: a file, the packaged one or the user's, filled for a domain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from leadline.errors import UsageError
from leadline.ordinary_file import text
from leadline.techniques.prompts_library import Prompts, Style

_NAMES: dict[Style, str] = {"few-shot": "prompt.txt", "chat": "prompt.chat.txt"}
# What begins something in a template: domains and scopes are words, whatever stands in them.
_JINJA = re.compile(r"\{[{%#]")
_PLACE = re.compile(r"<(DOMAIN|SCOPE)>")
_TRIED = "Is this triplet shown?"


@dataclass(frozen=True)
class Template:
    """A prompt file as it was read: `{{ question }}` is the triplet, <DOMAIN> and <SCOPE> the domain's."""

    text: str
    origin: str
    style: Style

    @property
    def needs_domain(self) -> bool:
        """Whether it speaks of the fact's domain."""
        return _PLACE.search(self.text) is not None

    def filled(self, domain: str = "", scope: str = "") -> str:
        """The prompt for facts of a domain: a template in which `{{ question }}` alone is left.

        >>> Template("<DOMAIN> ({{ 1 }}): {{ question }}", "here", "few-shot").filled("law {{")
        "law {{ '{{' }} ({{ 1 }}): {{ question }}"
        """
        words = {"DOMAIN": domain, "SCOPE": scope}
        safe = {
            name: _JINJA.sub(lambda found: f"{{{{ '{found[0]}' }}}}", " ".join(text.split()))
            for name, text in words.items()
        }
        return _PLACE.sub(lambda found: safe[found[1]], self.text)


def file_of(folder: Path, style: Style) -> Path:
    """Where a folder of the user's has the prompt of a style."""
    return folder / _NAMES[style]


def template(classifier: str, style: Style, folder: Path | None = None) -> Template:
    """The prompt of `classifier` ("cardinality") in a style; `folder` takes the packaged prompt's place.

    Raises UsageError, with the file, where there is none, or where it cannot be filled or shows no triplet.
    """
    if folder is None:
        packaged = files("leadline.build").joinpath("prompts", classifier, _NAMES[style])
        found = Template(
            packaged.read_text(encoding="utf-8"), f"leadline: {classifier}/{_NAMES[style]}", style
        )
    else:
        found = Template(_read(file_of(folder, style), style), str(file_of(folder, style)), style)
    _check(found)
    return found


def _read(file: Path, style: Style) -> str:
    try:
        return text(file)
    except FileNotFoundError:
        raise UsageError(
            f"there is no prompt for the style {style!r}",
            where=str(file),
            fix="write one, or leave `prompt` out to have the packaged one",
        ) from None
    except UnicodeDecodeError:
        raise UsageError("is not UTF-8 text", where=str(file), fix="save the file as UTF-8") from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(file)) from None


def _check(found: Template) -> None:
    try:
        made = Prompts(found.style).question(_TRIED, None, found.filled("a domain", "a scope"))
    except UsageError as error:
        raise UsageError(error.what, where=found.origin, fix=error.fix) from None
    shown = [made.text or "", *(text for _, text in made.messages or ())]
    if not any(_TRIED in text for text in shown):
        raise UsageError(
            "the prompt does not show the triplet",
            where=found.origin,
            fix="put {{ question }} where it belongs",
        )
