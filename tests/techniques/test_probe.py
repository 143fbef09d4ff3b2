"""`leadline probe`: its lines in, its lines out, and the numbers of the reference where they are at hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.cli.app import app
from leadline.errors import UsageError
from leadline.models.local import LocalModel
from leadline.techniques.probing import ProbeLine, probe, read_prompts
from leadline.techniques.spelling import technique_from

GOLDEN = Path(__file__).resolve().parents[2].parent / "shared" / "golden"
ASKED = "Answer the question with a short phrase only.\nQuestion: What is the capital of France?\nAnswer:"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no prompts"),
        ("not json\n", ":1: is not JSON"),
        ('{"id": "a", "prompt": "x"}\n{"id": "a", "prompt": "y"}\n', ":2: the id 'a' stands twice"),
        ('{"id": "a"}\n', ":1: has either a prompt or messages"),
        (
            '{"id": "a", "prompt": "x", "messages": [{"role": "user", "content": "y"}]}\n',
            "either a prompt or",
        ),
        ('{"id": "a", "prompt": "x", "gold": "  "}\n', ":1: its gold answer is blank"),
        ('{"id": "a", "prompt": "x", "goal": "y"}\n', ":1: goal: extra"),
        ('{"prompt": "x"}\n', ":1: id: field required"),
        ("[" * 100_000, ":1: is nested too deeply"),
    ],
)
def test_a_faulty_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as fault:
        read_prompts(path)
    assert said in str(fault.value)


def test_a_mark_of_byte_order_and_empty_lines_are_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": 1, "prompt": "x"}\n\n{"id": "2", "prompt": "y"}\n')
    assert [line.id for line in read_prompts(path)] == ["1", "2"]


def test_what_changes_the_question_cannot_be_probed(smollm2: LocalModel) -> None:
    line = ProbeLine(id="a", prompt="The capital of France is")
    with pytest.raises(UsageError, match="changes what is asked"):
        probe(smollm2.lm, technique_from("recite"), [line])


@pytest.mark.model
def test_equal_prompts_and_unequal_ones_come_back_in_order(smollm2: LocalModel) -> None:
    lines = [ProbeLine(id=name, prompt=text) for name, text in (("b", "Bees make"), ("a", "The sky is"))]
    lines.append(ProbeLine(id="c", prompt="Bees make"))
    found = probe(smollm2.lm, technique_from("dola"), lines, top=3, max_new_tokens=4)
    assert [one.id for one in found] == ["b", "a", "c"]
    assert found[0].top == found[2].top and found[0].continuation == found[2].continuation
    assert len(found[0].details["layer"]) == len(found[0].continuation_token_ids)


@pytest.mark.model
def test_the_command_prints_a_line_of_json_per_prompt_and_technique(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    line = {"id": "france", "messages": [{"role": "user", "content": ASKED}], "gold": "Paris"}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    command = ["probe", "--prompts", str(path), "--technique", "greedy", "--technique", "dola", "--json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0
    plain, dola = (json.loads(printed) for printed in result.stdout.strip().split("\n"))
    assert (plain["technique"], dola["technique"]) == ("greedy", "dola")
    assert plain["top"][0]["score"] == plain["top"][0]["logprob"] < 0
    assert plain["gold_rank"] == 2 and dola["gold_rank"] == 3
    assert [len(one["top"]) for one in (plain, dola)] == [20, 3]  # three tokens are plausible
    if not GOLDEN.is_dir():
        pytest.skip("the reference numbers are not beside the project; all else was tested")
    reference = json.loads((GOLDEN / "dola.json").read_text())["configs"]["low_hf_2-14"]["results"][0]
    prompt = json.loads((GOLDEN / "prompts.json").read_text())["prompts"][0]
    assert dola["prompt_token_ids"] == prompt["input_ids"]
    assert dola["gold_token_id"] == prompt["gold_first_token_id"]
    scores = {token["token_id"]: token["score"] for token in dola["top"]}
    assert scores == pytest.approx({token: value for token, value, _ in reference["top20"]}, abs=5e-3)
    assert dola["continuation_token_ids"] == reference["greedy_ids"]
    assert dola["details"]["layer"] == reference["premature_layers"]
