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

_HTTP_LIBRARIES = ("httpx", "httpx2", "httpcore", "requests", "urllib3")
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
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub import errors as hub

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
        if offline or constants.HF_HUB_OFFLINE:
            what, fix = "not on this machine, and offline was asked for", "fetch it once with a network"
        elif isinstance(error.__cause__, hub.HfHubHTTPError):
            what, fix = f"not on this machine, and {_refusal(error.__cause__)}", "try again later"
        else:
            what, fix = (
                "not on this machine, and the hub cannot be reached",
                "check the network, or name a folder",
            )
        raise LeadlineError(what, where=where, fix=fix) from error
    except hub.HfHubHTTPError as error:
        raise LeadlineError(_refusal(error), where=where, fix="try again later") from error
    except Exception as error:
        # The HTTP library beneath has changed over the years; whatever it raises is a connection that broke.
        if type(error).__module__.partition(".")[0] in _HTTP_LIBRARIES:
            raise LeadlineError(
                f"the connection broke off: {_first_line(error)}",
                where=where,
                fix="try again: what is there already is not fetched again",
            ) from error
        if isinstance(error, OSError):
            raise LeadlineError(
                f"could not be stored: {_first_line(error)}",
                where=where,
                fix="free some space, or set HF_HOME to a folder with room",
            ) from error
        raise
    return folder, folder.name


def _refusal(error: Exception) -> str:
    return f"the hub refused: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
