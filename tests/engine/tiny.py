"""Tiny models of many families with random weights, and a tokenizer whose text is the token ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
import transformers

VOCABULARY = 97
END = 2

# Grouped key-value heads where the family has them, and a head_dim that is not hidden_size / heads.
_COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY, "hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512,
    "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": END, "pad_token_id": 0,
}  # fmt: skip
_HEAD = {"head_dim": 16}
_SLIDING = {"sliding_window": 24}  # shorter than most prompts
_MIXED = {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}


@dataclass(frozen=True)
class Family:
    """A class of `transformers`, its config class, and what its config adds to `_COMMON` (None: removes)."""

    model: str
    config: str
    settings: dict[str, Any] = field(default_factory=dict)


def _family(name: str, **settings: Any) -> Family:
    return Family(f"{name}ForCausalLM", f"{name}Config", settings)


# GPT-2 has names of its own for these.
_NAMES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
_GPT2: dict[str, Any] = {
    **dict.fromkeys([*_NAMES, "num_key_value_heads", "max_position_embeddings"]),
    "n_embd": 48, "n_layer": 3, "n_head": 4, "n_positions": 512,
}  # fmt: skip

# Families whose attention runs in blocks.
BLOCKS: dict[str, Family] = {
    "llama": _family("Llama"),
    "olmo2": _family("Olmo2"),
    "qwen2": _family("Qwen2"),
    "qwen2, sliding": _family("Qwen2", use_sliding_window=True, **_SLIDING, **_MIXED),
    "qwen3": _family("Qwen3", **_HEAD),
    "gemma2": _family(
        "Gemma2", **_HEAD, **_SLIDING, **_MIXED, query_pre_attn_scalar=16, attn_logit_softcapping=5.0
    ),
    "gemma3": Family(
        "Gemma3ForCausalLM", "Gemma3TextConfig", {**_HEAD, **_SLIDING, **_MIXED, "query_pre_attn_scalar": 16}
    ),
    "mistral": _family("Mistral", **_HEAD, **_SLIDING),
    "phi3": _family("Phi3"),
    "phi3, sliding": _family("Phi3", **_SLIDING),
    "gpt-neox": _family("GPTNeoX", num_key_value_heads=None, rotary_pct=0.5),
    "gpt2": Family("GPT2LMHeadModel", "GPT2Config", _GPT2),
    "gpt-oss": _family(
        "GptOss", **_HEAD, **_SLIDING, **_MIXED, num_local_experts=2, num_experts_per_tok=1,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    ),
}  # fmt: skip

# Families with a state, a bias for distance or a mask that blocks do not know.
PLAIN: dict[str, Family] = {
    "mamba": _family("Mamba", state_size=8, num_attention_heads=None, num_key_value_heads=None),
    "bloom": _family("Bloom", n_layer=3, n_head=4, num_hidden_layers=None, num_attention_heads=None),
    "lfm2": _family("Lfm2", layer_types=["conv", "full_attention", "conv"], block_auto_adjust_ff_dim=False),
    "llama4, chunked": Family(
        "Llama4ForCausalLM", "Llama4TextConfig",
        {**_HEAD, "attention_chunk_size": 24, "num_local_experts": 2, "intermediate_size_mlp": 64,
         "layer_types": ["chunked_attention", "full_attention", "chunked_attention"]},
    ),
    "qwen3-next": _family(
        "Qwen3Next", **_HEAD, layer_types=["linear_attention", "full_attention", "linear_attention"],
        num_experts=2, num_experts_per_tok=1, moe_intermediate_size=32, shared_expert_intermediate_size=32,
        linear_num_value_heads=4, linear_num_key_heads=2, linear_key_head_dim=8, linear_value_head_dim=8,
    ),
}  # fmt: skip


class NumberTokenizer:
    """The text "5 17 9" is the tokens 5, 17 and 9."""

    eos_token_id = END
    chat_template = None

    def __init__(self, vocabulary: int = VOCABULARY) -> None:
        self.vocabulary = vocabulary

    def __len__(self) -> int:
        return self.vocabulary

    def __call__(self, text: str, add_special_tokens: bool = True) -> SimpleNamespace:
        return SimpleNamespace(input_ids=[int(word) for word in text.split()])

    def decode(self, ids: Sequence[int], **options: bool) -> str:
        return "".join(f" {token}" for token in ids)


def model(family: Family, **changes: Any) -> Any:
    """A float32 model with weights large enough that attention to another token shows in the logits."""
    settings = _COMMON | family.settings | changes
    # Output rows of length 2 make logits with a spread of 2: neither a flat distribution nor a certain one.
    config = getattr(transformers, family.config)(**{k: v for k, v in settings.items() if v is not None})
    if settings.get("sliding_window") is None and hasattr(config, "sliding_window"):
        config.sliding_window = None  # some families have a default
    torch.manual_seed(7)
    made = getattr(transformers, family.model)(config).to(torch.float32).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.dim() >= 2:
                parameter.normal_(0, 0.8 / parameter.shape[-1] ** 0.5)
        made.get_input_embeddings().weight.normal_(0, 1)
        width = made.get_output_embeddings().weight.shape[1]
        made.get_output_embeddings().weight.normal_(0, 2 / width**0.5)
    return made
