"""The words and signs that are units of measurement after a number, by the names that pint has for them."""

from __future__ import annotations

import re

# Words that are units wherever they follow a number. Not "in", "a", "at", "am": they are words first.
_NAMES = {
    "second": "s sec secs second seconds", "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours", "day": "d day days", "week": "wk wks week weeks",
    "month": "mo mos month months", "year": "y yr yrs year years", "decade": "decade decades",
    "century": "century centuries", "millisecond": "ms millisecond milliseconds",
    "microsecond": "µs μs us microsecond microseconds",
    "millimeter": "mm millimeter millimeters millimetre millimetres",
    "centimeter": "cm centimeter centimeters centimetre centimetres",
    "meter": "m meter meters metre metres", "kilometer": "km kilometer kilometers kilometre kilometres kms",
    "inch": "inch inches", "foot": "ft foot feet", "yard": "yd yds yard yards", "mile": "mi mile miles",
    "nautical_mile": "nmi nautical_mile", "light_year": "ly", "angstrom": "Å",
    "milligram": "mg milligram milligrams", "gram": "g gram grams gramme grammes",
    "kilogram": "kg kgs kilogram kilograms kilo kilos", "metric_ton": "t tonne tonnes", "ton": "ton tons",
    "pound": "lb lbs pound pounds", "ounce": "oz ounce ounces", "stone": "stone",
    "milliliter": "ml mL milliliter milliliters millilitre millilitres",
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
    "bar": "bar", "psi": "psi",
}  # fmt: skip
UNITS = {word: unit for unit, words in _NAMES.items() for word in words.split()}
_AFTER = re.compile(
    r"[ \u00a0\u202f-]?(?:\\[,;! ]|~)?(?:\\(?:text|mathrm|rm)\s?\{\s?)?"
    r"(?P<power>square |cubic |sq\.? )?(?P<degrees>degrees? (?=[CF]\b|[Cc]elsius|[Ff]ahrenheit))?"
    r"(?P<word>[°℃℉]?[a-zA-Zµμ°Å]+(?:/[a-z]+)?[²³23]?(?![\w²³]))"
)


def unit_after(text: str, at: int) -> tuple[str, int] | None:
    """The unit of measurement (pint's name) that follows a number, and where it ends; None without one."""
    match = _AFTER.match(text, at)
    if match is None:
        return None
    word = match["word"]
    if match["degrees"]:
        return ("degC" if word[0] in "Cc" else "degF"), match.end()
    is_glued = match.start("word") == at
    if len(word) == 1 and not is_glued and word not in "gmKWVNJ":  # "5 a", "5 A", "5 s"
        return None
    unit = UNITS.get(word) or UNITS.get(word.lower() if len(word) > 2 else word)
    if unit is None:
        return None
    if match["power"]:
        unit = f"{unit}**{3 if match['power'].startswith('c') else 2}"
    return unit, match.end()
