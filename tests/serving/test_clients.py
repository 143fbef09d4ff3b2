"""The clients that people have, as they are installed: OpenAI's, inspect-ai's, lm-evaluation-harness'."""

from __future__ import annotations

import asyncio
import json
import logging
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import openai
import pytest

from leadline.serving import Batcher, make_app, offered, running
from tests.serving.asked import chat, texts, user

if TYPE_CHECKING:
    from leadline.models.local import LocalModel


@pytest.fixture(autouse=True)
def no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def client(server: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server}/v1", api_key="none", max_retries=0) as made:
        yield made


def test_openais_client_reads_a_chat(client: openai.OpenAI, server: str) -> None:
    asked: dict[str, Any] = {"messages": user("ab"), "n": 2, "seed": 3, "max_completion_tokens": 6}
    ignored: dict[str, Any] = {"user": "someone", "store": False, "metadata": {"a": "b"}}
    found: Any = client.chat.completions.create(
        model="little", logprobs=True, top_logprobs=2, **asked, **ignored
    )
    assert [choice.message.content for choice in found.choices] == texts(
        chat(server, "ab", n=2, seed=3, max_tokens=6)
    )
    assert found.usage is not None and found.usage.prompt_tokens == 3
    entry = found.choices[0].logprobs.content[0]
    assert len(entry.top_logprobs) == 2 and entry.logprob <= 0
    # What comes is what the client's own types say, to the last field.
    type(found).model_validate(json.loads(found.model_dump_json()), strict=True)


def test_openais_client_reads_a_stream(client: openai.OpenAI, server: str) -> None:
    asked: dict[str, Any] = {"messages": user("ab"), "seed": 3, "max_tokens": 20}
    with client.chat.completions.create(
        model="little", stream=True, stream_options={"include_usage": True}, **asked
    ) as stream:
        found = list(stream)
    said = "".join(chunk.choices[0].delta.content or "" for chunk in found if chunk.choices)
    assert [said] == texts(chat(server, "ab", seed=3, max_tokens=20))
    assert found[-1].usage.total_tokens == 3 + found[-1].usage.completion_tokens


def test_openais_client_knows_the_errors(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(model="little", messages=[{"role": "user", "content": "a" * 600}])
    assert raised.value.code == "context_length_exceeded"
    with pytest.raises(openai.NotFoundError):
        client.completions.create(model="large", prompt="a")
    with pytest.raises(openai.BadRequestError) as raised:
        client.completions.create(model="little", prompt="a", logit_bias={"5": 10})
    assert raised.value.param == "logit_bias"
    assert client.models.list().data[0].id == "little"


def test_inspects_providers_read_answers_logprobs_and_lengths(server: str) -> None:
    from inspect_ai.model import GenerateConfig, get_model

    # tenacity renamed what inspect-ai calls it with.
    warnings.filterwarnings("ignore", message="The 'initial' parameter is deprecated")

    async def ask(provider: str, text: str, **config: Any) -> Any:
        name = f"{provider}/local/little"
        model = get_model(name, base_url=f"{server}/v1", api_key="none", memoize=False)
        async with model:
            return await model.generate(text, config=GenerateConfig(max_retries=0, **config))

    settings: dict[str, Any] = {"max_tokens": 6, "temperature": 0.8, "seed": 5, "num_choices": 2}
    found = asyncio.run(ask("openai-api", "ab", logprobs=True, top_logprobs=2, **settings))
    expected = texts(chat(server, "ab", n=2, seed=5, max_tokens=6, temperature=0.8))
    assert [choice.message.text for choice in found.choices] == expected
    assert found.usage.input_tokens == 3
    assert len(found.choices[0].logprobs.content[0].top_logprobs) == 2
    assert asyncio.run(ask("openai-api", "a" * 600)).stop_reason == "model_length"
    raw = asyncio.run(ask("openai-api-completions", "ab", max_tokens=3, logprobs=True))
    assert raw.choices[0].logprobs.content and raw.stop_reason in ("stop", "max_tokens")


def test_the_harness_finds_the_tokenizer_and_scores_texts_as_it_does_itself(
    little: LocalModel, server: str, caplog: pytest.LogCaptureFixture
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the harness' own, at its import
        from lm_eval.api.instance import Instance
        from lm_eval.models.huggingface import HFLM
        from lm_eval.models.openai_completions import LocalCompletionsAPI

        pairs = [("the cab", " is"), ("a", "b"), ("ab ab", " ab ab"), ("x", " y z")]
        asked = [Instance("loglikelihood", {}, pair, at) for at, pair in enumerate(pairs)]
        until = {"until": ["e"], "max_gen_toks": 6}
        wanted = [Instance("generate_until", {}, ("the cab", until), 0)]
        own = HFLM(pretrained=little.lm.model, tokenizer=little.lm.tokenizer, batch_size=2)
        expected, written = own.loglikelihood(asked), own.generate_until(wanted)
        with caplog.at_level(logging.WARNING, logger="lm_eval"):
            caplog.clear()
            served = LocalCompletionsAPI(
                model="little",
                base_url=f"{server}/v1/completions",
                tokenizer_backend="auto",
                num_concurrent=2,
            )
            assert served.tokenizer_backend == "remote"
            found, said = served.loglikelihood(asked), served.generate_until(wanted)
    assert [value for value, _ in found] == pytest.approx([value for value, _ in expected], abs=1e-4)
    assert [greedy for _, greedy in found] == [greedy for _, greedy in expected]
    assert said == written
    assert "fail" not in caplog.text.lower()


def test_a_client_that_shows_the_token_is_served(little: LocalModel) -> None:
    with running(make_app(Batcher(offered(little)), token="sesame-7", hosts=None)) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="sesame-7", max_retries=0)
        assert client.models.list().data
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="other").models.list()
        client.close()
