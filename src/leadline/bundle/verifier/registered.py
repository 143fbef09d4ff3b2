"""A registered prediction of wobble, measured a second time by the rules of its own file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Optional

from leadline.bundle.verifier.drawn import Drawn
from leadline.bundle.verifier.expected import Expected, Table, no_figure, row_key
from leadline.bundle.verifier.intervals import newcombe_ends, wilson_ends
from leadline.bundle.verifier.loading import Answer, Bundle, Cells
from leadline.bundle.verifier.resampling import ratio_draws

# `leadline verdict` has draws of its own, whatever the study's are.
_THEIRS = 2000
# (model, configuration, item) -> whether its answers are not all the same.
Flips = dict[tuple[str, str, str], bool]


def registered_table(bundle: Bundle) -> Table:
    """The threshold, and what was measured: after the change, or (paired) after it less before it."""
    told = (bundle.protocol.get("before") or {}).get("registered")
    registration = _stamped(bundle.folder) if told else None
    if told is None or registration is None:
        return {}
    prediction = registration["prediction"]
    is_paired = prediction["comparison"] == "paired"
    sentence = "wobble"
    if is_paired:
        sentence = "wobble of the tested study less that of the reference study"
    if prediction["sameness"] != "default":
        sentence += f", numbers compared by the rule '{prediction['sameness']}',"
    sentence += f" {prediction['direction']} {prediction['threshold']:g}"
    figures = {"threshold": Expected(prediction["threshold"]), "measured": no_figure()}
    if told["figures"]:
        now = _flips(bundle, registration, bundle.everyone)
        figures.update(_change(now, _flips(bundle, registration, bundle.before)) if is_paired else _rate(now))
    return {row_key(prediction=sentence): figures}


def _stamped(folder: Path) -> Optional[dict[str, Any]]:
    """The registration that lies in the bundle; None where it is not there, or was changed since."""
    path = folder / "registrations" / "registration.json"
    if not path.is_file():
        return None
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    rest = {key: value for key, value in content.items() if key != "sha256"}
    text = json.dumps(rest, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return content if content.get("sha256") == f"sha256:{digest}" else None


def _flips(bundle: Bundle, registration: dict[str, Any], side: dict[tuple[str, str], Cells]) -> Flips:
    """The measured cells among those that were registered."""
    prediction, tested = registration["prediction"], registration["tested"]
    items = set(registration["items"])
    found = {}
    for model in tested["models"]:
        for configuration in tested["configurations"]:
            name, samples = configuration["name"], configuration["samples"]
            for item, answers in side.get((model["label"], name), {}).items():
                if item not in items:
                    continue
                is_number = bundle.answer_type(item) == "number"
                values = [
                    value
                    for answer in answers
                    if answer.state == "ok" and answer.sample < samples
                    for value in [_value(answer, prediction["sameness"] if is_number else "default")]
                    if value is not None
                ]
                if len(values) >= max(2, prediction["minimum_readings"]):  # one alone shows no wobble
                    found[model["label"], name, item] = len(set(values)) > 1
    return found


def _value(answer: Answer, rule: str) -> Optional[str]:
    by_rule = {"exact": answer.exact, "declared": answer.declared, "rounding": answer.rounding}
    return by_rule.get(rule, answer.value)


def _rate(now: Flips) -> dict[str, Expected]:
    above, below = sum(now.values()), len(now)
    if not below:
        return {"measured": no_figure(0, 0), "measured_items": no_figure(0, 0)}
    by_item: dict[str, list[int]] = {}
    for (_, _, item), unstable in now.items():
        entry = by_item.setdefault(item, [0, 0])
        entry[0] += unstable
        entry[1] += 1
    drawn = _drawn(by_item)
    return {
        "measured": Expected(above / below, above, below, wilson_ends(above, below)),
        "measured_items": Expected(above / below, above, below, drawn),
    }


def _change(now: Flips, before: Flips) -> dict[str, Expected]:
    both = sorted(set(now) & set(before))
    n = len(both)
    if not n:
        return {"measured": no_figure(), "measured_items": no_figure()}
    sums = [sum(side[key] for key in both) for side in (now, before)]
    by_item: dict[str, list[int]] = {}
    for key in both:
        entry = by_item.setdefault(key[2], [0, 0])
        entry[0] += now[key] - before[key]
        entry[1] += 1
    ends = newcombe_ends((sums[0], n), (sums[1], n))
    value = (sums[0] - sums[1]) / n
    return {
        "measured": Expected(value, None, None, ends),
        "measured_items": Expected(value, None, None, _drawn(by_item)),
    }


def _drawn(by_item: dict[str, list[int]]) -> Drawn:
    above, below = ([entry[place] for entry in by_item.values()] for place in (0, 1))
    return Drawn(lambda: ratio_draws(above, below), _THEIRS)
