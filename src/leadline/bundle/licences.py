"""The licence inventory of a release: benchmark, sources, models, packages; what is not known is said so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import metadata

from leadline import __version__
from leadline.documents.index import read_index
from leadline.documents.sources import Sources
from leadline.models.catalogue import CATALOGUE
from leadline.study.study import Study

UNKNOWN = "TO FILL: not declared"


def licences_text(
    study: Study,
    models: Iterable[str],
    with_sources: bool,
    libraries: Mapping[str, str] | None = None,
    readings: Iterable[str] = (),
) -> str:
    """LICENCES.md. `models` are the labels of those that answered, `libraries` (name -> version) the packages
    that the study's runs name, `readings` the files that hold the work of readers."""
    whole = study.whole
    lines = [
        "# Licences",
        "",
        "As declared where each thing was found. Nobody looked whether the declarations are right.",
        "",
        "## Benchmark",
        "",
        "| name | version | licence |",
        "| --- | --- | --- |",
        f"| {whole.name} | {whole.version} | {whole.licence or UNKNOWN} |",
        "",
        "## Sources",
        "",
        *_sources(study, with_sources),
        "",
        *_readings(readings),
        "## Models",
        "",
        "| model | licence |",
        "| --- | --- |",
        *(f"| {label} | {_model_licence(study, label)} |" for label in models),
        "",
        "The licence of a model may bind what may be done with its answers.",
        "",
        "## Software that made this release",
        "",
        "| package | version | licence |",
        "| --- | --- | --- |",
        f"| leadline | {__version__} | Apache-2.0 |",
        *(f"| {name} | {version} | {licence} |" for name, version, licence in _packages(libraries or {})),
        "",
    ]
    return "\n".join(lines)


def _sources(study: Study, with_sources: bool) -> list[str]:
    pointers = sorted(
        {piece.source or item.source for item in study.whole.items for piece in item.evidence} - {""}
    )
    if not pointers:
        return ["The benchmark names no source documents."]
    held = "are part of this release" if with_sources else "are not part of this release"
    lines = [f"{len(pointers):,} source documents are named; their files {held}.", ""]
    lines += [
        "No source declares a licence of its own in the benchmark's files.",
        f"Licence of the sources: {UNKNOWN}",
    ]
    origin = study.whole.origin
    if origin is not None and origin.is_dir():
        fetched = read_index(Sources.of(origin).folder) if Sources.of(origin).folder.is_dir() else {}
        hosts = sorted({url.split("/")[2] for url in fetched if url.count("/") > 1})
        if hosts:
            lines += ["", f"Fetched from: {', '.join(hosts)}."]
    return lines


def _readings(files: Iterable[str]) -> list[str]:
    """Decisions and filled sheets are their readers' work; packs also show the benchmark's questions."""
    told = list(files)
    if not told:
        return []
    return [
        "## Decisions and readings",
        "",
        "| files | licence |",
        "| --- | --- |",
        *(f"| {name} | {UNKNOWN} |" for name in told),
        "",
        "They are the work of their readers. The questions and windows in a pack are the benchmark's.",
        "",
    ]


def _model_licence(study: Study, label: str) -> str:
    for entry in study.config.models:
        if entry.label == label and entry.ref in CATALOGUE:
            return CATALOGUE[entry.ref].licence
    return UNKNOWN


def _packages(libraries: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """What the runs used, in the versions that they name, and what Leadline's core needs, as installed
    here."""
    found = []
    for name, version in libraries.items():
        try:
            found.append((name, version, _declared(metadata.metadata(name))))
        except metadata.PackageNotFoundError:
            found.append((name, version, UNKNOWN))
    for requirement in metadata.requires("leadline") or []:
        if "extra ==" in requirement:
            continue
        name = requirement.split(";")[0].split("[")[0]
        for sign in "<>=!~ ":
            name = name.split(sign)[0]
        if name in libraries:
            continue
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
        found.append((name, about["Version"], _declared(about)))
    return sorted(found)


def _declared(about: metadata.PackageMetadata) -> str:
    """An SPDX expression, else the classifier, else the first line of what is said."""
    if expression := _field(about, "License-Expression"):
        return expression
    classes = [
        one.rsplit(" :: ", 1)[-1] for one in about.get_all("Classifier") or [] if one.startswith("License ::")
    ]
    said = _field(about, "License").strip().splitlines()
    return ", ".join(classes) or (said[0][:80] if said else UNKNOWN)


def _field(about: metadata.PackageMetadata, name: str) -> str:
    return str(about[name]) if name in about else ""
