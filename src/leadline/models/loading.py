"""Loading a checkpoint with transformers: without its chatter, and what goes wrong in one line."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

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
