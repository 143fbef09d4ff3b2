"""What Leadline adds to Inspect: found by its entry point, so that installing Leadline is enough.

    inspect eval task.py --model leadline/smollm2 -M technique=dola --epochs 5

| name | what it is |
| --- | --- |
| `leadline/reading` | scorer: an answer is read by the item's answer type |
| `leadline/wobble`, `leadline/dispersion`, `leadline/vote` | reducers over epochs, on what was read |
| `leadline/accuracy_wilson` | metric: a share of samples with its Wilson interval |
| `leadline/MODEL` | models: those of this machine, under a technique |

Inspect imports this module whenever it looks for an extension: it must stay light, and import no model code.
"""

from __future__ import annotations

from leadline.interop.inspect_metrics import accuracy_wilson
from leadline.interop.inspect_provider import leadline_models
from leadline.interop.inspect_reducers import dispersion, vote, wobble
from leadline.interop.inspect_scorer import reading

__all__ = ["accuracy_wilson", "dispersion", "leadline_models", "reading", "vote", "wobble"]
