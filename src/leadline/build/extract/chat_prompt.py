"""The prompt of a chat extractor: a file, the packaged one or the user's."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from leadline.build.plan import Plan
from leadline.build.plan_file import where_in
from leadline.errors import UsageError
from leadline.techniques.prompts_library import Prompts, Style

PROMPT = "prompt"
_FILES = ("prompt.txt", "prompt.chat.txt")
_TRIED = "Is this passage shown?"
_PACKAGED = files("leadline.build") / "prompts" / "extract"


def prompts_of(plan: Plan, style: Style) -> Prompts:
    """The packaged prompt, or the one of the plan's folder. Raises UsageError where it shows no passage."""
    with as_file(_PACKAGED) as packaged:
        prompts = Prompts(style, packaged)
        if plan.extract.prompt is not None:
            folder = plan.folder / Path(plan.extract.prompt).expanduser()
            prompts = Prompts(style, folder)
            name = "prompt.chat.txt" if style == "chat" else "prompt.txt"
            if not (folder / name).is_file():
                raise UsageError(
                    f"holds no {name}",
                    where=str(folder),
                    fix="write one, or leave `prompt` out to have the packaged one",
                )
        origin = prompts.file(PROMPT).origin
        shown = prompts.render(PROMPT, title="A title", passage=_TRIED)
    texts = [shown.text or "", *(text for _, text in shown.messages or ())]
    if not any(_TRIED in text for text in texts):
        raise UsageError(
            "the prompt does not show the passage", where=origin, fix="put {{ passage }} where it belongs"
        )
    return prompts


def prompt_files(plan: Plan) -> tuple[Path, ...]:
    """The user's own prompt files."""
    if plan.extract.prompt is None:
        return ()
    folder = plan.folder / Path(plan.extract.prompt).expanduser()
    return tuple(path for name in _FILES if (path := folder / name).is_file())


def check_prompt(plan: Plan) -> None:
    """Read the user's prompt before a model is loaded, in each style that his folder has.

    Raises UsageError where it holds none.
    """
    if plan.extract.prompt is None:
        return
    line = where_in(plan, "extract", "prompt")
    held = prompt_files(plan)
    if not held:
        what = f"extract.prompt: {plan.extract.prompt} holds no {' or '.join(_FILES)}"
        raise UsageError(what, where=line, fix=f"a folder, relative to {plan.folder}")
    for file in held:
        prompts_of(plan, "chat" if file.name == _FILES[1] else "few-shot")


def packaged_prompt() -> list[str]:
    """The text of the packaged prompt, in both styles: it decides what a model answers."""
    return [(_PACKAGED / name).read_text(encoding="utf-8") for name in _FILES]
