"""How a model behind an API is named in a study, and how it is asked."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]


class Price(BaseModel):
    """What a million tokens cost, in the currency of the budget."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Number = Field(ge=0, description="a million tokens of prompt")
    output: Number = Field(ge=0, description="a million generated tokens")

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """What a call costs."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


class ServedSettings(BaseModel):
    """A served model. Where a field is wrong, pydantic's error says so in one line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ref: str = Field(min_length=1, description="inspect:PROVIDER/MODEL, such as inspect:openai/gpt-4o-mini")
    name: str | None = Field(default=None, description="what reports call it")
    base_url: str | None = Field(default=None, description="the API's address, for servers of your own")
    connections: Whole = Field(default=16, ge=1, le=1000, description="requests in flight")
    timeout: Number = Field(default=120.0, gt=0, le=86_400, description="seconds for one attempt")
    retries: Whole = Field(default=5, ge=0, le=100, description="further attempts after a passing failure")
    cache: bool = Field(
        default=False, description="keep answers in inspect-ai's cache, each under its own key"
    )
    price: Price | None = Field(default=None, description="needed where the budget has money")
    options: dict[str, Any] = Field(
        default={}, description="further generation settings of the provider; part of the model's identity"
    )

    @property
    def label(self) -> str:
        """`name`, or the last part of `ref`."""
        return self.name or self.ref.rstrip("/").rsplit("/", 1)[-1]
