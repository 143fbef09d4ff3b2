"""`leadline serve` beyond this machine: encrypted where it is asked for, and held up by no silent client."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import stat
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("torch", reason="local models need the 'local' extra")
pytest.importorskip("starlette", reason="the server needs the 'serve' extra")

import httpx2

from leadline.errors import UsageError
from leadline.models.local import LocalModel
from leadline.models.resolve import resolve
from leadline.serving import Batcher, heads, make_app, offered, running
from leadline.serving.encryption import certificate_of
from tests.serving.test_start import rest, started
from tests.study.small import write_model

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "little")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, and its key."""
    place = tmp_path_factory.mktemp("tls")
    return made(place, "ours")


def made(place: Path, name: str, *locked: str) -> tuple[Path, Path]:
    chain, key = place / f"{name}.pem", place / f"{name}-key.pem"
    subject = ("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    kind = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", *(locked or ("-nodes",)))
    subprocess.run(
        ["openssl", "req", *kind, *subject, "-keyout", str(key), "-out", str(chain)],
        check=True,
        capture_output=True,
    )
    return chain, key


@needs_openssl
def test_with_a_certificate_everything_is_said_over_tls_and_nothing_without(
    folder: Path, pair: tuple[Path, Path]
) -> None:
    chain, key = pair
    options = ("--ssl-certfile", str(chain), "--ssl-keyfile", str(key))
    with started("--model", str(folder), "--port", "0", *options) as (process, url):
        assert url.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=str(chain))
        assert httpx2.get(f"{url}/models", verify=trusted, timeout=60).status_code == 200
        with pytest.raises(httpx2.TransportError):  # a client that does not know the certificate
            httpx2.get(f"{url}/models", timeout=60)
        with pytest.raises(httpx2.TransportError):
            httpx2.get(f"{url}/models".replace("https", "http"), timeout=60)
        process.terminate()
        process.wait(30)
        said = rest(process.stderr)
    assert f'base_url="{url}"' in said and "Traceback" not in said and "warning" not in said


def test_who_listens_on_a_network_without_tls_is_told_and_needs_a_token(folder: Path) -> None:
    options = ("--model", str(folder), "--port", "0", "--host", "0.0.0.0", "--quiet")
    with started(*options, LEADLINE_TOKEN="a-token-of-the-user") as (process, url):
        here = url.replace("0.0.0.0", "127.0.0.1")
        assert httpx2.get(f"{here}/models", timeout=60).status_code == 401
        assert httpx2.get(f"{here}/models?token=a-token-of-the-user", timeout=60).status_code == 401
        bearer = {"authorization": "Bearer a-token-of-the-user"}
        assert httpx2.get(f"{here}/models", headers=bearer, timeout=60).status_code == 200
        process.terminate()
        process.wait(30)
        said = rest(process.stderr)
    assert "warning: others on the network can read along" in said
    assert "a-token-of-the-user" not in said


@needs_openssl
def test_a_certificate_that_no_server_could_use_is_one_line(pair: tuple[Path, Path], tmp_path: Path) -> None:
    chain, key = pair
    _, other = made(tmp_path, "other")
    locked_chain, locked = made(tmp_path, "locked", "-passout", "pass:a-passphrase")
    text = tmp_path / "text.pem"
    text.write_text("no certificate\n")
    for given, said in [
        ((None, key), "a key alone encrypts nothing"),
        ((tmp_path / "none.pem", key), "is not there"),
        ((chain, tmp_path / "none.pem"), "--ssl-keyfile"),
        ((chain, other), "the key is not the certificate's"),
        ((locked_chain, locked), "is locked with a passphrase"),
        ((text, key), "not both are there as PEM"),
        ((chain, None), "not both are there as PEM"),
    ]:
        with pytest.raises(UsageError) as caught:
            certificate_of(*given)
        assert said in str(caught.value) and "\n" not in str(caught.value)
    assert certificate_of(chain, key) is not None and certificate_of(None, None) is None


def test_who_sends_headers_a_letter_at_a_time_is_shut_out_and_others_are_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "HEAD_SECONDS", 1.0)
    model = LocalModel(resolve(str(folder)), device="cpu")
    with running(make_app(Batcher(offered(model)))) as url:
        parsed = urlsplit(url)
        assert parsed.hostname is not None and parsed.port is not None

        def connected() -> socket.socket:
            return socket.create_connection((parsed.hostname or "", parsed.port or 0), timeout=20)

        with connected() as silent, connected() as slow, httpx2.Client() as quick:
            began = time.monotonic()
            assert quick.get(f"{url}/health").status_code == 200
            cut = False
            for letter in b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: " + b"a" * 200:
                try:
                    slow.sendall(bytes([letter]))
                except (BrokenPipeError, ConnectionResetError):
                    cut = True
                    break
                time.sleep(0.05)
            assert cut and time.monotonic() - began < 10
            assert silent.recv(10) == b"", "closed, too"
            time.sleep(1.2)
            # The same connection, kept between two requests for longer than a head may take.
            assert quick.get(f"{url}/health").status_code == 200


def test_the_secret_of_review_pages_is_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leadline.review.start import pass_for

    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    before = os.umask(0)
    try:
        with socket.create_server(("127.0.0.1", 0)) as bound:
            first, second = pass_for(tmp_path, bound), pass_for(tmp_path, bound)
    finally:
        os.umask(before)
    kept = tmp_path / "cache" / "review" / "secret"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert first.token != second.token and first.value == second.value
    assert first.token.encode() not in kept.read_bytes()
