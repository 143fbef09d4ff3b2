"""A checkpoint of somebody else's is data: nothing in it runs, and nothing is fetched because it says so."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine import Prompt
from leadline.errors import LeadlineError, UsageError
from leadline.models.local import LocalModel
from leadline.models.resolve import resolve
from leadline.models.seq2seq import Seq2Seq
from tests.study.small import write_model


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "little")


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """A copy of a sound checkpoint, with a program beside it that leaves a mark where it runs."""
    copy = Path(shutil.copytree(sound, tmp_path / "model"))
    mark = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    for name in ("modeling_evil.py", "configuration_evil.py", "tokenization_evil.py"):
        text = mark + "class EvilConfig: pass\nclass EvilModel: pass\nclass EvilTokenizer: pass\n"
        (copy / name).write_text(text, encoding="utf-8")
    return copy


def change(file: Path, **changes: Any) -> None:
    settings = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**settings, **changes}), encoding="utf-8")


OWN_CODE = {
    "AutoConfig": "configuration_evil.EvilConfig",
    "AutoModelForCausalLM": "modeling_evil.EvilModel",
    "AutoModelForSeq2SeqLM": "modeling_evil.EvilModel",
}


def test_code_beside_the_weights_is_not_run_and_a_known_architecture_is_loaded_without_it(
    folder: Path, tmp_path: Path
) -> None:
    change(folder / "config.json", auto_map=OWN_CODE)
    tokenizers = {"AutoTokenizer": ["tokenization_evil.EvilTokenizer", None]}
    change(folder / "tokenizer_config.json", auto_map=tokenizers)
    model = LocalModel(resolve(str(folder)), device="cpu")
    assert type(model.lm.model).__module__.startswith("transformers.models.llama")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("kind", [LocalModel, Seq2Seq])
def test_an_architecture_that_only_its_own_code_knows_is_refused_in_one_line(
    folder: Path, tmp_path: Path, kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(folder / "config.json", auto_map=OWN_CODE, model_type="evil")

    def asked(*words: object) -> str:
        raise AssertionError("nobody is asked whether it may run")

    monkeypatch.setattr("builtins.input", asked)
    with pytest.raises(LeadlineError) as caught:
        kind(resolve(str(folder)), device="cpu")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "named", ["somebody/kernel", "kernels-community/flash-attn", {"": "somebody/kernel"}]
)
def test_kernels_that_a_configuration_names_for_attention_are_not_fetched(folder: Path, named: Any) -> None:
    change(folder / "config.json", attn_implementation=named)
    model = LocalModel(resolve(str(folder)), device="cpu")
    assert model.lm.model.config._attn_implementation == "sdpa"


def test_an_adapter_is_refused_because_its_model_lies_elsewhere(folder: Path) -> None:
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "somebody/else"}', "utf-8")
    with pytest.raises(UsageError, match="is an adapter"):
        resolve(str(folder))


class Marker:
    """What a pickle runs when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Path.touch, (self.path,)  # type: ignore[return-value]


@pytest.mark.parametrize("safe_ones_too", [True, False])
def test_pickled_weights_are_never_read(folder: Path, tmp_path: Path, safe_ones_too: bool) -> None:
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Marker(tmp_path / "ran")))
    assert pickle.loads((folder / "pytorch_model.bin").read_bytes()) is None
    (tmp_path / "ran").unlink()  # it works where it is read
    if safe_ones_too:
        LocalModel(resolve(str(folder)), device="cpu")
    else:
        (folder / "model.safetensors").unlink()
        with pytest.raises(UsageError, match=r"pickled \.bin weights are not loaded: they can run code"):
            resolve(str(folder))
    assert not (tmp_path / "ran").exists()


ESCAPES = [
    "{{ messages.__class__.__mro__ }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{% set x = messages.append(1) %}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ cycler.__init__.__globals__.os }}",
    "{{ self._TemplateReference__context }}{{ self.__init__.__globals__ }}",
    "{{ messages[0]['role'] + 1 }}",
    "{{ 1 / 0 }}",
    "{{ raise_exception('no such role') }}",
    "{% for x in range(10000000) %}{% endfor %}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
]


@pytest.fixture(scope="module")
def model(sound: Path) -> LocalModel:
    return LocalModel(resolve(str(sound)), device="cpu")


@pytest.mark.parametrize("template", ESCAPES)
def test_a_chat_template_reaches_nothing_and_says_so_in_one_line(
    model: LocalModel, template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model.lm.tokenizer, "chat_template", template)
    with pytest.raises(LeadlineError, match="the model's chat template refuses it") as caught:
        model.lm.text_of(Prompt(messages=(("user", "Who?"),)))
    assert "\n" not in str(caught.value)
