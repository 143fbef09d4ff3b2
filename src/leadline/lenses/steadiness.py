"""Techniques and steadiness: what the two halves of a study say of each other.

Gain and Loss say what a technique changes once; wobble says how steady answers are. Together they answer what
neither does: does a technique make answers steadier (`steadiness_wobble`), is its gain one of items that
cannot be answered from what the model is shown (`steadiness_audit`), is what it recovers steady or lucky
(`steadiness_recovered`), and does it move the gold token where the model wavers anyway (`steadiness_rank`)?
"""

from __future__ import annotations

from leadline.lenses.finding import Finding
from leadline.lenses.registry import Lens
from leadline.lenses.steadiness_audit import gain_by_audit
from leadline.lenses.steadiness_rank import rank_shift
from leadline.lenses.steadiness_recovered import recovered
from leadline.lenses.steadiness_wobble import wobble_change
from leadline.lenses.view import View


def look(view: View) -> list[Finding]:
    """Findings `wobble change`, `gain by audit`, `recovered` and `rank shift`, as far as there is anything to
    tell: without a baseline there is not."""
    if not view.has(view.protocol.baseline):
        return []
    made = (table(view) for table in (wobble_change, gain_by_audit, recovered, rank_shift))
    return [finding for finding in made if finding]


LENS = Lens("steadiness", order=61, look=look)
