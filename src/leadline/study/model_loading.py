"""Makes ready the models that a study names: loads them, or finds out whether their provider can be asked."""

from __future__ import annotations

import time
from collections.abc import Callable

from leadline.errors import UsageError
from leadline.models.model import Model
from leadline.study.config import AnyModel, ModelEntry
from leadline.study.config_file import where_in
from leadline.study.ledger import StudyLedger
from leadline.study.progress import Reporter
from leadline.study.served_entry import ServedEntry
from leadline.study.store import Store
from leadline.study.study import Study

# What was spent is told so often at most, in seconds.
_TELL = 0.5

LoadModel = Callable[[Study, AnyModel, Reporter, Store, int], Model]


def load_model(study: Study, entry: AnyModel, reporter: Reporter, store: Store, run: int) -> Model:
    """The model that `entry` names. A served one notes in `store` what `run` asks of it, before it does."""
    if isinstance(entry, ServedEntry):
        return _served(study, entry, reporter, store, run)
    return _local(study, entry, reporter)


def _local(study: Study, entry: ModelEntry, reporter: Reporter) -> Model:
    from leadline.models.local import LocalModel
    from leadline.models.resolve import resolve

    class _Steps:
        def step(self, line: str) -> None:
            reporter.note(line)

    reference = study.model_reference(entry)
    try:
        files = resolve(reference, progress=_Steps())
    except UsageError as error:  # it names the model; say where the study does
        raise with_line(study, entry, error) from error
    model = LocalModel(files, entry.dtype, entry.device, study.config.batch_rows)
    model.tell = reporter.note
    return model


def _served(study: Study, entry: ServedEntry, reporter: Reporter, store: Store, run: int) -> Model:
    from leadline.models.served import ServedModel

    told = 0.0

    def tell() -> None:
        nonlocal told
        now = time.monotonic()
        if ledger.is_idle or now - told >= _TELL:
            told = now
            words = ledger.spent.words(study.config.budget, with_money=entry.price is not None)
            attempts = "attempt" if ledger.failed == 1 else "attempts"
            failed = f", {ledger.failed:,} failed {attempts}" if ledger.failed else ""
            reporter.spent(words + failed)

    ledger = StudyLedger(store, run, entry.label, study.config.budget, tell)
    try:
        return ServedModel(entry, ledger, note=reporter.note)
    except UsageError as error:
        raise with_line(study, entry, error) from error


def with_line(study: Study, entry: AnyModel, error: UsageError) -> UsageError:
    """`error`, which a model's making ended in, with the line of study.yaml: that of the key which it begins
    with ("options: ..."), else the model's."""
    key = error.what.partition(":")[0]
    at = key if key in entry.model_fields_set else "ref"
    line = where_in(study.file, "models", study.config.models.index(entry), at)
    where = f"{line}: {error.where}" if error.where else line
    return UsageError(error.what, where=where, fix=error.fix)
