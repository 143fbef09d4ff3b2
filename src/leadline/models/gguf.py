"""From a GGUF file to a folder that loads in a second: de-quantised once, saved as safetensors.

`transformers` reads the quantised blocks and gives their exact float32 values; those are what is saved, so
the converted model computes the very logits that the GGUF file gives when it is loaded directly.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leadline.errors import LeadlineError, UsageError
from leadline.models.gguf_header import check_header

MAGIC = b"GGUF"
_NEEDED = ("torch", "transformers", "safetensors", "gguf", "accelerate")


def check_extra() -> None:
    """Raise LeadlineError when the libraries that run local models are not installed."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise LeadlineError(
            f"models on this machine need {', '.join(missing)}", fix="pip install 'leadline[local]'"
        )


def check_gguf(path: Path) -> None:
    """Raise UsageError when `path` is not a GGUF file (by its first four bytes), or not a whole one."""
    with path.open("rb") as file:
        start = file.read(len(MAGIC))
    if start != MAGIC:
        raise UsageError("not a GGUF file", where=str(path), fix="it should begin with the bytes GGUF")
    check_header(path)


def convert(gguf: Path, into: Path) -> None:
    """Write `gguf` to the folder `into` as config, safetensors (float32), tokenizer and chat template.

    Takes about 0.15 s per million parameters on one core, and twice the memory of the float32 weights.
    Raises LeadlineError when the file cannot be converted (an architecture that transformers
    does not read from GGUF, a truncated file), OSError when the folder cannot be written.
    """
    check_extra()
    import torch
    import transformers

    options: dict[str, Any] = {"dtype": torch.float32}
    if hasattr(transformers, "GgufConfig"):  # newer releases may keep the blocks packed unless told not to
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    # The loader draws progress bars and warnings of its own; ours say what matters.
    with contextlib.redirect_stderr(io.StringIO()), _quiet(transformers):
        try:
            # What else lies in the file's folder, code among it, is none of the model's.
            model = transformers.AutoModelForCausalLM.from_pretrained(
                str(gguf.parent),
                gguf_file=gguf.name,
                trust_remote_code=False,
                local_files_only=True,
                attn_implementation=None,
                **options,
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                str(gguf.parent), gguf_file=gguf.name, trust_remote_code=False, local_files_only=True
            )
        except Exception as error:
            # A GGUF file is the user's data, and the readers below fail on a bad one in a dozen ways.
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise LeadlineError(
                f"cannot be converted: {reason}",
                where=str(gguf),
                fix="is the file whole, and its architecture one that transformers reads from GGUF?",
            ) from error
        _make_plain(model, transformers)
        # One file, whatever its size: the folder is on a local disk, and its digest is taken at once.
        model.save_pretrained(into, max_shard_size="100000GB")
        tokenizer.save_pretrained(into)
    _neutral_generation(into)
    _check_saved(model, into)


def _make_plain(model: Any, transformers: Any) -> None:
    """Take the mark 'quantised' off a model whose weights are plain float32 now."""
    model.hf_quantizer = None
    for attribute in ("quantization_config", "_pre_quantization_dtype"):
        if hasattr(model.config, attribute):
            delattr(model.config, attribute)
    model.generation_config = transformers.GenerationConfig.from_model_config(model.config)


def _neutral_generation(folder: Path) -> None:
    """Leave only token ids in generation_config.json: no sampling default may leak into an answer."""
    path = folder / "generation_config.json"
    if not path.exists():
        return
    settings = json.loads(path.read_text("utf-8"))
    kept = {key: value for key, value in settings.items() if key.endswith("_token_id")}
    path.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")


def _check_saved(model: Any, folder: Path) -> None:
    """Compare what was written, tensor by tensor, with what was read from the GGUF file."""
    import torch
    from safetensors import safe_open

    state = model.state_dict()
    with safe_open(folder / "model.safetensors", framework="pt") as saved:
        for name in saved.keys():  # noqa: SIM118 - not a dict
            if name in state and not torch.equal(saved.get_tensor(name), state[name]):
                raise LeadlineError(f"tensor {name} was not saved as it was read", where=str(folder))


@contextlib.contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """No warnings and progress bars from transformers within the block."""
    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()
