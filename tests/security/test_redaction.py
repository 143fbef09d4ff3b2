"""Keys are never shown."""

from __future__ import annotations

import base64
import json
import logging
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, quote_plus

import hypothesis
import pytest
from hypothesis import strategies as st

from leadline.redaction import (
    RedactingFormatter,
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


SECRET = 'Sn0rkel/"ü" +word'


@hypothesis.given(before=st.binary(max_size=5), after=st.binary(max_size=5))
def test_a_secret_is_found_in_base64_wherever_it_stands_in_what_was_encoded(
    before: bytes, after: bytes
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCAL_API_KEY", SECRET)
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            # What may be left are characters that hold bits of what stands around the secret.
            shown = redacted(encode(before + SECRET.encode() + after).decode())
            assert "***" in shown and len(shown) < 3 + 8 + 8 + 4


@pytest.mark.parametrize(
    "spelt",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        SECRET.encode().hex(),
        "Sn0rkel/&quot;ü&quot; +word",
    ],
)
def test_a_secret_is_hidden_however_it_is_spelt(spelt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", SECRET)
    shown = redacted(f"said <{spelt}> to it")
    assert "***" in shown and "nkel" not in shown and "word" not in shown and "6e6b" not in shown


def test_passwords_of_proxies_and_other_addresses_in_the_environment_are_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pass%2Fword-1@proxy.example:3128")
    monkeypatch.setenv("PIP_INDEX_URL", "https://a-token-of-mine@index.example/simple")
    said = "proxy refused pass%2Fword-1, pass/word-1 and a-token-of-mine of me"
    assert redacted(said) == "proxy refused ***, *** and *** of me"


def test_the_path_of_a_file_of_credentials_is_no_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "credentials.json"
    file.touch()
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "/begins/With+a/slash")
    assert redacted(f"no file {file}; /begins/With+a/slash") == f"no file {file}; ***"


@pytest.mark.parametrize(
    "said",
    [
        "ghp_abcdefghijklmnopqrst0123456789",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.abc-_123",
    ],
)
def test_keys_of_other_services_are_known_by_their_form(said: str) -> None:
    assert redacted(f"({said})") == "(***)"


def test_a_traceback_that_is_logged_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "correct-horse-battery")
    try:
        raise ValueError("Illegal header value b'Bearer correct-horse-battery'")
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, "", 0, "fault", (), (type(error), error, None))
    shown = RedactingFormatter("%(message)s").format(record)
    assert "ValueError" in shown and "horse" not in shown


def test_a_bug_keeps_its_traceback_and_tells_no_secret() -> None:
    program = (
        "import sys; sys.argv = ['leadline', 'models', 'list']\n"
        "import leadline.cli.app as app, leadline.cli.models as models\n"
        "def broken(): raise RuntimeError('Bearer correct-horse-battery')\n"
        "app.app = broken\n"
        "app.main()\n"
    )
    environment = {"LOCAL_API_KEY": "correct-horse-battery", "PATH": ""}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1 and "Traceback" in ran.stderr and "RuntimeError: Bearer ***" in ran.stderr
    assert "horse" not in ran.stderr
