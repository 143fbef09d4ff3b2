"""Any chat model of Leadline as an extractor: on this machine, or behind an API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from leadline.build.extract.chat_answer import SCHEMA, read_answer
from leadline.build.extract.chat_prompt import PROMPT, prompts_of
from leadline.build.extract.extractor import Extracted, Extractor, Passage
from leadline.build.extract.model_reference import model_reference
from leadline.build.plan import Plan
from leadline.build.plan_file import where_in
from leadline.engine import Failure, Prompt, Request, Sampling
from leadline.errors import LeadlineError, UsageError
from leadline.models.served.reference import is_served, read_reference
from leadline.techniques.prompts_library import Prompts, Style

if TYPE_CHECKING:
    from leadline.models.model import Model

AnswerT = TypeVar("AnswerT")


class ChatExtractor(Extractor):
    """Shows passages to a model with a prompt, greedily, and reads JSON off its answers.

    A passage that the model cannot be asked about (it is too long, the request is refused) is noted as
    "failed". A failure that would pass ends the run with a LeadlineError: what is done stays, and is not
    asked again.
    """

    def __init__(self, model: Model, prompts: Prompts, max_tokens: int = 512) -> None:
        """`prompts` hold the template "prompt", into which `title` and `passage` are put."""
        self.name = f"chat:{model.identity.name}"
        self._model, self._prompts = model, prompts
        # A model that continues a text goes on with the next passage.
        stop = ("\nTitle of the page:",) if prompts.style == "few-shot" else ()
        self._sampling = Sampling(0.0, max_tokens, stop)

    def read(self, passages: Sequence[Passage]) -> list[Extracted]:
        """As `Extractor.read`."""
        requests = [
            Request(self._prompt(one), self._sampling, (0, f"{one.article}:{one.start}", 0, "extract"))
            for one in passages
        ]
        found: dict[int, Extracted] = {}
        for at, answer in _of_the_plan(self._model.generate(requests)):
            if not isinstance(answer, Failure):
                found[at] = read_answer(answer.text)
            elif _passes(answer):
                raise LeadlineError(
                    f"gave no answer ({answer.kind}): {answer.message}",
                    where=self.name,
                    fix="run it again: what is done stays",
                )
            else:
                found[at] = Extracted(note="failed")
        return [found[at] for at in range(len(passages))]

    def close(self) -> None:
        """As `Extractor.close`."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()

    def _prompt(self, passage: Passage) -> Prompt:
        # One line each: what else stands in a passage would read as a part of the prompt.
        words = {"title": passage.title, "passage": passage.text}
        return self._prompts.render(PROMPT, **{name: " ".join(text.split()) for name, text in words.items()})


def chat_extractor(plan: Plan) -> ChatExtractor:
    """The model and the prompt that the plan names.

    Raises UsageError for a prompt that is not there or does not show the passage, and whatever loading a
    model raises.
    """
    model = _model(plan)
    try:
        return ChatExtractor(model, prompts_of(plan, _style(plan, model)), plan.extract.max_tokens)
    except BaseException:
        close = getattr(model, "close", None)
        if close is not None:
            close()
        raise


def _model(plan: Plan) -> Model:
    reference = model_reference(plan)
    if is_served(reference):
        return _served(plan, reference)
    from leadline.models.local import LocalModel
    from leadline.models.progress import on_stderr
    from leadline.models.resolve import resolve

    if plan.extract.base_url is not None:
        raise UsageError(
            "base_url is for models behind an API",
            where=where_in(plan, "extract", "base_url"),
            fix="model: inspect:PROVIDER/MODEL",
        )
    return LocalModel(resolve(reference, progress=on_stderr()), device=plan.extract.device)


def _served(plan: Plan, reference: str) -> Model:
    from pydantic import ValidationError

    from leadline.models.served import MemoryLedger, ServedModel, ServedSettings

    options: dict[str, Any] = {}
    if plan.extract.structured and not _raw(reference):
        options["response_schema"] = {"name": "triplets", "json_schema": SCHEMA}
    try:
        settings = ServedSettings(ref=reference, base_url=plan.extract.base_url, options=options)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        what = str(first["msg"]).removeprefix("Value error, ")
        raise UsageError(what, where=where_in(plan, "extract", "model")) from None
    try:
        return ServedModel(settings, MemoryLedger())
    except LeadlineError as error:
        raise _told(error) from None


def _of_the_plan(answers: Iterator[tuple[int, AnswerT]]) -> Iterator[tuple[int, AnswerT]]:
    """The same; what ends the asking names the file that the model stands in."""
    try:
        yield from answers
    except LeadlineError as error:
        raise _told(error) from None


def _told(error: LeadlineError) -> LeadlineError:
    kind = UsageError if isinstance(error, UsageError) else LeadlineError
    fix = error.fix.replace("study.yaml", "the plan's extract") if error.fix else None
    return kind(error.what, where=error.where, fix=fix)


def _raw(reference: str) -> bool:
    try:
        return read_reference(reference).takes_raw_text
    except ValueError:
        return False  # ServedSettings says what is wrong with it


def _style(plan: Plan, model: Model) -> Style:
    if model.inside is not None:
        return "chat" if model.inside.has_chat_template else "few-shot"
    return "few-shot" if _raw(model_reference(plan)) else "chat"


def _passes(failure: Failure) -> bool:
    from leadline.models.served import LASTING

    return failure.kind not in LASTING
