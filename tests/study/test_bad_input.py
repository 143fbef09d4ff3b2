"""Bad input ends in one line that says what, where and what to do; nothing is lost and nothing is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from leadline.study.config_file import read_config
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import STUDY, change, items, small_study, write_items


def text_of(**changes: Any) -> str:
    return yaml.safe_dump({**STUDY, "models": ["model"], **changes}, sort_keys=False)


# study.yaml, the line at which the fault is, and what is said of it.
STUDY_FILES: dict[str, tuple[str | bytes, int | None, str]] = {
    "empty": ("", 1, "the file is empty (leadline init"),
    "only a comment": ("# nothing\n", 1, "the file is empty"),
    "not YAML": ("name: [a\nbenchmark: }\n", 2, "broken YAML"),
    "a tab": ("name: a\n\tbenchmark: b\n", 2, "broken YAML"),
    "a list": ("- a\n- b\n", 1, "expected keys and values"),
    "a word": ("study\n", 1, "expected keys and values"),
    "not UTF-8": (b"name: small\nbenchmark: \xff\n", 2, "not UTF-8: byte 0xff"),
    "a zero byte": ("name: a\0b\n", 1, "broken YAML: a control character (remove it)"),
    "huge": ("#" * 2_000_000, None, "is larger than"),
    "deep": ("name: " + "[" * 20_000, None, "broken YAML: nested too deeply"),
    "a long number": ("name: x\nitems: " + "9" * 5000 + "\n", None, "broken YAML"),
    "not a date": ("name: 2024-13-45\n", None, "broken YAML"),
    "an object": ("name: !!python/object/apply:os.system [id]\n", None, "broken YAML"),
    "anchors": ("a: &x [1]\nb: *x\n", 1, "anchors are not used"),
    "the same key twice": (text_of() + "name: again\n", None, "the key 'name' occurs twice, first on line 1"),
    "the same key twice, within": (
        "name: x\nitems:\n  limit: 3\n  limit: 4\n",
        4,
        "occurs twice, first on line 3",
    ),
    "a key is missing": ("name: small\nmodels: x\n", 1, "the key 'benchmark' is missing"),
    "an unknown key": (
        "name: small\nbenchmark: facts\nmodel: x\n",
        3,
        "unknown key 'model' (did you mean 'models'?)",
    ),
    "an unknown key within": (
        "name: small\nbenchmark: facts\nmodels: x\nbeyond_sampling:\n  k: 3\n  sweeep: 4\n",
        6,
        "unknown key 'sweeep' (did you mean 'sweep'?)",
    ),
    "an unknown key of a model": (
        "name: small\nbenchmark: facts\nmodels:\n- ref: x\n  dtyp: float32\n",
        5,
        "unknown key 'dtyp' (did you mean 'dtype'?)",
    ),
    "an unknown key of the only model": (
        "name: small\nbenchmark: facts\nmodels:\n  ref: x\n  dtyp: float32\n",
        5,
        "unknown key 'dtyp' (did you mean 'dtype'?)",
    ),
    "a number as key": ("name: small\nbenchmark: facts\nmodels: x\n7: 8\n", 4, "the key 7 is not a word"),
    "a word for a number": (
        "name: small\nbenchmark: facts\nmodels: x\nmax_tokens: many\n",
        4,
        "max_tokens: must be a whole number, not 'many' (plain digits",
    ),
    "a word for items": (
        "name: small\nbenchmark: facts\nmodels: x\nitems: many\n",
        4,
        "items: must be a whole number such as 48, or the keys",
    ),
    "no items": (
        "name: small\nbenchmark: facts\nmodels: x\nitems: 0\n",
        4,
        "items: must be at least 1, not 0",
    ),
    "a name with a slash": (
        "name: a/b\nbenchmark: facts\nmodels: x\n",
        1,
        "name: 'a/b' cannot be a name (letters, digits",
    ),
    "an unknown dtype": (
        "name: small\nbenchmark: facts\nmodels:\n  - ref: x\n    dtype: int4\n",
        5,
        "models.dtype: must be 'float32', 'bfloat16' or 'float16', not 'int4'",
    ),
    "a negative temperature": (
        "name: small\nbenchmark: facts\nmodels: x\nsampling:\n  temperatures: [0.7, -1]\n",
        5,
        "sampling.temperatures: must be more than 0, not -1",
    ),
    "an infinite temperature": (
        "name: small\nbenchmark: facts\nmodels: x\nsampling:\n  temperatures: [.nan]\n",
        5,
        "sampling.temperatures: must be a number, not nan",
    ),
    "k beyond the sweep": (
        "name: small\nbenchmark: facts\nmodels: x\nbeyond_sampling: {k: 9, sweep: 3}\n",
        4,
        "sweep (3) must be at least k (9)",
    ),
    "one seed for both": (
        "name: small\nbenchmark: facts\nmodels: x\nbeyond_sampling: {partition_seed: 1, fresh_seed: 1}\n",
        4,
        "partition_seed and fresh_seed must differ",
    ),
    "two models of one name": (
        "name: small\nbenchmark: facts\nmodels: [a/x, b/x]\n",
        None,
        "two models are called 'x'",
    ),
    "one model twice": (
        "name: small\nbenchmark: facts\nmodels:\n- smollm2\n- smollm2\n",
        5,
        "two models are called 'smollm2': give one of them another 'name'",
    ),
    "a device of another tongue": (
        "name: small\nbenchmark: facts\nmodels:\n- ref: x\n  device: gpu\n",
        5,
        "models.device: must be auto, cpu, cuda or cuda:N (N the number of the card), not 'gpu'",
    ),
    "an unknown technique": (
        "name: small\nbenchmark: facts\nmodels: x\ntechniques:\n- genread\n- technique: recitee\n",
        6,
        "there is no technique 'recitee' (did you mean 'recite'?)",
    ),
    "an unknown setting": (
        "name: small\nbenchmark: facts\nmodels: x\ntechniques:\n- technique: recite\n  path: 3\n",
        6,
        "recite has no setting 'path' (did you mean 'paths'?)",
    ),
    "a bad setting": (
        "name: small\nbenchmark: facts\nmodels: x\ntechniques:\n- technique: recite\n  paths: 0\n",
        6,
        "recite.paths: must be at least 1, not 0",
    ),
    "one technique twice": (
        "name: small\nbenchmark: facts\nmodels: x\ntechniques:\n- recite\n- recite\n",
        6,
        "two configurations are called 'recite'",
    ),
    "one temperature twice": (
        "name: small\nbenchmark: facts\nmodels: x\nsampling:\n  temperatures: [0.7, 0.7]\n",
        5,
        "two configurations are called 'tau-0.7",
    ),
    "an unknown benchmark": (
        "name: small\nbenchmark: fcts\nmodels: x\n",
        2,
        "there is no benchmark 'fcts' (did you",
    ),
    "an unknown category": (
        "name: small\nbenchmark: facts\nmodels: x\nitems:\n  categories: [nonsense]\n",
        5,
        "'nonsense'",
    ),
    "no such prompts": (
        "name: small\nbenchmark: facts\nmodels: x\nprompts: mine\n",
        4,
        "there is no folder 'mine'",
    ),
}


# A line of study.yaml whose value is no plain number, or of another kind, and what is said of it.
LOOSE = {
    "items: 010": "'010' is not a plain number",
    "items: 0x2": "'0x2' is not a plain number",
    "items: 1:30": "'1:30' is not a plain number",
    "items: 1_000": "'1_000' is not a plain number",
    "items: true": "items: must be a whole number such as 48, or the keys limit, seed and categories, not t",
    "items: '20'": "not '20'",
    "items: 2.0": "not 2.0",
    "items: {limit: yes}": "items.limit: must be a whole number, not true",
    "items: 99999999999": "items: must be at most 10,000,000, not 99999999999",
    "max_tokens: '5'": "max_tokens: must be a whole number, not '5'",
    "sampling: {temperatures: [true]}": "sampling.temperatures: must be a number, not true",
    "sampling: {temperatures: ['0.7']}": "sampling.temperatures: must be a number, not '0.7'",
    "sampling: {temperatures: 0.7}": "sampling.temperatures: must be a list, not 0.7 (write [0.7])",
    "sampling: {temperatures: [1_0.5]}": "is not a plain number",
    "techniques: [{technique: recite, paths: true}]": "recite.paths: must be a whole number, not true",
    "techniques: [{technique: recite, paths: '20'}]": "recite.paths: must be a whole number, not '20'",
    "techniques: [{technique: recite, paths: 2.0}]": "recite.paths: must be a whole number, not 2.0",
    "techniques: [3]": "techniques: must be the technique's name, or keys such as technique and name, not 3",
    "prompts: 3": "prompts: must be text, not 3 (put it in quotes)",
    "prompt: chatty": "prompt: must be 'few-shot' or 'chat', not 'chatty'",
    "beyond_sampling: 4": "beyond_sampling: must be keys and values, not 4",
    "x: [[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]": "broken YAML: nested too deeply",
}


@pytest.mark.parametrize("line", LOOSE)
def test_a_value_is_what_it_looks_like_or_is_refused_in_plain_words(
    tmp_path: Path, leadline: Leadline, line: str
) -> None:
    (tmp_path / "study.yaml").write_text(f"name: small\nbenchmark: facts\nmodels: x\n{line}\n")
    ended = leadline("run", tmp_path)
    assert ended.code == 2
    assert ended.fault.startswith(f"error: {tmp_path}/study.yaml:4: ") and LOOSE[line] in ended.fault
    assert not re.search(r"[Ii]nput|[Ss]tring|validation|pattern|\bitem\b", ended.fault), (
        "a programmer's words"
    )


# What is written like a key, anywhere in study.yaml, and the line that it stands on.
KEYS = {
    "a model": ('models: ["smollm2?token=sk-abcdefghijklmnopqrst"]\nname: x\nbenchmark: facts\n', 1),
    "the name": ("benchmark: facts\nmodels: x\nname: sk-proj-a1B2_c3D4e5F6g7H8\n", 3),
    "a folder": ("name: x\nbenchmark: /data/hf_AbCdEfGhIjKlMnOpQrStUvWxYz/b\nmodels: x\n", 2),
    "an item": ("name: x\nbenchmark: facts\nmodels: x\nitems:\n  categories: [a, AKIAABCDEFGHIJKLMNOP]\n", 5),
    "a trait": (
        "name: x\nbenchmark: facts\nmodels: x\ntraits:\n  x:\n"
        "    {family: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.abc-_1}\n",
        6,
    ),
    "its label": ("name: x\nbenchmark: facts\nmodels: {ref: x, name: ghp_abcdefghijklmnop0123}\n", 3),
}


@pytest.mark.parametrize("place", KEYS)
def test_what_is_written_like_a_key_is_refused_wherever_it_stands_and_not_repeated(
    tmp_path: Path, leadline: Leadline, place: str
) -> None:
    text, line = KEYS[place]
    (tmp_path / "study.yaml").write_text(text)
    ended = leadline("run", tmp_path, "--dry-run")
    assert ended.code == 2
    assert ended.fault.startswith(
        f"error: {tmp_path}/study.yaml:{line}: something here is written like a key"
    )
    assert "keys come from the environment only" in ended.fault
    assert not re.search("cdefgh|AbCd|CDEFG|a1B2|eyJ", ended.out + ended.err)


@pytest.mark.parametrize(
    "name",
    [
        "hf-internal-testing/tiny-random-gpt2",
        "sk-news-bert",
        "risk-classification-of-things",
        "key-value-store-2",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "desk-0123456789abcdef",
        "Q42-P31-Q5",
    ],
)
def test_names_and_digests_are_not_taken_for_keys(tmp_path: Path, name: str) -> None:
    (tmp_path / "study.yaml").write_text(f"name: x\nbenchmark: facts\nmodels: '{name}'\n")
    assert read_config(tmp_path / "study.yaml").models[0].ref == name


def test_a_whole_number_does_for_a_temperature(tmp_path: Path) -> None:
    line = "sampling: {temperatures: [1, 0.5, 1.5e+0]}"
    (tmp_path / "study.yaml").write_text(f"name: small\nbenchmark: facts\nmodels: x\n{line}\n")
    assert read_config(tmp_path / "study.yaml").sampling.temperatures == (1.0, 0.5, 1.5)


def test_more_items_than_there_are_is_said_and_all_are_asked(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path, model, 3, items=48, techniques=[], beyond_sampling=None)
    ended = leadline("run", folder)
    assert ended.code == 0
    assert "items: 48 are asked for, items has 3; all of them are asked" in ended.err
    change(folder, items=3)
    assert "asked for" not in leadline("run", folder).err


@pytest.mark.parametrize("name", STUDY_FILES)
def test_a_faulty_study_file_is_one_line_with_file_and_line(
    tmp_path: Path, leadline: Leadline, name: str
) -> None:
    content, line, words = STUDY_FILES[name]
    file = tmp_path / "study.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    for command in ("run", "report"):
        ended = leadline(command, tmp_path)
        assert ended.code == 2
        where = rf"error: {re.escape(str(file))}" + (rf":{line}(:\d+)?: " if line else r"(:\d+)?(:\d+)?: ")
        assert re.match(where, ended.fault), ended.fault
        assert words in ended.fault
        assert len(ended.fault) < 500
    assert [path.name for path in tmp_path.iterdir()] == ["study.yaml"], "nothing was written"


def test_no_study_at_all_says_how_to_make_one(tmp_path: Path, leadline: Leadline) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        ended = leadline("run", place)
        assert ended.code == 2
        assert ended.fault == f"error: {place / 'study.yaml'}: no study here (leadline init {place})"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ("smolm2", "did you mean"),
        ("/no/such/model", "no such file or folder"),
        ("no such name", "no model is called"),
    ],
)
def test_an_unknown_model_is_named_with_its_line(
    tmp_path: Path, leadline: Leadline, ref: str, words: str
) -> None:
    folder = small_study(tmp_path, "x", models=[{"ref": ref, "name": "m"}])
    ended = leadline("run", folder, "--quiet")
    assert ended.code == 2
    assert (
        re.match(rf"error: {re.escape(str(folder))}/study.yaml:\d+: ", ended.fault) and words in ended.fault
    )
    assert not stored.rows(folder)


def test_a_model_folder_without_weights_is_named(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    import shutil

    bare = shutil.copytree(model, tmp_path / "bare")
    (bare / "model.safetensors").unlink()
    folder = small_study(tmp_path / "study", bare)
    assert str(bare) in leadline("run", folder, "--quiet").fault
    (bare / "model.safetensors").write_bytes(b"garbage that is no tensor file")
    assert str(bare) in leadline("run", folder, "--quiet").fault


def _without(name: str) -> bytes:
    entries: list[dict[str, Any]] = items()
    del entries[2][name]
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()


def _with(**fields: Any) -> bytes:
    entries = items()
    entries[2].update(fields)
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_without("question"), "question"),
        (_without("answer"), "answer"),
        (_with(id="i00"), "i00"),
        (_with(question="  "), "question"),
        (_with().replace(b"number 2", b"number \xff"), "UTF-8"),
        (_with().replace(b'{"id": "i02"', b'{"id": "i02'), ""),
    ],
    ids=["no question", "no answer", "the same id twice", "an empty question", "not UTF-8", "not JSON"],
)
def test_a_faulty_benchmark_is_one_line_with_file_and_line(
    tmp_path: Path, model: Path, leadline: Leadline, content: bytes, words: str
) -> None:
    folder = small_study(tmp_path, model)
    (folder / "items.jsonl").write_bytes(content)
    ended = leadline("run", folder, "--quiet")
    assert ended.code == 2
    assert re.match(rf"error: {re.escape(str(folder))}/items.jsonl:3(:\d+)?: ", ended.fault), ended.fault
    assert words in ended.fault
    assert not (folder / "responses.sqlite").exists()


def test_a_gold_answer_that_is_none_of_its_type_is_said_before_anything_is_asked(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path, model)
    (folder / "items.jsonl").write_bytes(_with(answer_type="number"))
    ended = leadline("run", folder, "--quiet")
    assert ended.code == 2
    assert ended.fault.startswith("error: items: item i02: the gold answer is not of its type, number: ")
    assert not stored.rows(folder)


def test_an_empty_benchmark_is_one_line(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path, model)
    (folder / "items.jsonl").write_bytes(b"")
    assert f"{folder}/items.jsonl" in leadline("run", folder, "--quiet").fault


def test_a_question_of_ten_megabytes_costs_only_its_own_item(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path, model)
    entries = items()
    entries[0]["question"] = "letters " * 1_300_000
    write_items(folder / "items.jsonl", entries)
    ended = leadline("run", folder, "--quiet")
    if ended.code:
        assert "items.jsonl:1" in ended.fault
    else:
        assert {identity[1] for identity in stored.rows(folder)} == {f"i{index:02}" for index in range(1, 6)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Q: {{ qestion }}", "qestion"),
        ("Q: {{ question", "broken template"),
        ("Q: {{ question.__class__.__mro__ }}", "unsafe"),
        (b"Q: \xff", "UTF-8"),
        ("  \n", "the prompt file is empty"),
        ("Q:", "does not show the question"),
        ("{{ question * 10 ** 13 }}", "it asks for a text that is too long"),
    ],
)
def test_a_faulty_prompt_is_one_line_and_is_said_before_anything_is_asked(
    tmp_path: Path, model: Path, leadline: Leadline, text: str | bytes, words: str
) -> None:
    folder = small_study(tmp_path, model)
    prompt = folder / "prompts" / "genread" / "answer.txt"
    prompt.write_bytes(text if isinstance(text, bytes) else text.encode())
    ended = leadline("run", folder, "--quiet")
    assert ended.code == 2 and str(prompt) in ended.fault and words in ended.fault
    assert not stored.rows(folder), "it is the last technique's, and was found before the first answer"


def test_a_report_before_any_run_says_so(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path, model)
    ended = leadline("report", folder)
    assert ended.code == 3
    assert ended.fault == f"error: {folder}: this study has no answers yet (leadline run {folder})"
    assert not (folder / "report").exists() and not (folder / "responses.sqlite").exists()


@pytest.mark.parametrize("damage", ["benchmark", "study"])
def test_a_fault_made_after_a_run_loses_nothing(
    tmp_path: Path, model: Path, leadline: Leadline, damage: str
) -> None:
    folder = small_study(tmp_path, model)
    assert leadline("run", folder, "--quiet").code == 0
    before, found = stored.rows(folder), stored.findings(folder)
    if damage == "benchmark":
        (folder / "items.jsonl").write_text("{")
    else:
        change(folder, techniques=["no-such"])
    assert leadline("run", folder).fault and leadline("report", folder).fault
    assert stored.rows(folder) == before and stored.findings(folder) == found
    write_items(folder / "items.jsonl", items())
    change(folder, techniques=STUDY["techniques"])
    assert leadline("run", folder, "--quiet").code == 0
    assert stored.rows(folder) == before
