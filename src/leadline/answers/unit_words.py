"""The words and signs that are units of measurement after a number, by the names that pint has for them.

Units may be joined: "mg/kg", "5 kilometers per hour". What is said to happen each day, week, month, quarter
or year ("20 days per year") is a frequency and no other unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Words that are units wherever they follow a number. Not "in", "a", "at", "am": they are words first.
_NAMES = {
    "second": "s sec secs second seconds", "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours Stunde Stunden heure heures horas", "quarter": "quarter quarters",
    "day": "d day days Tag Tage Tagen jour jours día días dias giorni dagen 日 天",
    "week": "wk wks week weeks Woche Wochen semaine semaines semana semanas",
    "fortnight": "fortnight fortnights",
    "month": "mo mos month months Monat Monate Monaten mois meses",
    "year": "y yr yrs year years Jahr Jahre Jahren ans années años anos", "decade": "decade decades",
    "century": "century centuries", "millisecond": "ms millisecond milliseconds",
    "microsecond": "µs μs us microsecond microseconds",
    "millimeter": "mm millimeter millimeters millimetre millimetres",
    "centimeter": "cm centimeter centimeters centimetre centimetres",
    "meter": "m meter meters metre metres", "kilometer": "km kilometer kilometers kilometre kilometres kms",
    "inch": "inch inches", "foot": "ft foot feet", "yard": "yd yds yard yards", "mile": "mi mile miles",
    "nautical_mile": "nmi nautical_mile", "light_year": "ly", "angstrom": "Å",
    "nanogram": "ng nanogram nanograms", "microgram": "µg μg mcg ug microgram micrograms",
    "milligram": "mg milligram milligrams milligramme milligrammes", "gram": "g gram grams gramme grammes",
    "kilogram": "kg kgs kilogram kilograms kilo kilos", "metric_ton": "t tonne tonnes", "ton": "ton tons",
    "pound": "lb lbs pound pounds", "ounce": "oz ounce ounces", "stone": "stone",
    "milliliter": "ml mL milliliter milliliters millilitre millilitres",
    "microliter": "µL μL µl μl uL microliter microliters", "deciliter": "dL dl deciliter deciliters",
    "centiliter": "cl centiliter centilitre", "liter": "l L liter liters litre litres",
    "gallon": "gal gallon gallons", "pint": "pint pints", "quart": "quart quarts",
    "degC": "°C ℃ celsius", "degF": "°F ℉ fahrenheit", "kelvin": "K kelvin kelvins",
    "kilometer/hour": "km/h kph kmh", "mile/hour": "mph", "meter/second": "m/s",
    "hertz": "Hz", "kilohertz": "kHz", "megahertz": "MHz", "gigahertz": "GHz",
    "watt": "W watt watts", "kilowatt": "kW kilowatt kilowatts", "megawatt": "MW megawatt megawatts",
    "gigawatt": "GW", "kilowatt_hour": "kWh", "megawatt_hour": "MWh", "joule": "J joule joules",
    "kilojoule": "kJ", "calorie": "cal calorie calories", "kilocalorie": "kcal",
    "byte": "bytes byte", "kilobyte": "kB KB", "megabyte": "MB", "gigabyte": "GB", "terabyte": "TB",
    "acre": "acre acres", "hectare": "ha hectare hectares", "meter**2": "m² m2 sqm",
    "kilometer**2": "km² km2", "meter**3": "m³ m3", "centimeter**3": "cm³ cc", "foot**2": "sqft ft²",
    "mile**2": "mi²", "volt": "V volt volts", "ampere": "A amp amps", "pascal": "Pa", "kilopascal": "kPa",
    "newton": "N newton newtons", "degree": "° degree degrees deg", "radian": "rad radians",
    "bar": "bar", "psi": "psi", "mole": "mol mole moles", "millimole": "mmol millimole millimoles",
    "micromole": "µmol μmol umol", "nanomole": "nmol", "IU": "IU iu",
    "mEq": "mEq", "ppm": "ppm", "ppb": "ppb",
}  # fmt: skip
UNITS = {word: unit for unit, words in _NAMES.items() for word in words.split()}
# Each of these times a thing may happen: "20 days per year" are days.
CALENDAR = frozenset({"day", "week", "month", "quarter", "year"})
_AFTER = re.compile(
    r"[ \u00a0\u202f-]?(?:\\[,;! ]|~)?(?:\\(?:text|mathrm|rm)\s?\{\s?)?"
    r"(?P<power>square |cubic |sq\.? )?(?P<degrees>degrees? (?=[CF]\b|[Cc]elsius|[Ff]ahrenheit))?"
    r"(?P<word>[°℃℉]?[^\W\d_]{1,24}|[°℃℉])(?P<raised>[²³23](?![\w²³]))?(?![\w²³])"
)
_PER = re.compile(r"\s?/\s?|\s?⁄\s?|[ \u00a0](?:per|each|every|an?)[ \u00a0]")
_NAME = re.compile(r"(?P<word>°?[^\W\d_]{1,24})(?P<raised>[²³23](?![\w²³]))?(?![\w²³])")
_POWERS = {"²": 2, "2": 2, "³": 3, "3": 3}


@dataclass(frozen=True, slots=True)
class After:
    """The unit after a number (pint's name), where it ends, and how often that is, if so ("year")."""

    unit: str
    end: int
    each: str = ""


def unit_after(text: str, at: int, *, letters: bool = False) -> After | None:
    """The unit of measurement that follows a number, and where it ends; None without one.

    `letters` lets single letters stand apart from their number ("5 L", "5 d"), where they could be words.

    >>> unit_after("5 mg/kg", 1).unit, unit_after("5 kilometers per hour", 1).unit, unit_after("5 L", 1)
    ('milligram/kilogram', 'kilometer/hour', None)
    """
    match = _AFTER.match(text, at)
    if match is None:
        return None
    if match["degrees"]:
        return After("degC" if match["word"][0] in "Cc" else "degF", match.end())
    is_glued = match.start("word") == at
    word = match["word"]
    if len(word) == 1 and not (is_glued or letters) and word.isascii() and word not in "gmKWVNJ":
        return None  # "5 a", "5 A", "5 s"
    unit = _named(match)
    if unit is None:
        return None
    if match["power"]:
        unit = f"{unit}**{3 if match['power'].startswith('c') else 2}"
    end = match.end()
    if (per := _PER.match(text, end)) and (name := _NAME.match(text, per.end())):
        below = _named(name)
        if below in CALENDAR:
            return After(unit, name.end(), below)
        joined = f"{match['word']}/{name['word']}"
        if below is not None:
            return After(UNITS.get(joined) or f"{unit}/{below}", name.end())
    return After(unit, end)


def _named(match: re.Match[str]) -> str | None:
    word = match["word"]
    if match["raised"] and (whole := UNITS.get(word + match["raised"])):
        return whole
    unit = UNITS.get(word) or UNITS.get(word.lower() if len(word) > 2 else word)
    if unit is not None and match["raised"]:
        return f"{unit}**{_POWERS[match['raised']]}"
    return unit
