"""lm-evaluation-harness over a model under a technique: its figures are the technique's own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")
lm_eval = pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed")

from lm_eval.models.huggingface import HFLM  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.edits import Edit  # noqa: E402
from leadline.engine.intervention import Intervention  # noqa: E402
from leadline.engine.session import applied  # noqa: E402
from leadline.interop.lm_eval import TechniqueLM  # noqa: E402
from leadline.techniques.registry import techniques  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

pytestmark = pytest.mark.model

QUESTIONS = [
    ("What is the capital of France?", ["Paris", "Berlin", "Rome in the year of our Lord"]),
    ("What do bees make?", ["milk", "honey", "a great deal of noise"]),
]
NEW_TOKENS = 8
COMMON = """
dataset_path: json
dataset_kwargs:
  data_files: {{test: {data}}}
  cache_dir: {cache}
test_split: test
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
"""
GENERATE = """
task: asked
output_type: generate_until
doc_to_target: "{{{{choices[0]}}}}"
generation_kwargs: {{until: ["\\n"], max_gen_toks: {tokens}, do_sample: false}}
metric_list: [{{metric: exact_match}}]
"""
CHOOSE = """
task: chosen
output_type: multiple_choice
doc_to_choice: "{{{{choices}}}}"
doc_to_target: 0
metric_list: [{{metric: acc}}]
"""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> TaskManager:
    """Two tasks of the harness, as a user writes them: YAML and a file of questions."""
    folder = tmp_path_factory.mktemp("tasks")
    data = folder / "questions.jsonl"
    data.write_text("".join(json.dumps({"question": q, "choices": c}) + "\n" for q, c in QUESTIONS))
    values = {"data": data, "cache": folder / "cache", "tokens": NEW_TOKENS}
    for name, own in (("asked", GENERATE), ("chosen", CHOOSE)):
        (folder / f"{name}.yaml").write_text((COMMON + own).format(**values))
    return TaskManager(include_path=str(folder), include_defaults=False)


def measured(lm: Any, manager: TaskManager, task: str) -> list[list[Any]]:
    """What the harness noted per question: its answer, or by choice (log-likelihood, is it greedy)."""
    found = lm_eval.simple_evaluate(model=lm, tasks=[task], task_manager=manager, bootstrap_iters=0)
    samples = sorted(found["samples"][task], key=lambda sample: sample["doc_id"])
    return [[one[0] for one in sample["resps"]] for sample in samples]


def steering(model: LocalModel, strength: float = 25.0) -> Intervention:
    """A vector added to the residual stream in the middle, from the last prompt token on."""
    anatomy = model.lm.anatomy
    drawn = torch.randn(anatomy.hidden, generator=torch.Generator().manual_seed(3))
    edit = Edit("residual", anatomy.layers // 2, shift=drawn * strength / drawn.norm(), positions="last")
    return Intervention((edit,))


def token_by_token(model: Any, context: Sequence[int], continuation: Sequence[int]) -> float:
    """Log-likelihood of a continuation as the model would say it: the context in one pass, then each token
    on its own, with a cache. The model may be under a technique."""
    total, cache, entered = 0.0, None, list(context)
    with torch.no_grad():
        for token in continuation:
            out = model(torch.tensor([entered]), past_key_values=cache, use_cache=True)
            total += float(out.logits[0, -1].float().log_softmax(-1)[token])
            cache, entered = out.past_key_values, [token]
    return total


def by_hand(model: LocalModel) -> list[list[float]]:
    """`token_by_token` for each question and choice."""
    tokenizer = model.lm.tokenizer
    found = []
    for question, choices in QUESTIONS:
        context = tokenizer(f"Question: {question}\nAnswer:").input_ids
        wholes = [tokenizer(f"Question: {question}\nAnswer: {choice}").input_ids for choice in choices]
        found.append([token_by_token(model.lm.model, context, ids[len(context) :]) for ids in wholes])
    return found


def likelihoods(noted: list[list[Any]]) -> list[list[float]]:
    return [[value for value, _ in row] for row in noted]


def assert_close(one: list[list[float]], other: list[list[float]]) -> None:
    torch.testing.assert_close(torch.tensor(one), torch.tensor(other), atol=2e-3, rtol=1e-4)


def farthest(one: list[list[float]], other: list[list[float]]) -> float:
    return float((torch.tensor(one) - torch.tensor(other)).abs().max())


def test_likelihoods_under_steering_are_those_of_saying_the_answer_token_by_token(
    smollm2: LocalModel, tasks: TaskManager
) -> None:
    model, tokenizer = smollm2.lm.model, smollm2.lm.tokenizer
    with applied(model, steering(smollm2)) as session:
        plugged = likelihoods(measured(TechniqueLM(session, tokenizer, batch_size=4), tasks, "chosen"))
        expected = by_hand(smollm2)
        # Without a word on where contexts end, only the last token that is fed would be steered.
        untold = likelihoods(measured(HFLM(model, tokenizer=tokenizer, batch_size=4), tasks, "chosen"))
    assert_close(plugged, expected)
    assert farthest(untold, expected) > 0.5
    assert farthest(by_hand(smollm2), expected) > 0.5  # and steering does something


@pytest.mark.parametrize(
    ("name", "settings", "acts_from_the_prompt_on"),
    [
        ("dola", {"relative_top": 0}, False),
        ("decore", {"selection": "random", "heads": 60}, True),
        ("activation-decoding", {"relative_top": 0, "alpha": 5.0}, True),
    ],
)
def test_likelihoods_under_decoding_techniques_are_those_of_their_scores(
    smollm2: LocalModel, name: str, settings: dict[str, Any], acts_from_the_prompt_on: bool
) -> None:
    lm = smollm2.lm
    ids = lm.tokenizer("Bees make honey, and cows a lot of milk").input_ids
    asked: list[tuple[Any, list[int], list[int]]] = [(None, ids[:2], ids[2:5]), (None, ids[:4], ids[4:6])]
    with techniques()[name](**settings).on(lm.model, lm.tokenizer) as session:
        plugged = TechniqueLM(session, lm.tokenizer, batch_size=2)._loglikelihood_tokens(asked, True)
        expected = [token_by_token(lm.model, context, rest) for _, context, rest in asked]
        untold = HFLM(lm.model, tokenizer=lm.tokenizer, batch_size=2)._loglikelihood_tokens(asked, True)
    assert_close([[value for value, _ in plugged]], [expected])
    assert (farthest([[value for value, _ in untold]], [expected]) > 0.01) is acts_from_the_prompt_on
    baseline = [token_by_token(lm.model, context, rest) for _, context, rest in asked]
    assert farthest([baseline], [expected]) > 0.01


@pytest.mark.parametrize("name", ["dola", "steering"])
def test_generated_answers_are_those_of_the_engine(
    smollm2: LocalModel, tasks: TaskManager, name: str
) -> None:
    """An ordinary HFLM will do."""
    lm = smollm2.lm
    if name == "dola":
        intervention = techniques()["dola"]().prepare(lm, Any).intervention
    else:
        intervention = steering(smollm2, 40.0)
    plain = measured(HFLM(lm.model, tokenizer=lm.tokenizer, batch_size=3), tasks, "asked")
    with applied(lm.model, intervention):
        noted = measured(HFLM(lm.model, tokenizer=lm.tokenizer, batch_size=3), tasks, "asked")
    requests = [
        Request(
            Prompt(text=f"Question: {question}\nAnswer:"), Sampling(0.0, NEW_TOKENS, ("\n",)), (0, question)
        )
        for question, _ in QUESTIONS
    ]
    own = dict(generate(lm, requests, None, intervention))
    texts = []
    for at in range(len(requests)):
        answer = own[at]
        assert isinstance(answer, Generation)
        texts.append([answer.text.split("\n")[0]])  # the harness stops at a line's end wherever it is
    assert noted == texts
    assert noted != plain


def test_requests_that_share_all_tokens_but_their_split_are_kept_apart(smollm2: LocalModel) -> None:
    """The harness would answer both from one pass, which can be steered from one place only."""
    lm = smollm2.lm
    ids = lm.tokenizer("The capital of France is Paris, a city").input_ids
    asked: list[tuple[Any, list[int], list[int]]] = [(None, ids[:at], ids[at:]) for at in (3, 5, 3)]
    asked.append((None, ids[:5], [*ids[5:-1], 0]))  # with another last token, and one that looks like padding
    asked.append((None, ids[:3], [*ids[3:], 0, 0]))
    with applied(lm.model, steering(smollm2)) as session:
        found = TechniqueLM(session, lm.tokenizer, batch_size=4)._loglikelihood_tokens(
            asked, disable_tqdm=True
        )
        expected = [token_by_token(lm.model, context, rest) for _, context, rest in asked]
    torch.testing.assert_close(
        torch.tensor([value for value, _ in found]), torch.tensor(expected), atol=2e-3, rtol=1e-4
    )
    assert abs(expected[0] - expected[1]) > 0.5


def test_the_largest_batch_that_fits_can_be_tried_out(smollm2: LocalModel, tasks: TaskManager) -> None:
    """The harness calls the model on rows that nobody asked for to find it."""
    lm = smollm2.lm
    with applied(lm.model, steering(smollm2)) as session:
        found = [
            likelihoods(measured(TechniqueLM(session, lm.tokenizer, **options), tasks, "chosen"))
            for options in ({"batch_size": "auto", "max_batch_size": 2}, {"batch_size": 6})
        ]
    assert_close(*found)


def test_without_the_harness_there_is_one_line() -> None:
    code = (
        "import sys; sys.modules['lm_eval'] = None\n"
        "from leadline.errors import UsageError\n"
        "try:\n    import leadline.interop.lm_eval\n"
        "except UsageError as error:\n    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) == 1 and "pip install 'lm-eval" in ran.stdout
