"""Prompts are files: the package's own, or the user's in their place.

A prompt file is a Jinja template, `NAME.txt` for models that continue a text and `NAME.chat.txt` for the
model's chat template. In a chat file a line `=== system ===` (or user, assistant) begins a message. Templates
run in Jinja's sandbox, and what is put into them is never read as a template.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Literal

import jinja2

from leadline.bench.problem import did_you_mean
from leadline.engine import Prompt
from leadline.errors import UsageError
from leadline.ordinary_file import text as ordinary_text
from leadline.techniques.template_sandbox import fill

Style = Literal["few-shot", "chat"]
QUESTION = "question/question"
STYLES: tuple[Style, ...] = ("few-shot", "chat")

_MESSAGE = re.compile(r"^=== (system|user|assistant) ===\n", re.MULTILINE)
_PUT_IT = "put {{ question }} where it belongs, or remove the file to have the packaged one"
_SILENT: dict[type[Exception], str] = {
    MemoryError: "it asks for more memory than there is",
    RecursionError: "it refers to itself without end",
}


@dataclass(frozen=True)
class PromptFile:
    """One template as it was read, and where from."""

    name: str
    text: str
    origin: str


@dataclass(frozen=True)
class Prompts:
    """The prompt files of one style. `folder` holds the user's own, which take the packaged ones' places."""

    style: Style = "few-shot"
    folder: Path | None = None
    _read: dict[str, PromptFile] = field(default_factory=dict, compare=False, repr=False)

    def file(self, name: str) -> PromptFile:
        """The template called `name` ("recite/answer"). Raises UsageError where there is none."""
        if name not in self._read:
            self._read[name] = self._find(name)
        return self._read[name]

    def _find(self, name: str) -> PromptFile:
        filename = f"{name}.chat.txt" if self.style == "chat" else f"{name}.txt"
        if self.folder is not None and (own := self.folder / filename).is_file():
            try:
                return PromptFile(name, ordinary_text(own), str(own))
            except UnicodeDecodeError as error:
                raise UsageError("is not UTF-8 text", where=str(own), fix="save the file as UTF-8") from error
            except OSError as error:
                raise UsageError(f"cannot be read: {error.strerror}", where=str(own)) from error
        packaged = files("leadline.techniques").joinpath("prompts", *filename.split("/"))
        if not packaged.is_file():
            raise UsageError(f"there is no prompt {name!r} in the style {self.style!r}")
        return PromptFile(name, packaged.read_text(encoding="utf-8"), f"leadline:{filename}")

    def render(self, name: str, **values: str) -> Prompt:
        """The prompt with `values` put in. A text ends without whitespace, since a model that has to write a
        word after a space begins most words with a token that brings its own."""
        return self._rendered(self.file(name), values)

    def question(self, text: str, window: str | None = None, own: str | None = None) -> Prompt:
        """The question as the baseline puts it, after its window if it has one.

        `own` is the item's own template: it takes the place of `question/question`, in the style of a chat as
        one message of the user unless it names its messages itself.
        """
        values = {"question": text, "window": window or ""}
        if own is None:
            return self.render(QUESTION, **values)
        is_chat = _MESSAGE.match(own) is not None
        if is_chat and self.style == "few-shot":
            raise UsageError(
                "the item's prompt is a chat, and the study asks by text",
                where="the item's own prompt",
                fix="prompt: chat",
            )
        if self.style == "chat" and not is_chat:
            own = f"=== user ===\n{own}"
        return self._rendered(PromptFile("prompt", own, "the item's own prompt"), values)

    def _rendered(self, template: PromptFile, values: dict[str, str]) -> Prompt:
        if self.style == "few-shot":
            if not template.text.strip():
                raise UsageError("the prompt file is empty", where=template.origin, fix=_PUT_IT)
            return Prompt(text=_fill(template, template.text, values).rstrip())
        parts = _MESSAGE.split(template.text)
        if len(parts) < 3 or parts[0].strip():
            raise UsageError(
                "a chat prompt begins with a line such as === user ===", where=f"{template.origin}:1"
            )
        messages, line = [], 1 + parts[0].count("\n")
        for role, text in zip(parts[1::2], parts[2::2], strict=True):
            line += 1  # the message's own first line: === role ===
            messages.append((role, _fill(template, text, values, line).strip()))
            line += text.count("\n")
        return Prompt(messages=tuple(messages))

    def texts(self, names: tuple[str, ...]) -> dict[str, str]:
        """The templates themselves: part of a configuration's identity."""
        return {name: self.file(name).text for name in names}


def check_names(folder: Path, known: Collection[str]) -> None:
    """Raises UsageError for a prompt file in `folder` that nothing would ever read."""
    names = {f"{name}{ending}" for name in known for ending in (".txt", ".chat.txt")}
    for path in sorted(folder.rglob("*.txt")):
        name = path.relative_to(folder).as_posix()
        if name not in names:
            hint = did_you_mean(
                name, names, otherwise="leadline techniques show lists each technique's prompts"
            )
            raise UsageError("no technique has a prompt of this name", where=str(path), fix=hint)


def _fill(template: PromptFile, text: str, values: dict[str, str], line: int = 1) -> str:
    """`text` begins at `line` of the template's file."""
    try:
        return fill(text, values)
    except jinja2.UndefinedError as error:
        known = ", ".join(sorted(values))
        raise UsageError(
            f"{error.message}", where=template.origin, fix=f"what can be put in: {known}"
        ) from error
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(
            f"broken template: {error.message}", where=f"{template.origin}:{error.lineno + line - 1}"
        ) from error
    except jinja2.exceptions.SecurityError as error:
        raise UsageError(f"the template does something unsafe: {error}", where=template.origin) from error
    except Exception as error:  # whatever else happens in here, the template's own expressions did
        # Some exceptions say nothing, above all those of a template that asks for too much memory.
        reason = " ".join(str(error).split()) or _SILENT.get(type(error)) or type(error).__name__
        raise UsageError(f"the template cannot be filled: {reason}", where=template.origin) from error
