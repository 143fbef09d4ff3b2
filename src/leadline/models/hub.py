"""A model from the Hugging Face hub: its safetensors, configuration and tokenizer, and nothing else.

`huggingface_hub` does the work and keeps its own cache (HF_HOME), tokens and offline switch
(HF_HUB_OFFLINE). Pickled weights are never fetched: unpickling runs code of whoever made the file.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from leadline.errors import LeadlineError, UsageError

# Weights, configuration, tokenizers of every kind that transformers loads, chat templates, the model card.
WANTED = ["*.safetensors", "*.json", "*.txt", "*.model", "*.tiktoken", "*.jinja", "README.md"]
# Sub-folders hold other formats (onnx/, original/); consolidated files are a second copy of the weights.
UNWANTED = ["*/*", "consolidated*.safetensors"]

_PREFIX = "hf://"
_ID = re.compile(r"(?P<repo>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[\w./-]+))?", re.ASCII)


def parse(ref: str) -> tuple[str, str | None] | None:
    """(repository, revision) of "org/name[@revision]" or "hf://name[@revision]"; None if it is neither."""
    match = _ID.fullmatch(ref.removeprefix(_PREFIX))
    if not match or ("/" not in match["repo"] and not ref.startswith(_PREFIX)):
        return None
    return match["repo"], match["revision"]


def fetch(repo: str, revision: str | None, *, offline: bool) -> tuple[Path, str]:
    """The snapshot of `repo` at `revision` (a commit, tag or branch), downloaded where it is not yet there.

    Returns its folder and its commit. Raises UsageError when the hub knows no such model or revision, and
    LeadlineError when it cannot be reached or asks for an agreement first.
    """
    if importlib.util.find_spec("huggingface_hub") is None:
        raise LeadlineError(
            "models from the Hugging Face hub need huggingface_hub", fix="pip install 'leadline[local]'"
        )
    from huggingface_hub import errors as hub
    from huggingface_hub import snapshot_download

    where = f"{_PREFIX}{repo}" + (f"@{revision}" if revision else "")
    try:
        folder = Path(
            snapshot_download(
                repo,
                revision=revision,
                allow_patterns=WANTED,
                ignore_patterns=UNWANTED,
                local_files_only=offline,
            )
        )
    except hub.GatedRepoError as error:
        raise LeadlineError(
            "its owner asks for an agreement first",
            where=where,
            fix="accept it on the model's page, then `hf auth login`",
        ) from error
    except hub.RepositoryNotFoundError as error:
        raise UsageError(
            "the Hugging Face hub has no such model, or it is private",
            where=where,
            fix="check the spelling; for a private model `hf auth login` first",
        ) from error
    except hub.RevisionNotFoundError as error:
        raise UsageError(
            f"the model has no revision {revision}", where=where, fix="name a branch, tag or commit"
        ) from error
    except hub.HFValidationError as error:
        raise UsageError("not a Hugging Face model id", where=where, fix="write org/name") from error
    except (hub.LocalEntryNotFoundError, hub.OfflineModeIsEnabled) as error:
        if offline or isinstance(error, hub.OfflineModeIsEnabled):
            what, fix = "not on this machine, and offline was asked for", "fetch it once with a network"
        else:
            what, fix = (
                "not on this machine, and the hub cannot be reached",
                "check the network, or name a folder",
            )
        raise LeadlineError(what, where=where, fix=fix) from error
    except hub.HfHubHTTPError as error:
        reason = str(error).strip().splitlines()[0]
        raise LeadlineError(f"the hub refused: {reason}", where=where, fix="try again later") from error
    except OSError as error:
        raise LeadlineError(
            f"could not be stored: {error.strerror or error}",
            where=where,
            fix="free some space, or set HF_HOME to a folder with room",
        ) from error
    return folder, folder.name
