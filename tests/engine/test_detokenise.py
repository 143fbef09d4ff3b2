"""Text token by token: joined it is the text of all tokens, and it never has to be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from tokenizers import Tokenizer, decoders, models  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402

from leadline.engine.detokenise import Detokeniser, pieces_of  # noqa: E402
from leadline.engine.token_bytes import TokenBytes, token_bytes  # noqa: E402
from tests.engine import tiny  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

WORDS = ["<s>", "</s>", "\u2581", "\u2581the", "\u2581sea", "sea", "s", ".", "\u2581\u2581", "é", "日"]
VOCABULARY = [*WORDS, *(f"<0x{byte:02X}>" for byte in range(256))]


def _sentencepiece(metaspace: bool) -> Any:
    """A small tokenizer of the SentencePiece kind: spaces as ▁, bytes where a character has no token."""
    # Which merges there are does not matter: nothing is encoded here.
    bare = Tokenizer(models.BPE({word: at for at, word in enumerate(VOCABULARY)}, [], byte_fallback=True))
    steps = (
        [decoders.ByteFallback(), decoders.Metaspace()]
        if metaspace
        else [
            decoders.Replace("\u2581", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    bare.decoder = decoders.Sequence(steps)
    return PreTrainedTokenizerFast(tokenizer_object=bare, bos_token="<s>", eos_token="</s>")


LLAMA, METASPACE = _sentencepiece(False), _sentencepiece(True)


def _decode(tokenizer: Any) -> Any:
    return lambda ids: tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


def _check(tokenizer: Any, spelling: TokenBytes, ids: Sequence[int]) -> None:
    decode = _decode(tokenizer)
    unfolding = Detokeniser(decode, spelling)
    told = []
    for token in ids:
        before = unfolding.text
        unfolding.push(token)
        assert unfolding.text.startswith(before)
        told.append(unfolding.text)
    whole = decode(list(ids))
    assert whole.startswith(unfolding.text)
    # What is held back at the end is an unfinished character, a run of single bytes, or nothing.
    rest = whole[len(unfolding.text) :]
    assert not rest or "\ufffd" in rest or spelling.fallback & set(ids)
    assert "".join(unfolding.pieces(whole)) == whole
    assert len(unfolding.pieces(whole)) == len(ids)
    for text in told:  # whatever comes later, what has been told stands
        assert whole.startswith(text)


_BYTES = [WORDS.index("日") + 1 + byte for byte in "é日😀".encode()]


@given(st.lists(st.one_of(st.integers(0, len(VOCABULARY) - 1), st.sampled_from([2, 3, 6, *_BYTES]))))
@example([0, 3, 4, 7, 1])
@example([2, 2, 3])
@example([6, *_BYTES, 6])
@example([6, *_BYTES[:5], 6])  # cut within 😀: the bytes before it are spoilt too
@example([_BYTES[0], 0, _BYTES[1], 3])
@settings(max_examples=300, deadline=None)
def test_sentencepiece_with_bytes_for_what_has_no_token(ids: list[int]) -> None:
    for tokenizer in (LLAMA, METASPACE):
        _check(tokenizer, token_bytes(tokenizer), ids)


def test_bytes_of_sentencepiece_tokens_are_their_text() -> None:
    spelling = token_bytes(LLAMA)
    assert spelling.of(VOCABULARY.index("\u2581sea")) == b" sea"
    assert spelling.of(VOCABULARY.index("<0xE6>")) == b"\xe6"
    assert spelling.of(10_000) == b""
    assert spelling.special == {0, 1}
    assert len(spelling.fallback) == 256
    ids = [3, 4, *_BYTES, 7]
    assert b"".join(map(spelling.of, ids)).decode() == " the seaé日😀."
    assert pieces_of(ids, _decode(LLAMA), spelling) == ["the", " sea", *[""] * 8, "é日😀", "."]


def test_a_tokenizer_of_another_kind_is_spelt_by_its_text() -> None:
    spelling = token_bytes(tiny.NumberTokenizer())
    assert (spelling.of(5), spelling.special, spelling.fallback) == (b" 5", frozenset(), frozenset())


@pytest.mark.model
def test_bytes_of_byte_level_tokens_are_those_of_the_text(smollm2: LocalModel) -> None:
    lm = smollm2.lm
    text = "L’été — 日本 😀😀 naïve\tcafé\n\n  x = 'Ω'"
    ids = lm.encode(text, False)
    assert any(lm.pieces[token] == "\ufffd" for token in ids)  # some tokens are no text by themselves
    assert b"".join(map(lm.token_bytes.of, ids)) == text.encode()
    for token in range(0, len(lm.tokenizer), 7):
        own = lm.token_bytes.of(token).decode("utf-8", "replace")
        assert own == lm.pieces[token] or "\ufffd" in own
    assert {lm.tokenizer.eos_token_id, 0} <= lm.token_bytes.special


@pytest.mark.model
@given(st.lists(st.integers(0, 49_151), max_size=40), st.text(alphabet="aé日😀 \n.", max_size=12))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_tokens_of_the_real_tokenizer(smollm2: LocalModel, ids: list[int], text: str) -> None:
    lm = smollm2.lm
    mixed = [*ids[:20], *(lm.encode(text, False) if text else []), *ids[20:]]
    _check(lm.tokenizer, lm.token_bytes, mixed)
