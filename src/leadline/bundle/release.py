"""Makes a bundle of a study: everything that somebody else needs to read, check and count again."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from leadline.bench import write_benchmark
from leadline.bench.whole_file import whole_file, whole_folder
from leadline.bundle.answers import write_answers, write_before
from leadline.bundle.checksums import write_checksums
from leadline.bundle.exclusions import exclusions_json, exclusions_text, layers
from leadline.bundle.joining import verifier
from leadline.bundle.licences import licences_text
from leadline.bundle.packs import PackFiles, copy_packs, read_packs
from leadline.bundle.papers import copy_papers
from leadline.bundle.personal_data import account, account_counted, personal_data_text
from leadline.bundle.private import check_private, without_places, without_places_in
from leadline.bundle.readers import accounts_of_readers, files_of_readers, named_readers
from leadline.bundle.readme import readme_text
from leadline.bundle.running import VERIFIER, Verification, disagreements, verify_bundle
from leadline.bundle.source_texts import copy_sources, source_texts
from leadline.bundle.statement import statement_text
from leadline.errors import LeadlineError, UsageError
from leadline.report.document import FindingsDocument
from leadline.report.evidence_items import EVIDENCE
from leadline.report.study_report import report_study
from leadline.study.database import MANIFEST
from leadline.study.manifest import told_of
from leadline.study.members import members, protocol
from leadline.study.readings import check_answered, readings
from leadline.study.store import open_store
from leadline.study.study import Study

# So many disagreements are told when a bundle is refused.
_TOLD = 20

Say = Callable[[str], None]


@dataclass(frozen=True)
class Bundled:
    """Where a bundle was written, what its verification said, and what is to be remarked of its packs."""

    path: Path
    verification: Verification
    document: FindingsDocument
    remarks: tuple[str, ...] = ()


def bundle_study(
    study: Study,
    out: Path,
    *,
    with_sources: bool = False,
    packed: bool = False,
    packs: Sequence[Path] = (),
    found_packs: Sequence[Path] = (),
    say: Say = print,
) -> Bundled:
    """Write the bundle of `study` to the folder (or, `packed`, the zip file) `out`.

    It appears whole and verified, or not at all. `say` is told what is being done. `packs` are blind packs to
    release with it; `found_packs` those that lie beside the benchmark, which are left out, with a remark,
    where they were drawn from other content. Raises UsageError where `out` is there already or a pack is
    none of the benchmark's, LeadlineError where the study has no answers, where something private would be
    released, or where the findings cannot be verified.
    """
    if out.exists():
        raise UsageError("is there already", where=str(out), fix="name a place that is free")
    released, remarks = read_packs(study.whole, packs, found_packs)
    out.parent.mkdir(parents=True, exist_ok=True)
    with _scratch(out) if packed else whole_folder(out) as made:
        document = _write(study, made, with_sources, released, say)
        check_private(made, study.folder)
        write_checksums(made)
        say("verifying")
        verification = verify_bundle(made)
        if not verification.is_sound:
            raise _refusal(study, verification, out)
        if packed:
            _pack(made, out)
    return Bundled(out, verification, document, tuple(remarks))


def _write(
    study: Study, folder: Path, with_sources: bool, packs: Sequence[PackFiles], say: Say
) -> FindingsDocument:
    check_answered(study)
    # Opened once: a run that is under way adds nothing between the findings and the answers beside them.
    with open_store(study.folder, write=False) as store:
        say("report")
        with tempfile.TemporaryDirectory(prefix=".report.", dir=folder.parent) as scratch:
            made = report_study(study, Path(scratch), store)
            document = made.document
            for name in ("findings.json", "report.html"):
                shutil.copyfile(Path(scratch) / name, folder / name)
            has_evidence = (Path(scratch) / EVIDENCE).is_file()
            if has_evidence:
                shutil.copyfile(Path(scratch) / EVIDENCE, folder / EVIDENCE)
        say("answers")
        found = members(study, store)
        frame = readings(study, store)
        parts = protocol(study, found)
        written = write_answers(study, store, found, frame, folder)
        told = told_of(study, store, store.models())
    earlier = None if made.before is None else write_before(made.before, folder / "before")
    say("benchmark")
    (folder / "benchmark").mkdir()
    # Items stand whole on their lines, whatever their tasks declare: verify.py reads no YAML.
    write_benchmark(study.whole.replaced(tasks=()).from_origin(None), folder / "benchmark")
    if with_sources:
        copy_sources(study, folder / "benchmark")
    say("papers")
    copy_packs(packs, folder)
    exclusions = layers(study, frame, parts)
    accounts = [
        account("windows", (item.window for item in study.whole.items if item.window is not None)),
        account("source documents", source_texts(study)),
        account_counted("responses", _counted(frame.filter(pl.col("state") != "error"))),
        account_counted("what was written on the way to them", sorted(written.stage_texts.items())),
    ]
    if made.before is not None:
        accounts.append(
            account_counted("responses from before the items were changed", _counted(made.before))
        )
    accounts += accounts_of_readers(study, packs)
    manifest = _manifest(study, frame, written.readings, earlier, copy_papers(study, folder), told, packs)
    labels = list(dict.fromkeys(one.model for one in found))
    texts = {
        "DATA_STATEMENT.md": statement_text(study, exclusions, packs),
        "DATASHEET_EXCLUSIONS.md": exclusions_text(study, exclusions),
        "DATASHEET_EXCLUSIONS.json": exclusions_json(study, exclusions),
        "PERSONAL_DATA.md": personal_data_text(accounts, named_readers(study, packs)),
        "LICENCES.md": licences_text(
            study, labels, with_sources, _libraries(manifest), files_of_readers(study, packs)
        ),
        "study.yaml": without_places(study.file.read_text(encoding="utf-8")),
        "README.md": readme_text(document, written, has_packs=bool(packs), has_evidence=has_evidence),
        VERIFIER: verifier(),
        MANIFEST: json.dumps(manifest, indent=1, ensure_ascii=False) + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return document


def _counted(frame: pl.DataFrame) -> list[tuple[str, int]]:
    """The distinct texts of a frame, with how often each stands there."""
    return frame.drop_nulls("text").group_by("text").len().sort("text").rows()


def _libraries(manifest: dict[str, Any]) -> dict[str, str]:
    """The packages, with their versions, that any run of the study names."""
    found: dict[str, str] = {}
    for entry in (*manifest.get("runs", ()), manifest):
        found |= entry.get("environment", {}).get("libraries", {})
    return found


def _manifest(
    study: Study,
    frame: pl.DataFrame,
    counts: dict[str, int],
    earlier: int | None,
    papers: dict[str, str],
    told: dict[str, Any],
    packs: Sequence[PackFiles],
) -> dict[str, Any]:
    """What the study's own manifest says, and what its store says now (`told`), without this machine's paths;
    and what the bundle holds."""
    kept: dict[str, Any] = {}
    if (study.folder / MANIFEST).is_file():
        kept = json.loads((study.folder / MANIFEST).read_text(encoding="utf-8"))
    kept = without_places_in({"study": study.config.name, **kept, **told})
    kept["configurations"] = told["configurations"]  # as they are: their ids are hashes of them
    kept["bundle"] = {
        "format": 1,
        "correctness": study.config.correctness,
        "readings": counts,
        **({} if earlier is None else {"readings_before": earlier}),
        "items": sorted(item.id for item in study.benchmark.items),
        "excluded": dict(sorted(study.population.excluded.items())),
        "unmeasured_readings": int(frame.filter(pl.col("state") != "ok").height),
        "papers": papers,
        **({"packs": {pack.name: pack.scored for pack in packs}} if packs else {}),
    }
    return kept


def _refusal(study: Study, verification: Verification, out: Path) -> LeadlineError:
    """The first disagreements in words; all of them lie in a file beside where the bundle would be."""
    said = disagreements(verification) or ["no reason was given"]
    place = out.with_name(f"{out.name}.disagreements.txt")
    place.write_text("".join(f"{line}\n" for line in said), encoding="utf-8")
    first = "\n".join(f"  {line[:300]}" for line in said[:_TOLD])
    more = f"\n  and {len(said) - _TOLD:,} more" if len(said) > _TOLD else ""
    return LeadlineError(
        f"the findings could not be verified, nothing was released:\n{first}{more}",
        where=str(study.folder),
        fix=f"all of it is in {place}; this is a fault in Leadline or in the study's files: please report it",
    )


@contextmanager
def _scratch(out: Path) -> Iterator[Path]:
    """A folder beside `out` to fill, which vanishes."""
    with tempfile.TemporaryDirectory(prefix=f".{out.name[:50]}.", dir=out.parent) as folder:
        yield Path(folder)


def _pack(folder: Path, out: Path) -> None:
    """A zip of `folder`, whole or not there: sorted, without times, so that equal bundles are equal files."""
    with whole_file(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(
                f"{out.stem}/{path.relative_to(folder).as_posix()}", (1980, 1, 1, 0, 0, 0)
            )
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1 << 20)
