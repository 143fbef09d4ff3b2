"""What templates of the English Wikipedia put into a text: nothing, one of their arguments, or words.

Only what is rendered without loss is rendered. All others leave a mark: if they stood among words, the sentence
lacks something that a reader sees. Names are in small letters, with blanks.
"""

from __future__ import annotations

import re
from typing import Final

from leadline.build.articles.marks import BREAK, REMOVED

_NOTHING: Final = re.compile(
    r"""
    (?: citation\ needed(?:\ (?:span|lead))? | cn | fact | clarify.* | clarification\ needed | who | whom | which
      | when | where | why | how | by\ whom\?? | according\ to\ whom | dubious.* | disputed.* | vague | weasel.*
      | peacock.* | or | original\ research.* | pov.* | failed\ verification | verify.* | verification\ needed
      | page\ needed | pages?\ needed | year\ needed | full.*citation.* | better\ source.* | unreliable.* | dead\ link
      | specify | expand.* | update.* | contradict.* | inconsistent.* | needs\ update | quantify | unbalanced.*
      | undue.* | synthesis.* | syn | lopsided | off-topic.* | relevance.* | importance.* | primary\ source.*
      | self-published.* | medical\ citation\ needed | non-primary.* | third-party.* | attribution\ needed
      | inline | discuss | editorializing | tone.* | copy\ ?edit.* | fix.* | cite\ quote | citequote
      | refn | ref | note | notetag | efn.* | sfn[a-z]* | r | rp | ref\ label | note\ label | \#tag:ref | refbegin.* | refend
      | reflist.* | notelist.* | references | ref-list | webarchive | wayback | cbignore | bots | nobots | inflation-fn
      | inflation/fn | us\ patent\ ref | anchors? | anchor\ .* | clear.* | -$ | break\ left | toc.* | tocright | tocleft
      | div\ col.* | div\ end | divcol.* | col-.* | colbegin | colend | col\ div.* | end\ div\ col | multicol.*
      | columns.* | column | top | bottom | mid | use\ .* | engvar.* | british\ english | american\ english
      | short\ description | good\ article | featured\ article | featured\ list | pp.* | protected | semi-protected
      | italic\ ?title.* | displaytitle.* | lowercase.* | defaultsort.* | display\ title | noindex | talk.*
      | main.* | see\ also.* | see\ ?also | further.* | details.* | about.* | other.* | redirect.* | hatnote.* | for
      | for\d | for-.* | distinguish.* | not\ to\ be\ confused.* | this | two\ other.* | confused.* | selfref
      | coord(?:\|.*)? | coords?\ missing | portal.* | commons.* | wikt.* | wikiquote.* | wikisource.* | wikibooks?.*
      | wikinews.* | wikiversity.* | wikivoyage.* | wikispecies.* | wikimedia.* | sister.* | subject\ bar | spoken.*
      | authority\ control.* | taxonbar.* | navbox.* | sidebar.* | .*\ sidebar | .*\ navbox | infobox.* | .*\ infobox
      | taxobox.* | automatic\ taxobox | speciesbox | subspeciesbox | virusbox | chembox.* | drugbox.* | geobox.*
      | persondata | succession\ box.* | s-.* | start\ box | end\ box | end | stub | .*-stub | unreferenced.*
      | refimprove.* | more\ citations.* | more\ footnotes.* | no\ footnotes.* | cleanup.* | orphan | multiple\ issues
      | lead.* | merge.* | split.* | move.* | globalize.* | image.* | multiple\ image | double\ image.* | triple\ image.*
      | gallery.* | quote\ box.* | quotebox | listen.* | audio-? | familytree.* | chart.* | clade.* | legend.* | flagicon.*
      | flag\ icon | graph.* | bar\ .* | bartable.* | location\ map.* | external\ links.* | dmoz | official.* | imdb.*
      | find\ a\ grave.* | gutenberg.* | internet\ archive.* | librivox.* | youtube | inuse | under\ construction
      | increase | decrease | steady | gain | loss | profit | nbsp\d* | wikipedia.* | library.* | campaignbox.* | panorama
      | annotated\ image.* | css\ image.* | side\ box | stack.* | infotable.* | year\ nav.* | m[0-9]+\ year.*
      )
    """,
    re.VERBOSE | re.DOTALL,
)
# Of those above, what shows words if it stands in a sentence.
_WORDS: Final = frozenset({"official", "imdb name", "imdb title", "for loop", "audio", "nbsp", "stack", "expand"})
CONSTANT: Final = {
    "'": "'", "'s": "'s", "`s": "'s", "spaces": " ", "nbsp": " ", "·": " ·", "•": " •", "dot": " ·", "bull": " •", "middot": " ·",
    "ndash": "–", "–": "–", "en dash": "–", "spaced ndash": " – ", "snd": " – ", "spnd": " – ", "spaced en dash": " – ",
    "mdash": "—", "em dash": "—", "—": "—", "spaced mdash": " — ", "!": "|", "pipe": "|", "=": "=", "(": "{", ")": "}",
    "((": "{{", "))": "}}", "okina": "ʻ", "hamza": "ʼ", "shy": "", "wbr": "", "zwsp": "", "zwj": "", "'\"": "'\"", "\"'": "\"'",
    "&": "&", "sic": " [sic]", "circa": "c.", "c.": "c.", "ca.": "c.", "br": BREAK, "break": BREAK, "crlf": BREAK, "-'": "'",
    "nobreak": "", "colon": ":", "asterisk": "*", "minus": "−", "times": "×", "x": "×", "thinsp": " ", "hair space": " ",
    "hsp": " ", "thin space": " ", "thinspace": " ", "'-": "'", "·wrap": " · ", "dash": " – ", "sms": "; ", "en space": " ",
}  # fmt: skip
"""Templates without arguments that put in the same characters everywhere."""
ARGUMENT: Final = {
    "nowrap": 1, "nobr": 1, "nobreak": 1, "j": 1, "small": 1, "smaller": 1, "small caps": 1, "smallcaps": 1, "sc": 1, "sc1": 1,
    "sc2": 1, "big": 1, "bigger": 1, "larger": 1, "large": 1, "resize": 2, "em": 1, "strong": 1, "noitalic": 1, "noitalics": 1,
    "italic correction": 1, "italics correction": 1, "vanchor": 1, "visible anchor": 1, "abbr": 1, "abbrv": 1, "tooltip": 1,
    "lang": 2, "transl": 2, "transliteration": 2, "unicode": 1, "script": 2, "polytonic": 1, "hebrew": 1, "arabic": 1, "flag": 1,
    "flagcountry": 1, "flagu": 1, "color": 2, "colour": 2, "font color": 2, "code": 1, "mono": 1, "tt": 1, "kbd": 1, "var": 1,
    "mvar": 1, "bold": 1, "italic": 1, "i": 1, "b": 1, "u": 1, "strong text": 1, "nihongo core": 1, "not a typo": 1, "as written": 1,
    "proper name": 1, "interp": 1, "zh-full": 1, "linktext single": 1, "citation needed span": 1, "sub": 1, "nastaliq": 1, "nq": 1,
    "title case": 1, "no italics": 1, "serif": 1, "sans-serif": 1, "midsize": 1, "chem name": 1, "angle": 1, "cross-reference": 1,
}  # fmt: skip
"""Templates that show one of their arguments as it is, and which."""
QUOTES: Final = frozenset(
    {"quote", "quotation", "cquote", "blockquote", "bquote", "quote block", "block quotation", "centered quote"}
)
"""Templates that show their text as paragraphs of its own."""
LINKS: Final = frozenset({"ill", "interlanguage link", "link-interwiki", "illm", "interlanguage link multi"})
"""Templates that link to a page of their first argument."""
_KNOWN: Final = frozenset(CONSTANT) | frozenset(ARGUMENT) | QUOTES | LINKS | _WORDS | {"as of"}
_NAMED = re.compile(r"\|\s*[^|={}\[\]\n]{1,60}=")


def name_of(written: str) -> str:
    """A template's name as the tables here have it.

    >>> name_of(" Citation_needed\\n")
    'citation needed'
    """
    name = " ".join(written.replace("_", " ").split()).lower()
    for prefix in ("template:", "subst:", "safesubst:"):
        name = name.removeprefix(prefix).strip()
    return name


def shows_nothing(written: str) -> bool:
    """Whether a template of this name leaves the sentences around it whole: notes, boxes, marginal remarks."""
    name = name_of(written)
    return name not in _KNOWN and (not name or _NOTHING.fullmatch(name) is not None)


def dropped_unread(written: str, source: str) -> str | None:
    """What takes the place of a template that need not be parsed; None for one that must be.

    A template over several lines with named arguments is a box, whatever it is called.
    """
    if shows_nothing(written):
        return REMOVED
    name = name_of(written)
    if name in _KNOWN:
        return None
    if source.count("\n") >= 3 and len(_NAMED.findall(source, 0, 4000)) >= 3 and not name.startswith("cit"):
        return f"{REMOVED}{BREAK}"
    return None
