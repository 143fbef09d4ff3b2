"""Models from the hub, fetched by the real `huggingface_hub` from a small hub on the loopback interface."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from leadline.models import hub, weights

ROOT = Path(__file__).parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """Serves one model's files; remembers which were asked for."""

    address: str
    home: Path
    files: dict[str, bytes]
    asked: list[str] = field(default_factory=list)

    def resolve(self, ref: str, *, offline: bool = False, **environment: str) -> dict[str, object]:
        """`resolve` in a process of its own, since huggingface_hub reads its settings when it is imported."""
        code = (
            "import sys, json, time\n"
            "time.sleep = lambda seconds: None  # huggingface_hub waits between its tries\n"
            "from leadline.errors import LeadlineError\n"
            "from leadline.models.resolve import resolve\n"
            "try:\n"
            f"    files = resolve(sys.argv[1], offline={offline})\n"
            "    answer = {'kind': files.kind, 'name': files.name, 'revision': files.revision,\n"
            "              'digest': files.digest, 'folder': str(files.folder)}\n"
            "except LeadlineError as error:\n"
            "    answer = {'error': str(error), 'exit': error.exit_code}\n"
            "print(json.dumps(answer))\n"
        )
        settings = {
            "PYTHONPATH": str(ROOT / "src"),
            "LEADLINE_CACHE": str(self.home / "leadline"),
            "HF_HOME": str(self.home / "hf"),
            "HF_ENDPOINT": self.address,
            "HF_HUB_DISABLE_XET": "1",
            "NO_PROXY": "127.0.0.1",
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        done = subprocess.run(
            [sys.executable, "-c", code, ref],
            env=inherited | settings | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def small_hub(tiny_folder: Path, tmp_path: Path) -> Iterator[Hub]:
    files = {path.name: path.read_bytes() for path in tiny_folder.iterdir()}
    files |= {"pytorch_model.bin": b"pickle", "onnx/model.safetensors": b"other", "README.md": b"# x"}
    state = Hub("", tmp_path, files)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

        def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if "org/gated" in path:
                self.answer(403, b"{}", X_Error_Code="GatedRepo")
            elif "org/broken" in path:
                self.answer(500, b"{}")
            elif "org/" not in path or "org/missing" in path:
                self.answer(401, b"{}", X_Error_Code="RepoNotFound")
            elif "/revision/nope" in path or "/resolve/nope" in path:
                self.answer(404, b"{}", X_Error_Code="RevisionNotFound")
            elif path.startswith("/api/models/"):
                names = [n for n in state.files if "pickled" not in path or "safetensors" not in n]
                listing = [
                    {"type": "file", "path": n, "size": len(state.files[n]), "oid": f"{hash(n):x}"}
                    for n in names
                ]
                record = {"id": "org/tiny", "sha": COMMIT, "siblings": [{"rfilename": n} for n in names]}
                body = listing if "/tree/" in path else record
                self.answer(200, json.dumps(body).encode(), Content_Type="application/json")
            else:
                name = path.partition(f"/resolve/{COMMIT}/")[2]
                if self.command == "GET":
                    state.asked.append(name)
                    if "org/cut" in path and name == "model.safetensors":
                        self.send_response(200)
                        self.send_header("Content-Length", str(len(state.files[name])))
                        self.end_headers()
                        self.wfile.write(state.files[name][:1000])
                        return  # and the connection is closed
                self.answer(200, state.files[name], ETag=f'"{abs(hash(name)):x}"', X_Repo_Commit=COMMIT)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()


def test_a_model_is_fetched_pinned_to_its_commit_and_found_again_offline(
    small_hub: Hub, tiny_folder: Path
) -> None:
    first = small_hub.resolve("org/tiny")
    assert first == {
        "kind": "hub",
        "name": "org/tiny",
        "revision": COMMIT,
        "digest": weights.tensor_digest(tiny_folder),
        "folder": first.get("folder"),
    }
    assert str(small_hub.home / "hf") in str(first["folder"])
    assert "model.safetensors" in small_hub.asked
    assert "README.md" in small_hub.asked
    assert "pytorch_model.bin" not in small_hub.asked
    assert "onnx/model.safetensors" not in small_hub.asked

    asked = len(small_hub.asked)
    assert small_hub.resolve("hf://org/tiny", offline=True) == first
    assert small_hub.resolve("org/tiny", HF_HUB_OFFLINE="1") == first
    assert len(small_hub.asked) == asked


def test_a_model_of_pickles_only_is_refused_and_none_is_fetched(small_hub: Hub) -> None:
    answer = small_hub.resolve("org/pickled")
    assert "no safetensors weights (pickled .bin weights are not loaded" in str(answer["error"])
    assert answer["exit"] == 2
    assert "pytorch_model.bin" not in small_hub.asked


@pytest.mark.parametrize(
    ("ref", "said", "code"),
    [
        ("org/missing", "hf://org/missing: the Hugging Face hub has no such model, or it is private", 2),
        ("org/tiny@nope", "hf://org/tiny@nope: the model has no revision nope", 2),
        ("org/gated", "hf://org/gated: its owner asks for an agreement first", 3),
        ("org/broken", "hf://org/broken: not on this machine, and the hub refused: ", 3),
        ("org/-bad-", "hf://org/-bad-: not a Hugging Face model id", 2),
    ],
)
def test_what_the_hub_answers_is_told_in_one_line(small_hub: Hub, ref: str, said: str, code: int) -> None:
    answer = small_hub.resolve(ref)
    assert said in str(answer["error"])
    assert "\n" not in str(answer["error"])
    assert answer["exit"] == code


def test_an_unreachable_hub_and_offline_are_told_apart(small_hub: Hub) -> None:
    unreachable = small_hub.resolve("org/tiny", HF_ENDPOINT="http://127.0.0.1:9")
    assert "the hub cannot be reached" in str(unreachable["error"])
    offline = small_hub.resolve("org/tiny", offline=True)
    assert "offline was asked for" in str(offline["error"])
    assert offline["exit"] == unreachable["exit"] == 3


def test_a_connection_that_breaks_off_is_one_line(small_hub: Hub) -> None:
    answer = small_hub.resolve("org/cut")
    assert "hf://org/cut: " in str(answer["error"])
    assert "\n" not in str(answer["error"])
    assert answer["exit"] == 3


@pytest.mark.parametrize(
    ("ref", "parsed"),
    [
        ("org/name", ("org/name", None)),
        ("org/name@v1.0", ("org/name", "v1.0")),
        ("hf://org/name@refs/pr/3", ("org/name", "refs/pr/3")),
        ("hf://gpt2", ("gpt2", None)),
        ("gpt2", None),
        ("a/b/c", None),
        ("org/name@", None),
        ("org/na me", None),
        ("örg/name", None),
    ],
)
def test_ids_are_told_from_other_words(ref: str, parsed: tuple[str, str | None] | None) -> None:
    assert hub.parse(ref) == parsed
