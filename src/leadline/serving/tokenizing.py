"""The tokenizer over HTTP, as vLLM offers it.

lm-evaluation-harness finds it by itself, and needs no tokenizer of its own to count a context's tokens.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from leadline.errors import UsageError
from leadline.serving.offer import Offer
from leadline.serving.parameters import Token
from leadline.serving.problem import ProblemError

_SPECIAL = ("bos_token", "eos_token", "pad_token", "unk_token")


class TokenizeBody(BaseModel):
    """POST /tokenize."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    prompt: str
    add_special_tokens: bool = True


class DetokenizeBody(BaseModel):
    """POST /detokenize."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    tokens: list[Token] = Field(min_length=0)


def tokenizer_info(offer: Offer) -> dict[str, Any]:
    """GET /tokenizer_info: the special tokens and the chat template."""
    tokenizer = offer.reader.tokenizer
    found = {name: getattr(tokenizer, name, None) for name in _SPECIAL}
    told = {name: None if token is None else str(token) for name, token in found.items()}
    return {
        "tokenizer_class": type(tokenizer).__name__,
        **told,
        "chat_template": getattr(tokenizer, "chat_template", None),
        "model_max_length": offer.reader.context_length,
    }


def tokenize(offer: Offer, body: TokenizeBody) -> dict[str, Any]:
    """The ids of a text."""
    try:
        ids = offer.reader.encode(body.prompt, body.add_special_tokens) if body.prompt else []
    except UsageError:
        ids = []
    return {"tokens": ids, "count": len(ids), "max_model_len": offer.reader.context_length}


def detokenize(offer: Offer, body: DetokenizeBody) -> dict[str, Any]:
    """The text of ids, special tokens included."""
    if body.tokens and max(body.tokens) >= offer.reader.vocabulary:
        raise ProblemError(400, "tokens: there are ids that the model does not know", param="tokens")
    text = offer.reader.tokenizer.decode(list(body.tokens), clean_up_tokenization_spaces=False)
    return {"prompt": text}
