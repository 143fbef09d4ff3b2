"""Month names: of the languages that documents are most often in, and by CLDR (babel) those of the others.

The first have abbreviations as well and are known at once. The names of the other languages of Europe are
looked up only where a word stands between a day and a year; those of a declared locale, everywhere.
"""

from __future__ import annotations

from functools import lru_cache

# A row a month: English, German, French, Spanish, Italian, Portuguese, Dutch; Polish, Russian as inflected.
_ROWS = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari stycznia января",
    "february feb februar février fevrier févr fév febrero febbraio fevereiro fev februari lutego февраля",
    "march mar märz maerz mars marzo março marco maart mrt marca марта",
    "april apr avril avr abril abr aprile kwietnia апреля",
    "may mai mayo maggio mag maio mei maja мая",
    "june jun juni juin junio giugno giu junho czerwca июня",
    "july jul juli juillet juil julio luglio lug julho lipca июля",
    "august aug août aout agosto ago augustus sierpnia августа",
    "september sep sept septembre septiembre settembre sett set setembro września сентября",
    "october oct oktober okt octobre octubre ottobre ott outubro out października октября",
    "november nov novembre noviembre novembro ноября",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro grudnia декабря",
)
MONTHS = {name: number for number, row in enumerate(_ROWS, 1) for name in row.split()}
# Words of everyday English: a month only in a full date ("5 mai", "March 5"), never by itself.
ALSO_WORDS = frozenset(
    {"may", "mar", "march", "set", "out", "gen", "mag", "jan", "ago", "mars", "mai", "lug", "dic"}
)
# The languages of Europe by CLDR's codes, those of the rows included.
_LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "tr", "el", "uk", "sv", "da", "nb", "fi", "cs",
    "hu", "ro", "bg", "hr", "sk", "sl", "sr", "et", "lv", "lt", "ca", "is", "sq", "mk", "be", "ga",
)  # fmt: skip
# Months that English alone calls so: after "1. " they may begin a list's entry ("1. March 2005").
ENGLISH = frozenset({"january", "february", "march", "may", "june", "july", "october", "december"})
# The days of a month as contracts spell them out: "the thirty-first day of December".
_UNITS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
_TEENS = [
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]
_LATE = [f"twenty-{unit}" for unit in _UNITS] + ["thirtieth", "thirty-first"]
DAY_WORDS = {word: day for day, word in enumerate([*_UNITS, *_TEENS, *_LATE], 1)}


def months_named(word: str) -> tuple[int, ...]:
    """The months that `word` (lower case) names in any language of Europe, written out; () if none.

    >>> months_named("mart"), months_named("listopada"), months_named("shares")
    ((3,), (10, 11), ())
    """
    return _european().get(word, ())


@lru_cache(maxsize=16)
def months_of(locale: str | None) -> dict[str, int]:
    """The month names of a locale such as "tr-TR", abbreviations included; {} where it is not known."""
    if locale is None:
        return {}
    from babel import Locale, UnknownLocaleError

    try:
        known = Locale.parse(locale.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        return {}
    return {
        _bare(name): month
        for context in known.months.values()
        for width in ("abbreviated", "wide")
        for month, name in context.get(width, {}).items()
    }


@lru_cache(maxsize=1)
def _european() -> dict[str, tuple[int, ...]]:
    from babel import Locale

    found: dict[str, set[int]] = {}
    for language in _LANGUAGES:
        for context in Locale.parse(language).months.values():
            for month, name in context["wide"].items():
                found.setdefault(_bare(name), set()).add(month)
    return {name: tuple(sorted(months)) for name, months in found.items()}


def _bare(name: str) -> str:
    """ "de març" in a date is "març"; abbreviations without their point."""
    return name.lower().removeprefix("de ").removeprefix("d’").rstrip(".")
