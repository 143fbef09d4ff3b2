"""A model on this machine, through `transformers` and the decode engine."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from leadline.engine import Failure, Generation, OnText, Request
from leadline.engine.intervention import NOTHING, Intervention
from leadline.errors import UsageError
from leadline.models.device import device_for
from leadline.models.files import ModelFiles
from leadline.models.loading import loading, tokenizer_and_model
from leadline.models.memory import Answers, Room
from leadline.models.model import ModelIdentity

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM
    from leadline.engine.plan import Limits

Dtype = Literal["float32", "bfloat16", "float16"]


class LocalModel:
    """A causal language model that was loaded from a folder; answers come from `engine.decode`."""

    def __init__(
        self, files: ModelFiles, dtype: Dtype = "float32", device: str = "auto", max_rows: int = 512
    ) -> None:
        """Load it. Raises LeadlineError when it cannot be loaded, UsageError when it cannot be run here."""
        # Threads that wait for each other by spinning long are no faster on an idle machine, and ten times
        # slower on one that other work shares. Read when OpenMP loads, so it must stand before torch.
        # 1000 turns is what libgomp itself takes when there are more threads than processors.
        if "OMP_WAIT_POLICY" not in os.environ:
            os.environ.setdefault("GOMP_SPINCOUNT", "1000")
        try:
            import torch

            from leadline.engine.lm import CausalLM
            from leadline.engine.plan import Limits
        except ImportError as error:
            raise UsageError(
                f"models on this machine need the extra 'local' ({error.name} is missing)",
                fix="pip install 'leadline[local]'",
            ) from error
        place = device_for(torch, device)
        model, tokenizer = _load(files, getattr(torch, dtype), place)
        self.lm = CausalLM(model, tokenizer, files.name)
        # Who hears that batches became smaller, and all that was said of it.
        self.tell: Callable[[str], None] = logging.getLogger("leadline.models").warning
        self.notes: list[str] = []
        self.room = Room(Limits(max_rows=max_rows), self._note, self._release, self._cost)
        self.identity = ModelIdentity.of_files(files, dtype, place)

    @property
    def inside(self) -> CausalLM:
        """As `Model.inside`."""
        return self.lm

    def generate(
        self,
        requests: Sequence[Request],
        intervention: Intervention = NOTHING,
        on_text: OnText | None = None,
    ) -> Iterator[tuple[int, Generation | Failure]]:
        """As `Model.generate`; `on_text` is told of each request's text as it becomes certain, and can cancel
        the request (see `engine.decode.generate`). Where memory runs out, batches become smaller; a request
        that does not fit by itself is a `Failure`."""
        from leadline.engine.decode import generate

        def attempt(some: Sequence[Request], limits: Limits, told: OnText | None) -> Answers:
            return generate(self.lm, some, limits, intervention, on_text=told)

        return self.room.answers(attempt, requests, on_text)

    def _note(self, line: str) -> None:
        self.notes.append(line)
        self.tell(f"{self.identity.name}: {line}")

    def _release(self) -> None:
        """Give back what a device's allocator keeps."""
        import torch

        if self.lm.device.type == "cuda":
            torch.cuda.empty_cache()

    def _cost(self, request: Request) -> int:
        """Tokens of a request, prompt and answer."""
        longest = max(
            len(self.lm.ids_of(one)) for one in (request.prompt, request.without) if one is not None
        )
        return longest + request.sampling.max_tokens


def _load(files: ModelFiles, dtype: Any, device: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM

    with loading(files, "try dtype: bfloat16 or a smaller model"):
        tokenizer, model = tokenizer_and_model(files, AutoModelForCausalLM, dtype, device)
        return model, tokenizer
