"""Linear probes on attention heads: how well a head tells true from false, and in which direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leadline.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Probes:
    """Of each head: accuracy on the statements held out, `[layers, heads]`; unit direction towards true,
    `[layers, heads, head_dim]`; standard deviation of states along it, `[layers, heads]`."""

    accuracy: Tensor
    direction: Tensor
    sigma: Tensor


def fit_probes(
    states: Tensor, is_true: Sequence[bool], is_train: Sequence[bool], direction: str = "com"
) -> Probes:
    """Logistic regression on each head's states `[texts, layers, heads, head_dim]`, as they are (nothing is
    standardised), fitted on the training texts and scored on the others.

    direction: "com", the difference of the classes' means over all texts; "probe", the regression's weights.
    Deviations (over all texts) are unbiased. Raises UsageError where scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        raise UsageError("probes need scikit-learn", fix="pip install 'leadline[local]'") from error
    import torch

    true, train = torch.tensor(is_true), torch.tensor(is_train)
    layers, heads = states.shape[1:3]
    accuracy = torch.zeros(layers, heads)
    weights = torch.zeros(states.shape[1:])
    labels = true.numpy()
    # These are small problems: several threads only wait for each other.
    with threadpool_limits(limits=1):
        for layer in range(layers):
            for head in range(heads):
                found = states[:, layer, head]
                probe = LogisticRegression(max_iter=1000).fit(found[train].numpy(), labels[train.numpy()])
                accuracy[layer, head] = probe.score(found[~train].numpy(), labels[(~train).numpy()])
                weights[layer, head] = torch.from_numpy(probe.coef_[0]).float()
    towards = states[true].mean(0) - states[~true].mean(0) if direction == "com" else weights
    unit = torch.nn.functional.normalize(towards, dim=-1)
    return Probes(accuracy, unit, spread_along(states, unit))


def spread_along(states: Tensor, direction: Tensor) -> Tensor:
    """Standard deviation over texts of `states` `[texts, layers, heads, head_dim]` along unit directions
    `[layers, heads, head_dim]`: `[layers, heads]`."""
    return (states * direction).sum(-1).std(0)
