"""A technique made ready for one model, and what it needs to get there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leadline.bench import Item
from leadline.engine.intervention import NOTHING, Intervention
from leadline.techniques.prompts_library import Prompts

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM


def _silent(line: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Bench:
    """What a technique may be fitted on, and how to say what takes long.

    items: questions with gold answers; () means: the bundled facts. prompts: how questions are put. digest:
    names the model's weights for ever; None: it is computed from them. load: loads another model by name.
    say: told one line per long step. reuse: whether a fitted artefact in the cache is used again.
    """

    items: Sequence[Item] = ()
    prompts: Prompts = field(default_factory=Prompts)
    digest: str | None = None
    load: Callable[[str], CausalLM] | None = None
    say: Callable[[str], None] = _silent
    reuse: bool = True

    @cached_property
    def fit_items(self) -> tuple[Item, ...]:
        """`items`, or the bundled facts."""
        if self.items:
            return tuple(self.items)
        from leadline.bench import load_benchmark

        return tuple(load_benchmark("facts").items)

    def digest_of(self, lm: CausalLM) -> str:
        """The digest of a model's weights."""
        if self.digest is None:
            from leadline.engine.digest import weights_digest

            object.__setattr__(self, "digest", weights_digest(lm.model))
        assert self.digest is not None
        return self.digest


@dataclass(frozen=True)
class Prepared:
    """What a technique does to the model: the same for every item, or by item where it was fitted on items
    (an item is never treated with what was fitted on it). `about` says what was fitted, and on what."""

    intervention: Intervention = NOTHING
    by_item: Mapping[str, Intervention] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    def for_item(self, item: str) -> Intervention:
        """The intervention under which `item` is answered."""
        return self.by_item.get(item, self.intervention)

    def and_then(self, other: Prepared) -> Prepared:
        """Both at once. Raises UsageError where that has no meaning."""
        items = {*self.by_item, *other.by_item}
        merged: dict[tuple[int, int], Intervention] = {}  # items of one pair share one intervention

        def both(one: Intervention, two: Intervention) -> Intervention:
            return merged.setdefault((id(one), id(two)), one.and_then(two))

        return Prepared(
            both(self.intervention, other.intervention),
            {item: both(self.for_item(item), other.for_item(item)) for item in sorted(items)},
            {**self.about, **other.about},
        )


AS_IT_IS = Prepared()
