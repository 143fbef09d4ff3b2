"""An encoder and decoder on this machine, through `transformers`: a text in, a text out, by beam search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leadline.errors import UsageError
from leadline.models.device import device_for
from leadline.models.files import ModelFiles
from leadline.models.loading import loading, tokenizer_and_model

if TYPE_CHECKING:
    import torch

# The ids that say how this checkpoint's sequences begin and end. Nothing else of its generation_config is
# taken: BART's, for one, forbids that three tokens ever come twice, which a list of triplets has to do.
_STRUCTURE = ("decoder_start_token_id", "bos_token_id", "eos_token_id", "pad_token_id", "forced_bos_token_id")


@dataclass(frozen=True)
class Written:
    """What the decoder wrote: the text with its special tokens, and whether it ended by itself.

    `truncated`: the text that was read is longer than the model was given. `tokens_in` and `tokens_out`
    count what was read and written, padding left out.
    """

    text: str
    ended: bool
    truncated: bool
    tokens_in: int
    tokens_out: int


class Seq2Seq:
    """A checkpoint with an encoder and a decoder, loaded from a folder of safetensors and a tokenizer."""

    def __init__(self, files: ModelFiles, dtype: str = "float32", device: str = "auto") -> None:
        """Raises UsageError where PyTorch is missing, the device is not there, or the checkpoint is of
        another kind; LeadlineError when it cannot be loaded. No code of the checkpoint's is run."""
        try:
            import torch
        except ImportError as error:
            raise UsageError(
                f"models on this machine need the extra 'local' ({error.name} is missing)",
                fix="pip install 'leadline[local]'",
            ) from error
        self.name = files.name
        self.digest = files.digest
        self.device = device_for(torch, device)
        self.model, self.tokenizer = _load(files, getattr(torch, dtype), self.device)
        self._structure = _structure(self.model)

    def write(
        self,
        texts: Sequence[str],
        *,
        beams: int = 3,
        max_source: int = 256,
        max_target: int = 128,
        batch: int = 16,
        length_penalty: float = 0.0,
    ) -> list[Written]:
        """What the model writes for each of `texts`, in their order.

        `batch` texts of about the same length are read together; it decides speed and memory, and the outputs
        only where two beams are equal up to rounding. `length_penalty` 0 compares beams by their whole
        log-probability, so that a longer list of triplets wins nothing by its length.
        """
        lengths = (
            [len(ids) for ids in self.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]
            if texts
            else []
        )
        order = sorted(range(len(texts)), key=lambda at: (min(lengths[at], max_source), at))
        written: dict[int, Written] = {}
        for first in range(0, len(order), batch):
            part = order[first : first + batch]
            outputs = self._batch([texts[at] for at in part], beams, max_source, max_target, length_penalty)
            for at, (text, ended, tokens) in zip(part, outputs, strict=True):
                read = min(lengths[at], max_source)
                written[at] = Written(text, ended, lengths[at] > max_source, read, tokens)
        return [written[at] for at in range(len(texts))]

    def _batch(
        self, texts: list[str], beams: int, max_source: int, max_target: int, length_penalty: float
    ) -> list[tuple[str, bool, int]]:
        import torch
        from transformers import GenerationConfig

        read = self.tokenizer(
            texts, max_length=max_source, truncation=True, padding=True, return_tensors="pt"
        ).to(self.device)
        settings = GenerationConfig(
            num_beams=beams,
            do_sample=False,
            max_new_tokens=max_target,
            length_penalty=length_penalty,
            early_stopping=False,
            **self._structure,
        )
        with torch.inference_mode():
            rows = self.model.generate(
                input_ids=read["input_ids"],
                attention_mask=read["attention_mask"],
                generation_config=settings,
            )
        return [self._told(row) for row in rows]

    def _told(self, row: torch.Tensor) -> tuple[str, bool, int]:
        """Text, whether an end-of-text token closes it, and how many tokens were written."""
        ends = self._structure["eos_token_id"]
        end_ids = set(ends if isinstance(ends, list) else [ends])
        ids = row.tolist()[1:]  # the decoder's start token was given
        end = next((at for at, token in enumerate(ids) if token in end_ids), None)
        kept = ids if end is None else ids[: end + 1]
        # A text that the length cut off has no padding of its own, but for where rows of a batch end earlier.
        text = self.tokenizer.decode(kept, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text, end is not None, len(kept)


def _structure(model: Any) -> dict[str, Any]:
    """The ids of `_STRUCTURE`; everything else that the checkpoint would have generation do is forgotten.

    Leaving a setting out of what `generate` is given is not enough: it takes the model's own in its place.
    """
    from transformers import GenerationConfig

    found: dict[str, Any] = {}
    for key in _STRUCTURE:
        theirs = getattr(model.generation_config, key, None)
        found[key] = getattr(model.config, key, None) if theirs is None else theirs
    model.generation_config = GenerationConfig(**found)
    return found


def _load(files: ModelFiles, dtype: Any, device: str) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    with loading(files, "a smaller model, or one device more"):
        # Data, not programs: see tokenizer_and_model.
        config = AutoConfig.from_pretrained(files.folder, trust_remote_code=False, local_files_only=True)
        if not getattr(config, "is_encoder_decoder", False):
            raise UsageError(
                f"is no encoder-decoder model ({config.model_type})",
                where=files.name,
                fix="name a seq2seq checkpoint such as Babelscape/rebel-large",
            )
        tokenizer, model = tokenizer_and_model(files, AutoModelForSeq2SeqLM, dtype, device)
        return model.eval(), tokenizer
