"""Figures over tasks, over all that was asked, and of two runs: changed by hand, they are found out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from leadline.bundle.running import verify_bundle
from tests.bundle.conftest import seal
from tests.bundle.test_tampering import table


def test_each_changed_figure_and_each_claim_that_they_do_not_carry_is_named(copy: Path) -> None:
    path = copy / "findings.json"
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    chosen = table(document, "contrast", "chosen")
    contrast = chosen["rows"][0]["figures"]
    contrast["difference_tasks"]["low"] += 0.2
    contrast["p_tasks"]["value"] = 0.999 if contrast["p_tasks"]["value"] < 0.5 else 0.0005
    contrast["tasks_of"]["value"] += 1
    chosen["claims"][0]["status"] = (
        "not supported" if chosen["claims"][0]["status"] == "not estimable" else "not estimable"
    )
    flagged = table(document, "contrast", "flagged against clean")["rows"][0]["figures"]
    flagged["difference_tasks"]["high"] -= 0.2
    table(document, "observability", "overall")["rows"][-1]["figures"]["p_one_of_asked"]["numerator"] += 1
    table(document, "equivalence", "pairs")["rows"][0]["figures"]["readable_other"]["numerator"] += 1
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    seal(copy)
    said = "\n".join(verify_bundle(copy).report["faults"])
    for what in (
        "measure wobble, stratum all items, subset all configurations: difference_tasks: low",
        "measure wobble, stratum all items, subset all configurations: difference_tasks: high",
        "p_tasks: value",
        "tasks_of: value",
        "claim: contrast, chosen",
        "p_one_of_asked: numerator",
        "readable_other: numerator",
    ):
        assert what in said, what
