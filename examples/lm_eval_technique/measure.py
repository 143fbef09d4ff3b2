"""lm-evaluation-harness measures techniques: twelve questions about rivers, answered and chosen from.

    python examples/lm_eval_technique/measure.py [TECHNIQUE ...] [--limit N]

Needs `pip install lm-eval`. Any task of the harness can stand in the place of these two.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from pathlib import Path
from typing import Any

QUESTIONS = Path(__file__).parents[1] / "quickstart" / "rivers.jsonl"


def tasks(cache: str) -> list[dict[str, Any]]:
    """A task that generates and one that compares likelihoods, over the same questions."""
    common = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(QUESTIONS)}, "cache_dir": cache},
        "test_split": "test",
        "doc_to_text": "Question: {{question}}\nAnswer:",
    }
    generated = {
        "task": "rivers-answered",
        "output_type": "generate_until",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["\n"], "max_gen_toks": 12, "do_sample": False},
        "metric_list": [{"metric": "exact_match", "ignore_case": True, "ignore_punctuation": True}],
    }
    chosen = {
        "task": "rivers-chosen",
        "output_type": "multiple_choice",
        "doc_to_choice": "{{[answer, 'Arctic Ocean', 'Loire', 'Lake Baikal']}}",
        "doc_to_target": 0,
        "metric_list": [{"metric": "acc"}],
    }
    return [common | generated, common | chosen]


def main() -> None:
    """Each technique on one loaded model, in turn; the model is as it was in between."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("techniques", nargs="*", default=["greedy", "dola:relative_top=0"])
    arguments.add_argument("--limit", type=int, default=None, help="only the first N questions")
    asked = arguments.parse_args()

    import lm_eval
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from leadline.interop.lm_eval import TechniqueLM
    from leadline.models.resolve import resolve
    from leadline.techniques.spelling import technique_from

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    folder = resolve("smollm2").folder
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with tempfile.TemporaryDirectory() as cache:
        for name in asked.techniques:
            with technique_from(name).on(model, tokenizer) as session:
                measured = lm_eval.simple_evaluate(
                    model=TechniqueLM(session, tokenizer, batch_size=4),
                    tasks=tasks(cache),
                    limit=asked.limit,
                    bootstrap_iters=0,
                )
            for task, figures in measured["results"].items():
                value = figures.get("exact_match,none", figures.get("acc,none"))
                print(f"{name}: {task}: {value:.3f}", flush=True)


if __name__ == "__main__":
    main()
