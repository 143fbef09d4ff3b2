"""The checker, checked on input made from this benchmark before its counts are believed (check 6).

A matcher that passes everything finds no fault, and one that fails everything finds nothing else. So what
is known to be there is planted, and what is known not to be there: from the windows of the benchmark itself,
with its own typography.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from leadline.audit.document import SelfTest, Trial
from leadline.audit.excerpts import MARKS, SIZES, excerpt, says
from leadline.audit.matching import Matcher
from leadline.audit.normal import Normal, normal_text
from leadline.audit.spans import SUBSTANTIVE, whole

SEED = 20_260_101
# Windows that are tried; a benchmark with fewer is tried as a whole.
SAMPLE = 100
_FAILURES_SHOWN = 3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LONG_NUMBER = re.compile(r"(?<![\d.,])\d{2,}(?![\d.,])")
_ENTITY = re.compile(r"&(?:amp;)*#?\w{1,32};?")
_PLAIN_WORD = re.compile(r"(?<![\w&#;])[^\W\d_]{4,}(?![\w;])")
_ANY_WORD = re.compile(r"(?<!\S)[^\s\d&#;]*[^\W\d_][^\s\d&#;]*(?!\S)")
# Words that no window has by accident in the place of another.
_STRANGE = ("zebra", "quagga", "okapi", "narwhal")
# With an omission there are two parts: of the usual sizes where the window allows it.
_WIDE = ((120, 320, 60), *SIZES)


@dataclass(frozen=True, slots=True)
class Sample:
    """A window to make trials from."""

    item: str
    window: str


@dataclass(slots=True)
class Reservoir:
    """An even sample of a stream of windows, whatever its length; the same for the same stream."""

    size: int = SAMPLE
    _random: Random = field(default_factory=lambda: Random(SEED), init=False)
    _seen: int = field(default=0, init=False)
    samples: list[Sample] = field(default_factory=list, init=False)

    def offer(self, item: str, window: str | None) -> None:
        """One item of the stream; a text that has no letter and no digit is nothing to make trials from."""
        if not window or not any(map(str.isalnum, window)):
            return
        self._seen += 1
        if len(self.samples) < self.size:
            self.samples.append(Sample(item, window))
        elif (at := self._random.randrange(self._seen)) < self.size:
            self.samples[at] = Sample(item, window)


Case = tuple[str, str, bool]  # quote, window, whether it must be found
Make = Callable[[Sample, Random], Iterator[Case]]


def self_test(samples: Sequence[Sample], matcher: Matcher) -> SelfTest:
    """Try the matcher on quotes planted in these windows.

    Passed when every trial came out right, and when both kinds that matter were tried: a quote that is there,
    and one with something changed. Without windows and quotes there is nothing that could be checked; the
    test then says that it was not tried.
    """
    kinds: tuple[tuple[str, str, Make], ...] = (
        (PLANTED, "no window has an excerpt with a letter or a digit", _verbatim),
        (
            "the same in other letter case, spacing, dashes and quotation marks passes",
            "no window has an excerpt with a letter or a digit",
            _noisy,
        ),
        (
            "the same with an omission (...) passes",
            "no window has three words in a row to leave the middle one out",
            _with_omission,
        ),
        (OTHER_NUMBER, "no window has a number that can be changed", _other_number),
        (OTHER_WORD, "no window has a word that can be changed", _other_word),
        (
            "the same with a number cut short ($5 for $50) fails",
            "no window has a number of two digits or more",
            _shorter_number,
        ),
        (
            "a long excerpt with a short one whose number was changed fails",
            "no window has a number outside a long excerpt",
            _other_figure,
        ),
    )
    trials = [_trial(name, why, samples, make, matcher) for name, why, make in kinds]
    trials.append(_foreign(samples, matcher))
    tried = sum(trial.tried for trial in trials)
    right = sum(trial.right for trial in trials)
    if not samples:
        note = "not tried: no item has a window or a quote with a letter or a digit in it"
        return SelfTest(passed=True, trials=tuple(trials), note=note)
    by_name = {trial.name: trial.tried for trial in trials}
    essential = by_name[PLANTED] and (by_name[OTHER_NUMBER] or by_name[OTHER_WORD])
    windows = f"{len(samples)} window{'s' * (len(samples) != 1)}"
    note = f"{right} of {tried} trials on {windows} of this benchmark came out right"
    if not essential:
        note = "the windows give no quote in which something could be changed, so nothing shows that it works"
    return SelfTest(passed=bool(essential) and right == tried, trials=tuple(trials), note=note)


PLANTED = "a quote of its own window passes"
OTHER_NUMBER = "the same with one number changed fails"
OTHER_WORD = "the same with one word changed fails"


def _trial(name: str, why: str, samples: Sequence[Sample], make: Make, matcher: Matcher) -> Trial:
    tried = right = 0
    failures: list[str] = []
    for sample in samples:
        random = Random(f"{SEED} {name} {sample.item}")
        for quote, window, expected in make(sample, random):
            tried += 1
            if matcher(quote, Normal(window)).found is expected:
                right += 1
            elif len(failures) < _FAILURES_SHOWN:
                failures.append(
                    f"{sample.item}: “{_cited(quote)}” {'is not found' if expected else 'is found'}"
                )
    note = "" if tried else f"not tried: {why}"
    return Trial(name=name, tried=tried, right=right, failures=tuple(failures), note=note)


def _verbatim(sample: Sample, random: Random) -> Iterator[Case]:
    if quote := excerpt(sample.window, random):
        yield quote, sample.window, True


def _noisy(sample: Sample, random: Random) -> Iterator[Case]:
    if quote := excerpt(sample.window, random):
        quote = re.sub(r"(?<!\d) (?!\d)", lambda _: random.choice([" ", "\n", "  ", "\u00a0"]), quote)
        quote = quote.translate({ord("—"): "–", ord("–"): "-", ord("“"): '"', ord("”"): '"', ord("’"): "'"})
        same_case = normal_text(quote.swapcase()) == normal_text(quote) and "&" not in quote
        yield quote.swapcase() if same_case else quote, sample.window, True


def _with_omission(sample: Sample, random: Random) -> Iterator[Case]:
    """A word in the middle left out, and nothing that would be split besides."""
    quote = excerpt(sample.window, random, lambda text: _without_middle(text) is not None, _WIDE)
    if quote is not None and (parts := _without_middle(quote)) is not None:
        yield random.choice([" ... ", " … ", " [...] "]).join(parts), sample.window, True


def _without_middle(quote: str) -> tuple[str, str] | None:
    words = list(re.finditer(r"\S+", quote))
    if len(words) < 3 or MARKS.search(quote):
        return None
    middle = len(words) // 2
    around = quote[words[middle - 1].end() - 1] + quote[words[middle + 1].start()]
    head, tail = quote[: words[middle - 1].end()], quote[words[middle + 1].start() :]
    # Of 1 250 000 no part is left out; and one long part makes a short one without a number a connective.
    if any(map(str.isdigit, around)) or not (says(head, 1) and says(tail, 1)):
        return None
    return head, tail


def _other_number(sample: Sample, random: Random) -> Iterator[Case]:
    yield from _changed(sample, random, _NUMBER, lambda old: _another_number(old, random))


def _another_number(old: str, random: Random) -> str:
    at = random.choice([place for place, character in enumerate(old) if character.isdigit()])
    return old[:at] + random.choice([digit for digit in "123456789" if digit != old[at]]) + old[at + 1 :]


def _shorter_number(sample: Sample, random: Random) -> Iterator[Case]:
    """$5 for $50: what is left is a beginning of the number, within the quote and at its end."""
    yield from _changed(sample, random, _LONG_NUMBER, lambda old: old[: len(old) // 2])
    quote = _changeable(sample, random, _LONG_NUMBER)
    if quote is None:
        return
    number = random.choice(list(_places(quote, _LONG_NUMBER)))
    cut = quote[: number.start() + len(number.group()) // 2]
    wanted = re.escape(whole(cut).normal)
    # Unless the shorter number stands elsewhere, whole.
    if wanted and not re.search(rf"{wanted}(?!\d|[.,]\d)", normal_text(sample.window)):
        yield cut, sample.window, False


def _other_word(sample: Sample, random: Random) -> Iterator[Case]:
    what = _PLAIN_WORD if _PLAIN_WORD.search(sample.window) else _ANY_WORD
    yield from _changed(sample, random, what, lambda _: random.choice(_STRANGE))


def _other_figure(sample: Sample, random: Random) -> Iterator[Case]:
    """Beside a long excerpt a short one needs to be found as well when it bears a number."""
    text = normal_text(sample.window)
    for _ in range(4):  # what a change makes of a small number stands in many a window
        long = excerpt(sample.window, random, _is_one_long_span, SIZES[:1])
        short = _changeable(sample, random, _NUMBER, SIZES[2:])
        if long is None or short is None or len(short) >= SUBSTANTIVE:
            return
        number = random.choice(list(_places(short, _NUMBER)))
        changed = short[: number.start()] + _another_number(number.group(), random) + short[number.end() :]
        if whole(changed).numeric and whole(changed).normal not in text:
            yield f"{long} ... {changed}", sample.window, False
            return


def _is_one_long_span(text: str) -> bool:
    return whole(text).substantive and not MARKS.search(text)


def _places(text: str, what: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Where something changeable stands, outside HTML entities."""
    entities = [entity.span() for entity in _ENTITY.finditer(text)]
    for match in what.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in entities):
            yield match


def _changeable(
    sample: Sample,
    random: Random,
    what: re.Pattern[str],
    sizes: tuple[tuple[int, int, int], ...] = SIZES,
) -> str | None:
    """An excerpt that has something to change, all of which must be found."""
    if not what.search(sample.window):
        return None
    return excerpt(
        sample.window,
        random,
        lambda text: any(True for _ in _places(text, what)) and not MARKS.search(text),
        sizes,
    )


def _changed(
    sample: Sample, random: Random, what: re.Pattern[str], new: Callable[[str], str]
) -> Iterator[Case]:
    """A quote with one thing in it changed, that then stands nowhere in the window."""
    quote = _changeable(sample, random, what)
    if quote is None:
        return
    match = random.choice(list(_places(quote, what)))
    changed = quote[: match.start()] + new(match.group()) + quote[match.end() :]
    if whole(changed).normal not in normal_text(sample.window):
        yield changed, sample.window, False


def _foreign(samples: Sequence[Sample], matcher: Matcher) -> Trial:
    name = "an excerpt of another item's window fails"
    tried = right = 0
    failures: list[str] = []
    for sample, other in zip(samples, [*samples[1:], *samples[:1]], strict=True):
        random = Random(f"{SEED} {name} {sample.item}")
        quote = excerpt(other.window, random, lambda text: not MARKS.search(text))
        # Windows of one document overlap, and boilerplate is everywhere: there it must be found.
        if quote is None or whole(quote).normal in normal_text(sample.window):
            continue
        tried += 1
        if not matcher(quote, Normal(sample.window)).found:
            right += 1
        elif len(failures) < _FAILURES_SHOWN:
            failures.append(f"{sample.item}: “{_cited(quote)}” of {other.item} is found")
    note = "" if tried else "not tried: no window has an excerpt that another window lacks"
    return Trial(name=name, tried=tried, right=right, failures=tuple(failures), note=note)


def _cited(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:79]}…"
