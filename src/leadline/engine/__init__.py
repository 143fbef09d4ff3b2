"""The decode loop of local models: prompts prefilled once, samples forked, draws keyed by what they are."""

from leadline.engine.request import (
    Failure,
    Generation,
    GoldProbe,
    OnText,
    Prompt,
    Request,
    Sampling,
    TokenLogprob,
)

__all__ = [
    "Failure",
    "Generation",
    "GoldProbe",
    "OnText",
    "Prompt",
    "Request",
    "Sampling",
    "TokenLogprob",
]
