"""Leadline as a library: answers that were drawn elsewhere, read and judged without any model.

    python examples/recorded-answers/read_answers.py

`answers.jsonl` holds one answer a line: which way of answering, which item, which sample, the raw text.
"""

from __future__ import annotations

import json
from pathlib import Path

from leadline.answers import read_answer
from leadline.bench import load_benchmark
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Method, Protocol
from leadline.lenses.registry import run_lenses

HERE = Path(__file__).parent


def main() -> None:
    """Read the answers, look at them through every lens, print what was found about gain and loss."""
    benchmark = load_benchmark(str(HERE.parent / "quickstart" / "rivers.jsonl"))

    rows: list[dict[str, object]] = []
    for line in (HERE / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        item = benchmark.by_id[answer["item"]]
        reading = read_answer(item, answer["text"])
        rows.append(
            {
                "model": "recorded",
                "configuration": answer["configuration"],
                "item": item.id,
                "category": item.category,
                "task": item.task,
                "sample": answer["sample"],
                "text": answer["text"],
                "state": reading.state.value,
                "value": reading.value,
                "correct": reading.correct,
                "correct_strict": reading.correct_strict,
                "leads": reading.leads,
            }
        )

    # Who is compared with whom: a majority over five samples at a temperature, and over five recitations.
    protocol = Protocol(
        baseline="greedy",
        methods=(Method("recite", vote=5), Method("tau-0.7", vote=5, is_sampling=True)),
        category_name="continent",
    )
    findings = run_lenses(readings_frame(rows), protocol)

    for finding in findings:
        if (finding.lens, finding.table) == ("transitions", "overall"):
            for row in finding.rows:
                gain, loss = row.figures["gain"], row.figures["loss"]
                print(
                    f"{row.keys['method']}: "
                    f"recovered {gain.numerator:.0f} of {gain.denominator:.0f} failures, "
                    f"broke {loss.numerator:.0f} of {loss.denominator:.0f} successes"
                )
            for claim in finding.claims:
                print(f"[{claim.status.value}] {claim.text}")


if __name__ == "__main__":
    main()
