"""No body that a client sends ends in a fault of a server's: what it cannot take it refuses in JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.review import annotating, labelling
from leadline.review.drafts import Drafts
from leadline.review.places import DRAFTS
from leadline.review.start import ServeOptions, what_is_wanted
from tests.fuzz.limits import SECONDS, examples
from tests.fuzz.mutations import VALUES, broken, changed, written
from tests.review.doubted import DEED, ITEMS, adjudicate, doubted
from tests.review.packs import a_pack
from tests.review.packs import benchmark as packed_benchmark
from tests.review.pages import Client, served

pytestmark = pytest.mark.fuzz
JSON_KIND = {"content-type": "application/json"}


def sound(answer: httpx2.Response, began: float) -> None:
    """It was answered in time, with what was asked for, or with a refusal in JSON that has words."""
    took = time.process_time() - began
    assert took <= SECONDS, f"{took:.1f} s of processor time"
    status, kind = answer.status_code, answer.headers.get("content-type", "")
    if 300 <= status < 400:
        return
    if kind.startswith("text/event-stream"):
        assert status == 200 and answer.text.endswith("data: [DONE]\n\n"), answer.text[-300:]
        return
    assert kind.startswith("application/json"), (status, kind, answer.text[:300])
    said = json.loads(answer.content)
    if status >= 400:
        assert status < 500, (status, said)
        error = said["error"]
        message = error["message"] if isinstance(error, dict) else error
        assert isinstance(message, str) and message
        assert len(answer.content) < 20_000 or "theirs" in said, answer.text[:300]
    else:
        assert status in (200, 202), (status, said)


# The server of a model.

CHATS: tuple[Any, ...] = (
    {"messages": [{"role": "user", "content": "a b"}], "max_tokens": 2, "temperature": 0, "seed": 1},
    {
        "model": "little",
        "messages": [
            {"role": "system", "content": "say"},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": "c", "tool_calls": [], "refusal": None},
            {"role": "user", "content": "d", "name": None},
        ],
        "max_completion_tokens": 2, "n": 2, "top_p": 0.9, "temperature": 0.7, "seed": 3, "stop": ["x", "yz"],
        "logprobs": True, "top_logprobs": 2, "repetition_penalty": 1.1, "user": "u", "logit_bias": {},
        "response_format": {"type": "text"},
    },
    {
        "messages": [{"role": "user", "content": "q"}], "max_tokens": 3, "stream": True,
        "stream_options": {"include_usage": True}, "metadata": {"a": "b"}, "tools": [], "stop": "e",
    },
)  # fmt: skip
COMPLETIONS: tuple[Any, ...] = (
    {"prompt": "a b", "max_tokens": 2, "temperature": 0, "seed": 1, "logprobs": 2, "echo": True},
    {"prompt": ["a", "b"], "max_tokens": 2, "n": 2, "best_of": 1, "suffix": ""},
    {"prompt": [3, 4, 5], "max_tokens": 2, "stream": True, "model": "little", "stop": ["q"], "echo": True},
    {"prompt": [[3, 4], [5]], "max_tokens": 0, "echo": True, "logprobs": 1, "frequency_penalty": 0},
)
TOKENS: tuple[Any, ...] = (
    {"prompt": "a b", "add_special_tokens": True, "return_token_strs": True, "model": "little"},
    {"messages": [{"role": "user", "content": "a"}], "add_generation_prompt": True, "chat_template": None},
)
ROUTES: dict[str, tuple[Any, ...]] = {
    "/v1/chat/completions": CHATS,
    "/v1/completions": COMPLETIONS,
    "/tokenize": TOKENS,
    "/detokenize": ({"tokens": [3, 4, 5], "model": "little"},),
}


@pytest.fixture(scope="module")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A random model behind a server, and a client of it."""
    torch = pytest.importorskip("torch", reason="local models need the 'local' extra")
    from leadline.models.local import LocalModel
    from leadline.models.resolve import resolve
    from leadline.serving import Batcher, make_app, offered, running
    from tests.study.small import write_model

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    folder = write_model(tmp_path_factory.mktemp("models") / "little")
    model = LocalModel(resolve(str(folder)), device="cpu")
    app = make_app(Batcher(offered(model, name="little")), max_tokens=4)
    with running(app) as url, httpx2.Client(base_url=url, timeout=60) as client:
        yield client
    torch.set_num_threads(threads)


@pytest.mark.parametrize("path", ROUTES)
def test_a_model_answers_or_refuses_whatever_any_part_of_a_body_is(
    model_server: httpx2.Client, path: str
) -> None:
    for body in ROUTES[path]:
        assert model_server.post(path, json=body).status_code == 200

    @examples(40)
    @given(changed(ROUTES[path]))
    def check(value: object) -> None:
        began = time.process_time()
        sound(model_server.post(path, content=written(value), headers=JSON_KIND), began)

    check()
    first = ROUTES[path][0]
    told = [model_server.post(path, json=first).json() for _ in range(2)]
    assert told[0].get("choices") == told[1].get("choices")


@pytest.mark.parametrize("path", ROUTES)
def test_a_model_answers_or_refuses_whatever_bytes_a_body_has(model_server: httpx2.Client, path: str) -> None:
    @examples(20)
    @given(broken([json.dumps(body).encode() for body in ROUTES[path]]))
    def check(content: bytes) -> None:
        began = time.process_time()
        sound(model_server.post(path, content=content, headers=JSON_KIND), began)

    check()


# Texts that a header or an address can hold.
_WORDS = [str(value) for value in VALUES if isinstance(value, str | int) and "\ue000" not in str(value)]
HEADERS = ("content-type", "content-encoding", "accept", "authorization", "origin", "x-request-id", "cookie")


def test_a_model_answers_or_refuses_whatever_headers_and_addresses_say(model_server: httpx2.Client) -> None:
    @examples(30)
    @given(
        st.sampled_from((*ROUTES, "/v1/models/{}", "/health", "/{}", "/v1/{}/completions")),
        st.sampled_from(("GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "FOO")),
        st.dictionaries(st.sampled_from(HEADERS), st.sampled_from(_WORDS), max_size=3),
        st.sampled_from(_WORDS),
    )
    def check(path: str, method: str, headers: dict[str, str], word: str) -> None:
        safe = {
            name: "".join(sign for sign in value if sign.isprintable()).encode().strip()
            for name, value in {**JSON_KIND, **headers}.items()
        }
        quoted = "".join(f"%{byte:02x}" for byte in word.encode("utf-8", "replace"))
        began = time.process_time()
        body = json.dumps(CHATS[0]).encode()
        sound(
            model_server.request(method, path.format(quoted), content=body, headers=list(safe.items())), began
        )

    check()


# The server of a review.


@dataclass(frozen=True)
class Reviewed:
    """A running review of all its jobs: a client, and sound bodies by address."""

    client: Client
    bodies: dict[str, Sequence[Any]]
    folder: Path


def _sent(**fields: Any) -> dict[str, Any]:
    page = {"version": 0, "page": "p", "edit": 1, "reader": "Ann"}
    return {**page, "fields": fields, "beside": {"seen": ""}}


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reviewed]:
    place = tmp_path_factory.mktemp("review")
    made = doubted(place)
    job, _ = adjudicate(made)
    pack = place / "pack"
    a_pack(pack, packed_benchmark(), seed=1)
    drafts = Drafts(made.benchmark / "review" / DRAFTS)
    wanted, _ = what_is_wanted(ServeOptions(benchmark=str(made.benchmark), study=made.study, pack=pack))
    label, annotate = labelling.offer(wanted, drafts), annotating.offer(wanted, drafts)
    assert label is not None and annotate is not None
    with served([label, job, annotate], drafts) as at, closing(at.client()) as client:
        new = client.post("/api/new-item").json()["key"]
        start = DEED.index("What is returned")
        quote = {"start": start, "end": start + 30, "text": DEED[start : start + 30]}
        marked = client.post("/api/documents/0/quote", json=quote)
        assert marked.status_code == 200, marked.text
        question = ITEMS[0]["question"]
        item = _sent(
            question=question, answer="Quibbleforth", answer_type="text", task="receiver",
            category="returns", aliases="a\nb", quotes=[marked.json()["quote"]], note="n", unsettled=False,
        )  # fmt: skip
        number = _sent(question="How many?", answer="3", answer_type="number", unit="m", quotes=[])
        choice = _sent(
            question="Which?", answer="b", answer_type="enum", choices="a\nb", unsettled=True, reason="r"
        )
        keys = {each.name: [entry.key for entry in each.entries("Ann")] for each in (job, annotate)}
        reading, decision = _sent(answer="Bo"), _sent(outcome="upheld", reason="so", corrected="7")
        bodies: dict[str, Sequence[Any]] = {
            "/api/reader": [{"name": "Ann"}],
            "/api/documents/0/quote": [quote],
            f"/api/label/{new}": [item, number, choice],
            f"/api/adjudicate/{keys['adjudicate'][0]}": [reading, decision],
            f"/api/adjudicate/{keys['adjudicate'][1]}": [reading, decision],
            f"/api/annotate/{keys['annotate'][0]}": [_sent(answer="x", quote="q", note="n", unsettled=False)],
            f"/api/annotate/{keys['annotate'][-1]}": [_sent(**{"part-0": "3", "part-1": "yes"})],
        }
        yield Reviewed(client, bodies, place)


def _ways(path: str) -> list[tuple[str, str]]:
    """How an address is written to."""
    if path.startswith(("/api/reader", "/api/documents")):
        return [("POST", path)]
    return [("PUT", path), ("POST", f"{path}/commit"), ("POST", f"{path}/undo")]


def _go_on(client: Client, path: str, body: object) -> None:
    """The body's version becomes that of the draft, so that most bodies are no conflict."""
    if isinstance(body, dict) and body.get("version") == 0 and "fields" in body:
        body["version"] = client.get(path).json()["version"]


def test_a_review_keeps_or_refuses_whatever_any_part_of_a_body_is(review: Reviewed) -> None:
    client = review.client

    @examples(120, factor=10)
    @given(st.sampled_from(list(review.bodies)), st.data())
    def check(path: str, data: st.DataObject) -> None:
        body = data.draw(changed(review.bodies[path]))
        method, address = data.draw(st.sampled_from(_ways(path)))
        _go_on(client, path, body)
        began = time.process_time()
        sound(client.request(method, address, content=written(body), headers=JSON_KIND), began)
        client.post("/api/reader", json={"name": "Ann"})
        if address != path or method == "PUT":
            for read in (path, f"{path}/history"):
                sound(client.get(read), began)
            page = client.get(path.removeprefix("/api"))
            assert page.status_code == 200, (page.status_code, page.text[:300])

    check()
    for page in ("/", "/label?show=all", "/adjudicate?show=all", "/annotate?show=all"):
        assert client.get(page).status_code == 200, page


def test_a_review_keeps_or_refuses_whatever_bytes_a_body_has(review: Reviewed) -> None:
    client = review.client

    @examples(40)
    @given(st.sampled_from(list(review.bodies)), st.data())
    def check(path: str, data: st.DataObject) -> None:
        content = data.draw(broken([json.dumps(body).encode() for body in review.bodies[path]]))
        method, address = data.draw(st.sampled_from(_ways(path)))
        began = time.process_time()
        sound(client.request(method, address, content=content, headers=JSON_KIND), began)
        client.post("/api/reader", json={"name": "Ann"})

    check()
