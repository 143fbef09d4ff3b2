"""What a model is asked does not depend on the key: every technique, on this machine and behind an API.

One item's answer, aliases and evidence are replaced by others, and nothing else is changed. Whatever is sent
for it, whatever is done to the model while it answers, and what it answers, stay the same to the last bit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("torch", reason="local models need the 'local' extra")

import torch

from leadline.bench import Item, load_benchmark
from leadline.engine import Request
from leadline.engine.intervention import NOTHING, Intervention
from leadline.interop.export_inspect_task import export_inspect_task
from leadline.interop.export_lm_eval_task import export_lm_eval_task
from leadline.models.local import LocalModel
from leadline.models.resolve import resolve
from leadline.review.pack import draw_pack, shown
from leadline.review.pack_files import write_pack
from leadline.serving import offered
from leadline.study.progress import Quiet
from leadline.study.run import run_study
from leadline.study.study import open_study
from leadline.techniques import techniques
from leadline.techniques.folds import fold_of, two_folds
from leadline.techniques.prepared import Bench
from leadline.techniques.probing import ProbeLine, probe
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.registry import technique_named
from tests.study import small, stored
from tests.study.provider import provider, say, served_study

# Letters that no question, window or prompt has in this order.
KEY, OTHER_KEY = "zqx zqx", "qvj qvj"
# What a model of two blocks needs, and short answers.
SETTINGS: dict[str, dict[str, Any]] = {
    "dola": {"layers": [0, 1]},
    "decore": {"selection": "random", "heads": 2},
    "sled": {"evolution_scale": 5},
    "iti": {"heads": 4},
    "pca": {"layer": 0},
    "sadi": {"site": "hidden", "elements": 30, "delta": 2.0},  # of few, a label moves none
    "recite": {"paths": 2, "passage_tokens": 8, "max_tokens": 4},
    "genread": {"passage_tokens": 8, "max_tokens": 4},
}
FITTED = sorted(name for name, kind in techniques().items() if kind.is_fitted)
UNFITTED = sorted(set(techniques()) - set(FITTED))


QUESTION = "which has the number?"


def entries(changed: str = "", key: str = KEY) -> list[dict[str, Any]]:
    """24 items that ask one question of a window each; the one called `changed` has another key."""
    found = []
    for at in range(24):
        name = f"i{at:02}"
        answer = f"{small.ALPHABET[at % 20]}{at}"
        one = {
            "id": name,
            "question": QUESTION,
            "window": f"here is number {at}: {answer}.",
            "answer": answer,
            "aliases": [f"{answer} too"],
            "evidence": [{"quote": answer, "source": "a.txt"}],
            "task": "numbers",
        }
        if name == changed:
            one |= {"answer": key, "aliases": [f"{key} {key}"]}
            one |= {"evidence": [{"quote": f"{key}.", "source": "b.txt"}], "source": "b.txt"}
        found.append(one)
    return found


def items(changed: str = "", key: str = KEY) -> tuple[Item, ...]:
    return tuple(Item.model_validate(one) for one in entries(changed, key))


def subject() -> str:
    """An item that techniques are fitted on, so that its label matters to somebody."""
    return two_folds(items(), 0, 150, "test")[0].fit[0].item.id


SUBJECT = subject()
# One of the other half, which is answered under what is fitted on the subject.
ACROSS = next(item.id for item in items() if fold_of(item.id, 0) == 1)
# All but four items are not asked, only fitted on.
ASIDE = [item.id for item in items() if item.id not in (SUBJECT, ACROSS)][2:]


@dataclass
class Heard:
    """What went to models: by item, in order, each request with a digest of what was done to the model
    meanwhile; and all texts that they read while they answered."""

    requests: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)


@contextmanager
def listening() -> Iterator[Heard]:
    """Everything that models on this machine are asked in this block, written down on the way."""
    heard, through = Heard(), LocalModel.generate

    def generate(
        model: LocalModel,
        requests: Sequence[Request],
        intervention: Intervention = NOTHING,
        on_text: Any = None,
    ) -> Any:
        for request in requests:
            # Gold answers serve to look ranks up: the texts below show that no model reads them.
            asked = repr(replace(request, gold=()))
            heard.requests.setdefault(str(request.key[1]), []).append((asked, digest(intervention)))
        reading = model.lm.model.get_input_embeddings().register_forward_pre_hook(
            lambda _, ids: heard.texts.append(model.lm.decode(ids[0].flatten().tolist()))
        )
        try:
            yield from through(model, requests, intervention, on_text)
        finally:
            reading.remove()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LocalModel, "generate", generate)
        yield heard


def digest(intervention: Intervention) -> str:
    """All that an intervention consists of, numbers to the last bit; of other models their kind."""
    found = hashlib.sha256()

    def add(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            found.update(value.detach().cpu().contiguous().numpy().tobytes())
        elif is_dataclass(value):
            for each in fields(value):
                found.update(each.name.encode())
                add(getattr(value, each.name))
        elif isinstance(value, (tuple, list, frozenset, set)):
            for each in sorted(value, key=repr) if isinstance(value, (frozenset, set)) else value:
                add(each)
        else:
            plain = isinstance(value, (str, int, float, bool, type(None)))
            found.update((repr(value) if plain else type(value).__name__).encode())

    add(intervention)
    return found.hexdigest()


def local_study(folder: Path, model: Path, names: Sequence[str], key: str) -> Path:
    """A study of four items, the subject among them, under `names`; techniques are fitted on all 24."""
    folder.mkdir(parents=True)
    small.write_items(folder / "items.jsonl", entries(SUBJECT, key))
    small.write_prompts(folder / "prompts")
    for file in ("question/question.txt", "question/question.chat.txt"):
        place = folder / "prompts" / file
        asked = place.read_text("utf-8").replace("{{ question }}", "{{ window }} {{ question }}")
        place.write_text(asked, "utf-8")
    named = [name for name in names if name not in ("greedy", "sampling")]
    small.write_config(
        folder,
        {
            "name": "keys",
            "benchmark": "items.jsonl",
            "models": [str(model)],
            "prompts": "prompts",
            "exclude": {"items": ASIDE},
            "max_tokens": 4,
            "techniques": [{"technique": name, **SETTINGS.get(name, {})} for name in named],
            "sampling": {"temperatures": [0.8], "vote": 2},
            "beyond_sampling": {"k": 2, "sweep": 2},
        },
    )
    return folder


def answers(folder: Path, item: str) -> list[tuple[Any, ...]]:
    """All answers to an item with their stages, without what they are stored under: a fitted technique's
    configuration is named by the labels that it is fitted on."""
    stored_ones = stored.texts(folder).items()
    return sorted((sample, *answer) for (_, name, _, sample), answer in stored_ones if name == item)


Ran = dict[str, tuple[Path, Heard]]  # by the subject's key


@pytest.fixture(scope="module", params=["unfitted", "fitted"])
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model: Path) -> Ran:
    """A study with either key of the subject; two such studies have all techniques of the registry."""
    names = UNFITTED if request.param == "unfitted" else FITTED
    found = {}
    for key in (KEY, OTHER_KEY):
        with pytest.MonkeyPatch.context() as patched, listening() as heard:
            patched.setenv("LEADLINE_CACHE", str(tmp_path_factory.mktemp("cache")))
            folder = local_study(tmp_path_factory.mktemp("keys") / "study", model, names, key)
            run_study(open_study(folder), Quiet())
        found[key] = folder, heard
    return found


def test_what_is_asked_about_an_item_and_done_meanwhile_does_not_depend_on_its_key(ran: Ran) -> None:
    one, other = (ran[key][1].requests for key in (KEY, OTHER_KEY))
    assert len(one[SUBJECT]) > 5
    assert one[SUBJECT] == other[SUBJECT]


def test_what_is_answered_to_an_item_does_not_depend_on_its_key(ran: Ran) -> None:
    one, other = (answers(ran[key][0], SUBJECT) for key in (KEY, OTHER_KEY))
    assert len(one) > 5
    assert one == other


def test_models_read_no_key_while_they_answer(ran: Ran) -> None:
    for key, (_, heard) in ran.items():
        assert any(f"number {int(SUBJECT[1:])}:" in text for text in heard.texts)
        assert not [text for text in heard.texts if key in text]


def test_a_label_moves_only_what_is_fitted_for_the_other_half(
    ran: Ran, request: pytest.FixtureRequest
) -> None:
    one, other = (ran[key][1].requests for key in (KEY, OTHER_KEY))
    moved = {
        item: [done for _, done in asked] != [done for _, done in other[item]] for item, asked in one.items()
    }
    assert {item: [asked for asked, _ in told] for item, told in one.items()} == {
        item: [asked for asked, _ in told] for item, told in other.items()
    }
    fitted = "unfitted" not in request.node.name
    assert moved == {item: fitted and fold_of(item, 0) != fold_of(SUBJECT, 0) for item in one}
    assert ACROSS in moved


def test_a_provider_is_sent_the_same_bytes_whatever_the_keys_are(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="models behind an API need the 'served' extra")
    sent = []
    with provider(say("a b")) as house:
        for key in (KEY, OTHER_KEY):
            outside = [
                {"technique": name, **SETTINGS.get(name, {})}
                for name, kind in techniques().items()
                if kind.kind == "prompting"
            ]
            exclude = {"items": ASIDE}
            folder = served_study(tmp_path / key, house.url, techniques=outside, exclude=exclude)
            small.write_items(folder / "items.jsonl", entries(SUBJECT, key))
            before = len(house.requests)
            run_study(open_study(folder), Quiet())
            sent.append(sorted(json.dumps(body) for body in house.requests[before:]))
    assert len(sent[0]) > 4 * 3
    assert sent[0] == sent[1]
    assert not [body for key in (KEY, OTHER_KEY) for body in sent[0] if key in body]


@pytest.fixture(scope="module")
def tiny(model: Path) -> LocalModel:
    return LocalModel(resolve(str(model)), device="cpu")


def benches(tiny: LocalModel) -> tuple[Bench, Bench]:
    """What techniques are fitted on, with either key of the subject."""
    digest_of_weights = tiny.identity.fit_digest
    one, other = (Bench(items=items(SUBJECT, key), digest=digest_of_weights) for key in (KEY, OTHER_KEY))
    return one, other


@pytest.mark.parametrize("name", FITTED)
def test_a_probe_of_an_item_does_not_depend_on_its_key(tiny: LocalModel, name: str) -> None:
    technique = technique_named(name)(**SETTINGS.get(name, {}))
    found = []
    for bench, key in zip(benches(tiny), (KEY, OTHER_KEY), strict=True):
        lines = [ProbeLine(id=one, prompt=QUESTION, gold=key) for one in (SUBJECT, ACROSS)]
        own, across = probe(tiny.lm, technique, lines, bench=bench, max_new_tokens=3)
        found.append((replace(own, gold_token_id=None, gold_rank=None), across))
    assert found[0][0] == found[1][0]
    assert found[0][1].top != found[1][1].top


@pytest.mark.parametrize("name", FITTED)
def test_a_server_answers_an_item_without_what_was_learnt_from_its_key(tiny: LocalModel, name: str) -> None:
    technique = technique_named(name)(**SETTINGS.get(name, {}))
    offers = [offered(tiny, technique, bench=bench) for bench in benches(tiny)]
    moved = {}
    for item in items():
        prompt = f"Q: who?\nA: me\n{item.window}\nQ: {item.question}\nA:"
        one, other = (digest(offer.intervention_for(prompt)) for offer in offers)
        moved[item.id] = one != other
    assert moved == {item: fold_of(item, 0) != fold_of(SUBJECT, 0) for item in moved}


def test_exported_tasks_ask_the_same_whatever_the_key_is(tmp_path: Path) -> None:
    shown: dict[str, list[Any]] = {"inspect": [], "lm-eval": []}
    for key in (KEY, OTHER_KEY):
        place = small.write_items(tmp_path / f"{key[:3]}.jsonl", entries(SUBJECT, key))
        benchmark = load_benchmark(place)
        export_inspect_task(benchmark, Prompts("chat"), tmp_path / f"inspect-{key[:3]}")
        export_lm_eval_task(benchmark, Prompts("few-shot"), tmp_path / f"lm-eval-{key[:3]}", name="task")
        for tool, found in shown.items():
            folder = tmp_path / f"{tool}-{key[:3]}"
            rows = [json.loads(line) for line in (folder / "data.jsonl").read_text("utf-8").splitlines()]
            assert any(key in json.dumps(row) for row in rows)  # what is right stands beside what is asked
            found.append(_rendered(tool, folder, rows))
    for found in shown.values():
        assert found[0] == found[1]
        assert KEY not in json.dumps(found) and OTHER_KEY not in json.dumps(found)


def _rendered(tool: str, folder: Path, rows: list[dict[str, Any]]) -> list[Any]:
    """What the tool itself makes of the task's files and sends."""
    if tool == "inspect":
        pytest.importorskip("inspect_ai")
        spec = spec_from_file_location(f"task_{folder.name}", folder / "task.py")
        assert spec and spec.loader
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        made = module.benchmark()
        return [
            [(one.role, one.content) for one in sample.input] + [sample.choices] for sample in made.dataset
        ]
    text = (folder / "task.yaml").read_text("utf-8")
    settings = yaml.safe_load(text.replace("!function", ""))
    # The harness sends the field of that name, or renders a template: here it is a field.
    assert settings["doc_to_text"] == "prompt" and settings["num_fewshot"] == 0
    return [row[settings["doc_to_text"]] for row in rows]


def test_a_blind_pack_shows_the_same_whatever_the_key_is(tmp_path: Path) -> None:
    rows = []
    for key in (KEY, OTHER_KEY):
        benchmark = load_benchmark(small.write_items(tmp_path / "items.jsonl", entries(SUBJECT, key)))
        folder = tmp_path / key
        pack = write_pack(draw_pack(benchmark, seed=1), folder)
        rows.append({shown(row.view) for row in pack.rows})
        written = [path.read_text("utf-8", errors="replace") for path in folder.rglob("*") if path.is_file()]
        assert len(written) > 5
        assert not [text for text in written if key in text or SUBJECT in text]
    assert rows[0] == rows[1]
