"""Batches of OpenAI's API in a study: every choice an answer, every failed request a failed call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import pytest

from leadline.errors import UsageError
from leadline.interop.log_import import import_logs
from leadline.interop.openai_batch import OpenAIBatch, openai_batch_logs
from leadline.interop.openai_batch_ids import id_pattern
from leadline.study.readings import readings
from leadline.study.store import open_store
from leadline.study.study import open_study
from tests.interop.conftest import Leadline

pytest.importorskip("openai", reason="the shapes are those of OpenAI's own package")

from openai.types.chat import ChatCompletion
from openai.types.responses import Response

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

Row = dict[str, Any]
ITEMS = [
    {"id": "vienna-river", "question": "Which river flows through Vienna?", "answer": "Danube"},
    {"id": "paris-river", "question": "Which river flows through Paris?", "answer": "Seine"},
]


def chat(
    *texts: str | None, finish: str = "stop", model: str = "gpt-4o-mini-2024-07-18", **message: Any
) -> Row:
    """A chat completion, as OpenAI's package has it."""
    choices = [
        {"index": at, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        for at, text in enumerate(texts)
    ]
    body = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000, "model": model,
        "choices": choices, "system_fingerprint": "fp_1",
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
    }  # fmt: skip
    return ChatCompletion.model_validate(body).model_dump(mode="json")


def response(text: str, **said: Any) -> Row:
    """An answer of the responses API: what was thought, then what was said, in two parts."""
    parts = [{"type": "output_text", "text": part, "annotations": []} for part in (text[:3], text[3:])]
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": parts}
    body = {
        "id": "resp_1", "object": "response", "created_at": 1_760_000_000, "model": "gpt-5-2025-08-07",
        "output": [{"id": "r", "type": "reasoning", "summary": []}, message],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": "completed", **said,
    }  # fmt: skip
    return Response.model_validate(body).model_dump(mode="json")


def answered(custom_id: str, body: Row, status: int = 200) -> Row:
    said = {"status_code": status, "request_id": "req_1", "body": body}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": said, "error": None}


def expired(custom_id: str) -> Row:
    said = {"code": "batch_expired", "message": "This request could not be executed before the window ended."}
    return {"id": "batch_req_2", "custom_id": custom_id, "response": None, "error": said}


def write(path: Path, *rows: Row) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def benchmark(tmp_path: Path) -> str:
    return str(write(tmp_path / "rivers.jsonl", *ITEMS))


def said(*logs: OpenAIBatch) -> list[tuple[str, int, str | None, str]]:
    return [
        (one.item, one.sample, one.text, one.failure or one.finish) for log in logs for one in log.answers()
    ]


def test_choices_are_samples_and_failed_requests_are_failed_calls(benchmark: str, tmp_path: Path) -> None:
    output = write(
        tmp_path / "output.jsonl", answered("vienna-river", chat("The Danube.", "It is the Rhine.", "Danube"))
    )
    errors = write(tmp_path / "errors.jsonl", expired("paris-river"))
    logs = openai_batch_logs([output, errors])
    assert said(*logs) == [
        ("vienna-river", 0, "The Danube.", "stop"),
        ("vienna-river", 1, "It is the Rhine.", "stop"),
        ("vienna-river", 2, "Danube", "stop"),
        ("paris-river", 0, None, "timeout"),
    ]
    done = import_logs(logs, tmp_path / "study", benchmark=benchmark)
    assert (done.stored, done.failed) == (4, 1)
    assert done.configurations == (("recorded", "gpt-4o-mini-2024-07-18"),)
    study = open_study(tmp_path / "study")
    with open_store(study.folder, write=False) as store:
        table = readings(study, store).sort("item", "sample")
    assert table["state"].to_list() == ["error", "ok", "ok", "ok"]
    assert table["correct"].to_list() == [False, True, False, True]


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        (chat("cut o", finish="length"), "cut o", "length"),
        (chat(None, finish="length"), "", "length"),
        (chat("", finish="content_filter"), "", "content_filter"),
        (chat(None, refusal="I can't help with that."), "I can't help with that.", "content_filter"),
        (chat(None, finish="tool_calls"), "", "stop"),
        (response("Danube"), "Danube", "stop"),
        (
            response("Dan", status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "Dan",
            "length",
        ),
        ({"model": "m", "choices": [{"text": " Danube", "finish_reason": "stop"}]}, " Danube", "stop"),
        ({"model": "m", "choices": [{"message": {"content": [{"type": "text", "text": "a"}]}}]}, "a", ""),
    ],
    ids=["cut", "thought", "filtered", "declined", "tool", "response", "cut response", "completion", "parts"],
)
def test_each_shape_of_answer_is_read(tmp_path: Path, body: Row, text: str, finish: str) -> None:
    (log,) = openai_batch_logs([write(tmp_path / "o.jsonl", answered("a", body))])
    assert said(log) == [("a", 0, text, finish)]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (
            answered("a", {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, 429),
            "rate_limited",
        ),
        (
            answered("a", {"error": {"message": "too long", "code": "context_length_exceeded"}}, 400),
            "too_long",
        ),
        (answered("a", {"error": {"message": "no such model", "type": "invalid"}}, 404), "bad_request"),
        (answered("a", {"error": {"message": "who?"}}, 401), "unauthorized"),
        (answered("a", {}, 500), "server_error"),
        (answered("a", {"id": "x"}), "bad_response"),
        (
            answered("a", response("", status="failed", error={"code": "server_error", "message": "!"})),
            "error",
        ),
        ({"custom_id": "a", "response": None, "error": None}, "bad_response"),
        (expired("a"), "timeout"),
    ],
)
def test_failed_requests_have_a_kind_and_say_why(tmp_path: Path, row: Row, kind: str) -> None:
    (log,) = openai_batch_logs([write(tmp_path / "o.jsonl", row)], model="m")
    (answer,) = log.answers()
    assert (answer.text, answer.failure) == (None, kind)
    assert answer.message


def test_a_request_that_failed_and_was_answered_in_another_batch_is_answered(
    benchmark: str, tmp_path: Path
) -> None:
    first = write(tmp_path / "1.jsonl", answered("vienna-river", chat("Danube")), expired("paris-river"))
    second = write(tmp_path / "2.jsonl", answered("paris-river", chat("Seine")))
    done = import_logs(openai_batch_logs([first, second]), tmp_path / "study", benchmark=benchmark)
    assert len(done.configurations) == 1
    study = open_study(tmp_path / "study")
    with open_store(study.folder, write=False) as store:
        assert readings(study, store)["state"].to_list() == ["ok", "ok"]


def test_a_new_study_of_a_batch_needs_a_benchmark_for_it_holds_no_questions(
    tmp_path: Path, leadline: Leadline
) -> None:
    (tmp_path / "batch").mkdir()
    write(tmp_path / "batch" / "out.jsonl", answered("vienna-river", chat("Danube")))
    (tmp_path / "batch" / "notes.md").write_text("mine", "utf-8")
    ended = leadline("import", "openai-batch", tmp_path / "batch", "--study", tmp_path / "s")
    assert "hold neither questions nor right answers" in ended.fault and "--benchmark" in ended.fault
    named = ("--benchmark", write(tmp_path / "items.jsonl", ITEMS[0]))
    ended = leadline("import", "openai-batch", tmp_path / "batch", "--study", tmp_path / "s", *named)
    assert "skipped: 1 file that is no log" in ended.out, ended.err


def test_the_same_requests_answered_twice_are_two_runs_or_repeats_of_one(
    benchmark: str, tmp_path: Path
) -> None:
    files = [
        write(tmp_path / f"{at}.jsonl", *(answered(item["id"], chat(text)) for item in ITEMS))
        for at, text in enumerate(("Danube", "Seine"))
    ]
    apart = import_logs(openai_batch_logs(files), tmp_path / "apart", benchmark=benchmark)
    assert [name for _, name in apart.configurations] == [
        "gpt-4o-mini-2024-07-18",
        "gpt-4o-mini-2024-07-18 #2",
    ]
    one = import_logs(openai_batch_logs(files), tmp_path / "one", benchmark=benchmark, configuration="mini")
    assert one.stored == 4 and len(one.configurations) == 1
    study = open_study(tmp_path / "one")
    with open_store(study.folder, write=False) as store:
        assert sorted(readings(study, store)["sample"].to_list()) == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("pattern", "custom_id", "read"),
    [
        ("", "a-1", ("a-1", None)),
        ("{item}-{sample}", "vienna-river-12", ("vienna-river", 12)),
        ("run-{}-{item}", "run-7b-x-y", ("x-y", None)),
        (r"s(?P<sample>\d+)/(?P<item>.+)", "s3/a.b", ("a.b", 3)),
        ("{item}.{sample}", "a-1", None),
    ],
)
def test_custom_ids_say_item_and_sample(pattern: str, custom_id: str, read: object) -> None:
    assert id_pattern(pattern).read(custom_id) == read


@pytest.mark.parametrize("pattern", ["{sample}", "plain", "{item}{item}", "(?P<item>["])
def test_a_pattern_that_says_nothing_is_one_line(pattern: str) -> None:
    with pytest.raises(UsageError, match="--id-pattern"):
        id_pattern(pattern)


def test_samples_count_from_where_the_ids_begin(tmp_path: Path) -> None:
    rows = [answered(f"a-{at}", chat(str(at), "other")) for at in (2, 1)]
    (log,) = openai_batch_logs([write(tmp_path / "o.jsonl", *rows)], pattern="{item}-{sample}")
    assert [(one.sample, one.text) for one in log.answers()] == [
        (2, "2"),
        (3, "other"),
        (0, "1"),
        (1, "other"),
    ]


def test_answers_of_two_models_in_a_file_are_two_configurations(benchmark: str, tmp_path: Path) -> None:
    rows = [answered("vienna-river", chat("a", model="m-1")), answered("paris-river", chat("b", model="m-2"))]
    logs = openai_batch_logs([write(tmp_path / "o.jsonl", *rows)])
    done = import_logs(logs, tmp_path / "study", benchmark=benchmark)
    assert [name for _, name in done.configurations] == ["m-1", "m-2"]
    assert done.stored == 2


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "holds no answered request"),
        ("{", ":1: broken JSON"),
        ('{"a": 1}\n', ":1: is no line of a batch's output"),
        ('{"custom_id": "a", "method": "POST", "body": {}}\n', "--input FILE"),
        (json.dumps(expired("a")) + "\n", "--model NAME"),
        (2 * (json.dumps(answered("a", chat("x"))) + "\n"), ":2: 'a' is answered here and in line 1"),
    ],
)
def test_what_is_no_output_of_a_batch_is_one_line(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "o.jsonl"
    file.write_text(text)
    with pytest.raises(UsageError) as raised:
        openai_batch_logs([file])
    assert fault in str(raised.value) and "\n" not in str(raised.value)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with a random model behind it."""
    pytest.importorskip("torch", reason="local models need the 'local' extra")
    from leadline.models.local import LocalModel
    from leadline.models.resolve import resolve
    from leadline.serving import Batcher, make_app, offered, running
    from tests.study.small import write_model

    folder = write_model(tmp_path_factory.mktemp("models") / "little")
    model: LocalModel = LocalModel(resolve(str(folder)), device="cpu")
    with running(make_app(Batcher(offered(model, name="little")))) as url:
        yield url


def batch(url: str, requests: Path, output: Path) -> Path:
    """What a batch service does: each request of a file, its response in another."""
    rows = []
    for line in requests.read_text().splitlines():
        request = json.loads(line)
        sent = HttpRequest(url + request["url"], json.dumps(request["body"]).encode(), method="POST")
        sent.add_header("Content-Type", "application/json")
        with urlopen(sent, timeout=60) as got:
            rows.append(answered(request["custom_id"], json.load(got), got.status))
    return write(output, *rows)


def test_a_batch_of_a_service_is_a_study_with_its_questions_and_settings(
    service: str, benchmark: str, tmp_path: Path, leadline: Leadline
) -> None:
    bodies = [
        {
            "custom_id": f"run-{sample}/{item['id']}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "model": "little", "n": 2, "temperature": 0.9, "seed": sample, "max_tokens": 6,
                "messages": [
                    {"role": "system", "content": "Answer."},
                    {"role": "user", "content": f"In one word: {item['question']}"},
                ],
            },
        }
        for sample in (1, 2)
        for item in ITEMS
    ]  # fmt: skip
    requests = write(tmp_path / "input.jsonl", *bodies)
    base = service.removesuffix("/v1").rstrip("/")
    output = batch(base, requests, tmp_path / "output.jsonl")
    arguments = ("import", "openai-batch", output, "--study", tmp_path / "s", "--benchmark", benchmark)
    pattern = ("--id-pattern", "run-{sample}/{item}", "--input", requests)
    done = leadline(*arguments, *pattern, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["stored"] == 8 and told["items"] == 2
    assert any("worded otherwise" in note for note in told["notes"])
    study = open_study(tmp_path / "s")
    with open_store(study.folder, write=False) as store:
        rows = readings(study, store).sort("item", "sample")
        (note,) = store.history()
    assert rows["sample"].to_list() == [0, 1, 2, 3] * 2
    about = note.about["recorded"]["logs"][0]
    # Seeds differ between requests: they are no setting of all.
    assert about["settings"] == {"temperature": "0.9", "max_tokens": "6"}
    assert about["about"]["tool"] == "openai batch"
    assert "imported before" in leadline(*arguments, *pattern).out

    fault = leadline(*arguments[:4], tmp_path / "other", *arguments[5:]).fault
    assert "has no item 'run-1/vienna-river'" in fault and "--id-pattern" in fault
    fault = leadline(*arguments[:4], tmp_path / "other").fault
    assert "--benchmark" in fault
