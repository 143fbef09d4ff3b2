"""Retrieval heads: the attention heads that copy from the context, found with needles in a haystack.

Wu, Wang, Xiao, Peng and Fu, "Retrieval Head Mechanistically Explains Long-Context Factuality", 2024; DeCoRe
masks the best of them. A sentence (the needle) is put into unrelated prose at several depths and lengths and
asked for. Where a head attends most to a token of the needle while that very token is written, the head's
score grows by 1 / (tokens of the needle). Runs in which the answer holds more than half of the needle's words
(ROUGE-1 recall) count, and a head's score is its mean over these.

As in the published code a token that is copied twice counts twice; the paper counts each token once. Other
than there, the needle lies where its tokens are covered best rather than where 90 % of them are covered first
(which may be a token early), words are not stemmed, and lengths and depths are few: which heads come first
hardly changes with more of them, and the test takes less than a minute with a small model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from leadline.engine import Prompt
from leadline.errors import UsageError
from leadline.techniques.artefacts import hash_of, kept_or_made, key_for
from leadline.techniques.prepared import Bench

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.lm import CausalLM

Head = tuple[int, int]

_INSTRUCTION = "Based on the text above, answer the question with one full sentence."


@dataclass(frozen=True)
class Needle:
    """A sentence that nobody would guess, and the question that it answers."""

    needle: str
    question: str


@cache
def own_needles() -> tuple[Needle, ...]:
    """The packaged needles."""
    read = json.loads((files("leadline.techniques") / "needles" / "needles.json").read_text("utf-8"))
    return tuple(Needle(**each) for each in read)


@cache
def own_haystack() -> tuple[str, ...]:
    """The sentences of the packaged prose."""
    text = (files("leadline.techniques") / "needles" / "haystack.txt").read_text("utf-8")
    return tuple(re.split(r"(?<=[.])\s+", text.strip()))


@dataclass(frozen=True)
class NeedleTest:
    """What is asked: every needle at every depth of every length.

    lengths: of the prompts, in tokens; those that the model's context cannot hold are left out. depths: where
    the needle is, 0 before the haystack and 1 after it. answer_tokens: longest answer. count_all: runs count
    whether or not the needle was repeated.
    """

    lengths: tuple[int, ...] = (256, 512, 1024)
    depths: tuple[float, ...] = (0.0, 0.5, 1.0)
    answer_tokens: int = 32
    recall: float = 0.5
    count_all: bool = False
    needles: tuple[Needle, ...] = field(default_factory=own_needles)
    haystack: tuple[str, ...] = field(default_factory=own_haystack)

    def settings(self) -> dict[str, Any]:
        """What decides the scores, as JSON has it; texts as a hash."""
        texts = hash_of([self.haystack, [[each.needle, each.question] for each in self.needles]])
        return {
            "lengths": list(self.lengths), "depths": list(self.depths), "answer_tokens": self.answer_tokens,
            "recall": self.recall, "count_all": self.count_all, "texts": texts,
        }  # fmt: skip


@dataclass(frozen=True)
class RetrievalHeads:
    """scores: `[layers, heads]`, from 0; runs: how many there were; counted: in how many of them the model
    repeated the needle; folder: where this is kept."""

    scores: Tensor
    runs: int
    counted: int
    folder: str = ""

    def ranked(self) -> tuple[Head, ...]:
        """All heads as (layer, head), the best first; equal ones from the bottom up."""
        heads = self.scores.shape[1]
        order = self.scores.flatten().argsort(descending=True, stable=True).tolist()
        return tuple((at // heads, at % heads) for at in order)

    def table(self, count: int = 10) -> list[dict[str, Any]]:
        """The best heads, as rows for people: rank, head ("layer.head") and score."""
        return [
            {"rank": rank, "head": f"{layer}.{head}", "score": round(float(self.scores[layer, head]), 4)}
            for rank, (layer, head) in enumerate(self.ranked()[:count], start=1)
        ]


def retrieval_heads(lm: CausalLM, bench: Bench, test: NeedleTest | None = None) -> tuple[Head, ...]:
    """All heads of `lm` as (layer, head), from the one that copies best (see `needle_test`)."""
    return needle_test(lm, bench, test).ranked()


def needle_test(lm: CausalLM, bench: Bench, test: NeedleTest | None = None) -> RetrievalHeads:
    """The scores of a model's heads, from the cache where they are known.

    Raises UsageError where the model repeats no needle, where it has layers without attention weights, and
    for lengths that the haystack or the context cannot fill.
    """
    test = test or NeedleTest()
    key = key_for("retrieval-heads", lm, bench, test.settings())

    def made() -> tuple[dict[str, Tensor], dict[str, Any]]:
        found = _tested(lm, test, bench)
        about = {"runs": found.runs, "counted": found.counted, "heads": found.table(20)}
        return {"scores": found.scores}, about

    kept = kept_or_made(key, lm, bench, made)
    return RetrievalHeads(kept.tensors["scores"], kept.about["runs"], kept.about["counted"], str(key.folder))


def _tested(lm: CausalLM, test: NeedleTest, bench: Bench) -> RetrievalHeads:
    import torch

    from leadline.engine.attention_weights import attended

    lengths = _lengths(lm, test)
    runs = len(lengths) * len(test.depths) * len(test.needles)
    bench.say(f"looking for the retrieval heads of {lm.name}: {runs} needles in haystacks")
    ends = lm.end_tokens | lm.tokens_with(frozenset("\n"))
    scores = torch.zeros(lm.layers, lm.anatomy.heads)
    counted, best = 0, 0.0
    for needle in test.needles:
        ways = [lm.encode(space + needle.needle, False) for space in ("", " ")]
        for length in lengths:
            # The same sentences in another order are mostly of the same length: these are read together.
            alike: dict[int, list[list[int]]] = {}
            for depth in test.depths:
                prompt = needle_prompt(lm, test, needle, length, depth)
                alike.setdefault(len(prompt), []).append(prompt)
            for prompts in alike.values():
                answers = attended(lm, prompts, test.answer_tokens, ends)
                for prompt, (written, looked) in zip(prompts, answers, strict=True):
                    recall = rouge1_recall(lm.decode(written), needle.needle)
                    best = max(best, recall)
                    if recall > test.recall or test.count_all:
                        scores += copied(prompt, *needle_span(prompt, *ways), written, looked)
                        counted += 1
    if not counted:
        raise UsageError(
            f"no retrieval heads were found in {lm.name}: in none of {runs} runs did it repeat the needle "
            f"(at best {best:.0%} of its words)",
            fix="name heads (heads=3.1;5.4), or have them drawn (selection=random)",
        )
    return RetrievalHeads(scores / counted, runs, counted)


def _lengths(lm: CausalLM, test: NeedleTest) -> list[int]:
    room = lm.block_context - test.answer_tokens
    lengths = [length for length in test.lengths if length <= room]
    if not lengths or not test.depths or not test.needles:
        raise UsageError(
            f"a needle test needs needles, depths and lengths that fit {lm.name}",
            fix=f"lengths of at most {room} tokens",
        )
    return lengths


def needle_prompt(lm: CausalLM, test: NeedleTest, needle: Needle, length: int, depth: float) -> list[int]:
    """Token ids of a prompt of at most `length` tokens (within a few): as many sentences of the haystack as
    there is room for, the needle after its share `depth` of them, and the question."""

    def written(sentences: Sequence[str]) -> list[int]:
        at = round(depth * len(sentences))
        text = " ".join([*sentences[:at], needle.needle, *sentences[at:]])
        asked = f"{text}\n\n{_INSTRUCTION}\nQuestion: {needle.question}"
        if lm.has_chat_template:
            return lm.encode(lm.text_of(Prompt(messages=(("user", asked),))), False)
        return lm.encode(f"{asked}\nAnswer:", True)

    room = length - len(written(()))
    filled = 0
    for count, sentence in enumerate(test.haystack):
        filled += len(lm.encode(f" {sentence}", False))
        if filled > room:
            if count == 0:
                break
            return written(test.haystack[:count])
    if filled > room:
        raise UsageError(f"a needle test of {length} tokens has no room for a haystack", fix="a longer one")
    raise UsageError(
        f"a needle test of {length} tokens is longer than its haystack",
        fix=f"at most {length - room + filled} tokens",
    )


def needle_span(prompt: Sequence[int], *needles: Sequence[int]) -> tuple[int, int]:
    """Where the needle lies in the prompt, [begin, end): the window that covers the largest share of its
    different tokens, the first of several. `needles` are its token ids, in each of the ways in which a
    tokenizer may write it (after a space or not); at its borders it may be merged with its neighbours."""
    best, found = -1.0, (0, 0)
    for needle in needles:
        wanted, width = set(needle), len(needle)
        for at in range(len(prompt) - width + 1):
            covered = len(wanted.intersection(prompt[at : at + width])) / len(wanted)
            if covered > best:
                best, found = covered, (at, at + width)
    return found


def copied(prompt: Sequence[int], begin: int, end: int, written: Sequence[int], looked: Tensor) -> Tensor:
    """How much each head copied from `prompt[begin:end]`: `[layers, heads]`.

    `looked` `[tokens, layers, heads]` is the position that each head attended to most when it predicted each
    token of `written`.
    """
    import torch

    ids = torch.tensor([*prompt, *written])
    inside = (looked >= begin) & (looked < end)
    hits = inside & (ids[looked] == torch.tensor(written)[:, None, None])
    return hits.sum(0) / (end - begin)


def rouge1_recall(answer: str, reference: str) -> float:
    """Share of the reference's words that the answer has, each as often as it stands there."""
    said, wanted = (Counter(re.findall(r"\w+", text.casefold())) for text in (answer, reference))
    return (said & wanted).total() / max(1, wanted.total())
