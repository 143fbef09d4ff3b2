"""Entities out of Wikidata's JSON: dumps, Special:EntityData, wbgetentities, one entity on its own.

The form is described at https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html; older dumps
leave things out that newer ones have, and PHP writes an empty map as an empty list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from leadline.build.wikidata.entity import (
    ANY_LANGUAGE,
    Claim,
    Coordinate,
    Entity,
    Other,
    Quantity,
    Rank,
    Snak,
    SnakType,
    Text,
    Time,
    Value,
    is_entity_id,
)

_JULIAN = "Q1985786"
_LETTERS = {"item": "Q", "property": "P", "lexeme": "L"}
_RANKS: dict[str, Rank] = {"preferred": "preferred", "deprecated": "deprecated"}
_TYPES: dict[str, SnakType] = {"novalue": "novalue", "somevalue": "somevalue"}
# What old snaks without a datatype hold, by the type of their value.
_DATATYPES = {
    "wikibase-entityid": "wikibase-item",
    "time": "time",
    "quantity": "quantity",
    "monolingualtext": "monolingualtext",
    "globecoordinate": "globe-coordinate",
    "string": "string",
}


class NotAnEntity(ValueError):  # noqa: N818  # what was found
    """The JSON is of another form."""


@dataclass(frozen=True)
class Found:
    """What a file says of an id: its entity, or None where it says that there is none (any more)."""

    id: str
    entity: Entity | None


def entities_in(said: Any, languages: Collection[str]) -> Iterator[Found]:
    """The entities that a JSON value holds: one, a list, or `{"entities": ...}` as the API sends them.

    `languages` are those whose labels, aliases and pages are kept. Raises NotAnEntity for anything else.
    """
    if isinstance(said, list):
        for one in said:
            yield from entities_in(one, languages)
        return
    if not isinstance(said, dict):
        raise NotAnEntity(f"holds no entity but {_shape(said)}")
    several = said.get("entities")
    if several is None or "claims" in said:
        yield _found(said, None, languages)
    elif isinstance(several, dict):
        for key, one in several.items():
            yield _found(one, key, languages)
    elif isinstance(several, list):  # formatversion 2 of the API's older modules, or no entity at all
        for one in several:
            yield _found(one, None, languages)
    else:
        raise NotAnEntity(f"holds no entities but {_shape(several)}")


def _found(said: Any, key: str | None, languages: Collection[str]) -> Found:
    if not isinstance(said, dict):
        raise NotAnEntity(f"holds no entity but {_shape(said)}")
    own = said.get("id", key)
    if not isinstance(own, str) or not is_entity_id(own):
        raise NotAnEntity(f"holds no entity but {_shape(said)}")
    if "missing" in said:
        return Found(key if key is not None and is_entity_id(key) else own, None)
    if not _ENTITY_KEYS & said.keys():
        raise NotAnEntity(f"holds no entity but {_shape(said)}")
    moved = said.get("redirects")
    asked = moved.get("from") if isinstance(moved, dict) else key
    asked_as = asked if isinstance(asked, str) and is_entity_id(asked) and asked != own else None
    return Found(asked_as or own, entity_from({**said, "id": own}, languages, asked_as))


_ENTITY_KEYS = frozenset(("claims", "statements", "labels", "sitelinks", "type"))


def entity_from(said: Mapping[str, Any], languages: Collection[str], asked_as: str | None = None) -> Entity:
    """One entity from its JSON object, which has an `id`."""
    wanted = {*languages, ANY_LANGUAGE}
    wikis = {f"{language.replace('-', '_')}wiki" for language in languages}
    labels = {
        language: one["value"]
        for language, one in _map(said.get("labels")).items()
        if language in wanted and isinstance(one, dict) and isinstance(one.get("value"), str)
    }
    aliases = {
        language: tuple(one["value"] for one in several if isinstance(_map(one).get("value"), str))
        for language, several in _map(said.get("aliases")).items()
        if language in wanted and isinstance(several, list)
    }
    pages = {
        wiki: one["title"]
        for wiki, one in _map(said.get("sitelinks")).items()
        if wiki in wikis and isinstance(one, dict) and isinstance(one.get("title"), str)
    }
    claims = {
        property_id: read
        for property_id, several in _map(said.get("claims") or said.get("statements")).items()
        if isinstance(several, list)
        and (read := tuple(_claim(one) for one in several if isinstance(one, dict)))
    }
    datatype = said.get("datatype")
    return Entity(
        id=said["id"],
        labels=labels,
        aliases={language: names for language, names in aliases.items() if names},
        claims=claims,
        sitelinks=pages,
        datatype=datatype if isinstance(datatype, str) else None,
        asked_as=asked_as,
    )


def _claim(said: Mapping[str, Any]) -> Claim:
    main = _snak(_map(said.get("mainsnak")))
    qualifiers = {
        property_id: tuple(_snak(one) for one in several if isinstance(one, dict))
        for property_id, several in _map(said.get("qualifiers")).items()
        if isinstance(several, list)
    }
    rank = _RANKS.get(str(said.get("rank")), "normal")
    return Claim(
        snaktype=main.snaktype, value=main.value, datatype=main.datatype, rank=rank, qualifiers=qualifiers
    )


def _snak(said: Mapping[str, Any]) -> Snak:
    data = _map(said.get("datavalue"))
    form = str(data.get("type", ""))
    datatype = said.get("datatype") or _DATATYPES.get(form, form)
    snaktype = _TYPES.get(str(said.get("snaktype")), "value")
    if snaktype != "value":
        return Snak(snaktype=snaktype, datatype=datatype)
    return Snak(value=_value(form, data.get("value")), datatype=datatype)


def _value(form: str, said: Any) -> Value:
    if isinstance(said, str):
        return said
    try:
        match form:
            case "wikibase-entityid":
                # Until 2017 an id was a number alone.
                return str(said.get("id") or _LETTERS[said["entity-type"]] + str(int(said["numeric-id"])))
            case "time":
                calendar = _last(said.get("calendarmodel", ""))
                return Time(time=said["time"], precision=int(said["precision"]), julian=calendar == _JULIAN)
            case "quantity":
                return Quantity(
                    amount=str(said["amount"]),
                    unit=_last(said.get("unit", "1")),
                    lower=said.get("lowerBound"),
                    upper=said.get("upperBound"),
                )
            case "monolingualtext":
                return Text(text=said["text"], language=said["language"])
            case "globecoordinate":
                return Coordinate(
                    latitude=said["latitude"],
                    longitude=said["longitude"],
                    precision=said.get("precision"),
                    globe=_last(said.get("globe") or "Q2"),
                )
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    return Other(json_value=said)


def _map(said: Any) -> Mapping[str, Any]:
    return said if isinstance(said, dict) else {}


def _last(address: str) -> str:
    """The id at the end of http://www.wikidata.org/entity/Q11573."""
    return address.rsplit("/", 1)[-1]


def _shape(said: Any) -> str:
    if isinstance(said, dict):
        return f"an object of {', '.join(map(str, list(said)[:4]))}"[:80] if said else "an empty object"
    return {list: "a list", str: "a text", type(None): "nothing"}.get(type(said), "a number")
