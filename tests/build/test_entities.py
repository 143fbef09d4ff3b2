"""Entities out of every form in which Wikidata gives them, and the store that a build keeps them in."""

from __future__ import annotations

import bz2
import gzip
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from leadline.build.wikidata import unpacked
from leadline.build.wikidata.dump import Reading, parsed, read_dump
from leadline.build.wikidata.entity import Entity, Other, Quantity, Text, Time, is_entity_id
from leadline.build.wikidata.entity_files import read_files
from leadline.build.wikidata.json_form import Found, NotAnEntity, entities_in
from leadline.build.wikidata.redirects import redirects_of
from leadline.build.wikidata.store import EntityStore, writing_store
from leadline.errors import LeadlineError, UsageError
from tests.build.entity_work import TWENTY, entity, found_in, made, needs_wikidata, real, statement


@needs_wikidata
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Q42.json", "Q42"),
        ("Q2112.json", "Q2112"),
        ("Q4132785.json", "Q4132785"),
        ("Q22002395.json", "Q22002395"),
        ("P279.json", "P279"),
        ("P3035.json", "P3035"),
        ("wbgetentities_response.json", "Q3235026"),
    ],
)
def test_every_real_file_of_an_entity_is_read(name: str, found: str) -> None:
    assert [one.id for one in found_in(name)] == [found]


@needs_wikidata
def test_a_small_dump_may_be_named_as_a_file_of_entities() -> None:
    found = found_in("twenty_entities.json.bz2")
    assert len(found) == 20
    assert {one.entity.id for one in found if one.entity} >= {"Q58978", "Q59064"}


@needs_wikidata
@pytest.mark.parametrize("name", ["properties_list.json", "sparql_results_with_statements.json"])
def test_answers_of_the_query_service_are_refused_in_one_line(name: str) -> None:
    with pytest.raises(LeadlineError, match="holds no entity but an object of head, results"):
        found_in(name)


@needs_wikidata
def test_ids_of_old_dumps_which_are_numbers_alone_are_ids() -> None:
    assert [claim.entity for claim in real("Q4132785").claims["P50"]] == ["Q947986"]


@needs_wikidata
def test_values_keep_their_precision_calendar_unit_and_language() -> None:
    dates = [claim.value for claim in real("Q970917").claims["P569"]]
    assert dates == [
        Time(time="+1869-11-01T00:00:00Z", precision=10),
        Time(time="+1990-11-00T00:00:00Z", precision=10),
        Time(time="+1990-00-00T00:00:00Z", precision=9),
    ]
    area = real("Q2112").claims["P2046"][0].value
    assert isinstance(area, Quantity)
    assert area.unit == "Q712226"
    name = real("Q328212").claims["P1477"][0].value
    assert name == Text(text="Veronica Roth", language="es")
    kinds = {
        (claim.snaktype, claim.value)
        for name in ("Q58984", "Q58986", "Q58992", "Q59013")
        for claim in real(name).claims["P17"]
    }
    assert kinds == {("novalue", None)}


@needs_wikidata
def test_names_are_those_of_the_language_alone() -> None:
    adams = real("Q42")
    assert adams.names("en")[0] == "Douglas Adams"
    assert "Douglas Noel Adams" in adams.names("en")
    assert not any("Адамс" in name for name in adams.names("en"))
    russian = next(one.entity for one in found_in("Q42.json", ("ru",)))
    assert russian is not None
    assert russian.names("ru")[0].startswith("Дуглас")
    assert set(russian.sitelinks) == {"ruwiki"}


def test_a_label_of_all_languages_is_a_label() -> None:
    said = entity("Q1")
    said["labels"] = {
        "mul": {"language": "mul", "value": "Jane Doe"},
        "de": {"language": "de", "value": "Jana"},
    }
    assert made(said).names("en") == ("Jane Doe",)


def test_demonyms_are_no_names_though_they_are_aliases() -> None:
    demonym = statement("x")
    demonym["mainsnak"]["datatype"] = "monolingualtext"
    demonym["mainsnak"]["datavalue"] = {
        "type": "monolingualtext",
        "value": {"text": "British", "language": "en"},
    }
    said = entity("Q145", "United Kingdom", ["UK", "british", "UK"], P1549=[demonym])
    assert made(said).names("en") == ("United Kingdom", "UK")


def test_the_title_of_the_page_stands_in_for_a_label_without_its_brackets() -> None:
    said = {**entity("Q308"), "labels": [], "aliases": []}
    said["sitelinks"] = {"enwiki": {"site": "enwiki", "title": "Mercury (planet)"}}
    assert made(said).names("en") == ("Mercury",)


def test_empty_maps_that_php_wrote_as_lists_are_empty() -> None:
    said = {"type": "item", "id": "Q1", "labels": [], "aliases": [], "claims": [], "sitelinks": []}
    assert made(said) == Entity(id="Q1")


def test_a_value_of_an_unknown_form_passes_as_it_came() -> None:
    odd = statement("x")
    odd["mainsnak"] |= {"datatype": "entity-schema", "datavalue": {"type": "new", "value": {"id": "E10"}}}
    claim = made(entity("Q1", P12861=[odd])).claims["P12861"][0]
    assert (claim.datatype, claim.value) == ("entity-schema", Other(json_value={"id": "E10"}))


def test_an_entity_without_an_id_of_its_own_has_that_under_which_it_stands() -> None:
    (found,) = entities_in({"entities": {"Q7": {"claims": {}}}}, ["en"])
    assert found.id == "Q7" and found.entity is not None and found.entity.id == "Q7"


def test_merged_and_deleted_entities_are_told_by_the_id_they_were_asked_by() -> None:
    moved = {**entity("Q42"), "redirects": {"from": "Q105", "to": "Q42"}}
    answers: list[Any] = [{"Q105": moved}, {"Q42": moved}, {"Q105": entity("Q42")}]
    for several in answers:
        (found,) = entities_in({"entities": several, "success": 1}, ["en"])
        assert (found.id, found.entity and (found.entity.id, found.entity.asked_as)) == (
            "Q105",
            ("Q42", "Q105"),
        )
    (gone,) = entities_in({"entities": {"Q7": {"id": "Q7", "missing": ""}}}, ["en"])
    assert gone == Found("Q7", None)


def test_a_file_named_by_another_id_tells_of_a_merger(tmp_path: Path) -> None:
    path = tmp_path / "Q105.json"
    path.write_text(json.dumps({"entities": {"Q42": entity("Q42")}}), encoding="utf-8")
    assert [one.id for one in read_files(path, ["en"], Reading())] == ["Q42", "Q105"]


@pytest.mark.parametrize("said", [1, "Q42", None, {"id": "Q42"}, {"id": "42", "claims": {}}, {"entities": 3}])
def test_json_of_something_else_is_no_entity(said: Any) -> None:
    with pytest.raises(NotAnEntity):
        list(entities_in(said, ["en"]))


def test_a_cut_or_empty_file_of_entities_is_one_line(tmp_path: Path) -> None:
    for name, content in (
        ("cut.json", b'{"id": "Q1", "claims"'),
        ("empty.json", b""),
        ("z.json", b"BZh9cut"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(LeadlineError, match=name) as error:
            list(read_files(tmp_path / name, ["en"], Reading()))
        assert "\n" not in str(error.value)


JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.sampled_from(["Q5", "value"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
PARTS = ["labels", "aliases", "claims", "sitelinks", "datatype", "redirects", "en", "P1", "mainsnak", "value"]
PARTS += ["datavalue", "qualifiers", "rank", "snaktype", "type", "entity-type", "time", "precision", "id"]


@given(st.data())
def test_an_entity_that_is_damaged_anywhere_is_read_or_refused_and_nothing_else_happens(
    data: st.DataObject,
) -> None:
    said: Any = entity("Q1", "name", ["alias"], P1=[statement("Q5", P582={"time": "+1990", "precision": 9})])

    def damaged(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: data.draw(JSON_VALUES) if key == chosen and data.draw(st.booleans()) else damaged(inner)
                for key, inner in value.items()
            }
        return [damaged(inner) for inner in value] if isinstance(value, list) else value

    chosen = data.draw(st.sampled_from(PARTS))
    try:
        found = list(entities_in({"entities": {"Q1": damaged(said)}}, ["en"]))
    except ValueError:
        return
    assert all(
        Entity.model_validate_json(one.entity.model_dump_json()) == one.entity for one in found if one.entity
    )


@pytest.mark.usefixtures("bzip2")
@pytest.mark.parametrize("how", ["plain", "bz2", "gz", "zst"])
def test_progress_comes_to_the_size_of_the_file(how: str, tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_bytes(_packed(_dump([entity(f"Q{one}") for one in range(1, 2500)]), how))
    told: list[int] = []
    list(read_dump(path, frozenset(), ["en"], Reading(), told.append))
    assert len(told) == 3
    assert abs(sum(told) - path.stat().st_size) <= 8
    assert min(told) >= 0


# Dumps


def _dump(entities: list[dict[str, Any]]) -> bytes:
    lines = [json.dumps(one, separators=(",", ":")).encode() for one in entities]
    return b"[\n" + b",\n".join(lines) + b"\n]\n"


def _packed(content: bytes, how: str) -> bytes:
    match how:
        case "bz2":  # two streams, as parallel packers leave them
            half = len(content) // 2
            return bz2.compress(content[:half]) + bz2.compress(content[half:])
        case "gz":
            return gzip.compress(content[:99]) + gzip.compress(content[99:])
        case "zst":
            pack = zstandard.ZstdCompressor()
            return pack.compress(content[:99]) + pack.compress(content[99:])
    return content


PACKINGS = ["plain", "bz2", "gz", "zst"]


@pytest.fixture(params=["indexed_bzip2", "bz2"])
def bzip2(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to unpack bzip2."""
    if request.param == "bz2":
        monkeypatch.setattr(unpacked, "find_spec", lambda _: None)
    elif find_spec("indexed_bzip2") is None:
        pytest.skip("indexed_bzip2 is not installed")


@needs_wikidata
@pytest.mark.usefixtures("bzip2")
@pytest.mark.parametrize("how", PACKINGS)
def test_a_dump_gives_the_wanted_entities_whatever_its_packing(how: str, tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_bytes(_packed(bz2.decompress(TWENTY.read_bytes()), how))
    reading = Reading()
    dump = read_dump(path, {b"Q58978", b"Q59064", b"Q1"}, ["en"], reading)
    found = [one for kind, one in dump if kind == "wanted"]
    names = [one.entity.names("en")[0] for one in found if one.entity is not None]
    assert names == ["Max Born", "Andros Townsend"]
    assert (reading.lines, reading.kept, reading.broken) == (22, 2, 0)


@needs_wikidata
def test_a_dump_tells_which_class_is_under_which_without_being_asked(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    book = entity("Q571", P279=["Q2342494", "Q732577"])
    none = entity("Q9", P31=[statement("Q5", P279="Q7")])  # among qualifiers it says nothing of Q9
    path.write_bytes(_dump([book, none, entity("Q5"), entity("Q42", P31=["Q5"])]))
    found = list(read_dump(path, {b"Q42"}, ["en"], Reading()))
    assert [(kind, one.id) for kind, one in found] == [("class", "Q571"), ("wanted", "Q42")]
    assert found[0][1].entity is not None
    assert found[0][1].entity.labels == {}


@pytest.mark.usefixtures("bzip2")
def test_broken_lines_are_counted_with_their_numbers_and_the_rest_is_read(tmp_path: Path) -> None:
    good = json.dumps(entity("Q1")).encode()
    lines = [b"[", good + b",", b'{"type":"item","id":"Q2","lab', b"[1]", b'{"id":7}', b"\xff{", good[:-1]]
    lines += [json.dumps(entity("Q3")).encode(), b"]"]
    path = tmp_path / "dump.json.bz2"
    path.write_bytes(bz2.compress(b"\n".join(lines)))
    reading = Reading()
    found = [one.id for _, one in read_dump(path, {b"Q1", b"Q2", b"Q3"}, ["en"], reading)]
    assert found == ["Q1", "Q3"]
    assert [line for line, _ in reading.faults] == [3, 4, 5, 6, 7]
    assert reading.broken == 5


@needs_wikidata
@pytest.mark.usefixtures("bzip2")
@pytest.mark.parametrize("how", ["bz2", "gz", "zst"])
def test_a_dump_cut_off_in_its_packing_gives_what_was_there_and_says_so(how: str, tmp_path: Path) -> None:
    whole = bz2.decompress(TWENTY.read_bytes())
    content = {"bz2": bz2.compress, "gz": gzip.compress, "zst": zstandard.ZstdCompressor().compress}[how](
        whole * 9
    )
    path = tmp_path / "dump"
    path.write_bytes(content[: int(len(content) * 0.9)])
    reading = Reading()
    found = [kind for kind, _ in read_dump(path, {b"Q58942"}, ["en"], reading) if kind == "wanted"]
    assert reading.cut
    assert 1 <= len(found) < 9
    assert "packing breaks off" in reading.faults[-1][1]


def test_half_a_surrogate_pair_in_a_label_is_no_broken_line(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(_dump([entity("Q1", "half \ud83d pair")]))
    assert b"\\ud83d" in path.read_bytes()
    reading = Reading()
    ((_, found),) = read_dump(path, {b"Q1"}, ["en"], reading)
    assert found.entity is not None
    assert found.entity.names("en") == ("half ? pair",)
    assert reading.broken == 0


KEYS = ["type", "datatype", "id", "labels", "aliases", "claims", "sitelinks", "pageid", "title", "modified"]


@given(st.permutations(KEYS), st.sampled_from(["Q42", "Q4", "P31"]), st.sampled_from([",", ", "]))
def test_the_early_look_at_an_id_finds_what_reading_the_whole_line_finds(
    order: list[str], name: str, separator: str
) -> None:
    said = {**entity(name, P31=["Q42"]), "datatype": "x", "pageid": 4, "title": "Q42", "modified": "now"}
    line = json.dumps({key: said[key] for key in order}, separators=(separator, ":"))
    found = _read(line.encode())
    assert found == ([name] if name == "Q42" else [])


def _read(line: bytes) -> list[str]:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(line)
        file.flush()
        return [one.id for kind, one in read_dump(Path(file.name), {b"Q42"}, ["en"], Reading())]


def test_json_with_infinity_is_refused() -> None:
    with pytest.raises(ValueError, match="expected value"):
        parsed(b'{"id": Infinity}')


# The store


def _store(path: Path, found: list[Found]) -> EntityStore:
    with writing_store(path) as store:
        for one in found:
            store.add(one)
    return EntityStore(path)


@needs_wikidata
def test_what_is_put_into_a_store_comes_out_of_it(tmp_path: Path) -> None:
    entities = [real(name) for name in ("Q42", "Q2112", "Q271094", "Q1", "Q970917", "P279", "Q58978")]
    store = _store(tmp_path / "e.sqlite", [Found(one.id, one) for one in entities])
    for one in entities:
        assert store.get(one.id) == one
    assert list(store.ids()) == [one.id for one in entities]
    assert store.get("Q9999") is None
    assert len(store) == 7


def test_merged_ids_lead_to_the_entity_through_several_steps_and_circles_end(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    with writing_store(path) as store:
        store.add(Found("Q3", made(entity("Q3"))))
        for old, new in (("Q1", "Q2"), ("Q2", "Q3"), ("Q7", "Q8"), ("Q8", "Q7")):
            store.redirect(old, new)
        store.add(Found("Q6", None))
        assert store.held(["Q1", "Q2", "Q3", "Q6", "Q7", "Q9"]) == {"Q1", "Q2", "Q3", "Q6"}
    held = EntityStore(path)
    found = held.get("Q1")
    assert found is not None
    assert (found.id, found.asked_as) == ("Q3", "Q1")
    assert held.get("Q7") is None
    assert held.gone("Q6")
    assert not held.gone("Q9")
    assert set(held.many(["Q1", "Q6", "Q3", "Q1"])) == {"Q1", "Q3"}


@needs_wikidata
def test_the_same_content_is_the_same_bytes_whether_written_at_once_or_merged_from_parts(
    tmp_path: Path,
) -> None:
    found = sorted(found_in("twenty_entities.json.bz2"), key=lambda one: one.id)
    _store(tmp_path / "a.sqlite", found)
    _store(tmp_path / "again.sqlite", found)
    assert (tmp_path / "a.sqlite").read_bytes() == (tmp_path / "again.sqlite").read_bytes()
    _store(tmp_path / "1.sqlite", found[10:][::-1])
    _store(tmp_path / "2.sqlite", found[5:15])
    for name in ("m1", "m2"):
        with writing_store(tmp_path / name) as store:
            for part in ("1.sqlite", "2.sqlite"):
                store.merge(tmp_path / part)
    assert (tmp_path / "m1").read_bytes() == (tmp_path / "m2").read_bytes()
    merged = EntityStore(tmp_path / "m1")
    assert {one: merged.get(one) for one in merged.ids()} == {one.id: one.entity for one in found[5:]}


def test_a_store_that_could_not_be_finished_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), writing_store(tmp_path / "e.sqlite") as store:
        store.add(Found("Q1", made(entity("Q1"))))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(LeadlineError, match="no entities yet"):
        EntityStore(tmp_path / "e.sqlite")
    (tmp_path / "e.sqlite").write_bytes(b"something else")
    with pytest.raises(LeadlineError, match="is no store"):
        EntityStore(tmp_path / "e.sqlite")


def test_a_table_of_mergers_is_read_from_tabs_commas_and_addresses(tmp_path: Path) -> None:
    path = tmp_path / "redirects.tsv"
    path.write_text(
        "?old\t?new\nQ1\tQ2\n<http://www.wikidata.org/entity/Q2>\t<http://www.wikidata.org/entity/Q3>\n\nQ9,Q10\n"
    )
    assert redirects_of([path], ["Q1"]) == {"Q1": "Q2", "Q2": "Q3"}
    path.write_text("Q1\tQ2\nQ1 Q2\n")
    with pytest.raises(UsageError, match=r"redirects.tsv:2: no two ids"):
        redirects_of([path], ["Q1"])


VALUES = st.one_of(
    st.text(max_size=20),
    st.builds(Time, time=st.text(max_size=10), precision=st.integers(0, 14), julian=st.booleans()),
    st.builds(Quantity, amount=st.text(max_size=5), unit=st.sampled_from(["1", "Q11573"])),
    st.builds(Text, text=st.text(max_size=9), language=st.sampled_from(["en", "de"])),
)


@given(st.lists(VALUES, min_size=1, max_size=5), st.text(min_size=1, max_size=9))
def test_an_entity_is_the_same_after_its_way_through_json(values: list[Any], label: str) -> None:
    from leadline.build.wikidata.entity import Claim

    claims = tuple(Claim(value=value, datatype="string") for value in values)
    one = Entity(id="Q1", labels={"en": label}, claims={"P1": claims})
    again = Entity.model_validate_json(one.model_dump_json(exclude_defaults=True))
    assert again == one
    assert [type(claim.value) for claim in again.claims["P1"]] == [type(value) for value in values]


@given(st.text(max_size=8))
def test_an_id_is_a_letter_and_a_number_without_leading_zero(text: str) -> None:
    expected = text[:1] in ("Q", "P", "L") and text[1:].isascii() and text[1:].isdigit() and text[1] != "0"
    assert is_entity_id(text) == (text != "" and expected)
