"""The `words` rule: a sentence gives an answer in whole words, does not deny it, and names no second one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leadline.bench.folding import Token

_NOT = frozenset(
    {
        "not", "no", "never", "neither", "nor", "isnt", "wasnt", "arent", "werent", "cannot", "cant",
        "dont", "doesnt", "didnt", "wont", "without", "except", "aint",
    }
)  # fmt: skip
# "not only", "not until 1969": these assert what follows them.
_ASSERTED = frozenset({"only", "just", "merely", "until", "till", "surprisingly", "before"})
# A denial reaches over so many words: "not the city of Paris".
_REACH = 4
_CLAUSE_ENDS = frozenset(",;:.!?—–()[]")
_LINKS = frozenset({"is", "was", "are", "were", "does", "did", "has"})
_DENIED_LINKS = frozenset({"isnt", "wasnt", "arent", "werent", "doesnt", "didnt", "hasnt"})
_FILLERS = frozenset(
    {
        "the", "a", "an", "in", "on", "at", "by", "either", "maybe", "perhaps", "possibly", "probably",
        "even", "also",
    }
)  # fmt: skip
# What follows "and" or "or" when it begins a new clause rather than naming another candidate.
_CLAUSE_STARTS = frozenset(
    {
        "it", "is", "was", "are", "were", "he", "she", "his", "her", "they", "their", "its", "this", "that",
        "which", "who", "so", "then", "also", "has", "had", "not", "more", "less", "later", "earlier",
        "similar", "simply", "just", "rather", "in", "other", "others", "another", "i",
    }
)  # fmt: skip
# In a list of this many short, capitalised pieces; two pieces are a name and its place: "Paris, France".
_LIST_LENGTH = 3
_PIECE_WORDS = 4

# A line that goes on for longer is no short answer; the bound keeps a runaway response cheap to judge.
_READ_WORDS = 400

Span = tuple[int, int]


def states(line: Sequence[Token], valid: Sequence[str], question: frozenset[str]) -> bool:
    """True when `line` states one of the `valid` answers (normalised), and only that.

    A valid answer counts where it covers whole words ("Iran" is not in "Iranian", "1969" not in "19690"; but
    "U.S." is "US"). It does not count where it is denied ("not Paris", "Paris is not"), or where another
    candidate stands beside it ("Paris or London", "Paris/London", "Paris, London, Rome"), unless the
    other one is valid as well. "Paris, France" and "Ottawa, Ontario, Canada", when the question names Canada,
    are one candidate: `question` is its folded words. Which of two bare names is meant cannot always be
    told from the words; the rule errs to rejection and the differences from the published rule are counted.
    Only the first `_READ_WORDS` words are looked at.
    """
    line = line[:_READ_WORDS]
    spans = sorted(set(spans_of(line, valid)))
    return any(
        not is_denied(line, span)
        and not _has_rival(line, span, spans)
        and not _is_in_list(line, span, spans, question)
        for span in _longest(spans)
    )


def spans_of(line: Sequence[Token], valid: Sequence[str]) -> Iterator[Span]:
    """Where a valid answer covers the tokens [start, end) exactly."""
    starts: dict[int, int] = {}
    offset = 0
    for place, token in enumerate(line):
        starts[offset] = place
        offset += len(token.text)
    starts[offset] = len(line)
    text = "".join(token.text for token in line)
    for answer in valid:
        at = text.find(answer)
        while at >= 0:
            start, end = starts.get(at), starts.get(at + len(answer))
            if start is not None and end is not None:
                yield start, end
            at = text.find(answer, at + 1)


def _longest(spans: Sequence[Span]) -> list[Span]:
    """Spans that lie in no other: "Jane Austen" rather than the "Austen" in it. `spans` is sorted."""
    kept: list[Span] = []
    furthest = -1
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if end > furthest:
            kept.append((start, end))
            furthest = end
    return kept


def is_denied(line: Sequence[Token], span: Span) -> bool:
    """What stands at `span` of `line` is denied: "not Paris", "rather than Paris", "Paris is not"."""
    start, end = span
    for place in range(start - 1, max(start - 1 - _REACH, -1), -1):
        if _CLAUSE_ENDS & set(line[place + 1].gap) or line[place].text in {"but", "instead"}:
            break
        if line[place].text in _NOT:
            following = line[place + 1].text
            is_number_sign = line[place].text == "no" and following.isdigit()  # Symphony no 9
            return not (following in _ASSERTED or is_number_sign)
        if [token.text for token in line[place : place + 2]] in (["rather", "than"], ["instead", "of"]):
            return True
    after = [token.text for token in line[end : end + 2] if not _CLAUSE_ENDS & set(token.gap)]
    return bool(after) and (after[0] in _DENIED_LINKS or (after[0] in _LINKS and after[1:] == ["not"]))


def _has_rival(line: Sequence[Token], span: Span, spans: Sequence[Span]) -> bool:
    """Another candidate is joined to this one by "or", "/" or "and"."""
    start, end = span
    if end < len(line):
        joint, place = line[end], end
        is_slash = joint.gap.strip() in {"/", "|"}
        if is_slash or joint.text in {"or", "and"} or (joint.gap.strip() == "&"):
            place += not (is_slash or joint.gap.strip() == "&")
            place = _skip(line, place, +1)
            is_new = place < len(line) and not any(first == place for first, _ in spans)
            if is_new and _is_candidate(line[place], line, alternative=joint.text == "or" or is_slash):
                return True
    before = _skip(line, start - 1, -1)
    if before < 0:
        return False
    is_slash = line[start].gap.strip() in {"/", "|"}
    if not is_slash and line[before].text not in {"or", "and"} and line[start].gap.strip() != "&":
        return False
    place = before if is_slash or line[start].gap.strip() == "&" else before - 1
    is_new = place >= 0 and not any(last == place + 1 for _, last in spans)
    return is_new and _is_candidate(line[place], line, alternative=line[before].text == "or" or is_slash)


def _skip(line: Sequence[Token], place: int, step: int) -> int:
    while 0 <= place < len(line) and line[place].text in _FILLERS:
        place += step
    return place


def _is_candidate(token: Token, line: Sequence[Token], *, alternative: bool) -> bool:
    """`token` could name an answer. After "or" any word may; after "and" it must look like a name."""
    if token.text in _CLAUSE_STARTS:
        return False
    has_capitals = any(other.word[0].isupper() for other in line)
    return alternative or token.is_name_like or not has_capitals


def _is_in_list(line: Sequence[Token], span: Span, spans: Sequence[Span], question: frozenset[str]) -> bool:
    """The span is one of three or more short, name-like pieces between commas; no other is valid too."""
    pieces: list[Span] = []
    begin = 0
    for place in range(1, len(line) + 1):
        if place == len(line) or set(line[place].gap) & set(",;"):
            pieces.append((begin, place))
            begin = place
    holding = [piece for piece in pieces if piece[0] <= span[0] and span[1] <= piece[1]]
    if len(pieces) < _LIST_LENGTH or not holding:
        return False
    others = []
    for first, last in pieces:
        if (first, last) in holding:
            continue
        words = [token for token in line[first:last] if token.text not in {"and", "or", "the"}]
        if any(first <= start and end <= last for start, end in spans):
            continue
        if not words or len(words) > _PIECE_WORDS or not words[0].is_name_like:
            return False  # prose, not a list
        if all(token.text in question for token in words):
            return False  # a place and what it lies in, up to the place that the question names
        others.append(words)
    return len(others) >= _LIST_LENGTH - 1
