"""A served answer is the answer of the engine in one's own process, with a technique and without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from leadline.bench import load_benchmark
from leadline.engine import Generation, Prompt, Request, Sampling
from leadline.serving import Batcher, make_app, offered, running
from leadline.techniques import Question, Technique
from leadline.techniques.conversation import Job, converse
from leadline.techniques.prepared import Bench
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.spelling import technique_from
from tests.engine.prompts import prompts, questions
from tests.serving.asked import CHAT, at_once, chat, completion, error, post, texts

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

pytestmark = pytest.mark.model
TOKENS = 16


def in_process(model: LocalModel, asked: list[Prompt]) -> list[str]:
    requests = [Request(prompt, Sampling(0.0, TOKENS, ("\n",)), (at,)) for at, prompt in enumerate(asked)]
    found = dict(model.generate(requests))
    generations = [found[at] for at in range(len(asked))]
    assert all(isinstance(each, Generation) for each in generations)
    return [each.text for each in generations if isinstance(each, Generation)]


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
        assert [served(url, each) for each in asked[::4]] == expected[::4]


def test_a_drawn_answer_is_that_of_its_seed_alone_and_in_company(smollm2: LocalModel) -> None:
    asked = prompts(6, "chat")
    with serving(smollm2) as url:
        together = at_once([lambda each=each: served(url, each, temperature=0.9, seed=7) for each in asked])
        alone = [served(url, each, temperature=0.9, seed=7) for each in asked]
    assert together == alone


@pytest.mark.parametrize(
    "named", ["dola:layers=high", "recite:passage_tokens=24", "genread:passage_tokens=24"]
)
def test_a_technique_answers_over_http_as_in_a_study(smollm2: LocalModel, named: str) -> None:
    technique = technique_from(named)
    library = Prompts("few-shot")
    asked = questions(4)
    prepared = technique.prepare(smollm2.lm, Bench()) if technique.opens_the_model else None
    # Greedy all through, so that the keys of draws, which are the client's to name, play no part.
    technique = technique.model_copy(update={"temperature": 0.0} if named.startswith("recite") else {})
    jobs = [Job(Question(f"{at}", text), 0) for at, (text, _) in enumerate(asked)]
    options = {"prepared": prepared} if prepared else {}
    found = dict(converse(technique, jobs, library, smollm2.generate, **options))
    expected = [getattr(found[job], "text", None) for job in jobs]
    with running(make_app(Batcher(offered(smollm2, technique)))) as url:
        if technique.kind == "prompting":
            answers = at_once(
                [lambda text=text: texts(chat(url, text, temperature=0))[0] for text, _ in asked]
            )
        else:
            shown = [library.question(text) for text, _ in asked]
            answers = at_once([lambda each=each: served(url, each) for each in shown])
    assert answers == expected


def test_a_question_that_a_technique_was_fitted_on_gets_the_fit_without_it(smollm2: LocalModel) -> None:
    technique = technique_from("caa:multiplier=3,questions=12")
    items = load_benchmark("facts").items[:60]
    bench = Bench(items=items, digest=smollm2.identity.fit_digest)
    prepared = technique.prepare(smollm2.lm, bench)
    offer = offered(smollm2, technique, bench=bench)
    library = Prompts("few-shot")
    for item in items:
        text = library.question(item.question).text
        assert text is not None
        found = offer.intervention_for(text)
        own = prepared.for_item(item.id)
        assert [edit.layer for edit in found.edits] == [edit.layer for edit in own.edits]
        shifts = zip(found.edits, own.edits, strict=True)
        assert all((one.shift == two.shift).all() for one, two in shifts)
    sides = {id(offer.intervention_for(item.question)) for item in items}
    assert len(sides) == 2


def test_a_prompting_technique_takes_one_question_and_says_so(smollm2: LocalModel) -> None:
    technique = technique_from("recite:passage_tokens=8,max_tokens=4")
    with serving(smollm2, technique) as url:
        turns = [
            {"role": "user", "content": "Who?"},
            {"role": "assistant", "content": "I."},
            {"role": "user", "content": "And you?"},
        ]
        assert "one question" in error(post(url, CHAT, {"messages": turns}), 400)["message"]
        error(post(url, CHAT, {"messages": [{"role": "system", "content": "Be brief."}, turns[0]]}), 400)
        error(completion(url, "Who?"), 400)
        found = chat(url, "Which river flows through Seville?", n=3, seed=5)
        assert len(texts(found)) == 3
        # Both stages of all three choices were paid for.
        assert found.json()["usage"]["completion_tokens"] > 3 * 4
        again = chat(url, "Which river flows through Seville?", n=3, seed=5)
        assert texts(again) == texts(found)
        assert found.json()["model"] == "smollm2+recite"
