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
from leadline.audit.matching import Matcher
from leadline.audit.normal import Normal, normal_text
from leadline.audit.spans import whole

SEED = 20_260_101
# Windows that are tried; a benchmark with fewer is tried as a whole.
SAMPLE = 100
_FAILURES_SHOWN = 3
_LEAST, _MOST = 60, 240  # characters of a planted quote
_WORD = re.compile(r"\S+")
_NUMBER = re.compile(r"(?<![\w.,&#])\d+(?:[.,]\d+)*(?![\w;])")
_PLAIN_WORD = re.compile(r"(?<![\w&#;])[^\W\d_]{4,}(?![\w;])")
# Words that no window has by accident in the place of another.
_STRANGE = ("zebra", "quagga", "okapi", "narwhal")
_MARKS = re.compile(r"\.\s?\.\s?\.|…|\||[\[\]]|\*\s?\*")


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
        """One item of the stream."""
        if not window or len(window) < _LEAST:
            return
        self._seen += 1
        if len(self.samples) < self.size:
            self.samples.append(Sample(item, window))
        elif (at := self._random.randrange(self._seen)) < self.size:
            self.samples[at] = Sample(item, window)


Case = tuple[str, str, bool]  # quote, window, whether it must be found


def self_test(samples: Sequence[Sample], matcher: Matcher) -> SelfTest:
    """Try the matcher on quotes planted in these windows.

    Passed when every trial came out right, and when there was something to try; without windows the checks
    that need them have nothing to say anyway, and the test passes with a note.
    """
    kinds: tuple[tuple[str, Callable[[Sample, Random], Iterator[Case]]], ...] = (
        ("a quote of its own window passes", _verbatim),
        ("the same in other letter case, spacing, dashes and quotation marks passes", _noisy),
        ("the same with an omission (...) passes", _with_omission),
        ("the same with one number changed fails", _other_number),
        ("the same with one word changed fails", _other_word),
        ("the same with a number cut short ($5 for $50) fails", _shorter_number),
    )
    trials = [_trial(name, samples, make, matcher) for name, make in kinds]
    trials.append(_foreign(samples, matcher))
    tried = sum(trial.tried for trial in trials)
    right = sum(trial.right for trial in trials)
    if not samples:
        return SelfTest(
            passed=True, trials=tuple(trials), note="no window is long enough to make trials from"
        )
    note = f"{right} of {tried} trials on {len(samples)} windows of this benchmark came out right"
    return SelfTest(passed=tried > 0 and right == tried, trials=tuple(trials), note=note)


def _trial(
    name: str, samples: Sequence[Sample], make: Callable[[Sample, Random], Iterator[Case]], matcher: Matcher
) -> Trial:
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
    return Trial(name=name, tried=tried, right=right, failures=tuple(failures))


def _excerpt(window: str, random: Random, accept: Callable[[str], bool] = bool) -> str | None:
    """A part of the window between two spaces, such as an annotator would quote."""
    starts = [match.start() for match in _WORD.finditer(window)]
    ends = [match.end() for match in _WORD.finditer(window)]
    for _ in range(12):
        first = random.randrange(len(starts))
        wanted = random.randint(_LEAST, _MOST)
        last = next((at for at in range(first, len(ends)) if ends[at] - starts[first] >= wanted), None)
        if last is None:
            first, last = (
                0,
                next((at for at, end in enumerate(ends) if end - starts[0] >= _LEAST), len(ends) - 1),
            )
        quote = window[starts[first] : ends[last]]
        if len(whole(quote).text) >= _LEAST - 15 and accept(quote):
            return quote
    return None


def _verbatim(sample: Sample, random: Random) -> Iterator[Case]:
    if quote := _excerpt(sample.window, random):
        yield quote, sample.window, True


def _noisy(sample: Sample, random: Random) -> Iterator[Case]:
    if quote := _excerpt(sample.window, random):
        quote = re.sub(r"(?<!\d) (?!\d)", lambda _: random.choice([" ", "\n", "  ", "\u00a0"]), quote)
        quote = quote.translate({ord("—"): "–", ord("–"): "-", ord("“"): '"', ord("”"): '"', ord("’"): "'"})
        same_case = normal_text(quote.swapcase()) == normal_text(quote) and "&" not in quote
        yield quote.swapcase() if same_case else quote, sample.window, True


def _with_omission(sample: Sample, random: Random) -> Iterator[Case]:
    """Two passages of 45 characters or more with something left out between them."""
    words = list(_WORD.finditer(sample.window))
    if len(sample.window) < 3 * _LEAST or _MARKS.search(sample.window):
        return
    middle = len(words) // 2
    head, tail = words[: middle - 1], words[middle + 1 :]
    if not head or not tail:
        return
    first = sample.window[head[0].start() : head[-1].end()][-_MOST:]
    last = sample.window[tail[0].start() : tail[-1].end()][:_MOST]
    # Cut at spaces, not within a word.
    first, last = first[first.find(" ") + 1 :], last[: last.rfind(" ")]
    if min(len(whole(first).text), len(whole(last).text)) >= 45:
        yield first + random.choice([" ... ", " … ", " [...] "]) + last, sample.window, True


def _other_number(sample: Sample, random: Random) -> Iterator[Case]:
    yield from _changed(sample, random, _NUMBER, lambda old: _another_number(old, random))


def _another_number(old: str, random: Random) -> str:
    at = random.choice([place for place, character in enumerate(old) if character.isdigit()])
    return old[:at] + random.choice([digit for digit in "123456789" if digit != old[at]]) + old[at + 1 :]


def _shorter_number(sample: Sample, random: Random) -> Iterator[Case]:
    """$5 for $50: what is left is a beginning of the number, within the quote and at its end."""
    long_number = re.compile(r"(?<![\w.,&#])\d{2,}(?![\w;.,])")
    yield from _changed(sample, random, long_number, lambda old: old[: len(old) // 2])
    for quote, window, _ in _changed(sample, random, long_number, lambda old: f"{old[: len(old) // 2]}\0"):
        cut = quote.partition("\0")[0]
        if len(whole(cut).text) >= _LEAST - 15 and whole(cut).normal[-1:].isdigit():
            yield cut, window, False


def _other_word(sample: Sample, random: Random) -> Iterator[Case]:
    yield from _changed(sample, random, _PLAIN_WORD, lambda _: random.choice(_STRANGE))


def _changed(
    sample: Sample, random: Random, what: re.Pattern[str], new: Callable[[str], str]
) -> Iterator[Case]:
    """A quote with one thing in it changed, that then stands nowhere in the window."""
    quote = _excerpt(sample.window, random, lambda text: bool(what.search(text)) and not _MARKS.search(text))
    if quote is None:
        return
    match = random.choice(list(what.finditer(quote)))
    changed = quote[: match.start()] + new(match.group()) + quote[match.end() :]
    if whole(changed.replace("\0", "")).normal not in normal_text(sample.window) or "\0" in changed:
        yield changed, sample.window, False
    elif what is not _NUMBER:
        # A beginning of a number is found as text; that it must not count is what is tried.
        return


def _foreign(samples: Sequence[Sample], matcher: Matcher) -> Trial:
    name = "an excerpt of another item's window fails"
    tried = right = 0
    failures: list[str] = []
    for sample, other in zip(samples, [*samples[1:], *samples[:1]], strict=True):
        random = Random(f"{SEED} {name} {sample.item}")
        quote = _excerpt(other.window, random, lambda text: not _MARKS.search(text))
        # Windows of one document overlap, and boilerplate is everywhere: there it must be found.
        if quote is None or whole(quote).normal in normal_text(sample.window):
            continue
        tried += 1
        if not matcher(quote, Normal(sample.window)).found:
            right += 1
        elif len(failures) < _FAILURES_SHOWN:
            failures.append(f"{sample.item}: “{_cited(quote)}” of {other.item} is found")
    return Trial(name=name, tried=tried, right=right, failures=tuple(failures))


def _cited(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:79]}…"
