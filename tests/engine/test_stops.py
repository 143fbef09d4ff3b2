"""Where a text ends: stop strings, the model's own end, and the limit."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine import Failure, Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.engine.stops import StopWatch, first_stop  # noqa: E402
from tests.engine import tiny  # noqa: E402
from tests.engine.prompts import prompts  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel


@pytest.mark.parametrize(
    ("text", "stops", "left"),
    [
        ("Paris\nQ: next", ("\n",), "Paris"),
        ("\n\nParis\nQ: next", ("\n",), "\n\nParis"),  # a line break before the answer is not its end
        (" \n Paris\n\nMore", ("\n\n",), " \n Paris"),
        ("\nQ: next", ("\nQ:",), ""),  # nothing was answered
        (".", (".",), ""),
        ("a, b. c", (".", ","), "a"),
        ("a\nb\n\nc", ("\n\n",), "a\nb"),
        ("no end", ("\n", "END"), None),
        ("\n \n", ("\n",), None),
    ],
)
def test_the_earliest_stop_string_ends_the_text(text: str, stops: tuple[str, ...], left: str | None) -> None:
    at = first_stop(text, stops)
    assert (None if at is None else text[:at]) == left


@st.composite
def _in_pieces(draw: st.DrawFn) -> list[bytes]:
    """A text as byte-level tokens spell it: cut anywhere, also within a character."""
    raw = draw(st.text(alphabet="a\n .é—日😀", max_size=12)).encode()
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(raw) - 1)))) | {0, len(raw)})
    return [raw[start:stop] for start, stop in itertools.pairwise(cuts) if raw[start:stop]]


@given(
    _in_pieces(),
    st.lists(
        st.sampled_from(["\n", "\n\n", ".", "é", "—", "日a", "😀", "a\n", " ", "a.\n"]),
        min_size=1,
        max_size=3,
    ),
)
@example([b"\xc3", b"\xa9"], ["é"])
@example(["日a".encode()[:2], "日a".encode()[2:]], ["日a"])
@settings(max_examples=300, deadline=None)
def test_a_watch_sees_what_a_search_of_the_whole_text_sees(pieces: list[bytes], stops: list[str]) -> None:
    """Token by token, with the short cut by pieces, as against decoding and searching at every token."""
    vocabulary = sorted(set(pieces))
    text_of = {at: piece.decode(errors="replace") for at, piece in enumerate(vocabulary)}

    def decode(ids: list[int]) -> str:
        return b"".join(vocabulary[at] for at in ids).decode(errors="replace")

    lm = object.__new__(CausalLM)
    lm.vocabulary = len(vocabulary)
    lm.__dict__["pieces"] = [text_of[at] for at in range(len(vocabulary))]
    watch = StopWatch(stops, lm.tokens_with(frozenset(stop[-1] for stop in stops)), decode)
    ids = [vocabulary.index(piece) for piece in pieces]
    for end in range(1, len(ids) + 1):
        text = decode(ids[:end])
        at = first_stop(text, stops)
        assert watch.cut(ids[:end]) == (None if at is None else text[:at])
        if at is not None:
            return


@pytest.mark.parametrize(
    "settings",
    [{"temperature": -0.1}, {"temperature": float("nan")}, {"temperature": float("inf")}, {"max_tokens": 0},
     {"stop": ("\n", "")}],
)  # fmt: skip
def test_impossible_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not a way to choose tokens"):
        Sampling(**settings)  # type: ignore[arg-type]


# --- a tiny model whose end token is chosen by the test ---------------------------------------------------


@pytest.fixture(scope="module")
def lm() -> CausalLM:
    return CausalLM(tiny.model(tiny.BLOCKS["gpt2"]), tiny.NumberTokenizer())


def _one(lm: CausalLM, ids: list[int], **sampling: object) -> Generation | Failure:
    request = Request(Prompt(text=" ".join(map(str, ids))), Sampling(**sampling), (0,))  # type: ignore[arg-type]
    ((_, found),) = generate(lm, [request])
    return found


def test_an_end_token_ends_the_text_wherever_it_comes(lm: CausalLM) -> None:
    prompt = random.Random(1).choices(range(3, tiny.VOCABULARY), k=9)
    whole = _one(lm, prompt, temperature=1.3, max_tokens=20)
    assert isinstance(whole, Generation)
    before = lm.end_tokens
    try:
        for token in dict.fromkeys(whole.token_ids):
            at = whole.token_ids.index(token)
            lm.__dict__["end_tokens"] = frozenset({token})
            found = _one(lm, prompt, temperature=1.3, max_tokens=20)
            assert isinstance(found, Generation)
            assert found.token_ids == whole.token_ids[: at + 1]  # it is counted as generated
            assert found.text == lm.decode(list(whole.token_ids[:at]))  # and is not part of the text
            assert found.finish == "stop"
    finally:
        lm.__dict__["end_tokens"] = before
    assert whole.finish == "length"
    assert len(whole.token_ids) == 20


def test_one_token_is_one_token(lm: CausalLM) -> None:
    found = _one(lm, [5, 6, 7], max_tokens=1)
    assert isinstance(found, Generation)
    assert (len(found.token_ids), found.finish, found.prompt_tokens) == (1, "length", 3)


def test_a_prompt_that_is_too_long_fails_alone(lm: CausalLM) -> None:
    """The model has 512 positions: the last ones can be used, and what does not fit is said."""
    lengths = [500, 501, 20, 600, 1]
    requests = [
        Request(Prompt(text=" ".join(["7"] * length)), Sampling(0.0, 12), (at,))
        for at, length in enumerate(lengths)
    ]
    found = dict(generate(lm, requests))
    assert sorted(found) == [0, 1, 2, 3, 4]
    for at, length in enumerate(lengths):
        if length > 500:
            assert found[at] == Failure(
                "too_long", f"{length} tokens of prompt and 12 of answer do not fit into 512"
            )
        else:
            assert isinstance(found[at], Generation)


def test_rows_that_have_finished_never_leave_the_table_of_positions(lm: CausalLM) -> None:
    """A long prompt's short answer ends beside many long answers, at the model's last position."""
    long = Request(Prompt(text=" ".join(["7"] * 508)), Sampling(0.0, 4), ("long",))
    others = [Request(Prompt(text="9 8 7"), Sampling(1.0, 40), (at,)) for at in range(40)]
    found = dict(generate(lm, [long, *others]))
    assert found[0] == _one(lm, [7] * 508, max_tokens=4)


# --- the real model -----------------------------------------------------------------------------------------


@pytest.mark.model
def test_any_part_of_a_text_can_be_its_stop_string(smollm2: LocalModel) -> None:
    """One character, several tokens, parts of tokens: the text is cut before it, at the first token that
    completes it, and the tokens before are those of the text without a stop."""
    accents = Prompt(text="Une phrase avec « é » : l’été à la mer, où l’âme s’élève — et")
    numbers = Prompt(text="List:\n\n1. one\n\n2. two\n\n")
    asked = [*prompts(1, "few-shot"), *prompts(1, "chat"), accents, numbers]
    whole = dict(smollm2.generate([Request(each, Sampling(0.0, 24), (at,)) for at, each in enumerate(asked)]))
    requests, expected = [], []
    for at, prompt in enumerate(asked):
        generation = whole[at]
        assert isinstance(generation, Generation)
        text = generation.text
        cuts = random.Random(at).sample(list(itertools.combinations(range(len(text) + 1), 2)), 8)
        stops = {text[a : min(b, a + 9)] for a, b in cuts} | {text[:1], text[-1:], "\n\n", "never to be seen"}
        for stop in sorted(stops):
            requests.append(Request(prompt, Sampling(0.0, 24, (stop,)), (at, stop)))
            expected.append((generation, first_stop(text, [stop]), stop))
    found = dict(smollm2.generate(requests))
    assert sum(cut is not None for _, cut, _ in expected) > 25
    for at, (generation, cut, stop) in enumerate(expected):
        stopped = found[at]
        assert isinstance(stopped, Generation)
        if cut is None:
            assert stopped == generation
            continue
        assert (stopped.text, stopped.finish) == (generation.text[:cut], "stop")
        ids = list(stopped.token_ids)
        assert tuple(ids) == generation.token_ids[: len(ids)]
        assert first_stop(smollm2.lm.decode(ids), [stop]) == cut
        assert first_stop(smollm2.lm.decode(ids[:-1]), [stop]) is None


@pytest.mark.model
def test_a_model_that_ends_at_once_answers_nothing(smollm2: LocalModel) -> None:
    """After a text that is over, the most likely token is its end."""
    prompt = Prompt(
        text="<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nHello! How can I help you?"
    )
    ((_, found),) = smollm2.generate([Request(prompt, Sampling(0.0, 8), (0,))])
    assert isinstance(found, Generation)
    assert (found.text, found.finish, found.token_ids) == ("", "stop", (2,))
