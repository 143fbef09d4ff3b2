"""Keys are never shown."""

from __future__ import annotations

import pytest

from leadline.models.served.secrets import (
    bare_address,
    complaint_about,
    host_of,
    named_like_a_secret,
    redacted,
)


@pytest.mark.parametrize("name", ["MY_KEY", "HF_TOKEN", "some_secret", "DB_PASSWORD"])
def test_values_of_variables_that_are_named_like_secrets_are_hidden(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "correct-horse-battery")
    assert redacted("sent correct-horse-battery!") == "sent ***!"


def test_short_values_and_other_variables_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USE_KEY", "true")
    monkeypatch.setenv("MAX_TOKENS", "123456789")
    monkeypatch.setenv("LANGUAGE_OF_MINE", "esperanto!")
    said = "true: 123456789 in esperanto!"
    assert redacted(said) == said


@pytest.mark.parametrize(
    "said, shown",
    [
        ("Authorization: Bearer abc.def-123", "Authorization: ***"),
        ("{'authorization': 'Basic Zm9vOmJhcg=='}", "{'authorization': '***'}"),
        ("got bearer abcdefgh12345", "got bearer ***"),
        ("x-api-key: 0123abcd", "x-api-key: ***"),
        ('{"api_key": "0123abcd", "n": 1}', '{"api_key": "***", "n": 1}'),
        ("?api-key=0123abcd&n=1", "?api-key=***&n=1"),
        ("key sk-proj-Abc_123-xyz is wrong", "key *** is wrong"),
        ("Incorrect API key provided: sk-abcd*****wxyz.", "Incorrect API key provided: ***."),
        ("hf_AbCdEfGhIj", "***"),
        ("http://me:word@127.0.0.1:8000/v1", "http://***@127.0.0.1:8000/v1"),
    ],
)
def test_what_is_written_like_a_secret_is_hidden(said: str, shown: str) -> None:
    assert redacted(said) == shown


@pytest.mark.parametrize(
    "said", ["The risk-based desk-top keyboard", "HTTP 429: slow down", "max_tokens: 300"]
)
def test_ordinary_words_are_left(said: str) -> None:
    assert redacted(said) == said


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/v1", "https://api.example.org", "http://[::1]:80/v1?version=2024-05-01"]
)
def test_addresses_without_secrets_are_taken(url: str) -> None:
    assert complaint_about(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://me:word@example.org/v1",
        "http://me@example.org/v1",
        "https://example.org/v1?api_key=abc",
        "https://example.org/v1?sig=abc",
        "https://example.org/v1?access_token=abc",
        "example.org/v1",
        "file:///etc/passwd",
        "http://",
        "http://host:99999/v1",
    ],
)
def test_other_addresses_are_refused_without_repeating_them(url: str) -> None:
    complaint = complaint_about(url)
    assert complaint and "word" not in complaint.replace("password", "") and "abc" not in complaint


def test_a_key_of_the_environment_in_an_address_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "p4ssw0rd-of-mine")
    assert complaint_about("https://example.org/p4ssw0rd-of-mine/v1")


def test_an_address_is_shown_without_what_may_be_secret() -> None:
    assert bare_address("http://me:word@h:1/v1/?k=v#f") == "http://h:1/v1"
    assert host_of("http://me:word@h:1/v1/?k=v#f") == "h:1"


def test_counts_of_tokens_are_no_secrets() -> None:
    assert not named_like_a_secret("reasoning_tokens") and named_like_a_secret("token")
