"""Makes a study's techniques ready for a model: fits them on the study's benchmark, loads what they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leadline.errors import UsageError
from leadline.models.model import Model
from leadline.study.config import ModelEntry
from leadline.study.progress import Reporter
from leadline.study.study import Study
from leadline.techniques import Technique
from leadline.techniques.prepared import AS_IT_IS, Bench, Prepared

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM


def prepare(
    study: Study, model: Model, entry: ModelEntry, technique: Technique, reporter: Reporter
) -> Prepared:
    """What `technique` does to `model`. Raises UsageError where the model's inside is needed and not here.

    A technique is fitted on the whole benchmark, whatever part of it is asked: more items later on then mean
    the same technique.
    """
    if not technique.opens_the_model:
        return AS_IT_IS
    if model.inside is None:
        raise UsageError(
            f"{technique.name} reads or changes what a model computes inside",
            where=entry.label,
            fix="it needs a model on this machine",
        )

    def load(reference: str) -> CausalLM:
        from leadline.models.local import LocalModel
        from leadline.models.resolve import resolve

        other = study.model_reference(entry.model_copy(update={"ref": reference}))
        return LocalModel(resolve(other), entry.dtype, entry.device).lm

    bench = Bench(
        items=study.whole.items,
        prompts=study.prompts,
        digest=model.identity.fit_digest,
        load=load,
        say=reporter.note,
    )
    return technique.prepare(model.inside, bench)
