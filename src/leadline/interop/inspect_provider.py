"""Inspect models `leadline/MODEL`: those of this machine, through our engine, under a technique or none.

    inspect eval task.py --model leadline/smollm2 -M technique=dola -M layers=high --epochs 5

Only the name is registered here. torch is loaded when the model is, in `inspect_model.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai.model import modelapi

if TYPE_CHECKING:
    from inspect_ai.model import ModelAPI


@modelapi(name="leadline")
def leadline_models() -> type[ModelAPI]:
    """The provider. Raises Inspect's PrerequisiteError, one line, for a wrong argument."""
    from leadline.interop.inspect_model import LeadlineModel

    return LeadlineModel
