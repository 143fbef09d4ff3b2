"""From a request's body to what the model is asked: one conversation for each choice.

A plain prompt is one call. A prompting technique (RECITE, GenRead) takes the user's message as the question
and holds its own conversation; what the client says about sampling holds for its last stage, the answer.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from leadline.engine import Prompt, Request, Sampling
from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.serving.offer import Offer
from leadline.serving.parameters import Body, ChatBody, CompletionBody, Message
from leadline.serving.problem import TOO_LONG, ProblemError, unsupported, wrong
from leadline.techniques import Question, Technique

# As OpenAI's API has them: an unsaid temperature is 1, an unsaid length of a completion 16 tokens.
TEMPERATURE = 1.0
COMPLETION_TOKENS = 16
# Choices of one request, over all its prompts.
MAX_CHOICES = 256
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
# Tokens and alternatives whose log-probabilities are told in one response: some hundred megabytes of JSON.
MAX_TOLD = 1_000_000
# Below this a temperature is nothing but 0 with roundings.
_COLDEST = 1e-6
# The stage whose text is the answer; techniques call it so.
_ANSWER = "answer"


@dataclass(frozen=True)
class Call:
    """One generation. shown: whether its text is the answer's."""

    request: Request
    shown: bool = True


@dataclass(frozen=True)
class Scoring:
    """How likely the tokens of a text are, with `top` alternatives each."""

    ids: tuple[int, ...]
    top: int


# What a choice asks, step by step; it is sent what came back: a Generation, or the scores of a text's tokens.
Talk: TypeAlias = Generator[Call | Scoring, Any, None]


@dataclass(frozen=True, eq=False)
class Choice:
    """One answer to draw, under an intervention."""

    talk: Talk
    intervention: Intervention


@dataclass(frozen=True)
class Asked:
    """What a request asks for.

    choices: prompt by prompt. prompt_tokens: of all prompts, each counted once; None where a technique writes
    its own, which then count. echoes: the text that each choice begins with. seed: what the draws are keyed
    with.
    """

    choices: Sequence[Choice]
    seed: int
    prompt_tokens: int | None
    echoes: Sequence[str] = ()


def of_chat(offer: Offer, body: ChatBody, default_tokens: int) -> Asked:
    """What a chat asks. Raises ProblemError (400) for what cannot be asked."""
    if body.top_logprobs is not None and not body.logprobs:
        raise wrong("top_logprobs", "has a meaning only with logprobs: true")
    top = (body.top_logprobs or 0) if body.logprobs else None
    tokens = body.max_completion_tokens or body.max_tokens
    seed = secrets.randbits(31) if body.seed is None else body.seed
    messages = conversation(body.messages)
    if offer.asks is not None:
        _check_temperature(body)
        _check_told((body.n or 1) * (tokens or 0), top)
        question = _question(messages, offer.asks)
        intervention = offer.intervention_for(question)
        choices = [
            Choice(_by_technique(offer, offer.asks, question, body, tokens, top, seed, n), intervention)
            for n in range(body.n or 1)
        ]
        return Asked(choices, seed, None)
    prompt = Prompt(messages=messages)
    ids, text = _ids(offer, prompt, "messages")
    sampling = _sampling(offer, body, _room(offer, len(ids), tokens, default_tokens), top)
    _check_told((body.n or 1) * sampling.max_tokens, top)
    return Asked(_plain(offer, ids, text, sampling, seed, body.n or 1), seed, len(ids))


def of_completion(offer: Offer, body: CompletionBody, default_tokens: int = COMPLETION_TOKENS) -> Asked:
    """What a completion asks. Raises ProblemError (400) for what cannot be asked."""
    if offer.asks is not None:
        raise ProblemError(
            400, f"{offer.asks.name} puts a question in a way of its own: ask it by /v1/chat/completions"
        )
    prompts = _prompts(body.prompt)
    if len(prompts) * (body.n or 1) > MAX_CHOICES:
        raise wrong("prompt", f"{MAX_CHOICES} answers at most are given to one request")
    if body.echo and body.logprobs is not None:
        if not offer.scores_texts:
            raise unsupported(
                "echo", "the technique acts from a prompt's end on, and where that is cannot be told"
            )
        if body.stream:
            raise unsupported("echo", "with logprobs it cannot be streamed")
    seed = secrets.randbits(31) if body.seed is None else body.seed
    choices: list[Choice] = []
    echoes: list[str] = []
    total = told = 0
    for prompt in prompts:
        ids, text = _ids(offer, prompt, "prompt")
        room = 0 if body.max_tokens == 0 else _room(offer, len(ids), body.max_tokens, default_tokens)
        if room == 0:
            _check_length(offer, len(ids), 0)
        scoring = Scoring(ids, body.logprobs) if body.echo and body.logprobs is not None else None
        sampling = _sampling(offer, body, room, body.logprobs) if room else None
        choices += _plain(offer, ids, text, sampling, seed, body.n or 1, scoring)
        echoes += [text if body.echo else ""] * (body.n or 1)
        total += len(ids)
        told += (body.n or 1) * (room + len(ids) * bool(body.echo))
        _check_told(told, body.logprobs)
    return Asked(choices, seed, total, echoes)


def _check_told(tokens: int, top: int | None) -> None:
    if top is not None and tokens * (1 + top) > MAX_TOLD:
        raise wrong("logprobs", f"{MAX_TOLD:,} are told at most: of fewer answers, tokens, alternatives")


def conversation(messages: Sequence[Message]) -> tuple[tuple[str, str], ...]:
    """(role, text) of each message. Raises ProblemError (400) for what is no text."""
    return tuple(_message(each, at) for at, each in enumerate(messages))


def _message(message: Message, at: int) -> tuple[str, str]:
    where = f"messages.{at}"
    if message.role not in _ROLES:
        raise unsupported(f"{where}.role", "known roles are system, developer, user and assistant")
    if isinstance(message.content, str):
        return _ROLES[message.role], message.content
    if not message.content:
        raise wrong(f"{where}.content", "is missing")
    texts = []
    for part in message.content:
        if part.type != "text" or part.text is None:
            raise unsupported(
                f"{where}.content", "parts of a message are texts; there are no images or sounds"
            )
        texts.append(part.text)
    return _ROLES[message.role], "\n".join(texts)


def _question(messages: Sequence[tuple[str, str]], technique: Technique) -> str:
    if [role for role, _ in messages] != ["user"]:
        raise wrong(
            "messages", f"{technique.name} answers one question: one message of the user, and no other"
        )
    if not messages[0][1].strip():
        raise wrong("messages", "the question is empty")
    return messages[0][1]


def _prompts(prompt: str | list[Any]) -> list[Prompt]:
    if isinstance(prompt, str):
        return [Prompt(text=prompt)]
    if not prompt:
        raise wrong("prompt", "is empty")
    if isinstance(prompt[0], int):
        return [Prompt(tokens=tuple(prompt))]
    return [Prompt(text=each) if isinstance(each, str) else Prompt(tokens=tuple(each)) for each in prompt]


def _ids(offer: Offer, prompt: Prompt, param: str) -> tuple[tuple[int, ...], str]:
    """Token ids of a prompt, and its text as the model sees it."""
    import jinja2

    try:
        if prompt.tokens is not None:
            ids = tuple(offer.reader.ids_of(prompt))
            return ids, offer.reader.text_of(prompt)
        text = offer.reader.text_of(prompt)
        if longest := offer.longest_token:
            _check_length(offer, len(text.encode()) // longest, 0, "at least ")
        return tuple(offer.reader.ids_of(prompt)), text
    except UsageError as error:
        raise ProblemError(400, str(error), param=param) from None
    except jinja2.TemplateError as error:
        reason = " ".join(str(error).split())[:200]
        raise ProblemError(400, f"the model's chat template refuses it: {reason}", param=param) from None


def _room(offer: Offer, prompt: int, wanted: int | None, default: int) -> int:
    """The longest answer, in tokens."""
    left = offer.reader.context_length - prompt
    tokens = wanted if wanted is not None else max(1, min(default, left))
    _check_length(offer, prompt, tokens)
    return tokens


def _check_length(offer: Offer, prompt: int, tokens: int, about: str = "") -> None:
    room = offer.reader.context_length
    if prompt + tokens > room:
        asked = f"the prompt has {about}{prompt}, and {tokens} are asked for"
        raise ProblemError(400, f"the model has room for {room} tokens; {asked}", code=TOO_LONG)


def _sampling(offer: Offer, body: Body, tokens: int, top: int | None) -> Sampling:
    _check_temperature(body)
    return Sampling(
        temperature=TEMPERATURE if body.temperature is None else body.temperature,
        max_tokens=tokens,
        stop=body.stops,
        repetition_penalty=body.repetition_penalty or offer.repetition_penalty,
        top_p=1.0 if body.top_p is None else body.top_p,
        logprobs=top,
    )


def _check_temperature(body: Body) -> None:
    if body.temperature is not None and 0 < body.temperature < _COLDEST:
        raise wrong("temperature", f"must be 0, or at least {_COLDEST:g}")


def _plain(
    offer: Offer,
    ids: tuple[int, ...],
    text: str,
    sampling: Sampling | None,
    seed: int,
    n: int,
    scoring: Scoring | None = None,
) -> list[Choice]:
    """`n` choices; their draws are keyed by seed, prompt and which of the n it is."""
    name = hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()
    intervention = offer.intervention_for(text)

    def talk(number: int) -> Talk:
        if scoring:
            yield scoring
        if sampling:
            yield Call(Request(Prompt(tokens=ids), sampling, (seed, name, number)))

    return [Choice(talk(number), intervention) for number in range(n)]


def _by_technique(
    offer: Offer,
    technique: Technique,
    question: str,
    body: ChatBody,
    tokens: int | None,
    top: int | None,
    seed: int,
    number: int,
) -> Talk:
    """A technique's own conversation. Its answer is drawn as the client says, where the client says it."""
    name = hashlib.sha256(question.encode()).hexdigest()
    said: dict[str, Any] = {
        "temperature": body.temperature,
        "max_tokens": tokens,
        "top_p": body.top_p,
        "repetition_penalty": body.repetition_penalty,
        "logprobs": top,
    }
    changes = {key: value for key, value in said.items() if value is not None}
    conversation = technique.ask(Question(name, question), number, offer.prompts)
    stage, request = next(conversation)
    while True:
        shown = stage == _ANSWER
        sampling = request.sampling
        if shown:
            stops = tuple(dict.fromkeys((*sampling.stop, *body.stops)))
            sampling = replace(sampling, stop=stops, **changes)
        generation = yield Call(replace(request, sampling=sampling, key=(seed, name, number, stage)), shown)
        try:
            stage, request = conversation.send(generation)
        except StopIteration:
            return
