"""Randomness keyed by what is drawn, never by where it is drawn.

A row's random numbers come from a counter-based generator (Philox, Salmon et al. 2011) whose key is a hash of
(seed, item, sample, stage). So a row draws the same numbers alone, in a batch of 64, or after a restart.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray


def philox_key(key: tuple[int | str, ...]) -> int:
    """Hash a request key to the 128 bits that Philox takes. Parts are typed and length-prefixed, so that
    (1, "2") and ("1", 2), or ("ab", "c") and ("a", "bc"), are different keys."""
    digest = hashlib.blake2b(digest_size=16, person=b"leadline-draws")
    for part in key:
        raw = f"{type(part).__name__}:{part}".encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "little") + raw)
    return int.from_bytes(digest.digest(), "little")


def uniforms(key: tuple[int | str, ...], steps: int, per_step: int) -> NDArray[np.float64]:
    """The row's uniform numbers in [0, 1): `[steps, per_step]`.

    A longer table begins with the shorter one, so a larger `max_tokens` does not change the tokens before it.
    """
    return np.random.Generator(np.random.Philox(key=philox_key(key))).random((steps, per_step))
