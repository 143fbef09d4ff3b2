"""What templates put into a text: nothing, one of their arguments, or words.

Only what is rendered without loss is rendered (data/wiki_templates.yaml). All others leave a mark: if they
stood among words, the sentence lacks something that a reader sees.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from importlib.resources import files

from leadline.build.articles.marks import BREAK, REMOVED

_NAMED = re.compile(r"\|\s*[^|={}\[\]\n]{1,60}=")
_PREFIXES = ("template:", "subst:", "safesubst:")


@dataclass(frozen=True)
class Templates:
    """What is known of templates, by their names as `name_of` writes them.

    `words` are put in as they are, `arguments` says which argument is shown, `quotes` show their text as
    paragraphs of their own, `links` link to the page that the first argument names. `asides` say how a name
    is pronounced or written in another language.
    """

    nothing: re.Pattern[str]
    words: Mapping[str, str]
    arguments: Mapping[str, int]
    quotes: frozenset[str]
    links: frozenset[str]
    asides: re.Pattern[str]

    def shows_nothing(self, name: str) -> bool:
        """Whether it leaves the sentences around it whole: notes, boxes, marginal remarks."""
        return not self.shows(name) and (not name or _matches(self.nothing, name))

    def is_aside(self, name: str) -> bool:
        """Whether a bracket that holds nothing else can go without a loss to the sentence."""
        return _matches(self.asides, name)

    def shows(self, name: str) -> bool:
        """Whether what it shows is known."""
        return name in self.words or name in self.arguments or name in self.quotes or name in self.links


@lru_cache(maxsize=1 << 16)
def _matches(pattern: re.Pattern[str], name: str) -> bool:
    return pattern.fullmatch(name) is not None


@lru_cache(maxsize=1)
def templates() -> Templates:
    """The packaged table.

    >>> templates().shows_nothing("infobox person"), templates().arguments["lang"], templates().words["!"]
    (True, 2, '|')
    """
    import yaml

    said = yaml.safe_load((files("leadline.build") / "data" / "wiki_templates.yaml").read_text("utf-8"))
    return Templates(
        nothing=_any_of(said["nothing"]),
        words={name: words.replace("\n\n", BREAK) for name, words in said["words"].items()},
        arguments={**dict.fromkeys(said["first"], 1), **dict.fromkeys(said["second"], 2)},
        quotes=frozenset(said["quotes"]),
        links=frozenset(said["links"]),
        asides=_any_of(said["asides"]),
    )


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


def name_of(written: str) -> str:
    """A template's name as the table has it.

    >>> name_of(" Citation_needed\\n")
    'citation needed'
    """
    name = " ".join(written.replace("_", " ").split()).lower()
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix).strip()
    before, colon, _ = name.partition(":")
    # {{DEFAULTSORT:Pear}}: what follows a magic word's colon is its argument.
    return before if colon and before in {"defaultsort", "displaytitle", "defaultcategorysort"} else name


def dropped_unread(written: str, source: str) -> str | None:
    """What takes the place of a template that need not be parsed; None for one that must be.

    A template over several lines with named arguments is a box, whatever it is called.
    """
    name, known = name_of(written), templates()
    if known.shows_nothing(name):
        return REMOVED
    if known.shows(name) or name.startswith(("cit", "as of")):
        return None
    if source.count("\n") >= 3 and len(_NAMED.findall(source, 0, 4000)) >= 3:
        return f"{REMOVED}{BREAK}"
    return None
