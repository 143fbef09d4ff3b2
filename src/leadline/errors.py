"""The errors that a user can cause, and the exit codes they end in.

Everything a user can get wrong (a file, a flag, a missing network) raises a `LeadlineError`: one line that
says what is wrong, where, and what to do. The command line prints that line and exits with the error's
code. Any other exception is a bug and keeps its traceback.
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_FAILED = 3
# As shells and git have them: 128 and the number of the signal.
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141
# Of what is wrong and of what to do about it, in characters: some lines of a terminal.
_LONGEST = 1_000


class LeadlineError(Exception):
    """Something outside the program's control failed: a download, a disk, a corrupt file (exit code 3)."""

    exit_code = EXIT_FAILED

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        """`what` is wrong, `where` (file:line, item), and what to do about it (`fix`)."""
        self.what, self.where, self.fix = what, where, fix
        super().__init__(str(self))

    def __str__(self) -> str:
        what, fix = _bearable(self.what), _bearable(self.fix or "")
        line = f"{self.where}: {what}" if self.where else what
        return f"{line} ({fix})" if fix else line


def _bearable(text: str) -> str:
    """A message may quote what stands in a file, and be as long as that."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class UsageError(LeadlineError):
    """The user's own input is wrong: a flag, a study file, a benchmark (exit code 2)."""

    exit_code = EXIT_USAGE
