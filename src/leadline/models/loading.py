"""Loading a checkpoint with transformers: without its chatter, and what goes wrong in one line."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from leadline.errors import LeadlineError
from leadline.models.files import ModelFiles


@contextmanager
def loading(files: ModelFiles, where_memory_lacks: str) -> Iterator[None]:
    """A block in which `files` are loaded; `where_memory_lacks` is what to do if they do not fit.

    Raises LeadlineError for what transformers raises.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers.utils import logging as transformers_logging

    shown = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logging.getLogger("transformers").setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except MemoryError as error:
        raise LeadlineError(
            "not enough memory to load it", where=files.name, fix=where_memory_lacks
        ) from error
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise LeadlineError(f"cannot be loaded: {reason}", where=files.name) from error
    finally:
        transformers_logging.set_verbosity(shown)


def tokenizer_and_model(files: ModelFiles, kind: Any, dtype: Any, device: str) -> tuple[Any, Any]:
    """The tokenizer of `files`, and their model as a `kind` (an Auto class of transformers) on `device`.

    Files from elsewhere are data, not programs. Unsaid, transformers asks at the terminal about code beside
    the weights, and takes kernels from the hub that a config.json names for attention.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(files.folder, trust_remote_code=False, local_files_only=True)
    model = kind.from_pretrained(
        files.folder,
        dtype=dtype,
        use_safetensors=True,
        trust_remote_code=False,
        local_files_only=True,
        attn_implementation=None,
    )
    return tokenizer, model.to(device)
