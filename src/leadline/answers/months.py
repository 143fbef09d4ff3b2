"""Month names and their abbreviations in the languages that documents are most often in."""

from __future__ import annotations

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
    "november nov novembre noviembre novembro listopada ноября",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro grudnia декабря",
)
MONTHS = {name: number for number, row in enumerate(_ROWS, 1) for name in row.split()}
# Words of everyday English: a month only in a full date ("5 mai", "March 5"), never by itself.
ALSO_WORDS = frozenset(
    {"may", "mar", "march", "set", "out", "gen", "mag", "jan", "ago", "mars", "mai", "lug", "dic"}
)
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
