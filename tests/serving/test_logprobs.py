"""Log-probabilities are those of the engine, in the words of both APIs."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from leadline.engine import Prompt, Request, Sampling, TokenLogprob
from leadline.serving import logprobs
from tests.serving.asked import chat, completion, error, texts

if TYPE_CHECKING:
    from leadline.models.local import LocalModel


def test_a_chats_logprobs_are_the_engines(server: str, little: LocalModel) -> None:
    parameters: dict[str, Any] = {"temperature": 0, "max_tokens": 12}
    (choice,) = chat(server, "ab", logprobs=True, top_logprobs=3, **parameters).json()["choices"]
    prompt = Prompt(messages=(("user", "ab"),))
    ((_, found),) = little.generate([Request(prompt, Sampling(0.0, 12, logprobs=3), (0,))])
    content = choice["logprobs"]["content"]
    own = logprobs.with_text(found.logprobs)  # type: ignore[union-attr]
    assert [entry["logprob"] for entry in content] == [each.logprob for each in own]
    assert "".join(entry["token"] for entry in content) == choice["message"]["content"]
    for entry in content:
        assert len(entry["top_logprobs"]) == 3
        assert entry["top_logprobs"][0]["logprob"] == max(each["logprob"] for each in entry["top_logprobs"])
        assert entry["top_logprobs"][0]["token"] == entry["token"]  # greedy
        assert bytes(entry["bytes"]).decode() == entry["token"]
    assert choice["logprobs"]["refusal"] is None


def test_without_alternatives_only_the_tokens_own_are_told(server: str) -> None:
    (choice,) = chat(server, "ab", logprobs=True, max_tokens=3, seed=1).json()["choices"]
    assert choice["logprobs"]["content"]
    assert all(entry["top_logprobs"] == [] for entry in choice["logprobs"]["content"])
    (choice,) = completion(server, "ab", logprobs=0, max_tokens=3, seed=1).json()["choices"]
    assert [list(top.values()) for top in choice["logprobs"]["top_logprobs"]] == [
        [value] for value in choice["logprobs"]["token_logprobs"]
    ]
    error(chat(server, "ab", top_logprobs=3), 400)


def test_an_echoed_prompt_is_scored_and_its_first_token_has_no_score(server: str) -> None:
    parameters: dict[str, Any] = {"temperature": 0, "echo": True, "logprobs": 2}
    (written,) = completion(server, "the cab", max_tokens=8, **parameters).json()["choices"]
    whole = written["text"]
    assert whole.startswith("the cab")
    (scored,) = completion(server, whole, max_tokens=0, **parameters).json()["choices"]
    assert scored["text"] == whole
    one, two = written["logprobs"], scored["logprobs"]
    count = len(two["tokens"])
    assert two["token_logprobs"][0] is None and two["top_logprobs"][0] is None
    assert two["tokens"] == one["tokens"][:count] and "".join(two["tokens"]) == whole
    assert two["text_offset"] == one["text_offset"][:count] == list(range(count))
    # Written token by token or read in one pass, a text is as likely.
    assert two["token_logprobs"][1:] == pytest.approx(one["token_logprobs"][1:count], abs=1e-4)
    for chosen, best in zip(two["token_logprobs"][7:], two["top_logprobs"][7:], strict=True):
        assert chosen == max(best.values())  # greedy, as harnesses ask for it
    assert [list(best) == sorted(best, key=lambda name: -best[name]) for best in two["top_logprobs"][1:]]


def test_texts_that_are_scored_together_are_scored_as_alone(server: str) -> None:
    asked = ["the cab", "abc", "a b c d e", "the"]
    parameters: dict[str, Any] = {"max_tokens": 1, "echo": True, "logprobs": 1, "temperature": 0}
    together = [each["logprobs"] for each in completion(server, asked, **parameters).json()["choices"]]
    for prompt, found in zip(asked, together, strict=True):
        (alone,) = completion(server, prompt, **parameters).json()["choices"]
        assert alone["logprobs"]["tokens"] == found["tokens"]
        assert alone["logprobs"]["token_logprobs"][1:] == pytest.approx(found["token_logprobs"][1:], abs=1e-5)


def test_probabilities_that_json_does_not_have_and_halves_of_characters_are_spelt_out() -> None:
    half = TokenLogprob(7, "", b"\xe2\x82", -math.inf, (("\ufffd", b"\xe2\x82", -0.5), ("a", b"a", -1.0)))
    rest = TokenLogprob(8, "€", b"\xac", -0.1, ())
    end = TokenLogprob(2, "", b"", -0.2, ())
    found = logprobs.of_chat([half, rest, end])
    names = [entry["token"] for entry in found["content"]]
    assert names == ["bytes:\\xe2\\x82", "€"]
    assert found["content"][0]["logprob"] == -9999.0
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    told = logprobs.of_completion([half, rest, end], ["", "€", ""], 4)
    assert told["tokens"][:2] == names and told["text_offset"] == [4, 4, 5]
    assert told["top_logprobs"][0] == {"a": -1.0, "bytes:\\xe2\\x82": -9999.0}


def test_the_likelier_of_two_tokens_of_one_name_stands() -> None:
    chosen = TokenLogprob(5, "x", b"x", -3.0, (("x", b" x", -0.5), ("y", b"y", -1.0)))
    (top,) = logprobs.of_completion([chosen], ["x"], 0)["top_logprobs"]
    assert top == {"x": -0.5, "y": -1.0}


def test_a_choices_text_is_all_its_tokens_text_where_a_stop_string_cut_it(server: str) -> None:
    whole = texts(completion(server, "ab", seed=9, max_tokens=30, temperature=1.2))[0]
    stop = whole[6:8]
    found = completion(server, "ab", seed=9, max_tokens=30, temperature=1.2, stop=stop, logprobs=1).json()
    (choice,) = found["choices"]
    assert choice["text"] == whole[: whole.index(stop)] and choice["finish_reason"] == "stop"
    assert "".join(choice["logprobs"]["tokens"]) == choice["text"]
