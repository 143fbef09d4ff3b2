"""What study.yaml says of a model behind an API, and of what asking may cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from leadline.models.served.reference import PREFIX
from leadline.models.served.settings import ServedSettings

NAME = r"^[A-Za-z0-9][A-Za-z0-9._+-]*$"
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]


class ServedEntry(ServedSettings):
    """One model that answers behind an API."""

    ref: str = Field(
        min_length=1,
        description="inspect:PROVIDER/MODEL, such as inspect:openai/gpt-4o-mini",
        json_schema_extra={"pattern": f"^{PREFIX}"},
    )
    name: str | None = Field(default=None, pattern=NAME, description="what reports call it")

    @property
    def dtype(self) -> str:
        """What the model's identity has in place of a precision, which the provider alone knows."""
        return "served"


class Budget(BaseModel):
    """What all runs of a study together may take from providers; None is no limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: Whole | None = Field(default=None, ge=1, description="HTTP requests, further attempts included")
    tokens: Whole | None = Field(default=None, ge=1, description="tokens of prompts and answers together")
    money: Number | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="in the currency of the models' prices"
    )
