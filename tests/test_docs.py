"""What the pages say is so: links lead somewhere, commands exist, examples run, no page names a machine."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer

ROOT = Path(__file__).parents[1]
LEFT_OUT = {".venv", ".git", "dist", "build", "demo", "node_modules"}


def project_files() -> list[Path]:
    """Files that belong to the project: git's own list, or in an unpacked archive everything."""
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode == 0 and listing.stdout:
        found = [ROOT / line for line in listing.stdout.splitlines()]
    else:
        found = list(ROOT.rglob("*"))
    return sorted(
        path for path in found if path.is_file() and not LEFT_OUT & set(path.relative_to(ROOT).parts)
    )


FILES = project_files()
PAGES = [path for path in FILES if path.suffix == ".md"]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """A page without its fenced blocks, where brackets are not links."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    headings = re.findall(r"^#+ +(.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_pages_were_found() -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/index.md"} <= {name(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        place, _, anchor = target.partition("#")
        path = (page.parent / place).resolve() if place else page
        if not path.exists() or not path.is_relative_to(ROOT) or (anchor and anchor not in anchors(path)):
            dead.append(target)
    assert not dead


def test_every_page_in_docs_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [page.name for page in PAGES if page.parent == ROOT / "docs" and page.name != "index.md"]
    assert [page for page in pages if f"({page}" not in index] == []


# Commands


def fenced(page: Path, program: str) -> set[str]:
    """Lines that begin with "$ program": to be typed as they stand."""
    text = page.read_text(encoding="utf-8")
    return set(re.findall(rf"^\s*\$ ({program}\b.*)$", text, flags=re.MULTILINE))


def inline(page: Path, program: str) -> set[str]:
    """Inline code that begins with the program: perhaps only the name of a command."""
    return set(re.findall(rf"`({program} [a-z][^`\n]*)`", prose(page)))


TYPED = sorted({line for page in PAGES for line in fenced(page, "leadline")})
MENTIONED = sorted({line for page in PAGES for line in inline(page, "leadline")} - set(TYPED))
MAKE = sorted({line for page in PAGES for line in fenced(page, "make") | inline(page, "make")})


def words(line: str) -> list[str]:
    """The words of a command, up to a pipe, a redirection or a comment."""
    found = shlex.split(line, comments=True)
    end = next((at for at, word in enumerate(found) if word in ("|", ">", ">>", "2>", "&&", ";")), len(found))
    return found[:end]


def parse(arguments: list[str]) -> None:
    """Parse a command line as `leadline` would, without doing anything. Raises click's own errors."""
    from leadline.cli.app import app

    command: Any = typer.main.get_command(app)
    title, rest, context = "leadline", arguments, None
    while True:
        context = command.make_context(title, list(rest), parent=context)
        if not hasattr(command, "commands"):
            return
        title, rest = rest[0], rest[1:]
        command = command.get_command(context, title)
        assert command is not None, f"there is no command {title!r}"


def test_commands_were_found() -> None:
    assert len(TYPED) > 15
    assert len(MENTIONED) > 5
    assert "make demo" in MAKE


@pytest.mark.parametrize("line", TYPED)
def test_commands_on_the_pages_can_be_given(line: str) -> None:
    parse(words(line)[1:])


@pytest.mark.parametrize("line", MENTIONED)
def test_commands_that_pages_mention_exist(line: str) -> None:
    try:
        parse(words(line)[1:])
    except Exception as error:
        # `leadline init` names a command without what it needs, `leadline build` a group of commands, and
        # --help ends before parsing does.
        assert type(error).__name__ in ("MissingParameter", "NoArgsIsHelpError", "Exit"), error


@pytest.mark.parametrize("wrong", ["leadline run --no-such-option", "leadline bench lost", "leadline rum"])
def test_a_wrong_command_would_be_noticed(wrong: str) -> None:
    with pytest.raises(Exception) as raised:
        parse(words(wrong)[1:])
    assert type(raised.value).__name__ in ("NoSuchOption", "AssertionError", "UsageError")


@pytest.mark.parametrize("line", MAKE)
def test_targets_on_the_pages_are_in_the_makefile(line: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [word for word in words(line)[1:] if re.fullmatch(r"[a-z]+", word)]
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


# Examples


def python_blocks(page: Path) -> list[str]:
    return re.findall(
        r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def test_the_technique_of_contributing_is_one() -> None:
    from leadline.engine import Generation
    from leadline.techniques import Question
    from leadline.techniques.prompts_library import Prompts

    namespace = run_block("class Twice", like="leadline.techniques.genread")
    technique = namespace["Twice"]()
    conversation = technique.ask(Question("i", "Which sea?", gold=("Black Sea",)), 0, Prompts())
    stage, request = next(conversation)
    assert stage == "draft" and request.gold == ()
    stage, request = conversation.send(Generation("Red Sea", "stop", 5, (1, 2)))
    assert stage == "answer" and request.gold == ("Black Sea",) and "Red Sea" in request.prompt.text
    with pytest.raises(StopIteration):
        conversation.send(Generation("Black Sea", "stop", 5, (1, 2)))


def test_the_lens_of_contributing_is_one() -> None:
    from leadline.lenses.protocol import Protocol
    from leadline.lenses.view import View
    from tests.lenses.small import answers
    from tests.lenses.small import view as small_view

    namespace = run_block("LENS = Lens", like="leadline.lenses.unseen_mass")
    view = small_view(answers("greedy", "101"), Protocol(baseline="greedy", methods=()))
    assert isinstance(view, View)
    (finding,) = namespace["LENS"].look(view)
    assert finding.rows[0].figures["readings"].value == 3


@pytest.mark.model
def test_the_blocks_of_the_python_api_run(
    smollm2: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, as a reader would. What the harness needs a network for, its own tests show."""
    from leadline.techniques import artefacts

    monkeypatch.setattr(artefacts, "cache_home", lambda: tmp_path)
    blocks = [
        block for block in python_blocks(ROOT / "docs" / "python-api.md") if "import lm_eval" not in block
    ]
    assert len(blocks) >= 8
    namespace: dict[str, Any] = {"__name__": "python_api"}
    for block in blocks:
        exec(compile(block, "docs/python-api.md", "exec"), namespace)
    assert "Paris" in capsys.readouterr().out
    assert len(namespace["layers"]) == 4 and len(namespace["layers"][0]) == 2
    assert namespace["logprobs"].isfinite().all()
    assert list(tmp_path.glob("artefacts/caa-*"))


def test_every_technique_and_every_setting_of_its_own_is_on_its_page() -> None:
    from leadline.techniques.inside import InsideTechnique
    from leadline.techniques.registry import techniques

    text = (ROOT / "docs" / "techniques.md").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^### ([\w-]+)\n(.*?)(?=^##)", text, flags=re.MULTILINE | re.DOTALL))
    assert set(parts) == set(techniques())
    shared = {*InsideTechnique.model_fields, "positions", "pairs", "questions", "relative_top"}
    missing = [
        f"{name}: {setting}"
        for name, kind in techniques().items()
        for setting in set(kind.model_fields) - shared
        if not re.search(rf"\b{setting}\b", parts[name] + (parts["caa"] if kind.is_fitted else ""))
    ]
    assert not missing
    for name, kind in techniques().items():
        author = kind.citation.split(" ")[0].rstrip(",")
        assert author in parts[name]


def run_block(containing: str, like: str) -> dict[str, Any]:
    """Run the block of CONTRIBUTING.md that holds `containing`, with what the module `like` imports."""
    import importlib

    (block,) = [block for block in python_blocks(ROOT / "CONTRIBUTING.md") if containing in block]
    namespace: dict[str, Any] = dict(vars(importlib.import_module(like)))
    namespace["__name__"] = "contributing"
    exec(compile(block, "CONTRIBUTING.md", "exec"), namespace)
    return namespace


# What no file may hold

# Spelt in pieces, so that this file does not hold them itself.
MACHINE_PATHS = re.compile(r"(?<![\w.~\-:/])/(?:" + "|".join(("work", "root", "home", "Users")) + r")/\w")
REGISTRY_HOSTS = re.compile(
    "|".join(("pypi" + r"\.org", "python" + "hosted", "npm" + "js", "deb" + r"\.debian"))
)


@pytest.mark.parametrize("pattern", [MACHINE_PATHS, REGISTRY_HOSTS], ids=["machine paths", "registry hosts"])
def test_no_file_names_a_machine(pattern: re.Pattern[str]) -> None:
    found = []
    for path in FILES:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        found += [f"{name(path)}: {match.group()}" for match in pattern.finditer(text)]
    assert not found


def test_the_patterns_find_what_they_are_for() -> None:
    assert MACHINE_PATHS.search("cd " + "/ho" + "me/ann/leadline")
    assert not MACHINE_PATHS.search("~/.cache/leadline and https://example.org/" + "ro" + "ot/x")
    assert REGISTRY_HOSTS.search("https://files.python" + "hosted.org")
