"""Where the parts lie that techniques read and change, in any causal language model of `transformers`.

Families name and fuse their parts differently; everything that knows such names is in this file. Layers and
heads count from 0. The residual stream has `layers + 1` places: place 0 is what enters the first block,
place l what leaves the l-th (and enters the next), place `layers` what enters the final norm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from leadline.engine.attention import padding_for
from leadline.errors import UsageError

# A block's attention hands its heads, side by side, to one of these.
_OUTPUT_PROJECTIONS = ("o_proj", "dense", "out_proj", "c_proj", "wo")
_QUERY_PROJECTIONS = ("q_proj",)
_FUSED_PROJECTIONS = ("qkv_proj", "query_key_value", "c_attn")
_FINAL_NORMS = (
    "norm", "final_layer_norm", "final_layernorm", "ln_f", "final_norm", "norm_f", "embedding_norm",
)  # fmt: skip
_DOWN_PROJECTIONS = ("down_proj", "dense_4h_to_h", "fc2", "c_proj")


@dataclass(frozen=True)
class QueryPlace:
    """A module whose output holds a layer's queries, and how to zero some heads in it.

    `columns(head)` are the indices of one head in the last dimension of the output. Every position-wise
    rotation maps zero to zero, so a query that is zeroed here is zero where scores are computed.
    """

    module: nn.Module
    columns: Callable[[int], range]


class Anatomy:
    """The parts of one model. Raises UsageError, naming the architecture, where a part cannot be found."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.config = model.config.get_text_config()
        self.layers: int = self.config.num_hidden_layers
        decoder = model.get_decoder() if hasattr(model, "get_decoder") else model.base_model
        self.decoder: nn.Module = decoder
        self.blocks: list[nn.Module] = self._find_blocks(decoder)
        self.head: nn.Module = model.get_output_embeddings()
        self.hidden: int = self.config.hidden_size
        self.heads: int = getattr(self.config, "num_attention_heads", 0)

    def _find_blocks(self, decoder: nn.Module) -> list[nn.Module]:
        for module in decoder.modules():
            if isinstance(module, nn.ModuleList) and len(module) == self.layers:
                return list(module)
        raise self._unknown("its blocks")

    def _unknown(self, what: str) -> UsageError:
        return UsageError(
            f"{type(self.model).__name__}: {what} cannot be found",
            fix="this technique does not work on this architecture; prompting and sampling do",
        )

    @cached_property
    def final_norm(self) -> nn.Module:
        """The norm between the last block and the output layer."""
        for module in self.decoder.modules():
            for name, child in module.named_children():
                if name in _FINAL_NORMS and any(block in module.modules() for block in self.blocks[:1]):
                    return child
        raise self._unknown("its final norm")

    def attention(self, layer: int) -> nn.Module:
        """The module that computes a block's attention."""
        for module in self.blocks[layer].modules():
            names = {name for name, _ in module.named_children()}
            if names & {*_QUERY_PROJECTIONS, *_FUSED_PROJECTIONS} and names & set(_OUTPUT_PROJECTIONS):
                return module
        raise self._unknown(f"the attention of layer {layer}")

    def output_projection(self, layer: int) -> nn.Module:
        """What a block's heads go into: its input is `[..., heads × head_dim]`, not always `hidden` wide."""
        return _child(self.attention(layer), _OUTPUT_PROJECTIONS)

    def down_projection(self, layer: int) -> nn.Module:
        """What a block's neurons go into: its input is `[..., intermediate_size]`."""
        attention = self.attention(layer)
        inside = set(attention.modules())
        for module in self.blocks[layer].modules():
            for name, child in module.named_children():
                if name in _DOWN_PROJECTIONS and child not in inside:
                    return child
        raise self._unknown(f"the neurons of layer {layer}")

    def head_dim(self, layer: int = 0) -> int:
        """Width of one head's output."""
        projection = self.output_projection(layer)
        width = getattr(projection, "in_features", None) or projection.weight.shape[-1]
        return int(width) // self.heads

    def head_columns(self, layer: int, head: int) -> range:
        """Columns of one head in the input of the output projection."""
        width = self.head_dim(layer)
        return range(head * width, (head + 1) * width)

    def query_place(self, layer: int) -> QueryPlace:
        """Where a head's query can be zeroed without touching the other heads."""
        attention, width = self.attention(layer), self.head_dim(layer)
        norm = getattr(attention, "q_norm", None)
        weight = getattr(norm, "weight", None)
        if (
            norm is not None
            and weight is not None
            and weight.numel() == self.heads * width
            and weight.dim() == 1
        ):
            # A norm over all heads together: a head zeroed before it would change the scale of the others.
            return QueryPlace(norm, lambda head: range(head * width, (head + 1) * width))
        names = {name for name, _ in attention.named_children()}
        if names & set(_QUERY_PROJECTIONS):
            projection = _child(attention, _QUERY_PROJECTIONS)
            doubled = _out_features(projection) // (self.heads * width)  # some keep a gate beside each query
            return QueryPlace(
                projection, lambda head: range(head * width * doubled, head * width * doubled + width)
            )
        fused = _child(attention, _FUSED_PROJECTIONS)
        if "query_key_value" in names:  # GPT-NeoX: query, key and value of a head side by side
            if _out_features(fused) != 3 * self.heads * width:  # Falcon has keys that several queries share
                raise self._unknown(f"the queries of layer {layer}")
            return QueryPlace(fused, lambda head: range(3 * head * width, 3 * head * width + width))
        if self.config.model_type == "codegen":  # cut into four parts for a machine that it was trained on
            raise self._unknown(f"the queries of layer {layer}")
        # Phi-3, GPT-2: all queries come first.
        return QueryPlace(fused, lambda head: range(head * width, (head + 1) * width))

    def check_layer(self, layer: int, name: str = "layer") -> int:
        """A layer counted from 0. Raises UsageError outside the model."""
        if not 0 <= layer < self.layers:
            raise UsageError(
                f"{name} {layer} is not in this model", fix=f"it has the layers 0 to {self.layers - 1}"
            )
        return layer

    def logits(self, states: Tensor) -> Tensor:
        """What the output layer says of `states` `[..., hidden]`: float32 `[..., vocabulary]`, with the
        model's own scaling and soft-capping of logits, and without the final norm."""
        rows = _placed(states, self.head.weight).flatten(0, -2)
        # As everywhere, enough rows that a row's bits do not depend on the others (see `attention.py`).
        padded = torch.nn.functional.pad(rows, (0, 0, 0, padding_for(rows.shape[0])))
        out: Tensor = self.head(padded)[: rows.shape[0]].float()
        return self.finished(out).unflatten(0, states.shape[:-1])

    def finished(self, logits: Tensor) -> Tensor:
        """Raw outputs of the output layer as the model would return them."""
        if scale := getattr(self.config, "logit_scale", None):  # Cohere
            logits = logits * scale
        if scale := getattr(self.config, "logits_scaling", None):  # Granite
            logits = logits / scale
        if cap := getattr(self.config, "final_logit_softcapping", None):  # Gemma
            logits = cap * torch.tanh(logits / cap)
        return logits

    @property
    def output_weight(self) -> Tensor:
        """`[vocabulary, hidden]`. Raises UsageError where it is only brought to memory while it is used."""
        weight: Tensor = self.head.weight
        if weight.is_meta:
            raise UsageError(
                f"{type(self.model).__name__}: the output layer is offloaded",
                fix="keep it on a device: this technique reads single rows of it",
            )
        return weight

    def normed(self, states: Tensor) -> Tensor:
        """`states` after the final norm."""
        parameter = next(iter(self.final_norm.parameters()), states)
        out: Tensor = self.final_norm(_placed(states, parameter))
        return out

    @property
    def tied(self) -> bool:
        """Whether input and output embeddings are one matrix."""
        entering, leaving = self.model.get_input_embeddings().weight, self.head.weight
        if entering.is_meta or leaving.is_meta:  # offloaded: not in memory until it is used
            return bool(getattr(self.config, "tie_word_embeddings", False))
        return entering.data_ptr() == leaving.data_ptr()


def _child(module: nn.Module, names: Iterable[str]) -> nn.Module:
    children = dict(module.named_children())
    return next(children[name] for name in names if name in children)


def _placed(states: Tensor, weight: Tensor) -> Tensor:
    """`states` where a part with this weight computes, in its dtype. A part that is offloaded moves them."""
    return states.to(weight.dtype) if weight.is_meta else states.to(weight.device, weight.dtype)


def _out_features(module: nn.Module) -> int:
    return int(getattr(module, "out_features", None) or module.weight.shape[0])
