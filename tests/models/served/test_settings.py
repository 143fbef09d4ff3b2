"""What study.yaml may say of a served model, told apart without inspect-ai."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from leadline.models.served.reference import PROVIDERS, is_served, read_reference
from leadline.models.served.settings import Price, ServedSettings


def complaint(**settings: Any) -> str:
    """The one line that settings are refused with."""
    with pytest.raises(ValidationError) as refused:
        ServedSettings(**{"ref": "inspect:openai/gpt-4o-mini", **settings})
    (error,) = refused.value.errors()
    assert "\n" not in error["msg"]
    return error["msg"]


@pytest.mark.parametrize(
    "ref, provider, model",
    [
        ("inspect:openai/gpt-4o-mini", "openai", "gpt-4o-mini"),
        ("inspect:openrouter/qwen/qwen-2.5-7b", "openrouter", "qwen/qwen-2.5-7b"),
        ("inspect:openai-api/local/my-model", "openai-api", "local/my-model"),
    ],
)
def test_a_reference_names_a_provider_and_a_model(ref: str, provider: str, model: str) -> None:
    found = read_reference(ref)
    assert (found.provider, found.model) == (provider, model)
    assert found.name == ref.removeprefix("inspect:")


@pytest.mark.parametrize(
    "ref, said",
    [
        ("inspect:gpt-4o", "inspect:PROVIDER/MODEL"),
        ("inspect:openai/", "inspect:PROVIDER/MODEL"),
        ("openai/gpt-4o", "inspect:PROVIDER/MODEL"),
        ("inspect:openia/gpt-4o", "did you mean 'openai'?"),
        ("inspect:openai-api/my-model", "inspect:openai-api/local/my-model"),
        ("inspect:hf/gpt2", "ref: gpt2"),
        ("inspect:vllm/gpt2", "inspect:openai-api/vllm/gpt2"),
    ],
)
def test_other_references_are_refused_with_what_to_write(ref: str, said: str) -> None:
    assert said in complaint(ref=ref)


def test_only_inspect_references_are_served() -> None:
    assert is_served("inspect:openai/gpt-4o") and not is_served("openai/gpt-4o") and not is_served("smollm2")


def test_the_providers_are_those_of_inspect_ai() -> None:
    import inspect_ai.model  # noqa: F401  # registers its providers
    from inspect_ai._util.registry import registry_find, registry_info, registry_unqualified_name

    known = {
        registry_unqualified_name(registry_info(each))
        for each in registry_find(lambda info: info.type == "modelapi")
    }
    assert set(PROVIDERS) <= known


@pytest.mark.parametrize(
    "options, said",
    [
        ({"temperature": 0.5}, "temperature is no option: the technique's temperature decides it"),
        ({"seed": 1}, "the technique's seed decides it"),
        ({"max_retries": 3}, "retries decides it"),
        ({"api_key": "sk-123"}, "keys come from the environment only"),
        ({"extra_headers": {"authorization": "x"}}, "keys come from the environment only"),
    ],
)
def test_options_that_something_else_decides_are_refused(options: dict[str, Any], said: str) -> None:
    told = complaint(options=options)
    assert said in told and "sk-123" not in told


def test_arguments_that_hold_keys_or_retries_are_refused() -> None:
    assert "environment" in complaint(args={"api_key": "sk-123"})
    assert "retries" in complaint(args={"max_retries": 3})


def test_a_key_of_the_environment_is_found_wherever_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "opensesame-1234")
    for settings in (
        {"options": {"extra_body": {"auth": ["opensesame-1234"]}}},
        {"args": {"organization": "opensesame-1234"}},
    ):
        told = complaint(**settings)
        assert "has a key in it" in told and "opensesame" not in told


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    told = complaint(base_url="http://me:opensesame@example.org/v1")
    assert "keys come from the environment only" in told and "opensesame" not in told


@pytest.mark.parametrize(
    "settings",
    [
        {"connections": 0},
        {"connections": "4"},
        {"timeout": 0.0},
        {"retries": -1},
        {"price": {"input": -1.0, "output": 0.0}},
        {"api_key": "x"},
    ],
)
def test_numbers_out_of_range_and_unknown_keys_are_refused(settings: dict[str, Any]) -> None:
    assert complaint(**settings)


def test_a_price_is_for_a_million_tokens() -> None:
    assert Price(input=2.0, output=10.0).of(500_000, 100_000) == pytest.approx(2.0)


def test_settings_are_read_without_inspect_ai() -> None:
    code = (
        "import sys; from leadline.models.served import ServedSettings; "
        "ServedSettings(ref='inspect:openai/x'); print('inspect_ai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
