"""A conversation held with nobody: what a technique would send, and what is wrong with its prompts."""

from __future__ import annotations

from leadline.engine import Generation, Request
from leadline.errors import UsageError
from leadline.study.configuration import Configuration
from leadline.techniques import Question, Technique
from leadline.techniques.prompts_library import Prompts

_ASKED = "Is this rehearsal question shown?"
_QUESTION = Question("rehearsal", _ASKED, None, ("!",))


def rehearse(configuration: Configuration, prompts: Prompts) -> None:
    """Raise UsageError for a prompt that does not show the question: now, not in an hour."""
    for stage, request in requests_of(configuration.technique, prompts):
        if any(_ASKED in text for text in shown(request)):
            continue
        used = [prompts.file(name) for name in configuration.technique.prompt_names]
        mute = [file.origin for file in used if "question" not in file.text]
        raise UsageError(
            f"{configuration.name}: the prompt of the stage {stage!r} does not show the question",
            where=mute[0] if mute else str(prompts.folder or "leadline"),
            fix="put {{ question }} where it belongs",
        )


def requests_of(
    technique: Technique, prompts: Prompts, question: Question = _QUESTION, heard: str | None = "-"
) -> list[tuple[str, Request]]:
    """The stages of an answer and what is sent at each, where every generation is `heard`; None: a text as
    long as it may be, of about four characters a token."""
    conversation = technique.ask(question, 0, prompts)
    generation: Generation | None = None
    found = []
    try:
        while True:
            # A generator is started with None.
            stage, request = conversation.send(generation)  # type: ignore[arg-type]
            found.append((stage, request))
            text = heard if heard is not None else "abc " * request.sampling.max_tokens
            generation = Generation(text, "stop", 1, (0,))
    except StopIteration:
        return found


def shown(request: Request) -> list[str]:
    """The texts of a request's prompt."""
    return [request.prompt.text or "", *(text for _, text in request.prompt.messages or ())]


def draws(technique: Technique, prompts: Prompts) -> bool:
    """Whether anything is drawn on the way to an answer, so that another key gives another one."""
    return any(request.sampling.temperature > 0 for _, request in requests_of(technique, prompts))
