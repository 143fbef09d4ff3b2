"""The protocol as the papers' repositories run it: item by item, method by method, `transformers` alone.

Nothing of our engine is used. Each item and method is a call of `generate` on one prompt
(`num_return_sequences` where several answers are drawn), or for decoding techniques a loop over tokens with
the technique's formula as it stands; each greedy method has another forward pass for the rank of the gold
answer's first token. Caches of keys and values are used everywhere, logits are taken at the last position
only, and 20 prompts that differ (RECITE's second stage) go through one padded call: what a careful author of
such a script would do.

What was fitted beforehand (directions, heads) is handed in as tensors, and fitting is timed on neither side.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import StoppingCriteria, StoppingCriteriaList

# Layer → what is added to, or multiplied into, the input of its output projection ("heads") or its output.
Vectors = dict[int, Tensor]


@dataclass(frozen=True)
class Steering:
    """A fitted steering technique, for one item."""

    site: str
    shift: Vectors
    scale: Vectors


class Stopped(StoppingCriteria):  # type: ignore[misc]
    """A row is over when the stop stands in it after the first visible character. Only rows whose newest
    token holds a line break are looked at."""

    def __init__(self, tokenizer: Any, stop: str, begins: int, candidates: Tensor) -> None:
        self.tokenizer, self.stop, self.begins, self.candidates = tokenizer, stop, begins, candidates
        self.done: Tensor | None = None

    def __call__(self, input_ids: Tensor, scores: Any, **options: Any) -> Tensor:
        """`[rows]`, True where a row is over."""
        if self.done is None:
            self.done = torch.zeros(len(input_ids), dtype=torch.bool)
        near = torch.isin(input_ids[:, -1], self.candidates) & ~self.done
        for row in near.nonzero()[:, 0].tolist():
            self.done[row] = self.stop in self.tokenizer.decode(input_ids[row, self.begins :]).lstrip()
        return self.done


class Script:
    """A model, its tokenizer, and the methods."""

    def __init__(self, model: Any, tokenizer: Any, ends: Iterable[int]) -> None:
        self.model, self.tokenizer, self.ends = model, tokenizer, frozenset(ends)
        # Versions of transformers call it differently.
        named = inspect.signature(model.forward).parameters
        self.cache = "cache" if "cache" in named else "past_key_values"
        pieces = [tokenizer.decode([token]) for token in range(len(tokenizer))]
        self.breaks = torch.tensor([token for token, piece in enumerate(pieces) if "\n" in piece])

    # Sampling and greedy answers

    def generate(
        self, prompts: Sequence[str], limit: int, stop: str, temperature: float = 0.0, count: int = 1
    ) -> list[str]:
        """`count` answers to each of `prompts`, which are padded where there are several."""
        asked = self.tokenizer(list(prompts), return_tensors="pt", padding=True, padding_side="left")
        begins = asked.input_ids.shape[1]
        drawn: dict[str, Any] = {"do_sample": False}
        if temperature:
            drawn = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
        stops = [Stopped(self.tokenizer, stop, begins, self.breaks)] if stop else []
        with torch.inference_mode():
            found = self.model.generate(
                **asked,
                **drawn,
                max_new_tokens=limit,
                num_return_sequences=count,
                eos_token_id=sorted(self.ends),
                pad_token_id=self.tokenizer.pad_token_id,
                stopping_criteria=StoppingCriteriaList(stops),
            )
        return [self.cut(row[begins:].tolist(), stop) for row in found]

    def cut(self, ids: Sequence[int], stop: str) -> str:
        """The text of an answer, up to its stop."""
        text: str = self.tokenizer.decode(ids, skip_special_tokens=True)
        if not stop:
            return text
        at = text.find(stop, len(text) - len(text.lstrip()))
        return text if at < 0 else text[:at]

    def ranks(self, prompts: Sequence[str], token: int) -> list[int]:
        """Rank of `token` after each of `prompts`."""
        asked = self.tokenizer(list(prompts), return_tensors="pt", padding=True, padding_side="left")
        with torch.inference_mode():
            logits = self.model(**asked, logits_to_keep=1).logits[:, -1]
        return [int((row > row[token]).sum()) + 1 for row in logits]

    # Steering

    @contextmanager
    def steered(self, steering: Steering) -> Iterator[None]:
        """Within this context the last position of every pass is edited: the last prompt token, then each
        generated one."""

        def edited(states: Tensor, layer: int) -> Tensor:
            states = states.clone()
            if layer in steering.scale:
                states[:, -1] *= 1 + steering.scale[layer]
            if layer in steering.shift:
                states[:, -1] += steering.shift[layer]
            return states

        with ExitStack() as hooks:
            for layer in sorted({*steering.shift, *steering.scale}):
                block = self.model.model.layers[layer]
                if steering.site == "heads":
                    hook = block.self_attn.o_proj.register_forward_pre_hook(
                        lambda _, given, layer=layer: (edited(given[0], layer),)
                    )
                else:
                    hook = block.register_forward_hook(
                        lambda _, given, out, layer=layer: (
                            edited(out, layer)
                            if isinstance(out, Tensor)
                            else (edited(out[0], layer), *out[1:])
                        )
                    )
                hooks.callback(hook.remove)
            yield

    # Decoding techniques: a loop over tokens

    def decode(
        self, prompt: str, limit: int, stop: str, scores: Callable[[Any, Tensor, Any], tuple[Tensor, Any]]
    ) -> str:
        """Greedy over `scores`, which is given what the model put out, the tokens that it was fed, and what
        it returned as its state before."""
        fed = self.tokenizer(prompt, return_tensors="pt").input_ids
        ids: list[int] = []
        cache = state = None
        with torch.inference_mode():
            for _ in range(limit):
                out = self.model(
                    input_ids=fed,
                    **{self.cache: cache},
                    use_cache=True,
                    output_hidden_states=True,
                    logits_to_keep=1,
                )
                cache = out.past_key_values
                values, state = scores(out, fed, state)
                ids.append(int(values.argmax()))
                if ids[-1] in self.ends or stop in self.tokenizer.decode(ids).lstrip():
                    break
                fed = torch.tensor([ids[-1:]])
        return self.cut(ids, stop)

    def first(self, prompt: str, scores: Callable[[Any, Tensor, Any], tuple[Tensor, Any]]) -> Tensor:
        """The scores of the first answer token, `[vocabulary]`: a forward pass for the rank."""
        fed = self.tokenizer(prompt, return_tensors="pt").input_ids
        with torch.inference_mode():
            out = self.model(input_ids=fed, use_cache=True, output_hidden_states=True, logits_to_keep=1)
            return scores(out, fed, None)[0]

    def dola(self, layers: Sequence[int], relative_top: float) -> Callable[..., tuple[Tensor, Any]]:
        """Chuang et al. 2024: the early layer that diverges most is subtracted."""

        def scores(out: Any, fed: Tensor, state: Any) -> tuple[Tensor, Any]:
            last = out.logits[0, -1].log_softmax(-1)
            early = self.model.lm_head(torch.stack([out.hidden_states[layer][0, -1] for layer in layers]))
            early = early.log_softmax(-1)
            middle = (0.5 * (last.exp() + early.exp())).log()
            weight = middle.exp()
            apart = (weight * (middle - last)).sum(-1) + (weight * (middle - early)).sum(-1)
            values = last - early[int(apart.argmax())]
            return self.plausible(values, last, relative_top), None

        return scores

    def sharpness(self, layer: int, alpha: float, relative_top: float) -> Callable[..., tuple[Tensor, Any]]:
        """Chen et al. 2024: entropies over the prompt's positions, of every token, once."""

        def scores(out: Any, fed: Tensor, entropy: Any) -> tuple[Tensor, Any]:
            if entropy is None:
                over = self.model.lm_head(out.hidden_states[layer][0]).softmax(0)
                entropy = -(over * over.clamp(2.0**-23, 1 - 2.0**-23).log()).sum(0)
            last = out.logits[0, -1].log_softmax(-1)
            return self.plausible(last - alpha * entropy, last, relative_top), entropy

        return scores

    def sled(self, layers: Sequence[int], rate: float, scale: int) -> Callable[..., tuple[Tensor, Any]]:
        """Zhang et al. 2024: a step along what the layers moved towards, for the likeliest tokens."""

        def scores(out: Any, fed: Tensor, state: Any) -> tuple[Tensor, Any]:
            final = out.logits[0, -1]
            likeliest = final.topk(scale).indices
            early = self.model.lm_head(torch.stack([out.hidden_states[layer][0, -1] for layer in layers]))
            latent = torch.zeros(scale)
            target = functional.one_hot(likeliest, final.shape[-1]).float()
            for each in early:
                gradient = each.softmax(-1) - target  # [scale, vocabulary]
                agreement = functional.cosine_similarity((each - final)[None], gradient, dim=-1)
                latent += agreement.clamp(min=0).square()
            latent /= max(float(latent.sum()), 1e-12)
            evolved = final - rate * final.softmax(-1)
            values = torch.full_like(final, -torch.inf)
            values[likeliest] = evolved[likeliest] + rate * latent
            return values, None

        return scores

    def decore(self, heads: Sequence[tuple[int, int]]) -> Callable[..., tuple[Tensor, Any]]:
        """Gema et al. 2025: a second pass with its own cache, in which some heads' queries are zero."""
        width = (
            self.model.config.head_dim
            or self.model.config.hidden_size // self.model.config.num_attention_heads
        )

        def scores(out: Any, fed: Tensor, cache: Any) -> tuple[Tensor, Any]:
            with ExitStack() as hooks:
                for layer, head in heads:

                    def masked(_: Any, given: Any, query: Tensor, head: int = head) -> Tensor:
                        query = query.clone()
                        query[:, -1, head * width : (head + 1) * width] = 0
                        return query

                    attention = self.model.model.layers[layer].self_attn
                    hooks.callback(attention.q_proj.register_forward_hook(masked).remove)
                other = self.model(input_ids=fed, use_cache=True, logits_to_keep=1, **{self.cache: cache})
            own, without = out.logits[0, -1].log_softmax(-1), other.logits[0, -1].log_softmax(-1)
            alpha = -(own.exp() * (own.exp() + 1e-12).log()).sum()
            return (1 + alpha) * own - alpha * without, other.past_key_values

        return scores

    def contrastive(
        self, amateur: Any, beta: float, relative_top: float
    ) -> Callable[..., tuple[Tensor, Any]]:
        """Li et al. 2023: a weaker model is subtracted."""

        def scores(out: Any, fed: Tensor, cache: Any) -> tuple[Tensor, Any]:
            other = amateur(input_ids=fed, use_cache=True, logits_to_keep=1, **{self.cache: cache})
            own, weak = out.logits[0, -1].log_softmax(-1), other.logits[0, -1].log_softmax(-1)
            return self.plausible(own - beta * weak, own, relative_top), other.past_key_values

        return scores

    @staticmethod
    def plausible(values: Tensor, logprobs: Tensor, relative_top: float) -> Tensor:
        """−inf where a token has less than this share of the likeliest one's probability."""
        return values.masked_fill(logprobs.exp() < relative_top * logprobs.max().exp(), -torch.inf)
