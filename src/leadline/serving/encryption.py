"""The certificate of a server that speaks TLS: looked at before a model is loaded."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UsageError


@dataclass(frozen=True)
class Certificate:
    """A certificate with those that vouch for it, and its private key, both as PEM files."""

    chain: Path
    key: Path | None = None


class _LockedError(Exception):
    pass


def certificate_of(chain: Path | None, key: Path | None) -> Certificate | None:
    """The certificate that two options name; None where none is named. The key may stand in the first file.

    Raises UsageError for what no server could be started with.
    """
    if chain is None:
        if key is not None:
            raise UsageError("a key alone encrypts nothing", where="--ssl-keyfile", fix="--ssl-certfile FILE")
        return None
    for option, path in (("--ssl-certfile", chain), ("--ssl-keyfile", key)):
        if path is not None and not path.is_file():
            raise UsageError("is not there", where=f"{option} {path}")

    def locked() -> str:
        raise _LockedError  # OpenSSL would ask at the terminal

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(chain, key, password=locked)
    except _LockedError:
        raise UsageError(
            "is locked with a passphrase, which nobody could type when the server starts by itself",
            where=str(key or chain),
            fix="openssl pkey -in KEY -out OPEN_KEY, and chmod 600 it",
        ) from None
    except OSError as error:  # ssl.SSLError is one
        reason = error.strerror or str(error)
        if "KEY_VALUES_MISMATCH" in str(error):
            reason = "the key is not the certificate's"
        elif isinstance(error, ssl.SSLError):
            reason = "not both are there as PEM: a certificate, and its private key"
        raise UsageError(
            f"cannot be used: {reason}",
            where=str(chain),
            fix="--ssl-certfile CHAIN.pem --ssl-keyfile KEY.pem",
        ) from error
    return Certificate(chain, key)
