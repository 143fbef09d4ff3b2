"""REBEL, or any seq2seq checkpoint that writes its linearised form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from leadline.build.extract.extractor import Extracted, Extractor, Passage
from leadline.build.extract.linearised import parse
from leadline.build.extract.model_reference import model_reference
from leadline.build.plan import ExtractSection, Plan

if TYPE_CHECKING:
    from leadline.models.seq2seq import Seq2Seq


class RebelExtractor(Extractor):
    """Shows passages to a seq2seq model and reads what it writes.

    Passages, not sentences: REBEL was trained on abstracts and resolves pronouns within them. What was cut
    off at `max_target` tokens loses its last triplet; a passage of more than `max_source` tokens is read up
    to there and noted as "truncated".
    """

    def __init__(self, model: Seq2Seq, settings: ExtractSection) -> None:
        """`model` has been loaded; `settings` say beams, batch and greatest lengths."""
        self.name = f"rebel:{model.name}"
        self._model, self._settings = model, settings

    def read(self, passages: Sequence[Passage]) -> list[Extracted]:
        """As `Extractor.read`."""
        wanted = self._settings
        written = self._model.write(
            [passage.text for passage in passages],
            beams=wanted.beams,
            max_source=wanted.max_source,
            max_target=wanted.max_target,
            batch=wanted.batch,
        )
        extracted = []
        for one in written:
            said = parse(one.text, ended=one.ended)
            faults = Counter[str](fault.code for fault in said.faults)
            extracted.append(Extracted(said.triplets, dict(faults), "truncated" if one.truncated else ""))
        return extracted


def rebel_extractor(plan: Plan) -> RebelExtractor:
    """The checkpoint that the plan names: a folder (relative to the plan too) or a Hugging Face id."""
    from leadline.models.progress import on_stderr
    from leadline.models.resolve import resolve
    from leadline.models.seq2seq import Seq2Seq

    reference = model_reference(plan)
    return RebelExtractor(
        Seq2Seq(resolve(reference, progress=on_stderr()), device=plan.extract.device), plan.extract
    )
