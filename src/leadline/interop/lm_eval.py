"""lm-evaluation-harness measures a technique: its tasks, asked of a model that computes under one.

    with technique.on(model, tokenizer) as session:
        lm_eval.simple_evaluate(model=TechniqueLM(session, tokenizer, batch_size=8), tasks=[...])

Tasks that generate need nothing of this: `HFLM(pretrained=model, tokenizer=tokenizer)` calls the model's
`generate`, which carries the technique. Tasks that compare likelihoods (multiple choice, perplexity) call it
once with context and continuation together, and a technique that acts from the last prompt token on has to
be told where each context ends. That is all that `TechniqueLM` adds.

The harness is no dependency of Leadline: importing this module without it raises UsageError.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leadline.errors import LeadlineError, UsageError

if TYPE_CHECKING:
    from leadline.engine.session import Session

try:
    from lm_eval.models.huggingface import HFLM
except ImportError as error:
    raise UsageError(
        f"measuring with lm-evaluation-harness needs it installed ({error.name} is missing)",
        fix="pip install 'lm-eval>=0.4.9' 'leadline[local]'",
    ) from error

# What the harness asks: (the texts, if any), tokens of the context, tokens of the continuation.
Scored = tuple[Any, list[int], list[int]]


class TechniqueLM(HFLM):
    """An `HFLM` whose model computes under a technique, also where texts are scored in one pass.

    Likelihoods are those of the technique's scores, made to sum to one by the harness (log-softmax). A token
    that the technique rules out has likelihood 0: where choices are to be compared, let it rule out none
    (`relative_top=0`). Perplexities are taken as if the model had said the text itself, from its first token.
    """

    def __init__(self, session: Session, tokenizer: Any, **options: Any) -> None:
        """`session`: of `technique.on(model, tokenizer)`; `options`: those of HFLM (batch_size, ...)."""
        self._session = session
        self._prompt_tokens: dict[tuple[int, ...], int] = {}
        super().__init__(pretrained=session.anatomy.model, tokenizer=tokenizer, **options)

    def _loglikelihood_tokens(
        self, requests: Sequence[Scored], disable_tqdm: bool = False, override_bs: int | None = None
    ) -> list[tuple[float, bool]]:
        # The harness reads answers to requests that have all tokens but the last in common off one pass.
        # Under a technique that is right only if their contexts end at the same place; the others go apart.
        waves: list[dict[tuple[int, ...], int]] = []
        members: defaultdict[int, list[int]] = defaultdict(list)
        for at, (_, context, continuation) in enumerate(requests):
            entered = (context + continuation)[-(self.max_length + 1) : -1]
            key, prompt = _unpadded(entered), len(entered) - len(continuation) + 1
            wave = next((n for n, seen in enumerate(waves) if seen.get(key, prompt) == prompt), len(waves))
            if wave == len(waves):
                waves.append({})
            waves[wave][key] = prompt
            members[wave].append(at)
        found: dict[int, tuple[float, bool]] = {}
        for wave, places in members.items():
            self._prompt_tokens = waves[wave]
            try:
                part = [requests[at] for at in places]
                answers = super()._loglikelihood_tokens(part, disable_tqdm, override_bs)
            finally:
                self._prompt_tokens = {}
            found.update(zip(places, answers, strict=True))
        return [found[at] for at in range(len(requests))]

    def _model_call(self, inps: Any, *args: Any, **options: Any) -> Any:
        ends = [self._prompt_tokens.get(_unpadded(row)) for row in inps.tolist()]
        if not any(ends):  # the harness tries how many rows fit into memory
            return super()._model_call(inps, *args, **options)
        if not all(ends):
            raise LeadlineError("lm-evaluation-harness asks otherwise than it was asked for: update Leadline")
        # The harness finds the logits of continuations by counting from the end of what it gets.
        with self._session.scoring([end for end in ends if end], only_answers=True):
            return super()._model_call(inps, *args, **options)


def _unpadded(row: Sequence[int]) -> tuple[int, ...]:
    """The tokens of a row without zeros at its end, which is what the harness pads with on the right."""
    end = len(row)
    while end and row[end - 1] == 0:
        end -= 1
    return tuple(row[:end])
