"""What would change an answer is obeyed or refused by name; what changes none is ignored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from leadline.serving.parameters import ChatBody, CompletionBody, read_body, read_json
from leadline.serving.problem import ProblemError

MESSAGES = [{"role": "user", "content": "a"}]


def read(**parameters: Any) -> ChatBody:
    return read_body(ChatBody, json.dumps({"messages": MESSAGES, **parameters}).encode())


def refused(**parameters: Any) -> ProblemError:
    with pytest.raises(ProblemError) as raised:
        read(**parameters)
    assert raised.value.status == 400
    assert raised.value.kind == "invalid_request_error"
    return raised.value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tools", [{"type": "function"}]),
        ("functions", [{"name": "f"}]),
        ("tool_choice", "required"),
        ("response_format", {"type": "json_object"}),
        ("logit_bias", {"50": -100}),
        ("presence_penalty", 0.5),
        ("frequency_penalty", -0.1),
        ("reasoning_effort", "low"),
        ("top_k", 40),
        ("min_p", 0.05),
        ("best_of", 3),
        ("suffix", "."),
        ("guided_json", {}),
        ("temprature", 0.3),
    ],
)
def test_what_is_not_known_and_would_change_the_answer_is_refused_by_name(name: str, value: Any) -> None:
    problem = refused(**{name: value})
    assert problem.param == name
    assert name in problem.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tools", []),
        ("tools", None),
        ("tool_choice", "none"),
        ("response_format", {"type": "text"}),
        ("logit_bias", {}),
        ("presence_penalty", 0),
        ("frequency_penalty", 0.0),
        ("modalities", ["text"]),
        ("top_k", -1),
        ("user", "u-1"),
        ("metadata", {"run": "7"}),
        ("store", True),
        ("service_tier", "auto"),
        ("guided_json", None),
    ],
)
def test_what_asks_for_nothing_is_ignored(name: str, value: Any) -> None:
    assert read(**{name: value}).messages[0].content == "a"


def test_zero_is_not_false_where_a_penalty_is_meant() -> None:
    assert refused(presence_penalty=False).param == "presence_penalty"
    assert refused(ignore_eos=0).param == "ignore_eos"


@pytest.mark.parametrize(
    ("parameters", "param"),
    [
        ({"temperature": "0.7"}, "temperature"),
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"top_p": 1.01}, "top_p"),
        ({"n": 129}, "n"),
        ({"n": 0}, "n"),
        ({"n": 1.5}, "n"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": "16"}, "max_tokens"),
        ({"seed": 0.5}, "seed"),
        ({"stop": ["x"] * 17}, "stop"),
        ({"stop": [""]}, "stop.0"),
        ({"stop": ""}, "stop"),
        ({"stop": [None]}, "stop.0"),
        ({"stream": "yes"}, "stream"),
        ({"top_logprobs": 21}, "top_logprobs"),
        ({"repetition_penalty": 0}, "repetition_penalty"),
        ({"messages": []}, "messages"),
        ({"messages": "a"}, "messages"),
        ({"messages": [{"content": "a"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages.0.content"),
    ],
)
def test_a_wrong_value_is_named(parameters: dict[str, Any], param: str) -> None:
    problem = refused(**parameters)
    assert problem.param is not None
    assert problem.param == param or problem.param.startswith(f"{param}.")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"stop": ["x"] * 17}, "stop: has 16 entries at most"),
        ({"stop": 5}, "stop: must be a text, or a list of texts"),
        ({"stop": ""}, "stop: is empty"),
        ({"max_tokens": -1}, "max_tokens: must be at least 1"),
        ({"max_tokens": 0}, "max_tokens: must be at least 1"),
        ({"max_tokens": "5"}, "max_tokens: must be a whole number"),
        ({"top_p": 0}, "top_p: must be more than 0"),
        ({"stream": "yes"}, "stream: must be true or false"),
        ({"stream_options": 3}, "stream_options: must be an object"),
        ({"messages": []}, "messages: is empty"),
        ({"messages": [[]]}, "messages.0: must be an object"),
        (
            {"messages": [{"role": "user", "content": 5}]},
            "messages.0.content: must be a text, or a list of parts that are texts",
        ),
        (
            {"messages": [{"role": "user", "content": [{"text": "a"}]}]},
            "messages.0.content.0.type is missing",
        ),
        ({"foo": 1}, "foo is no parameter that is known here, and might change the answer"),
        ({"top_k": 5}, "top_k is not supported here, and would change the answer"),
    ],
)
def test_a_fault_is_told_in_plain_words(parameters: dict[str, Any], said: str) -> None:
    assert refused(**parameters).message == said


def test_a_prompt_of_no_known_form_is_told_which_forms_there_are() -> None:
    prompts: tuple[Any, ...] = (None, ["a", 1], {}, [1.5])
    for prompt in prompts:
        with pytest.raises(
            ProblemError, match="prompt: must be a text, a list of texts, a list of token ids"
        ):
            read_body(CompletionBody, json.dumps({"prompt": prompt}).encode())


@pytest.mark.parametrize(
    ("inside", "param"),
    [
        ({"name": "bob"}, "messages.0.name"),
        ({"foo": 1}, "messages.0.foo"),
        ({"tool_calls": [{"id": "1"}]}, "messages.0.tool_calls"),
        ({"type": "image"}, "messages.0.type"),
        ({"content": [{"type": "text", "text": "a", "foo": 1}]}, "messages.0.content.0.foo"),
    ],
)
def test_what_a_message_brings_along_and_no_model_sees_is_refused_by_name(
    inside: dict[str, Any], param: str
) -> None:
    problem = refused(messages=[{"role": "user", "content": "a", **inside}])
    assert problem.param == param and param in problem.message


def test_an_answer_can_be_sent_back_as_openais_client_writes_it() -> None:
    answer: dict[str, Any] = {
        "role": "assistant",
        "content": "a",
        "refusal": None,
        "annotations": [],
        "tool_calls": None,
    }
    part = {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}
    body = read(messages=[*MESSAGES, answer, {"role": "user", "content": [part], "type": "text"}])
    assert len(body.messages) == 3


@pytest.mark.parametrize(
    "raw",
    [
        b'{"messages": [{"role": "user", "content": "a"}], "temperature": 0, "temperature": 1}',
        b'{"messages": [{"role": "user", "content": "a", "temperature": 1, "temperature": 1}]}',
    ],
)
def test_a_key_that_stands_twice_is_named(raw: bytes) -> None:
    with pytest.raises(ProblemError, match="temperature stands twice in one object"):
        read_body(ChatBody, raw)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ProblemError, match="messages is missing"):
        read_body(ChatBody, b"{}")
    with pytest.raises(ProblemError, match="prompt is missing"):
        read_body(CompletionBody, b'{"max_tokens": 3}')


def test_a_message_of_text_parts_and_null_parameters_are_read() -> None:
    body = read(
        messages=[{"role": "user", "content": [{"type": "text", "text": "a"}], "name": None}],
        temperature=None,
        stop=None,
        seed=None,
        stream_options={"include_usage": True},
    )
    assert body.stops == () and body.tells_usage and body.temperature is None


@pytest.mark.parametrize("prompt", ["a", ["a", "b"], [1, 2, 3], [[1, 2], [3]]])
def test_all_four_forms_of_a_prompt_are_read(prompt: Any) -> None:
    assert read_body(CompletionBody, json.dumps({"prompt": prompt}).encode()).prompt == prompt


@pytest.mark.parametrize("prompt", [7, [1, "a"], [[1], "a"], [[-1]], [1.5], {"a": 1}, None])
def test_another_form_of_a_prompt_is_refused(prompt: Any) -> None:
    with pytest.raises(ProblemError) as raised:
        read_body(CompletionBody, json.dumps({"prompt": prompt}).encode())
    assert (raised.value.param or "").startswith("prompt")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b'"a"',
        b"\xff\xfe{}",
        b'{"temperature": NaN}',
        b'{"seed": ' + b"9" * 6000 + b"}",
        b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    ],
)
def test_what_is_no_json_object_is_refused(raw: bytes) -> None:
    with pytest.raises(ProblemError) as raised:
        read_json(raw)
    assert (raised.value.status, raised.value.code) == (400, "invalid_json")


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(ProblemError) as raised:
        read_body(ChatBody, b'{"messages": [{"role": "user", "content": "\\ud800"}]}')
    assert raised.value.status == 400
    with pytest.raises(ProblemError):
        read_body(CompletionBody, b'{"prompt": "a", "stop": "\\udfff"}')


def test_a_name_that_a_client_made_up_cannot_steer_a_terminal() -> None:
    problem = refused(**{"\x1b[2J\n" + "x" * 500: 1})
    assert problem.message.isprintable() and len(problem.message) < 200
