"""What a user is told of a technique: settings, source, prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from leadline.bench.problem import did_you_mean
from leadline.errors import LeadlineError, UsageError
from leadline.techniques.prompts_library import STYLES, Prompts, Style
from leadline.techniques.registry import technique_named, techniques
from leadline.techniques.technique import Kind


def described() -> list[dict[str, str]]:
    """Name, kind, summary and source of each technique, kind by kind."""
    found = sorted(techniques().values(), key=lambda kind: (get_args(Kind).index(kind.kind), kind.name))
    return [
        {"name": one.name, "kind": one.kind, "summary": one.summary, "citation": one.citation}
        for one in found
    ]


def described_one(name: str, style: str, folder: Path | None = None) -> dict[str, Any]:
    """One technique with its settings and the prompts it would use. Raises UsageError for unknown names."""
    kind = technique_named(name)
    if folder is not None and not folder.is_dir():
        raise UsageError(
            "there is no such folder", where=str(folder), fix="--prompts names a folder with prompt files"
        )
    prompts = Prompts(_style(style), folder)
    return {
        "name": name,
        "kind": kind.kind,
        "summary": kind.summary,
        "citation": kind.citation,
        "settings": [
            {"name": field, "default": info.default, "description": info.description or ""}
            for field, info in kind.model_fields.items()
        ],
        "prompts": [vars(prompts.file(prompt)) for prompt in kind.prompt_names],
    }


def copy_prompts(name: str, style: str, folder: Path) -> list[Path]:
    """Write a technique's packaged prompt files into `folder`; files that are there are left alone.

    Raises UsageError where one is there already, LeadlineError where the folder cannot be written.
    """
    prompts = Prompts(_style(style))
    written = []
    for prompt in technique_named(name).prompt_names:
        path = folder / (f"{prompt}.chat.txt" if style == "chat" else f"{prompt}.txt")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(prompts.file(prompt).text)
        except FileExistsError:
            raise UsageError("is there already", where=str(path), fix="move it aside first") from None
        except OSError as error:
            raise LeadlineError(f"cannot be written: {error.strerror}", where=str(path)) from error
        written.append(path)
    return written


def _style(style: str) -> Style:
    if style not in STYLES:
        raise UsageError(
            f"there is no prompt style {style!r}", fix=did_you_mean(style, STYLES, otherwise="few-shot, chat")
        )
    return style
