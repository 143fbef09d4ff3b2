"""A causal language model of `transformers`, as the engine needs it: tokens in, last-position logits out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from leadline.engine import plain
from leadline.engine.anatomy import Anatomy
from leadline.engine.attention import IMPLEMENTATION, attending_to, padding_for
from leadline.engine.blocks import Batch, BlockCache, Layer, Rows
from leadline.engine.packed import PackedLinears
from leadline.engine.plan import PlannedBatch
from leadline.engine.request import Prompt
from leadline.engine.token_bytes import TokenBytes, token_bytes
from leadline.errors import UsageError

# The attention that blocks can serve; models name the kinds of their layers where they have more than one.
_BLOCK_LAYERS = {"full_attention", "sliding_attention"}
# Sets of characters of which it is remembered which tokens bring them: each takes up to some megabytes.
_MOST_STOPS = 32


class CausalLM:
    """Model and tokenizer, with everything that a checkpoint would smuggle into decoding left out.

    `generation_config` defaults (a repetition penalty, a temperature) are never used: greedy means argmax of
    the model's own logits.
    """

    def __init__(self, model: Any, tokenizer: Any, name: str = "model") -> None:
        """Raises UsageError, naming the architecture, for a model that cannot be run."""
        plain.check_support(model, name)
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.name = name
        self.device = model.get_input_embeddings().weight.device
        self.text_config = model.config.get_text_config()
        self.layers: int = self.text_config.num_hidden_layers
        self.vocabulary: int = model.get_output_embeddings().weight.shape[0]
        self._cache_argument = (
            "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
        )

    @cached_property
    def in_blocks(self) -> bool:
        """Whether this model's attention can run in blocks: its layers are of the kinds that blocks know, all
        of them take their attention from `transformers`' registry, and a short text gives the same logits as
        the model's own way. The last is asked because an attention of unknown make (with a bias for distance,
        with keys shared between layers) would be computed without a word, and wrongly."""
        kinds = set(getattr(self.text_config, "layer_types", None) or ())
        if not getattr(self.model, "_supports_attention_backend", False) or kinds - _BLOCK_LAYERS:
            return False
        prompt = tuple(1 + (7 * at) % (self.vocabulary - 1) for at in range(12))
        planned = PlannedBatch(0, (prompt,), ((0,),))
        lengths, row_prompt = torch.tensor([len(prompt)]), torch.tensor([0])
        lengths, row_prompt = lengths.to(self.device), row_prompt.to(self.device)
        ids = torch.tensor([prompt], device=self.device)
        position = torch.arange(len(prompt), device=self.device)[None]
        try:
            with self.running():
                batch = self.new_batch(0, lengths, row_prompt)
                first = self.forward(batch, "prompt", ids, position, lengths - 1)
                second = self.forward(
                    batch, "decode", ids[:, :1], lengths[:, None], torch.zeros_like(lengths)
                )
        except Exception:  # whatever an attention of another make stumbles over, its own way is there
            return False
        with self.running(in_blocks=False):
            own, logits = plain.prefill(self.model, planned, self.device, row_prompt)
            expected = torch.cat([logits, plain.step(self.model, own, ids[:, 0])]).float()
        assert first is not None and second is not None
        error = (torch.cat([first, second]).float() - expected).abs().mean() / expected.std()
        # Another attention is off by 0.1 and more; rounding, by 1e-6 in float32 and by some 1e-2 in 16 bits.
        return bool(error < (1e-3 if expected.dtype == logits.dtype else 0.05))

    def takes_blocks(self, tokens: int) -> bool:
        """Whether a request of so many tokens (prompt and answer) runs in blocks (see `plain.py`)."""
        return self.in_blocks and tokens <= self.block_context

    @cached_property
    def block_context(self) -> int:
        """Tokens up to which a position means the same whatever is in a batch (see `plain.rope_switch`)."""
        return min(self.context_length, plain.rope_switch(self.text_config) or self.context_length)

    @cached_property
    def packed(self) -> PackedLinears:
        """The model's linear layers, arranged for this processor; made at the first use."""
        return PackedLinears(self.model)

    @cached_property
    def anatomy(self) -> Anatomy:
        """Where the model's parts lie; asked for by techniques alone."""
        return Anatomy(self.model)

    @cached_property
    def end_tokens(self) -> frozenset[int]:
        """Tokens that end a text: those of the tokenizer and of the checkpoint's configs (often a list)."""
        configs = (getattr(self.model, "generation_config", None), self.model.config, self.text_config)
        found = [self.tokenizer.eos_token_id, *(getattr(config, "eos_token_id", None) for config in configs)]
        flat = (token for ids in found for token in (ids if isinstance(ids, list) else [ids]))
        return frozenset(token for token in flat if token is not None)

    @cached_property
    def pieces(self) -> list[str]:
        """The text of each token on its own, by id."""
        return [
            self.tokenizer.decode([token], clean_up_tokenization_spaces=False)
            for token in range(len(self.tokenizer))
        ]

    @cached_property
    def token_bytes(self) -> TokenBytes:
        """The bytes that each token stands for."""
        return token_bytes(self.tokenizer)

    def tokens_with(self, characters: frozenset[str]) -> frozenset[int]:
        """Ids of the tokens that can bring one of these characters into a text.

        A character beyond ASCII may be put together by several tokens, none of which is text on its own
        (U+FFFD then); a space may belong to a token and yet be left out where the token stands alone.
        """
        if " " in characters:
            return frozenset(range(self.vocabulary))
        # Remembered: there are few different sets of stop strings, but where a server's clients choose them.
        known: dict[frozenset[str], frozenset[int]] = self.__dict__.setdefault("_tokens_with", {})
        if characters not in known:
            wanted = characters if all(map(str.isascii, characters)) else characters | {"\ufffd"}
            if len(known) >= _MOST_STOPS:
                known.clear()
            known[characters] = frozenset(
                token for token, piece in enumerate(self.pieces) if wanted & set(piece)
            )
        return known[characters]

    @property
    def has_chat_template(self) -> bool:
        """Whether the tokenizer knows how this model wants a conversation written."""
        return bool(getattr(self.tokenizer, "chat_template", None))

    def text_of(self, prompt: Prompt) -> str:
        """The exact text that the model is shown."""
        if prompt.text is not None:
            return prompt.text
        if prompt.tokens is not None:
            whole: str = self.tokenizer.decode(list(prompt.tokens), clean_up_tokenization_spaces=False)
            return whole
        if not self.has_chat_template:
            raise UsageError(
                f"model {self.name} has no chat template",
                fix="use a plain-text prompt style such as few-shot",
            )
        messages = [{"role": role, "content": content} for role, content in prompt.messages or ()]
        return self._templated(messages)

    def _templated(self, messages: list[dict[str, str]]) -> str:
        """What the model's own chat template makes of a conversation. It runs in a sandbox; it may refuse the
        conversation (two system messages, say), and it may be broken or worse."""
        from jinja2 import TemplateError

        try:
            text: str = self.tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
        except (TemplateError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise UsageError(
                f"model {self.name}: the model's chat template refuses it: {reason}",
                fix="another prompt style, such as few-shot",
            ) from error
        return text

    @cached_property
    def context_length(self) -> int:
        """Tokens that a prompt and its answer may have together."""
        return int(getattr(self.text_config, "max_position_embeddings", None) or 2**31)

    def encode(self, text: str, is_raw: bool) -> list[int]:
        """Token ids of a prompt's text (see `text_of`). A chat template has written its own special tokens
        into it; a raw text gets those that the tokenizer adds."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=is_raw).input_ids
        if not ids:
            raise UsageError("the prompt is empty")
        return ids

    def ids_of(self, prompt: Prompt) -> list[int]:
        """Token ids of a prompt. Raises UsageError for one that is empty, or whose ids the model lacks."""
        if prompt.tokens is None:
            return self.encode(self.text_of(prompt), prompt.text is not None)
        if not prompt.tokens:
            raise UsageError("the prompt is empty")
        if not 0 <= min(prompt.tokens) <= max(prompt.tokens) < self.vocabulary:
            raise UsageError("the prompt has token ids that the model does not know")
        return list(prompt.tokens)

    def decode(self, ids: list[int], special: bool = False) -> str:
        """Text of ids, nothing tidied; `special` tokens are left out, as they are of what was generated."""
        text: str = self.tokenizer.decode(
            ids, skip_special_tokens=not special, clean_up_tokenization_spaces=False
        )
        return text

    def first_token(self, prompt_text: str, answer: str) -> int:
        """First token of `answer` as it would follow the prompt.

        After a prompt that ends in whitespace (or a chat template's header) the answer follows at once; after
        any other ending a space comes between. Tokenised in place, so a tokenizer that merges across the
        border is believed.
        """
        glue = "" if not prompt_text or prompt_text[-1].isspace() or prompt_text.endswith(">") else " "
        before: list[int] = self.tokenizer(prompt_text, add_special_tokens=False).input_ids
        after: list[int] = self.tokenizer(prompt_text + glue + answer, add_special_tokens=False).input_ids
        if after[: len(before)] == before and len(after) > len(before):
            return after[len(before)]
        own: list[int] = self.tokenizer(glue + answer, add_special_tokens=False).input_ids
        return own[0]

    @contextmanager
    def running(self, in_blocks: bool = True) -> Iterator[None]:
        """Within this context the model's layers use the engine's attention (`in_blocks`) or their own. The
        model's own is put back after."""
        before = self.model.config._attn_implementation
        if in_blocks:
            self.model.set_attn_implementation(IMPLEMENTATION)
        try:
            with torch.inference_mode(), self.packed.applied():
                yield
        finally:
            if in_blocks:
                self.model.set_attn_implementation(before)

    def new_batch(self, prefix_tokens: int, prompt_length: Tensor, row_prompt: Tensor) -> Batch:
        """An empty batch: `prompt_length` `[prompts]` counts all tokens; `row_prompt` `[rows]` ascends."""
        rows = Rows.of(prefix_tokens, prompt_length, row_prompt)
        return Batch([Layer() for _ in range(self.layers)], rows)

    def forward(
        self, batch: Batch, phase: str, ids: Tensor, positions: Tensor, last: Tensor | None
    ) -> Tensor | None:
        """One pass: `ids` and `positions` `[owners, new]`.

        Returns logits `[owners, vocabulary]` at index `last` `[owners]` of each row, or None where `last` is
        None (a prefix is only stored). The position is picked before the output layer, by a hook on it: a
        model's own scaling and soft-capping of logits still apply, and no other position costs anything.
        """
        batch.begin(phase)
        owners = ids.shape[0]

        def pick(module: torch.nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor]:
            hidden = inputs[0]
            index = torch.zeros(owners, dtype=torch.long, device=hidden.device) if last is None else last
            picked = hidden[torch.arange(owners, device=hidden.device), index]  # [owners, hidden]
            return (torch.nn.functional.pad(picked, (0, 0, 0, padding_for(owners)))[:, None],)

        hook = self.model.get_output_embeddings().register_forward_pre_hook(pick)
        try:
            with attending_to(batch):
                out = self.model(
                    input_ids=ids,
                    position_ids=positions,
                    use_cache=True,
                    return_dict=True,
                    **{self._cache_argument: BlockCache(batch)},
                )
        finally:
            hook.remove()
        return None if last is None else out.logits[:owners, 0]
