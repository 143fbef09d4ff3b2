"""Sentences looked up in an infini-gram index: real ones, over bytes, over tokens, and behind an API."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leadline.build.plan import Plan
from leadline.build.presence import infini_gram_api
from leadline.build.presence.infini_gram import CACHE, Found, look_up
from leadline.build.presence.infini_gram_tokens import Tokens
from leadline.documents.fetch_settings import FetchSettings
from leadline.errors import LeadlineError, UsageError
from tests.build.infini_gram_index import Api, documents, indexed, indexed_tokens, serving_index

pytest.importorskip("infini_gram.engine", reason="needs leadline[infini-gram]")
tokenizers = pytest.importorskip("tokenizers", reason="needs leadline[local]")

BRIDGE = "The bridge was built in 1932."
FORMULA = "They found gold AND silver OR tin there."
CURLY = "Świdnica’s “tower” fell."


@dataclass(frozen=True)
class Made:
    """Two indexes of the same pages."""

    folder: Path
    texts: list[str]
    tokenizer: Any

    def plan(self, at: Path, **presence: object) -> Plan:
        said = {"infini_gram": str(self.folder / "bytes" / "index"), **presence}
        plan = Plan.model_validate(
            {
                "name": "small",
                "articles": {"jsonl": "none"},
                "extract": {"method": "recorded"},
                "presence": said,
            }
        )
        plan._file = at / "plan.yaml"
        plan._file.write_text("presence:\n  infini_gram: here\n")
        plan._source = plan._file.read_bytes()
        return plan


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("infini-gram")
    texts = documents()
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=2000, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    (folder / "bpe").mkdir()
    tokenizer.save(str(folder / "bpe" / "tokenizer.json"))
    indexed(folder / "bytes", "u8", texts)
    indexed_tokens(folder / "tokens", tokenizer, texts)
    return Made(folder, texts, tokenizer)


def sentences(made: Made) -> list[str]:
    """Some of the pages' own sentences, and some that stand nowhere."""
    own = [line for text in made.texts for line in text.splitlines() if 40 < len(line) < 200 and ". " in line]
    return [*own[::9], *(line[::-1] for line in own[:20:4])]


def test_an_index_over_bytes_counts_what_a_naive_search_counts(made: Made, tmp_path: Path) -> None:
    asked = sentences(made)
    found = look_up(asked, made.plan(tmp_path), tmp_path)
    assert len(asked) > 30
    for sentence, one in zip(asked, found, strict=True):
        naive = sum(text.count(sentence) for text in made.texts)
        assert (one.sentence, one.count, one.on, one.approx) == (sentence, naive, "bytes", False)
        assert one.tier == ("exact" if naive else None)
        holding = {f"page-{number}" for number, text in enumerate(made.texts) if sentence in text}
        assert set(one.documents) <= holding and bool(one.documents) == bool(holding)


def test_an_index_over_tokens_finds_what_begins_a_line_and_what_follows_a_space(
    made: Made, tmp_path: Path
) -> None:
    plan = made.plan(
        tmp_path, infini_gram=str(made.folder / "tokens" / "index"), tokenizer=str(made.folder / "bpe")
    )
    (bridge, curly, absent, formula) = look_up([BRIDGE, CURLY, BRIDGE[::-1], FORMULA], plan, tmp_path)
    last = f"pages.jsonl:{len(made.texts)}"
    assert bridge == Found(sentence=BRIDGE, count=2, on="tokens", tier="exact", documents=(last,), looked=2)
    assert (curly.count, curly.tier, curly.documents) == (1, "exact", (last,))
    assert (absent.count, absent.tier, absent.documents, absent.looked) == (0, None, (), 0)
    assert (formula.count, formula.tier) == (1, "exact")  # ids are no formula


def test_a_count_alone_never_makes_a_sentence_present(made: Made, tmp_path: Path) -> None:
    """The tokens occur, but what the documents say is something else: a tokenizer that loses case."""
    lossy = tokenizers.Tokenizer.from_file(str(made.folder / "bpe" / "tokenizer.json"))
    lossy.normalizer = tokenizers.normalizers.Replace("XIV", "1932")
    lossy.save(str(tmp_path / "tokenizer.json"))
    plan = made.plan(
        tmp_path,
        infini_gram=str(made.folder / "tokens" / "index"),
        tokenizer=str(tmp_path / "tokenizer.json"),
    )
    (one,) = look_up(["The bridge was built in XIV."], plan, tmp_path)
    assert (one.count, one.tier, one.documents, one.looked) == (2, None, (), 2)


def test_looser_tiers_are_told_from_the_exact_one(made: Made, tmp_path: Path) -> None:
    lossy = tokenizers.Tokenizer.from_file(str(made.folder / "bpe" / "tokenizer.json"))
    lossy.normalizer = tokenizers.normalizers.Sequence(
        [
            tokenizers.normalizers.Replace("'", "’"),
            tokenizers.normalizers.Replace("The spaces", "The   spaces"),
        ]
    )
    lossy.save(str(tmp_path / "tokenizer.json"))
    plan = made.plan(
        tmp_path,
        infini_gram=str(made.folder / "tokens" / "index"),
        tokenizer=str(tmp_path / "tokenizer.json"),
    )
    one, two = look_up(["Świdnica's “tower” fell.", "The spaces are odd."], plan, tmp_path)
    assert (one.tier, two.tier) == ("normalised", "normalised")


def test_ways_that_hold_another_one_are_not_counted_twice(tmp_path: Path) -> None:
    """As Llama 2's tokenizer has it: a mark for the space before each word, and one at the front."""
    vocabulary = {piece: number for number, piece in enumerate(["▁", "G", "o", "i", "s", "\n", "▁G"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[("▁", "G")]))
    tokenizer.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = tokenizers.decoders.Sequence(
        [tokenizers.decoders.Replace("▁", " "), tokenizers.decoders.Fuse()]
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert tokenizer.encode(" Go is").ids == [0, 6, 2, 0, 3, 4]
    # First in a document or after a space, and at the beginning of a line.
    assert Tokens(tmp_path).ways("Go is") == ((6, 2, 0, 3, 4), (1, 2, 0, 3, 4))


@pytest.fixture
def api(made: Made, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    from infini_gram.engine import InfiniGramEngine

    monkeypatch.setattr(
        infini_gram_api, "FetchSettings", lambda agent, rate: FetchSettings(agent, rate=1000, backoff=0.01)
    )
    engine = InfiniGramEngine(str(made.folder / "tokens" / "index"), eos_token_id=0)
    with serving_index(engine, made.tokenizer, "v4_small") as serving:
        yield serving


def test_the_api_is_asked_little_and_nothing_twice(made: Made, api: Api, tmp_path: Path) -> None:
    plan = made.plan(tmp_path, infini_gram="v4_small", api=api.url, user_agent="Jane Doe jane@example.org")
    asked = [CURLY, "Nothing of the kind stands here.", FORMULA, "x" * 1001]
    found = look_up(asked, plan, tmp_path)
    assert (found[0].count, found[0].tier, found[0].on) == (1, "exact", "tokens")
    assert found[0].documents == (f"pages.jsonl:{len(made.texts)}",)
    assert (found[1].count, found[1].tier) == (0, None)
    assert found[2].count is None and "presence.tokenizer" in found[2].unasked
    assert found[3].count is None and "1000 characters" in found[3].unasked
    assert [one["query_type"] for one in api.asked] == ["count", "find", "get_doc_by_rank", "count"]
    assert api.asked[0] == {"index": "v4_small", "query_type": "count", "query": CURLY}
    assert api.agents == {"Jane Doe jane@example.org"}
    assert look_up(asked, plan, tmp_path) == found
    assert len(api.asked) == 4
    (tmp_path / CACHE).unlink()
    assert look_up(asked, plan, tmp_path) == found
    assert len(api.asked) == 8


def test_with_its_tokenizer_the_api_is_asked_for_ids(made: Made, api: Api, tmp_path: Path) -> None:
    plan = made.plan(tmp_path, infini_gram="v4_small", api=api.url, tokenizer=str(made.folder / "bpe"))
    bridge, formula = look_up([BRIDGE, FORMULA], plan, tmp_path)
    assert (bridge.count, bridge.tier) == (2, "exact")
    assert (formula.count, formula.tier) == (1, "exact")
    assert all("query_ids" in one and "query" not in one for one in api.asked)
    with_text = made.plan(tmp_path, infini_gram="v4_small", api=api.url)
    (bridge,) = look_up([BRIDGE], with_text, tmp_path)
    assert bridge.count == 1  # the API takes it to follow a space, and misses the one that begins a line


def test_a_busy_api_is_asked_again_and_an_outage_keeps_what_was_answered(
    made: Made, api: Api, tmp_path: Path
) -> None:
    plan = made.plan(tmp_path, infini_gram="v4_small", api=api.url)
    api.instead = [(503, b""), (429, b"slow down"), (500, b'{"error": "[Flask] Web request timed out."}')]
    assert look_up([CURLY], plan, tmp_path)[0].tier == "exact"
    api.instead = [(500, b"")] * 9
    with pytest.raises(LeadlineError, match=r"answers 500 Internal Server Error, 5 times .*answered is kept"):
        look_up([CURLY, BRIDGE], plan, tmp_path)
    api.instead = []
    before = len(api.asked)
    assert [one.tier for one in look_up([CURLY, BRIDGE], plan, tmp_path)] == ["exact", "exact"]
    assert {one["query"] for one in api.asked[before:]} == {BRIDGE}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            (400, b'{"error": "[Flask] Invalid query_type: \\u001b[2Jcount"}'),
            r"400 .*Invalid query_type: \[2Jcount",
        ),
        ((200, b'{"error": "some fault"}'), "some fault"),
        ((200, b"<html>"), "is this the address of an infini-gram API"),
        ((200, b"[1]"), "is this the address of an infini-gram API"),
        ((200, b"{}"), "answers without a count"),
        ((302, b""), "302 Found"),
    ],
)
def test_answers_that_are_none_are_one_line(
    made: Made, api: Api, tmp_path: Path, answer: tuple[int, bytes], said: str
) -> None:
    api.instead = [answer]
    with pytest.raises(LeadlineError, match=said) as told:
        look_up([CURLY], made.plan(tmp_path, infini_gram="v4_small", api=api.url), tmp_path)
    assert str(told.value).isprintable()


def test_what_the_user_got_wrong_is_said(made: Made, api: Api, tmp_path: Path) -> None:
    def fails(match: str, **presence: object) -> None:
        with pytest.raises(UsageError, match=match):
            look_up([CURLY], made.plan(tmp_path, **presence), tmp_path)

    fails("the API has no index 'v4_smal'", infini_gram="v4_smal", api=api.url)
    fails("is no address", infini_gram="v4_small", api="api.infini-gram.io")
    fails(
        r"plan\.yaml:2: presence.infini_gram: no folder is called 'v4_small' .*presence\.api",
        infini_gram="v4_small",
    )
    tokens = str(made.folder / "tokens" / "index")
    fails("holds token ids .*presence.tokenizer", infini_gram=tokens)
    fails("is an index over bytes", tokenizer=str(made.folder / "bpe"))
    (tmp_path / "tokenizer.json").write_text("{}")
    fails(r"tokenizer\.json: is no tokenizer\.json", infini_gram=tokens, tokenizer="tokenizer.json")
    (tmp_path / "empty").mkdir()
    fails("is no infini-gram index", infini_gram="empty")


@pytest.mark.parametrize("name", ["table.0", "tokenized.0", "offset.0"])
def test_an_index_that_was_cut_off_is_refused_before_the_package_ends_the_process(
    made: Made, tmp_path: Path, name: str
) -> None:
    index = tmp_path / "index"
    shutil.copytree(made.folder / "tokens" / "index", index)
    file = index / name
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(UsageError, match=r"does not fit"):
        look_up(
            [CURLY], made.plan(tmp_path, infini_gram="index", tokenizer=str(made.folder / "bpe")), tmp_path
        )
    file.unlink()
    with pytest.raises(UsageError, match=r"is not there|is no infini-gram index"):
        look_up(
            [CURLY], made.plan(tmp_path, infini_gram="index", tokenizer=str(made.folder / "bpe")), tmp_path
        )
