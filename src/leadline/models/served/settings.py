"""How a model behind an API is named in a study, and how it is asked."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from leadline.models.served.reference import Reference, read_reference
from leadline.redaction import complaint_about, holds_a_secret, named_like_a_secret

Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]

# What techniques, prompts and this file's own fields decide; as an option it would contradict them.
_NOT_OPTIONS = {
    "adaptive_connections": "connections",
    "attempt_timeout": "timeout",
    "batch": None,
    "best_of": None,
    "cache": "cache",
    "fail_on_refusal": None,
    "fallback_models": None,
    "logprobs": None,
    "max_connections": "connections",
    "max_retries": "retries",
    "max_tokens": "the technique's max_tokens",
    "num_choices": "the technique's number of samples",
    "prompt_logprobs": None,
    "seed": "the technique's seed",
    "stop_seqs": "the technique",
    "stream_idle_timeout": "timeout",
    "system_message": "the study's prompts",
    "temperature": "the technique's temperature",
    "timeout": "timeout",
    "top_logprobs": None,
    "top_p": "the technique",
}


class Price(BaseModel):
    """What a million tokens cost, in the currency of the budget.

    >>> Price(input=0.15, output=0.6).of(1_000_000, 500_000)
    0.45
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Number = Field(ge=0, lt=1e9, description="a million tokens of prompt")
    output: Number = Field(ge=0, lt=1e9, description="a million generated tokens")

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """What a call costs."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


def checked_address(url: str | None) -> str | None:
    """`url` if it may stand in a study; raises ValueError, without repeating it, if not."""
    if url is not None and (complaint := complaint_about(url)):
        raise ValueError(complaint)
    return url


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """`options` if nothing else decides any of them; raises ValueError, in one line, if so."""
    for name in options:
        if name == "extra_headers" or named_like_a_secret(name):
            raise ValueError(f"{name}: keys come from the environment only")
        if name in _NOT_OPTIONS:
            decider = _NOT_OPTIONS[name]
            reason = f"{decider} decides it" if decider else "studies have no use for it"
            raise ValueError(f"{name} is no option: {reason}")
    _hold_no_secret(options)
    return options


def checked_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments` of a provider if no secret is among them; raises ValueError, in one line, if one is."""
    for name in arguments:
        if named_like_a_secret(name) or name in ("default_headers", "http_client", "base_url"):
            raise ValueError(
                f"{name}: keys come from the environment only, and base_url has a place of its own"
            )
        if name in ("max_retries", "timeout", "client_timeout"):
            raise ValueError(f"{name} is no argument: retries and timeout decide it")
    _hold_no_secret(arguments)
    return arguments


def _hold_no_secret(settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        if holds_a_secret(str(value)):
            raise ValueError(f"{name} has a key in it; keys come from the environment only")


class ServedSettings(BaseModel):
    """A served model. Where a field is wrong, pydantic's error says so in one line.

    >>> ServedSettings(ref="inspect:openai/gpt-4o-mini").reference.provider
    'openai'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ref: str = Field(min_length=1, description="inspect:PROVIDER/MODEL, such as inspect:openai/gpt-4o-mini")
    name: str | None = Field(default=None, description="what reports call it")
    base_url: Annotated[str | None, AfterValidator(checked_address)] = Field(
        default=None, description="the API's address, for servers of your own"
    )
    connections: Whole = Field(default=16, ge=1, le=1000, description="requests in flight")
    timeout: Number = Field(default=120.0, gt=0, le=86_400, description="seconds for one attempt")
    retries: Whole = Field(default=5, ge=0, le=100, description="further attempts after a passing failure")
    cache: bool = Field(
        default=False, description="keep answers in inspect-ai's cache, each under its own key"
    )
    price: Price | None = Field(default=None, description="needed where the budget has money")
    options: Annotated[dict[str, Any], AfterValidator(checked_options)] = Field(
        default={}, description="further generation settings of inspect-ai; part of the model's identity"
    )
    args: Annotated[dict[str, Any], AfterValidator(checked_arguments)] = Field(
        default={}, description="the provider's own arguments; part of the model's identity"
    )

    @model_validator(mode="after")
    def _reference_is_one(self) -> ServedSettings:
        read_reference(self.ref)
        return self

    @property
    def reference(self) -> Reference:
        """Provider and model."""
        return read_reference(self.ref)

    @property
    def label(self) -> str:
        """`name`, or the last part of `ref`."""
        return self.name or self.ref.rstrip("/").rsplit("/", 1)[-1]
