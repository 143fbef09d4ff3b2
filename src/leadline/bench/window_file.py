"""Windows that lie in files of their own, within the benchmark's folder and never outside it."""

from __future__ import annotations

import stat
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath

from leadline.bench.item import MAX_CHARACTERS
from leadline.bench.problem import shortened

WINDOWS_NAME = "windows"
# UTF-8 takes four bytes a character at most; three more are a byte order mark.
MAX_WINDOW_BYTES = 4 * MAX_CHARACTERS["window"] + 3
# Items of one document often stand together and share its window.
_KEPT = 16


class WindowFault(ValueError):  # noqa: N818 - one fault of an item, told with others
    """Why a window cannot be read: the end of a sentence that begins with the field's name."""

    def __init__(self, what: str, fix: str = "") -> None:
        """`fix` is what to do about it."""
        self.what, self.fix = what, fix
        super().__init__(what)


class WindowFiles:
    """Reads the windows of one benchmark folder."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the benchmark's; windows lie in its `windows/`, or anywhere in it."""
        self._folder = folder
        self._root = folder.resolve()
        self.read = lru_cache(maxsize=_KEPT)(self._read)

    def find(self, name: str) -> Path:
        """The file that `name` means: a name within `windows/`, else a path within the folder."""
        if not name or "\0" in name:
            raise WindowFault(f"is no file name: {shortened(name)}")
        if PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive or name.startswith("\\"):
            raise WindowFault(f"is not within the folder: {shortened(name)}", f"a name in {WINDOWS_NAME}/")
        for candidate in (self._folder / WINDOWS_NAME / name, self._folder / name):
            try:
                real = candidate.resolve(strict=True)
            except FileNotFoundError:
                continue
            except NotADirectoryError:
                continue
            except RuntimeError:  # how Python up to 3.12 says it
                raise WindowFault(f"is a symbolic link to itself: {shortened(name)}") from None
            except OSError as error:
                raise WindowFault(f"cannot be read: {shortened(name)}: {error.strerror}") from None
            if not real.is_relative_to(self._root):
                raise WindowFault(
                    f"is not within the folder: {shortened(name)}", f"a name in {WINDOWS_NAME}/"
                )
            return candidate
        raise WindowFault(
            f"does not exist: {shortened(name)}", f"a name in {WINDOWS_NAME}/, or a path in the folder"
        )

    def _read(self, name: str) -> str:
        """The text of the window file `name`. Raises WindowFault."""
        path = self.find(name)
        short = shortened(name)
        try:
            status = path.stat()
            if stat.S_ISDIR(status.st_mode):
                raise WindowFault(f"is a folder, not a file: {short}")
            if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for
                raise WindowFault(f"is not an ordinary file: {short}")
            if status.st_size > MAX_WINDOW_BYTES:
                raise WindowFault(
                    f"is too large: {short} has {status.st_size:,} bytes; at most {MAX_WINDOW_BYTES:,}",
                    "a window is a part of a document",
                )
            data = path.read_bytes()
        except OSError as error:
            raise WindowFault(f"cannot be read: {short}: {error.strerror}") from None
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise WindowFault(f"is UTF-16: {short}", "save it as UTF-8")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
            raise WindowFault(f"is not UTF-8: {short}, line {line}: {byte}", "save it as UTF-8") from None
