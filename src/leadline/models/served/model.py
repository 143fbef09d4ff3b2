"""A model behind an API, as a `Model`: bounded retries, a budget, and every answer told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from leadline.engine import Failure, Generation, Request
from leadline.engine.intervention import NOTHING, Intervention
from leadline.models.model import ModelIdentity
from leadline.models.served.ledger import Ledger
from leadline.models.served.settings import ServedSettings


class ServedModel:
    """Answers come from a provider; the ledger is told of every request before it is sent."""

    def __init__(
        self, settings: ServedSettings, ledger: Ledger, note: Callable[[str], None] = lambda line: None
    ) -> None:
        """Raises UsageError, in one line, where inspect-ai, the provider's package or a key is missing. Nothing is
        sent yet. `note` is told what the user should see while waiting."""
        raise NotImplementedError

    @property
    def identity(self) -> ModelIdentity:
        """As `Model.identity`; kind "served"."""
        raise NotImplementedError

    @property
    def inside(self) -> None:
        """As `Model.inside`: only answers can be had."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a manifest and a report should say of this model, after answers came: that it takes no seed, ..."""
        raise NotImplementedError

    def generate(
        self, requests: Sequence[Request], intervention: Intervention = NOTHING
    ) -> Iterator[tuple[int, Generation | Failure]]:
        """As `Model.generate`. Raises BudgetExhausted or LeadlineError after all answers in flight were yielded."""
        raise NotImplementedError

    def close(self) -> None:
        """End the background thread and its connections. May be called twice."""
        raise NotImplementedError
