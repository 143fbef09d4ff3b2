"""The tokenizer over HTTP, as vLLM offers it.

lm-evaluation-harness finds it by itself, and needs no tokenizer of its own to count a context's tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from leadline.engine import Prompt
from leadline.errors import UsageError
from leadline.serving.asking import conversation
from leadline.serving.offer import Offer
from leadline.serving.parameters import Message, Token
from leadline.serving.problem import ProblemError, unsupported, wrong

# vLLM's further parameters, and the values that ask for nothing of them.
NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "add_generation_prompt": (True,),
    "chat_template": (),
    "chat_template_kwargs": ({},),
    "continue_final_message": (False,),
    "mm_processor_kwargs": ({},),
    "tools": ([],),
}
_SPECIAL = ("bos_token", "eos_token", "pad_token", "unk_token")


class TokenizeBody(BaseModel):
    """POST /tokenize. `prompt` or `messages`; special tokens around a prompt unless it says otherwise."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    model: str | None = None
    prompt: str | None = None
    messages: list[Message] | None = Field(default=None, min_length=1)
    add_special_tokens: bool | None = None
    return_token_strs: bool | None = None


class DetokenizeBody(BaseModel):
    """POST /detokenize."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    model: str | None = None
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
    """The ids of a text, or of a conversation as the model's chat template writes it."""
    ids = _ids(offer, body)
    found = {"tokens": ids, "count": len(ids), "max_model_len": offer.reader.context_length}
    if body.return_token_strs:
        found["token_strs"] = offer.reader.tokenizer.convert_ids_to_tokens(ids)
    return found


def _ids(offer: Offer, body: TokenizeBody) -> list[int]:
    import jinja2

    if (body.prompt is None) == (body.messages is None):
        raise wrong(
            "prompt", "either it or messages is wanted" if body.prompt is None else "there are messages, too"
        )
    if body.messages is not None:
        if body.add_special_tokens:
            raise unsupported("add_special_tokens", "a chat template writes its own")
        try:
            return list(offer.reader.ids_of(Prompt(messages=conversation(body.messages))))
        except UsageError as error:
            raise ProblemError(400, str(error), param="messages") from None
        except jinja2.TemplateError as error:
            reason = " ".join(str(error).split())[:200]
            raise ProblemError(
                400, f"the model's chat template refuses it: {reason}", param="messages"
            ) from None
    try:
        return offer.reader.encode(body.prompt, body.add_special_tokens is not False) if body.prompt else []
    except UsageError:
        return []


def detokenize(offer: Offer, body: DetokenizeBody) -> dict[str, Any]:
    """The text of ids, special tokens included."""
    if body.tokens and max(body.tokens) >= offer.reader.vocabulary:
        raise ProblemError(400, "tokens: there are ids that the model does not know", param="tokens")
    text = offer.reader.tokenizer.decode(list(body.tokens), clean_up_tokenization_spaces=False)
    return {"prompt": text}
