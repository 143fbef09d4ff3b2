"""The decode loop of local models: prompts prefilled once, samples forked, draws keyed by what they are."""

from leadline.engine.request import Failure, Generation, GoldProbe, Prompt, Request, Sampling

__all__ = ["Failure", "Generation", "GoldProbe", "Prompt", "Request", "Sampling"]
