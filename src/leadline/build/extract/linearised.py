"""REBEL's linearised output: triplets as one string, and back.

`(<triplet> SUBJECT (<subj> OBJECT <obj> RELATION)+)*`, as a seq2seq model writes it (Huguet Cabot and
Navigli, "REBEL: Relation Extraction By End-to-end Language generation", Findings of EMNLP 2021). The text
after `<subj>` is the *object*: the tag ends the subject. A model writes what it likes, so what does not
follow the grammar is left out and said; nothing is ever filled in from the piece before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from leadline.build.records import Triplet

FaultCode = Literal["stray", "no-subject", "no-object", "no-relation", "bare-subject", "cut", "repeated"]
"""Why a piece of output gave no triplet.

stray: text before the first tag. no-subject, no-object, no-relation: that part has no tag or no text.
bare-subject: a subject with nothing after it. cut: what was written last, where the output did not end by
itself. repeated: the same triplet stands further up.
"""

_TAG = re.compile(r"<(triplet|subj|obj)>")
_SPECIAL = re.compile(r"</?s>|<pad>")
_ANY = re.compile(r"<(?:triplet|subj|obj|s|/s|pad)>")
_TAGS = ("<triplet>", "<subj>", "<obj>")


@dataclass(frozen=True)
class Fault:
    """A piece of output that gave no triplet: the code, and the piece as it was written."""

    code: FaultCode
    piece: str


@dataclass(frozen=True)
class Parsed:
    """What an output says: triplets in the order in which they stand, each once, and what was left out."""

    triplets: tuple[Triplet, ...]
    faults: tuple[Fault, ...] = ()


def parse(output: str, *, ended: bool | None = None) -> Parsed:
    """Read the linearised `output` of a model; never raises.

    Special tokens (`<s>`, `</s>`, `<pad>`) are taken out, white space is one space, tags may touch the words
    beside them. `ended` says whether the model ended the output by itself. An output that was cut off at the
    greatest length may stop in mid-relation, so its last triplet is let go. Without `ended`, an output that
    shows its opening `<s>` or any other special token but no `</s>` at its end was cut; one without special
    tokens is taken as whole, but for a tag that is broken off.

    >>> said = parse("<s><triplet> Paris <subj> France <obj> capital of <subj> Seine <obj> near</s>")
    >>> [(one.subject, one.relation, one.object) for one in said.triplets]
    [('Paris', 'capital of', 'France'), ('Paris', 'near', 'Seine')]
    >>> [fault.code for fault in parse("<triplet> Paris <obj> capital of").faults]
    ['no-object']
    """
    cut = _was_cut(output) if ended is None else not ended
    text = _SPECIAL.sub(" ", output).rstrip()
    broken = _broken_tag(text)
    before, *rest = _TAG.split(text.removesuffix(broken))
    pieces = list(zip(rest[::2], (_spaced(piece) for piece in rest[1::2]), strict=True))
    faults = [Fault("stray", _spaced(before))] if before.strip() else []
    lost: list[tuple[str, str]] = []
    # Where the tag after a relation had begun, that relation is whole.
    if pieces and (pieces[-1][0] != "obj" if broken else cut):
        lost = _last_pair(pieces)
        del pieces[len(pieces) - len(lost) :]
    triplets: dict[Triplet, None] = {}
    for result in _grouped_pieces(pieces):
        if isinstance(result, Fault):
            faults.append(result)
        elif result in triplets:
            faults.append(Fault("repeated", linearise([result])))
        else:
            triplets[result] = None
    if lost or broken:
        faults.append(Fault("cut", f"{_written(lost)} {broken}".strip()))
    return Parsed(tuple(triplets), tuple(faults))


def linearise(triplets: Iterable[Triplet]) -> str:
    """Triplets as REBEL writes them: grouped by subject in the order of first appearance, each once.

    `parse(linearise(triplets)).triplets` are `grouped(triplets)`. Ids are not written. Raises ValueError for
    an empty part, or one that holds a tag.

    >>> linearise([Triplet(subject="Paris", relation="capital of", object="France")])
    '<triplet> Paris <subj> France <obj> capital of'
    """
    written: list[str] = []
    subject: str | None = None
    for one in grouped(triplets):
        parts = (one.subject, one.object, one.relation)
        if not all(parts) or any(_ANY.search(part) or _broken_tag(part) for part in parts):
            raise ValueError(f"cannot be written in linearised form: {one!r}")
        if one.subject != subject:
            subject = one.subject
            written.append(f"<triplet> {subject}")
        written.append(f"<subj> {one.object} <obj> {one.relation}")
    return " ".join(written)


def grouped(triplets: Iterable[Triplet]) -> list[Triplet]:
    """The triplets in the order of linearised output: by subject in order of first appearance, each once,
    white space as one space, without ids."""
    subjects: dict[str, dict[Triplet, None]] = {}
    for one in triplets:
        plain = Triplet(
            subject=_spaced(one.subject), relation=_spaced(one.relation), object=_spaced(one.object)
        )
        subjects.setdefault(plain.subject, {})[plain] = None
    return [one for together in subjects.values() for one in together]


def _grouped_pieces(pieces: list[tuple[str, str]]) -> Iterator[Triplet | Fault]:
    """Walk over (tag, text after it): a triplet where subject, object and relation stand in their order."""
    subject = ""
    object_: str | None = None  # of a pair whose relation has not come yet
    for at, (tag, text) in enumerate(pieces):
        follows = pieces[at + 1][0] if at + 1 < len(pieces) else None
        if tag == "triplet":
            subject, object_ = text, None
            if follows in (None, "triplet"):
                yield Fault("bare-subject", _written([(tag, text)]))
        elif tag == "subj":
            object_ = text
            if follows != "obj":
                yield Fault("no-relation", _written([(tag, text)]))
                object_ = None
        else:
            pair = [("subj", object_), (tag, text)] if object_ is not None else [(tag, text)]
            if not subject:
                yield Fault("no-subject", _written(pair))
            elif not object_:
                yield Fault("no-object", _written(pair))
            elif not text:
                yield Fault("no-relation", _written(pair))
            else:
                yield Triplet(subject=subject, relation=text, object=object_)
            object_ = None


def _last_pair(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pieces of the pair that was being written last, and its subject where that has no other."""
    at = len(pieces) - 1
    if pieces[at][0] == "obj" and at and pieces[at - 1][0] == "subj":
        at -= 1
    if pieces[at][0] != "triplet" and at and pieces[at - 1][0] == "triplet":
        at -= 1
    return pieces[at:]


def _was_cut(output: str) -> bool:
    last = None
    for match in _SPECIAL.finditer(output):
        if match.group() != "<pad>":
            last = match
    if last is None:
        return False
    # A decoder of BART's begins with </s>: only one after the last tag ends an output.
    return last.group() != "</s>" or any(output.rfind(tag) > last.start() for tag in _TAGS)


def _broken_tag(text: str) -> str:
    """The beginning of a tag at the end of `text`: "<", "<tri", ...; nothing where there is none."""
    at = text.rfind("<")
    ending = text[at:] if at >= 0 else ""
    return ending if ending and any(tag.startswith(ending) and tag != ending for tag in _TAGS) else ""


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _written(pieces: Iterable[tuple[str, str | None]]) -> str:
    return " ".join(f"<{tag}> {text}".rstrip() for tag, text in pieces)
