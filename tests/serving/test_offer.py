"""What can be served, and what a server says it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leadline.bench import load_benchmark
from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.serving import offered
from leadline.serving.offer import Offer, check
from leadline.serving.start import Wanted, is_loopback, technique_of, token_for
from leadline.techniques.prepared import Bench
from leadline.techniques.spelling import technique_from

if TYPE_CHECKING:
    from leadline.models.local import LocalModel


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("sampling", "temperature is the client's"),
        ("sampling+dola", "temperature is the client's"),
        ("cad", "with and without its context"),
        ("dola:max_tokens=5", "clients say max_tokens"),
        ("recite:paths=5", "clients say n"),
        ("recite+caa:recite.seed=3", "clients say seed|clients say n"),
    ],
)
def test_what_a_server_cannot_carry_is_refused_with_the_reason(named: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check(technique_from(named))


@pytest.mark.parametrize(
    "named", ["dola", "recite", "recite+cad", "genread+dola", "iti:seed=3", "recite:max_tokens=5"]
)
def test_the_others_are_carried(named: str) -> None:
    check(technique_from(named))


def test_a_question_that_a_technique_was_fitted_on_gets_the_fit_without_it(little: LocalModel) -> None:
    technique = technique_from("caa:pairs=5")
    items = load_benchmark("facts").items[:60]
    bench = Bench(items=items, digest=little.identity.fit_digest)
    prepared = technique.prepare(little.lm, bench)
    offer = offered(little, technique, bench=bench)
    for item in items:
        found = offer.intervention_for(f"Q: Who?\nA: I\n\nQ: {item.question}\nA:")
        own = prepared.for_item(item.id)
        for one, two in zip(found.edits, own.edits, strict=True):
            assert one.shift is not None and two.shift is not None and bool((one.shift == two.shift).all())
    assert len({id(offer.intervention_for(item.question)) for item in items}) == 2
    both = f"{items[0].question} {items[1].question}"
    assert offer.intervention_for(both) is offer.intervention_for(items[1].question)


def test_an_item_is_known_by_its_whole_question_and_by_its_window(little: LocalModel) -> None:
    one, two, three = (Intervention(edits=()) for _ in range(3))
    items = (
        ("is it free?", "", one),
        ("may I ask: is it free?", "A text.", two),
        ("is it free?", "B text.", three),
    )
    offer = Offer(little, "little", items=items)
    assert offer.intervention_for("Q: may I ask: is it free?") is two
    assert offer.intervention_for("A text.\n\nQ: is it free?") is one
    assert offer.intervention_for("B text.\n\nQ: is it free?") is three
    assert offer.intervention_for("Q: who?") is offer.prepared.intervention


def test_a_fingerprint_is_that_of_weights_technique_and_settings(little: LocalModel) -> None:
    named = ["dola:layers=low", "dola:layers=high", "recite", "recite:temperature=0.1", "greedy"]
    prints = [offered(little, technique_from(each)).fingerprint for each in named]
    assert len(set(prints)) == len(prints)
    assert offered(little, technique_from("dola:layers=low")).fingerprint == prints[0]
    assert offered(little).fingerprint == prints[-1]


def test_where_a_technique_begins_to_act_is_needed_to_score_a_text(little: LocalModel) -> None:
    assert offered(little).scores_texts
    assert offered(little, technique_from("dola:layers=low")).scores_texts
    bench = Bench(items=load_benchmark("facts").items[:60], digest=little.identity.fit_digest)
    assert not offered(little, technique_from("caa:pairs=5"), bench=bench).scores_texts


def test_settings_are_put_together_and_faults_found_before_a_model_is_loaded() -> None:
    technique = technique_of(Wanted("smollm2", "dola:relative_top=0", ("layers=high",)))
    assert technique is not None
    assert technique.settings()["layers"] == "high" and technique.settings()["relative_top"] == 0
    assert technique_of(Wanted("smollm2", "greedy")) is None
    for technique_name, settings, why in (
        ("dolla", (), "did you mean"),
        ("dola", ("layer=high",), "no setting"),
        ("dola", ("layers",), "says no value"),
        (None, ("layers=high",), "--set is a setting of a technique"),
        ("greedy", ("max_tokens=3",), "changes nothing"),
        ("sampling", (), "temperature"),
    ):
        with pytest.raises(UsageError, match=why):
            technique_of(Wanted("smollm2", technique_name, settings))


def test_a_token_is_made_where_none_is_given_and_others_can_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEADLINE_TOKEN", raising=False)
    assert token_for("LEADLINE_TOKEN", True) == (None, False)
    token, made = token_for("LEADLINE_TOKEN", False)
    assert made and token is not None and len(token) >= 32
    assert token_for("LEADLINE_TOKEN", False)[0] != token
    monkeypatch.setenv("LEADLINE_TOKEN", "a-good-token")
    assert token_for("LEADLINE_TOKEN", True) == token_for("LEADLINE_TOKEN", False) == ("a-good-token", False)
    for bad in ("short", "with a space in it", "ümlaut-token"):
        monkeypatch.setenv("LEADLINE_TOKEN", bad)
        with pytest.raises(UsageError) as raised:
            token_for("LEADLINE_TOKEN", True)
        assert bad not in str(raised.value)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("127.9.9.9", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.7", False),
        ("localhost.example", False),
    ],
)
def test_what_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
