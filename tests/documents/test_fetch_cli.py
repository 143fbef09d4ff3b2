"""`leadline bench fetch-sources`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leadline.documents import Sources
from tests.documents.server import Asked, page, serving

HEADER = 'name: filings\nversion: "1.0"\nkind: general\n'
QUICK = ("--rate", "100", "--attempts", "2", "--timeout", "5")


def benchmark(path: Path, *items: dict[str, object]) -> Path:
    """A benchmark folder; items get what every item needs."""
    path.mkdir()
    (path / "benchmark.yaml").write_text(HEADER, encoding="utf-8")
    lines = [{"id": f"q{n}", "question": "What?", "answer": "This", **item} for n, item in enumerate(items)]
    (path / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def leadline(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    plain.pop("LEADLINE_USER_AGENT", None)
    command = [sys.executable, "-m", "leadline.cli.app", "bench", "fetch-sources", "--private"]
    command += map(str, arguments)
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=60, env=plain | variables
    )


def test_the_documents_of_items_and_of_evidence_are_fetched(tmp_path: Path) -> None:
    with serving(**{"a.htm": page("<p>one"), "b.txt": page("two")}) as server:
        folder = benchmark(
            tmp_path / "bench",
            {"source": f"{server.url}/a.htm"},
            {
                "source": f"{server.url}/a.htm#top",
                "evidence": [{"quote": "two", "source": f"{server.url}/b.txt"}],
            },
            {"evidence": [{"quote": "two"}]},
        )
        done = leadline(folder, *QUICK)
        assert (done.returncode, done.stderr) == (0, "")
        assert "2 fetched (0.0 MB), 0 unchanged, 0 held already, 0 failed" in done.stdout
        again = leadline(folder, *QUICK, "--json")
        assert again.returncode == 0
        assert len(json.loads(again.stdout)["held"]) == 2
        sources = Sources.of(folder)
        found = sources.find(f"{server.url}/a.htm")
        assert found is not None and sources.read(found).text == "one"
        assert server.asked("/a.htm") == 1


def test_what_cannot_be_had_is_a_table_and_exit_code_3(tmp_path: Path) -> None:
    with serving(**{"b.txt": page("two")}) as server:
        urls = [f"{server.url}/gone.htm", f"{server.url}/b.txt", "ftp://example.org/x", "lost.txt"]
        folder = benchmark(tmp_path / "bench", *({"source": url} for url in urls))
        done = leadline(folder, *QUICK)
    assert done.returncode == 3
    head, *lines = done.stdout.splitlines()
    assert head.split("\t") == ["url", "why not"]
    assert f"{server.url}/gone.htm\tits host answers 404 Not Found" in lines
    assert "ftp://example.org/x\tis a URL of scheme 'ftp'; only http and https are fetched" in lines
    assert lines[-1].endswith("1 fetched (0.0 MB), 0 unchanged, 0 held already, 2 failed")
    assert "1 names are not in" in done.stderr and "lost.txt" in done.stderr


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_password_in_a_url_is_not_printed(tmp_path: Path, options: tuple[str, ...]) -> None:
    folder = benchmark(tmp_path / "bench", {"source": "http://user:s3cret@127.0.0.1:1/x"})
    done = leadline(folder, *QUICK, *options)
    assert done.returncode == 3
    assert "s3cret" not in done.stdout + done.stderr and "http://***@127.0.0.1:1/x" in done.stdout


def test_json_holds_everything_that_the_index_does(tmp_path: Path) -> None:
    with serving(a=page("text", content_type="text/plain", etag='"5"')) as server:
        folder = benchmark(
            tmp_path / "bench", {"source": f"{server.url}/a"}, {"source": f"{server.url}/none"}
        )
        data = json.loads(leadline(folder, *QUICK, "--json").stdout)
    assert set(data) == {"folder", "fetched", "unchanged", "held", "failed", "changed", "missing"}
    (fetched,) = data["fetched"]
    (line, _) = (folder / "sources" / "index.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == fetched
    assert data["failed"][0]["status"] == 404


def test_the_user_agent_comes_from_the_flag_or_the_environment(tmp_path: Path) -> None:
    with serving(a=page("text")) as server:
        folder = benchmark(tmp_path / "bench", {"source": f"{server.url}/a"})
        leadline(folder, *QUICK)
        leadline(folder, *QUICK, "--refresh", LEADLINE_USER_AGENT="Jane Doe jane@example.org")
        leadline(
            folder, *QUICK, "--refresh", "--user-agent", "Jo", LEADLINE_USER_AGENT="Jane Doe jane@example.org"
        )
        agents = list(dict.fromkeys(agent for _, _, agent in server.log))
    assert agents[0].startswith("leadline/") and agents[1:] == ["Jane Doe jane@example.org", "Jo"]


def test_a_host_that_refuses_who_gives_no_contact_brings_a_hint(tmp_path: Path) -> None:
    def only_named(asked: Asked) -> None:
        asked.answer(200 if "@" in asked.header("user-agent") else 403, b"text")

    with serving(a=only_named) as server:
        folder = benchmark(tmp_path / "bench", {"source": f"{server.url}/a"})
        done = leadline(folder, *QUICK)
        assert done.returncode == 3 and "some hosts refuse who gives no contact" in done.stderr
        assert leadline(folder, *QUICK, "--user-agent", "Jane jane@example.org").returncode == 0


def test_robots_txt_is_obeyed_unless_told_otherwise(tmp_path: Path) -> None:
    pages = {"robots.txt": page("User-agent: *\nDisallow: /"), "a": page("text")}
    with serving(**pages) as server:
        folder = benchmark(tmp_path / "bench", {"source": f"{server.url}/a"})
        done = leadline(folder, *QUICK)
        assert done.returncode == 3 and "robots.txt asks not to fetch it" in done.stdout
        assert leadline(folder, *QUICK, "--ignore-robots").returncode == 0


def test_a_document_over_max_size_fails(tmp_path: Path) -> None:
    with serving(a=page(b"x" * 50_000)) as server:
        folder = benchmark(tmp_path / "bench", {"source": f"{server.url}/a"})
        done = leadline(folder, *QUICK, "--max-size", "0.01")
    assert done.returncode == 3 and "is too large: 50,000 bytes, and 10,485 are allowed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-benchmark"], "error: "),
        (["BENCH/items.jsonl"], "is one file, with no folder for its sources"),
        (["BENCH", "--user-agent", "a\nb"], "not a user agent"),
        (["BENCH", "--rate", "0"], "rate"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], words: str) -> None:
    folder = benchmark(tmp_path / "bench", {"source": "https://127.0.0.1:9/"})
    done = leadline(*(argument.replace("BENCH", str(folder)) for argument in arguments))
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr


def test_a_terminal_is_not_obeyed(tmp_path: Path) -> None:
    with serving() as server:
        folder = benchmark(
            tmp_path / "bench", {"source": f"{server.url}/\u001b[31mred"}, {"source": "\u001b[2Jx.txt"}
        )
        done = leadline(folder, *QUICK)
    assert done.returncode == 3 and "\u001b" not in done.stdout + done.stderr


def test_ctrl_c_ends_at_once_and_the_next_run_goes_on(tmp_path: Path) -> None:
    def silent(asked: Asked) -> None:
        if asked.count == 1:
            time.sleep(20)
        asked.answer(200, b"late")

    with serving(a=page("text"), b=silent) as server:
        folder = benchmark(tmp_path / "bench", {"source": f"{server.url}/a"}, {"source": f"{server.url}/b"})
        options = ("fetch-sources", str(folder), "--rate", "100", "--ignore-robots", "--private")
        command = [sys.executable, "-m", "leadline.cli.app", "bench", *options]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while not server.asked("/b") and process.poll() is None:
            time.sleep(0.01)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=15)
        assert process.returncode == 130 and "Traceback" not in errors
        assert time.monotonic() - began < 5
        assert [path.suffix for path in (folder / "sources").iterdir() if path.name.startswith("a-")] == [""]
        done = leadline(folder, *QUICK, "--json")
        data = json.loads(done.stdout)
        assert [len(data[name]) for name in ("held", "fetched", "failed")] == [1, 1, 0]
