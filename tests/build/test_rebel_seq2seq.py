"""A seq2seq checkpoint is loaded as data, writes the same whatever the batch, and says where it was cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.build.extract.extractor import Passage  # noqa: E402
from leadline.build.extract.rebel import RebelExtractor  # noqa: E402
from leadline.build.plan import ExtractSection  # noqa: E402
from leadline.errors import LeadlineError, UsageError  # noqa: E402
from leadline.models.resolve import resolve  # noqa: E402
from leadline.models.seq2seq import Seq2Seq  # noqa: E402
from tests.build.extracting import article, extract, plan_of  # noqa: E402
from tests.build.tiny_seq2seq import TEXTS, make, taught_pairs, teach  # noqa: E402

REBEL = ExtractSection(method="rebel", batch=4)


@pytest.fixture(scope="module")
def untaught(tmp_path_factory: pytest.TempPathFactory) -> Seq2Seq:
    return Seq2Seq(resolve(str(make(tmp_path_factory.mktemp("untaught")))), device="cpu")


@pytest.fixture(scope="module")
def taught_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its own generation_config forbids that three tokens come twice, as BART's does."""
    folder = tmp_path_factory.mktemp("taught")
    make(folder, spread=0.08, no_repeat_ngram_size=3, max_length=12, min_length=9)
    return teach(folder, taught_pairs())


@pytest.fixture(scope="module")
def taught(taught_folder: Path) -> Seq2Seq:
    return Seq2Seq(resolve(str(taught_folder)), device="cpu")


def read(
    model: Seq2Seq, *texts: str, **changed: int
) -> list[tuple[list[tuple[str, str, str]], dict[str, int], str]]:
    extractor = RebelExtractor(model, REBEL.model_copy(update=changed))
    return [
        ([(one.subject, one.relation, one.object) for one in found.triplets], dict(found.faults), found.note)
        for found in extractor.read([Passage("A page", text) for text in texts])
    ]


def test_what_the_model_writes_becomes_triplets_and_its_own_defaults_do_not_leak(taught: Seq2Seq) -> None:
    paris, saga, journal = read(taught, *taught_pairs())
    assert paris == (
        [("Paris", "capital of", "France"), ("Paris", "located next to body of water", "Seine")],
        {},
        "",
    )
    # "Selma Lagerlöf" is three tokens and more, and stands twice: no_repeat_ngram_size would forbid it.
    assert saga[0] == [
        ("Selma Lagerlöf", "date of birth", "1858"),
        ("Gösta Berling's Saga", "author", "Selma Lagerlöf"),
    ]
    assert journal[0] == [("Transportation Journal", "instance of", "academic journal")]


def test_an_output_cut_at_its_greatest_length_loses_its_last_triplet_and_no_other(taught: Seq2Seq) -> None:
    paris, _, journal = read(taught, *taught_pairs(), max_target=24)
    assert paris == ([("Paris", "capital of", "France")], {"cut": 1}, "")
    assert journal[0] == [("Transportation Journal", "instance of", "academic journal")]


def test_outputs_do_not_depend_on_the_batch_or_the_order(untaught: Seq2Seq) -> None:
    texts = [f"{text} {text[: 7 * at]}" for at, text in enumerate(TEXTS)] * 3
    alone = untaught.write(texts, batch=1, max_target=20)
    assert len({one.text for one in alone}) == len(set(texts)), "texts that differ must show"
    assert untaught.write(texts, batch=4, max_target=20) == alone
    assert untaught.write(texts, batch=32, max_target=20) == alone
    assert untaught.write(texts[::-1], batch=4, max_target=20) == alone[::-1]
    assert untaught.write([]) == []


def test_a_text_longer_than_the_model_takes_is_read_to_there_and_said(taught: Seq2Seq) -> None:
    long = " ".join(TEXTS) * 3
    short, cut = taught.write([TEXTS[0], long], max_source=40, max_target=8)
    assert (short.truncated, cut.truncated) == (False, True)
    assert cut.tokens_in == 40
    assert read(taught, long, max_source=40, max_target=8)[0][2] == "truncated"


def test_one_beam_is_greedy(taught: Seq2Seq) -> None:
    assert read(taught, TEXTS[0], beams=1)[0] == read(taught, TEXTS[0], beams=3)[0]


def test_the_name_says_which_model(taught: Seq2Seq) -> None:
    assert RebelExtractor(taught, REBEL).name.startswith("rebel:taught")
    assert taught.digest


def test_a_device_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    files = resolve(str(make(tmp_path)))
    with pytest.raises(UsageError, match="device 'cuda:9' cannot be used"):
        Seq2Seq(files, device="cuda:9")


def test_a_model_without_an_encoder_is_refused(tmp_path: Path) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    make(tmp_path)
    GPT2LMHeadModel(GPT2Config(vocab_size=500, n_embd=16, n_layer=1, n_head=2)).save_pretrained(tmp_path)
    with pytest.raises(UsageError, match=r"is no encoder-decoder model \(gpt2\)"):
        Seq2Seq(resolve(str(tmp_path)))


def test_no_code_of_a_checkpoint_is_run(tmp_path: Path) -> None:
    make(tmp_path)
    mark = tmp_path / "ran"
    (tmp_path / "evil.py").write_text(f"open({str(mark)!r}, 'w').close()\nclass Model: ...\n")
    config = json.loads((tmp_path / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "evil.Model", "AutoModelForSeq2SeqLM": "evil.Model"}
    config["model_type"] = "evil"
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(LeadlineError, match="cannot be loaded"):
        Seq2Seq(resolve(str(tmp_path)))
    assert not mark.exists()


def test_the_stage_runs_a_model_of_ones_own_and_goes_on_where_it_was_killed(
    taught_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leadline.build.extract.chunks._SIZES", {"rebel": 1})
    (tmp_path / "model").symlink_to(taught_folder)
    section = "{method: rebel, model: model, device: cpu, batch: 2}"
    texts = list(taught_pairs())
    articles = [
        article(title, text) for title, text in zip(("Paris", "A saga", "Journal"), texts, strict=True)
    ]
    here = extract(plan_of(tmp_path, section), articles)
    facts = [
        (one.title, one.subject, one.relation, one.object, one.support[0].pronoun) for one in here.facts()
    ]
    assert facts == [
        ("Paris", "Paris", "capital of", "France", False),
        ("Paris", "Paris", "located next to body of water", "Seine", True),
        ("A saga", "Selma Lagerlöf", "date of birth", "1858", False),
        ("A saga", "Gösta Berling's Saga", "author", "Selma Lagerlöf", False),
        ("Journal", "Transportation Journal", "instance of", "academic journal", False),
    ]
    assert {one.extractor for one in here.facts()} == {f"rebel:{taught_folder.name}"}
    assert here.counts()["passages"] == {"read": 3}
    kept = here.kept.read_bytes()
    # As if killed: the last chunk and the end are not there. What is there is not done again.
    first = here.part(0).stat().st_mtime_ns
    for path in (here.path / "done.json", here.kept, here.part(2)):
        path.unlink()
    again = extract(plan_of(tmp_path, section.replace("batch: 2", "batch: 3")), articles)
    assert again.kept.read_bytes() == kept
    assert again.part(0).stat().st_mtime_ns == first
