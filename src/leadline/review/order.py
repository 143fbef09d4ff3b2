"""The order in which doubted items are shown, and the names that they have in addresses.

A list of flags is sorted by kind and support, and an item's id may tell its label. So entries are shuffled
under a seed, for each reader anew (else all would tire at the same ones), and named by what only that seed
makes of them. The seed is drawn once and kept in the review
folder: after a restart everything stands where it stood, and anybody can make the same order again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock

from leadline.errors import LeadlineError, UsageError
from leadline.ordinary_file import text
from leadline.review.reader import reader_key

FILE = "order.json"


def recorded_seed(folder: Path) -> str:
    """The seed of a review folder, which is drawn if it has none. Raises LeadlineError; UsageError for a
    damaged file."""
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f".{FILE}.lock"):
            if not path.exists():
                made = path.with_name(f".{FILE}.new")
                with made.open("w", encoding="utf-8") as file:
                    json.dump({"seed": secrets.token_hex(16)}, file)
                    file.write("\n")
                    file.flush()
                    os.fsync(file.fileno())
                made.replace(path)
            seed = json.loads(text(path))["seed"]
            if isinstance(seed, str) and seed:
                return seed
    except OSError as error:
        raise LeadlineError(
            f"cannot be written: {error.strerror or error}", where=str(path), fix="--into another folder"
        ) from error
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise UsageError("holds no seed", where=str(path), fix="put it back, or remove it to draw another")


def shuffled(items: Iterable[str], seed: str, reader: str = "") -> list[str]:
    """The items, each once, in an order that depends on the seed and on who reads alone; further ones move
    none of the others.

    >>> shuffled(["b", "a"], "0", "Ann") == shuffled(["a", "b", "a"], "0", "ann")
    True
    """
    own = f"{seed}\0{reader_key(reader)}"
    return sorted(set(items), key=lambda item: _digest(own, "place", item))


def token(item: str, label: str, seed: str) -> str:
    """What an item is called in addresses: sixteen hexadecimal digits that tell nothing. `label` is its
    `label_hash`: after a change of question, window or label it is another entry, which nobody has begun.
    """
    return _digest(seed, "name", f"{item}\0{label}")[:16]


def _digest(seed: str, what: str, item: str) -> str:
    key, text = (one.encode("utf-8", "surrogatepass") for one in (seed, f"{what}\0{item}"))
    return hmac.new(key, text, hashlib.sha256).hexdigest()
