"""A weaker model: a model's own first blocks, its final norm and its output layer. No weight is copied."""

from __future__ import annotations

import copy

from torch import nn

from leadline.engine.anatomy import Anatomy
from leadline.engine.lm import CausalLM
from leadline.errors import UsageError


def first_blocks(lm: CausalLM, count: int) -> CausalLM:
    """The first `count` blocks of `lm` as a model of their own. Raises UsageError for more than it has."""
    anatomy = lm.anatomy
    if not 1 <= count < anatomy.layers:
        raise UsageError(
            f"the first {count} blocks are not an amateur", fix=f"a number from 1 to {anatomy.layers - 1}"
        )
    weights = {id(tensor): tensor for tensor in (*lm.model.parameters(), *lm.model.buffers())}
    model = copy.deepcopy(lm.model, weights)  # modules are new, tensors are those of the model itself
    whole = Anatomy(model)
    for parent in whole.decoder.modules():
        for name, child in parent.named_children():
            if isinstance(child, nn.ModuleList) and list(child) == whole.blocks:
                setattr(parent, name, child[:count])
    config = model.config.get_text_config()
    config.num_hidden_layers = count
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:count]
    return CausalLM(model, lm.tokenizer, f"{lm.name}, first {count} blocks")
