"""What a run has learnt of a provider so far: whether it answers at all, and when to stop asking it."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.errors import LeadlineError
from leadline.models.served.attempt import Reply
from leadline.models.served.failures import Trouble

# So many requests that failed for good, one after the other, are no accident.
_TOO_MANY = 20


class ProviderFailed(LeadlineError):  # noqa: N818  # as BudgetExhausted: why asking ends
    """Asking goes no further: the provider refuses everything, or too much of it, or is not there."""


@dataclass
class Standing:
    """Kept over all questions that a model is asked in a run. `key`: what the key is called."""

    label: str
    address: str
    provider: str
    connections: int
    key: str = "the key"
    answered: int = 0
    failed_in_row: int = 0
    seed_sent: bool | None = None

    def answer(self, reply: Reply) -> None:
        """An answer came."""
        self.answered += 1
        self.failed_in_row = 0
        if reply.seed_sent is not None:
            self.seed_sent = reply.seed_sent

    def is_about_all(self, trouble: Trouble) -> bool:
        """Whether this failure says nothing of its request: a key that is refused is refused for every one,
        and a server that never answered is not one."""
        first = self.answered == 0 and (trouble.status in (403, 404, 405) or trouble.kind == "connection")
        return trouble.account or first

    def stop(self, trouble: Trouble, given_up: bool) -> ProviderFailed | None:
        """The error that the run ends in, if this failure is a reason to end it.

        `given_up`: the request is not asked again.
        """
        if trouble.account:
            return self._stop(
                f"the provider refuses the account: {trouble.message}",
                f"check {self.key} in the environment and the account behind it, and run again",
            )
        if not given_up:
            return None
        if self.answered == 0 and trouble.status in (403, 404, 405):
            return self._stop(
                f"the provider refuses the first request: {trouble.message}",
                "check ref and base_url in study.yaml",
            )
        if self.answered == 0 and trouble.kind == "connection":
            return self._stop(
                f"{self.address} cannot be reached: {trouble.message}",
                "start the server, or correct base_url in study.yaml, and run again",
            )
        self.failed_in_row += 1
        if self.failed_in_row >= max(_TOO_MANY, 2 * self.connections):
            return self._stop(
                f"{self.failed_in_row} requests failed one after the other, the last: {trouble.message}",
                "what was answered is stored; run again when the provider answers",
            )
        return None

    def _stop(self, what: str, fix: str) -> ProviderFailed:
        return ProviderFailed(what, where=self.label, fix=fix)

    def notes(self) -> tuple[str, ...]:
        """What a reader of the answers should know, and the ledger does not tell."""
        if self.answered and self.seed_sent is False:
            return (f"{self.provider} takes no seed: its samples cannot be drawn again",)
        return ()
