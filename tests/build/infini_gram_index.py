"""Small infini-gram indexes of real text, made by the package's own tools, and its API in front of one."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]


def documents() -> list[str]:
    """This project's own pages, and one that is made for the purpose."""
    pages = [path.read_text("utf-8") for path in sorted(ROOT.glob("docs/*.md"))]
    made = (
        "It stands yet. The bridge was built in 1932. It is 1,149 m long.\n"
        "The bridge was built in 1932. Świdnica’s “tower” fell.\n"
        "They found gold AND silver OR tin there. The   spaces are odd. He was born[1] in Ulm."
    )
    return [*pages, made]


def indexed(folder: Path, width: str, texts: list[str]) -> Path:
    """Run the package's indexer over documents with ids."""
    data = folder / "data"
    data.mkdir(parents=True)
    lines = [json.dumps({"id": f"page-{number}", "text": text}) for number, text in enumerate(texts)]
    (data / "pages.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    _index(data, folder / "index", width)
    return folder / "index"


def indexed_tokens(folder: Path, tokenizer: Any, texts: list[str]) -> Path:
    """The same over tokens: as the indexer would write them, had it this tokenizer."""
    index = folder / "index"
    index.mkdir(parents=True)
    content, offsets, names, places = bytearray(), [], "", []
    for number, text in enumerate(texts):
        offsets.append(len(content))
        content += b"\xff\xff" + np.array(tokenizer.encode(text).ids, np.uint16).tobytes()
        places.append(len(names))
        names += json.dumps({"path": "pages.jsonl", "linenum": number, "metadata": {}}) + "\n"
    (index / "tokenized.0").write_bytes(content)
    (index / "offset.0").write_bytes(np.array(offsets, np.uint64).tobytes())
    (index / "metadata.0").write_text(names)
    (index / "metaoff.0").write_bytes(np.array(places, np.uint64).tobytes())
    _index(folder, index, "u16")
    return index


def _index(data: Path, index: Path, width: str) -> None:
    tool = [sys.executable, "-m", "infini_gram.indexing", "--data_dir", str(data), "--save_dir", str(index)]
    sizes = ["--token_dtype", width, "--add_metadata", "--cpus", "1", "--mem", "1", "--ulimit", "1024"]
    subprocess.run([*tool, *sizes], check=True, capture_output=True)


@dataclass
class Api:
    """What the server was asked, and what it is to say instead (statuses, taken one by one)."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    instead: list[tuple[int, bytes]] = field(default_factory=list)


@contextmanager
def serving_index(engine: Any, tokenizer: Any, name: str) -> Iterator[Api]:
    """The API's requests, answers and errors, over a real index."""
    api = Api()

    def said(asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if asked.get("index") != name:
            return 400, {"error": f"[Flask] Invalid index: {asked.get('index')}"}
        if ("query" in asked) == ("query_ids" in asked):
            return 400, {"error": "[Flask] Exactly one of query and query_ids must be present!"}
        if "query" in asked:
            if " AND " in asked["query"] or " OR " in asked["query"]:
                raise AssertionError("a formula was sent")
            ids = tokenizer.encode(" " + asked["query"]).ids
        else:
            ids = asked["query_ids"]
        kind = asked["query_type"]
        if kind == "get_doc_by_rank":
            out = engine.get_doc_by_rank(asked["s"], asked["rank"], max_disp_len=asked["max_disp_len"])
            at = next(i for i in range(len(out["token_ids"])) if out["token_ids"][i : i + len(ids)] == ids)
            pieces = [(0, at, None), (at, at + len(ids), "0"), (at + len(ids), None, None)]
            out["spans"] = [[tokenizer.decode(out["token_ids"][a:b]), label] for a, b, label in pieces]
        else:
            out = getattr(engine, kind)(input_ids=ids)
        tokens = [tokenizer.id_to_token(one) for one in ids]
        return 200, {**out, "latency": 0.7, "token_ids": ids, "tokens": tokens}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            api.asked.append(asked)
            api.agents.add(self.headers["user-agent"])
            status, body = api.instead.pop(0) if api.instead else (0, b"")
            if not status:
                status, made = said(asked)
                body = json.dumps(made).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}/"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
