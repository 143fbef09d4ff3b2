"""The people who decided on labels or read them again, in a release: whose names it holds, and what they
wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leadline.bench.adjudications import FILE, Adjudication, read_adjudications
from leadline.bundle.packs import FOLDER, PackFiles
from leadline.bundle.personal_data import Accounting, Named, account
from leadline.study.study import Study


def accounts_of_readers(study: Study, packs: Sequence[PackFiles]) -> list[Accounting]:
    """What decisions and sheets hold that may be personal; nothing where there are none."""
    found = []
    if study.population.adjudications:
        found.append(account("decisions on labels", _written(study)))
    if packs:
        texts = (text for pack in packs for text in pack.sheet_texts())
        found.append(account("sheets of packs", texts))
    return found


def named_readers(study: Study, packs: Sequence[PackFiles]) -> list[Named]:
    """Whose names are released on purpose: of every decision, also of those taken back, and of packs."""
    found = []
    if decisions := _decisions(study):
        readers = {decision.reader for decision in decisions}
        found.append(Named(len(readers), f"{len(decisions):,} decisions", FILE))
    for pack in packs:
        if pack.people:
            scores = f"{len(pack.scores):,} score{'s' * (len(pack.scores) != 1)}"
            found.append(Named(len(pack.people), scores, f"{FOLDER}/{pack.name}/"))
    return found


def files_of_readers(study: Study, packs: Sequence[PackFiles]) -> list[str]:
    """The files that hold the work of readers."""
    own = [FILE] if study.population.adjudications else []
    return [*own, *(f"{FOLDER}/{pack.name}/" for pack in packs)]


def _decisions(study: Study) -> tuple[Adjudication, ...]:
    file = study.population.decisions.file
    return () if file is None else read_adjudications(file)


def _written(study: Study) -> Iterator[str]:
    """What readers wrote of each decision, in one text: their reading, their reason, the answer they gave."""
    for one in _decisions(study):
        yield "\n".join((one.reading, one.reason, one.corrected or ""))
