"""A served answer is the answer of the engine in one's own process, with a technique and without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from leadline.engine import Generation, Prompt, Request, Sampling
from leadline.serving import Batcher, make_app, offered, running
from leadline.techniques import Answer, Question, Technique
from leadline.techniques.conversation import Job, converse
from leadline.techniques.prepared import AS_IT_IS, Bench, Prepared
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.spelling import technique_from
from tests.engine.prompts import prompts, questions
from tests.serving.asked import CHAT, at_once, chat, completion, error, post, texts, user

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

pytestmark = pytest.mark.model
TOKENS = 6


def in_process(model: LocalModel, asked: list[Prompt]) -> list[str]:
    requests = [Request(prompt, Sampling(0.0, TOKENS, ("\n",)), (at,)) for at, prompt in enumerate(asked)]
    found = dict(model.generate(requests))
    generations = [found[at] for at in range(len(asked))]
    assert all(isinstance(each, Generation) for each in generations)
    return [each.text for each in generations if isinstance(each, Generation)]


def in_a_study(model: LocalModel, technique: Technique, prepared: Prepared = AS_IT_IS) -> list[str]:
    jobs = [Job(Question(f"{at}", text), 0) for at, (text, _) in enumerate(questions(2))]
    found = dict(converse(technique, jobs, Prompts("few-shot"), model.generate, prepared))
    answers = [found[job] for job in jobs]
    assert all(isinstance(each, Answer) for each in answers)
    return [each.text for each in answers if isinstance(each, Answer)]


def served(url: str, prompt: Prompt, **parameters: Any) -> str:
    parameters = {"temperature": 0, "max_tokens": TOKENS, "stop": ["\n"], **parameters}
    if prompt.messages is None:
        (text,) = texts(completion(url, prompt.text, **parameters))
    else:
        messages = [{"role": role, "content": content} for role, content in prompt.messages]
        (text,) = texts(post(url, CHAT, {"messages": messages, **parameters}))
    return text


@contextmanager
def serving(model: LocalModel, technique: Technique | None = None, **options: Any) -> Iterator[str]:
    with running(make_app(Batcher(offered(model, technique, **options)))) as url:
        yield url


def test_served_answers_at_temperature_0_are_those_of_the_engine(smollm2: LocalModel) -> None:
    asked = [*prompts(20, "few-shot"), *prompts(20, "chat")]
    expected = in_process(smollm2, asked)
    assert len(set(expected)) > 20
    with serving(smollm2) as url:
        assert at_once([lambda each=each: served(url, each) for each in asked]) == expected
        assert [served(url, each) for each in asked[::8]] == expected[::8]


def test_a_decoding_technique_answers_over_http_as_in_a_study(smollm2: LocalModel) -> None:
    technique = technique_from("dola:layers=high")
    prepared = technique.prepare(smollm2.lm, Bench(digest=smollm2.identity.fit_digest))
    expected = in_a_study(smollm2, technique.model_copy(update={"max_tokens": TOKENS}), prepared)
    with serving(smollm2, technique) as url:
        shown = [Prompts("few-shot").question(text) for text, _ in questions(2)]
        assert at_once([lambda each=each: served(url, each) for each in shown]) == expected
        assert post(url, CHAT, {"model": "smollm2", "messages": user("a")}).status_code == 404


def test_a_prompting_technique_holds_its_own_conversation_about_one_question(smollm2: LocalModel) -> None:
    # Greedy all through, so that the keys of draws, which are the client's to name, play no part.
    technique = technique_from(f"recite:temperature=0,passage_tokens=10,max_tokens={TOKENS}")
    expected = in_a_study(smollm2, technique)
    with serving(smollm2, technique) as url:
        ask = [lambda text=text: chat(url, text, n=2) for text, _ in questions(2)]
        found = at_once(ask)
        assert [texts(each) for each in found] == [[text, text] for text in expected]
        # Both stages of both choices were paid for.
        usage = found[0].json()["usage"]
        assert usage["completion_tokens"] >= 2 * 10 and usage["prompt_tokens"] > 2 * 300
        assert found[0].json()["model"] == "smollm2+recite"
        turns = [*user("Who?"), {"role": "assistant", "content": "I."}, *user("And you?")]
        assert "one question" in error(post(url, CHAT, {"messages": turns}), 400)["message"]
        instructed = [{"role": "system", "content": "Be brief."}, *user("Who?")]
        error(post(url, CHAT, {"messages": instructed}), 400)
        error(completion(url, "Who?"), 400)
        assert error(chat(url, " "), 400)["param"] == "messages"
