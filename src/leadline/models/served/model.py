"""A model behind an API, as a `Model`: bounded retries, a budget, and every answer told apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from leadline.engine import Failure, Generation, Request
from leadline.engine.intervention import NOTHING, Intervention
from leadline.errors import UsageError
from leadline.models.model import ModelIdentity
from leadline.models.served.answer_cache import AnswerCache
from leadline.models.served.asking import Asker, Asking
from leadline.models.served.attempt import messages_of
from leadline.models.served.background import Background
from leadline.models.served.backoff import Backoff
from leadline.models.served.interrupt import interrupts
from leadline.models.served.ledger import Ledger
from leadline.models.served.provider import address_of, generate_config, key_of, make_provider
from leadline.models.served.settings import ServedSettings
from leadline.models.served.standing import Standing
from leadline.models.served.worst_case import PromptBound, seed_of
from leadline.redaction import bare_address, host_of


class ServedModel:
    """Answers come from a provider; the ledger is told of every request before it is sent.

    >>> from leadline.models.served import MemoryLedger, ServedSettings
    >>> settings = ServedSettings(ref="inspect:openai-api/local/m", base_url="http://127.0.0.1:8000/v1")
    >>> model = ServedModel(settings, MemoryLedger())
    >>> model.identity.device
    '127.0.0.1:8000'
    >>> model.close()
    """

    def __init__(
        self,
        settings: ServedSettings,
        ledger: Ledger,
        note: Callable[[str], None] = lambda line: None,
        backoff: Backoff | None = None,
    ) -> None:
        """Raises UsageError, in one line, where inspect-ai, the provider's package or a key is missing.

        Nothing is sent yet. `note` is told what the user should see while waiting.
        """
        self._settings = settings
        self._background = Background()
        try:
            self._api = self._background.do(lambda: make_provider(settings))
            address = address_of(self._api)
            self.identity = _identity(settings, address)
            cache = AnswerCache(self._api, settings.reference.name) if settings.cache else None
        except BaseException:
            self._background.close()
            raise
        self._asker = Asker(
            settings=settings,
            api=self._api,
            ledger=ledger,
            background=self._background,
            standing=Standing(
                settings.label,
                bare_address(address) if address else settings.reference.provider,
                settings.reference.provider,
                settings.connections,
                key_of(self._api),
            ),
            bound=PromptBound(),
            backoff=backoff or Backoff(),
            cache=cache,
            note=note,
            prepared=self._prepared,
        )

    @property
    def inside(self) -> None:
        """As `Model.inside`: only answers can be had."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What manifest and report should say of this model, once answers came: that it takes no seed, ..."""
        return self._asker.standing.notes()

    def generate(
        self, requests: Sequence[Request], intervention: Intervention = NOTHING
    ) -> Iterator[tuple[int, Generation | Failure]]:
        """As `Model.generate`. Raises BudgetExhausted or LeadlineError when asking has to stop, and
        KeyboardInterrupt after Ctrl-C, each after all answers in flight were yielded."""
        if intervention is not NOTHING:
            raise UsageError(
                "nothing can be changed inside a model behind an API",
                where=self._settings.ref,
                fix="prompting and sampling techniques work with it",
            )
        with interrupts(self._background.wake) as interrupt:
            yield from Asking(self._asker, requests, interrupt).run()

    def close(self) -> None:
        """End the background thread and its connections. May be called twice."""
        self._background.close(self._api.aclose)

    def _prepared(self, request: Request) -> tuple[list[Any], Any]:
        sampling = request.sampling
        if sampling.repetition_penalty != 1.0:
            raise UsageError(
                "a repetition penalty is no setting that all providers have",
                where=self._settings.ref,
                fix="where yours has it: options: {extra_body: {repetition_penalty: 1.1}}",
            )
        try:
            messages = messages_of(request.prompt, self._settings.reference.takes_raw_text)
        except ValueError as error:
            raise UsageError(str(error), where=self._settings.ref, fix="prompt: few-shot") from error
        decided: dict[str, Any] = {
            "temperature": sampling.temperature,
            "max_tokens": sampling.max_tokens,
            "seed": seed_of(request.key),
        }
        if sampling.stop:
            decided["stop_seqs"] = list(sampling.stop)
        if sampling.top_p != 1.0:
            decided["top_p"] = sampling.top_p
        return messages, generate_config(self._settings, **decided)


def _identity(settings: ServedSettings, address: str | None) -> ModelIdentity:
    """What decides the answers on our side. Which weights answered, the provider alone knows."""
    reference = settings.reference
    raw = reference.takes_raw_text
    decisive = {
        "provider": reference.provider,
        "model": reference.model,
        "base_url": bare_address(address) if address else None,
        "options": settings.options,
        "args": settings.args,
        "prompts": "raw" if raw else "messages",
    }
    digest = hashlib.sha256(json.dumps(decisive, sort_keys=True, default=str).encode()).hexdigest()
    host = host_of(address) if address else reference.provider
    shown = "as it stands" if raw else "as messages; a prompt without roles is one message of the user's"
    return ModelIdentity(
        name=settings.label,
        kind="served",
        digest=f"served:{digest}",
        dtype="served",
        device=host,
        description=f"{reference.model} behind the API of {reference.provider} at {host}; sent {shown}",
        source=settings.ref,
    )
