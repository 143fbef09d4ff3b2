"""Benchmarks, releases, dumps and templates of other people: they lead nowhere, and make nothing run."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from jinja2.exceptions import SecurityError, TemplateError
from markupsafe import Markup

from leadline.bundle.running import verify_place
from leadline.documents.fetch import fetch
from leadline.documents.fetch_settings import FetchSettings
from leadline.errors import LeadlineError
from leadline.report.page_frame import environment
from leadline.techniques.template_sandbox import fill

# What is known to have led out of sandboxes of this kind, and what asks for the sandbox's own objects.
ESCAPES = [
    "{{ question.__class__ }}",
    "{{ question['__class__'] }}",
    "{{ question | attr('__class__') }}",
    "{{ (question | attr('__cl' ~ 'ass__')) | string }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ self.__init__.__globals__.__builtins__ }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ lipsum.__globals__['os'].system('id') }}",
    "{{ lipsum | attr('__globals__') }}",
    "{{ '{0.__class__.__mro__}'.format(question) }}",
    "{{ '{x.__class__}'.format_map({'x': question}) }}",
    "{% set f = '{0.__class__}'.format %}{{ f(question) }}",
    "{{ ['{0.__class__}'] | map('format', question) | list }}",
    "{{ '{0.__class__}' | attr('format') }}",
    "{% set g = (x for x in []) %}{{ g.gi_frame }}",
    "{{ question.encode('utf-16').__reduce__() }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}{{ os }}",
    "{% extends '/etc/passwd' %}",
    "{{ url_for.__globals__ }}",
    "{{ config }}",
]


@pytest.mark.parametrize("template", ESCAPES)
def test_a_prompt_template_does_not_leave_its_sandbox(template: str) -> None:
    with pytest.raises((TemplateError, TypeError)):  # one that loads others finds no loader
        said = fill(template, {"question": "Who?", "window": ""})
        # Nothing is raised where what is asked for is not there; nothing may have come of it, either.
        assert "class" not in said and "root:" not in said and "function" not in said
        raise TemplateError("came to nothing")


@pytest.mark.parametrize(
    "template",
    [
        "{{ '{:>99999999999}'.format(question) }}",
        "{{ ('{:>99999999999}' | attr('format'))(question) }}",
        "{{ ['{:>99999999999}'] | map(attribute='format') | list }}",
        "{{ '{q:>99999999999}'.format_map({'q': question}) }}",
    ],
)
def test_a_text_is_not_padded_to_a_hundred_gigabytes(template: str) -> None:
    with pytest.raises(SecurityError, match="not formatted"):
        fill(template, {"question": "Who?"})


def test_values_are_never_read_as_templates() -> None:
    assert fill("{{ question }}", {"question": "{{ 7 * 7 }}{% for %}"}) == "{{ 7 * 7 }}{% for %}"


@pytest.mark.parametrize("package", ["leadline.report", "leadline.review"])
def test_every_page_escapes_what_stands_in_it(package: str) -> None:
    made = environment(package)
    assert made.autoescape is True
    said = made.from_string("<p title='{{ x }}'>{{ x }}</p>").render(x="<script>'\"&")
    assert "<script" not in said and Markup(said).count("&lt;script&gt;&#39;&#34;&amp;") == 2


def templates() -> list[Path]:
    return sorted((Path(__file__).parents[2] / "src" / "leadline").rglob("templates/*.html*"))


def test_no_page_template_switches_escaping_off() -> None:
    assert len(templates()) > 5
    wrong = [
        path.name
        for path in templates()
        if "autoescape false" in path.read_text("utf-8")
        or "|safe" in path.read_text("utf-8").replace(" ", "")
    ]
    assert wrong == []


# Archives and links


def test_a_zipped_release_is_unpacked_nowhere_else(tmp_path: Path) -> None:
    release, outside = tmp_path / "release.zip", tmp_path / "outside"
    with zipfile.ZipFile(release, "w") as archive:
        archive.writestr("findings.json", "{}")
        for name in ("../../outside", "/tmp/../" + str(outside), "a/../../../outside", "..\\..\\outside"):
            archive.writestr(name, "planted")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16  # a symbolic link, for those who make links of it
        archive.writestr(link, str(tmp_path))
        archive.writestr("link/outside", "planted")
    with pytest.raises(LeadlineError) as caught:
        verify_place(release)
    assert "\n" not in str(caught.value)
    assert not outside.exists() and not (tmp_path.parent / "outside").exists()


def test_a_benchmark_that_points_at_this_machine_or_the_cloud_it_runs_in_is_not_followed(
    tmp_path: Path,
) -> None:
    settings = FetchSettings("Jane Doe jane@example.org", attempts=1, timeout=1, private=False, robots=False)
    pointers = [
        "http://127.0.0.1:9/x",
        "http://localhost/x",
        "http://LOCALHOST./x",
        "http://[::1]/x",
        "http://[::ffff:127.0.0.1]/x",
        "http://0.0.0.0/x",
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/x",
        "http://10.1.2.3/x",
        "http://192.168.1.1/x",
        "http://[fd00::1]/x",
        "http://100.64.0.1/x",
        "http://printer.local/x",
    ]
    began = time.monotonic()
    outcome = fetch(pointers, tmp_path / "sources", settings)
    assert {entry.url for entry in outcome.failed} == set(pointers)
    assert {entry.error for entry in outcome.failed} == {
        "is a URL of this machine or a private network; --private fetches it"
    }
    assert time.monotonic() - began < 10, "nobody was asked"


@pytest.mark.parametrize("number", ["2130706433", "0x7f000001", "127.1", "0177.0.0.1"])
def test_other_ways_to_write_an_address_of_this_machine_are_known(tmp_path: Path, number: str) -> None:
    settings = FetchSettings("Jane Doe jane@example.org", attempts=1, timeout=1, private=False, robots=False)
    (entry,) = fetch([f"http://{number}:9/x"], tmp_path / "sources", settings).failed
    assert "private network" in entry.error or "no valid URL" in entry.error


def test_a_wrong_url_is_refused_on_the_command_line_without_the_flag(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text("name: x\nversion: '1'\nlicence: CC0-1.0\n", encoding="utf-8")
    item = {"id": "a", "question": "What?", "answer": "This", "source": "http://127.0.0.1:9/x"}
    (folder / "items.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "leadline", "bench", "fetch-sources", str(folder), "--attempts", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 3 and "private" in ran.stdout + ran.stderr


# XML

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE mediawiki [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1 if n else chr(0)};".replace(chr(0), "") * 10}">' for n in range(9))
    + "]>"
)
FILE = '<?xml version="1.0"?><!DOCTYPE mediawiki [<!ENTITY a8 SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize("head", [BOMB, FILE], ids=["a bomb", "a file"])
def test_entities_that_a_dump_declares_are_not_expanded(head: str, tmp_path: Path) -> None:
    pytest.importorskip("mwxml", reason="dumps need the extra 'build'")
    from leadline.build.articles.blocks import blocks_of
    from leadline.build.articles.dump import pages

    page = (
        "<mediawiki><siteinfo><namespaces><namespace key='4'>&a8;</namespace></namespaces></siteinfo>"
        "<page><title>One</title><ns>0</ns><id>1</id><revision><id>2</id>"
        "<timestamp>2024-01-01T00:00:00Z</timestamp><model>wikitext</model><format>text/x-wiki</format>"
        "<text>&a8;</text></revision></page></mediawiki>"
    )
    # Beside its DOCTYPE, which is no page's, each page is parsed alone; a page may bring one of its own.
    dump = tmp_path / "dump.xml"
    dump.write_text(head + page + page.replace("<page>", f"<page>{head[head.index('<!DOCTYPE') :]}"), "utf-8")
    hostname = Path("/etc/hostname").read_text("utf-8").strip() if Path("/etc/hostname").is_file() else "?"
    began = time.monotonic()
    read = [repr(found) for block in blocks_of(dump, "xml") or [] for found in pages(block)]
    assert len(read) == 2
    assert all(len(text) < 10_000 and f"text='{hostname}" not in text for text in read)
    assert time.monotonic() - began < 10
