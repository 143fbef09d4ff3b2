"""Files of many kinds, as text; and everything that is no document, refused in one line."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import socket
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.documents import Document, UnreadableDocument, read_document
from tests.documents.papers import pdf


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def read(folder: Path, content: bytes | str, name: str = "document.txt", **options: int) -> Document:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_document(path, **options)


def refusal(folder: Path, content: bytes | str, name: str = "document.txt", **options: int) -> str:
    with pytest.raises(UnreadableDocument) as refused:
        read(folder, content, name, **options)
    line = str(refused.value)
    assert line.startswith(str(folder / name)) and "\n" not in line and refused.value.exit_code == 3
    return line


def zipped(**files: bytes | str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return out.getvalue()


# Kinds


def test_plain_text_is_itself(tmp_path: Path) -> None:
    text = "One < two,\r\n\tand <b>three</b> &amp; four \u2013 \x0c five\n"
    document = read(tmp_path, text)
    assert (document.text, document.kind, document.markup) == (text, "text", None)
    assert (document.encoding, document.notes) == ("utf-8", ())


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.htm", "<p>One", "html"),
        ("a.txt", "<!DOCTYPE html><p>One", "html"),
        ("a.txt", "\n<!-- made by hand -->\n<HTML><body>One", "html"),
        ("a", "<div>One</div>", "html"),
        ("a.html", "no tag at all", "html"),
        ("a.txt", "<?xml version='1.0'?><a>One</a>", "xml"),
        ("a.xml", "<a>One</a>", "xml"),
        ("a.xml", "<b><i>One</i></b>", "xml"),
        ("a.xml", "no tag at all", "text"),
        ("a.htm", "<?xml version='1.0'?><!DOCTYPE html><html><body>One</body></html>", "html"),
        ("a.xml", "<?xml version='1.0'?><x:html xmlns:x='http://www.w3.org/1999/xhtml'>One</x:html>", "html"),
        ("a.txt", "<PAGE> 5 <S> <C>", "text"),
        ("a.txt", "<quote>One</quote>", "text"),
        ("a.htm", pdf("One"), "pdf"),
    ],
)
def test_what_a_file_is_shows_in_its_content(
    tmp_path: Path, name: str, content: str | bytes, kind: str
) -> None:
    document = read(tmp_path, content, name)
    assert document.kind == kind
    assert document.text.strip()
    assert (document.markup is not None) == (kind in ("html", "xml"))


def test_markup_is_kept_for_quotes_of_it(tmp_path: Path) -> None:
    document = read(tmp_path, "<?xml version='1.0'?><e>\n <item>06b</item>\n <item>3C</item></e>", "form.xml")
    assert "<item>06b</item>" in (document.markup or "")
    assert document.text == "06b\n3C"


def test_a_full_submission_is_read_part_by_part(tmp_path: Path) -> None:
    content = """<SEC-DOCUMENT>0001.txt : 20240101
<SEC-HEADER>
COMPANY CONFORMED NAME: EXAMPLE CORP
</SEC-HEADER>
<DOCUMENT>
<TYPE>10-K
<TEXT>
<html><body><p>The <b>Com</b>pany&rsquo;s</p><p>shares</p></body></html>
</TEXT>
</DOCUMENT>
<DOCUMENT>
<TYPE>D
<TEXT>
<XML>
<?xml version="1.0"?>
<e><item>06b</item><year>2009</year></e>
</XML>
</TEXT>
</DOCUMENT>
<DOCUMENT>
<TYPE>EX-10
<TEXT>
<TABLE>
<S>            <C>
Revenue        29.00
</TABLE>
</TEXT>
</DOCUMENT>
<DOCUMENT>
<TYPE>GRAPHIC
<TEXT>
begin 644 logo.jpg
M_]C_X``02D9)1@`!`0```0`!``#_VP!#
end
</TEXT>
</DOCUMENT>
</SEC-DOCUMENT>
"""
    document = read(tmp_path, content)
    assert document.kind == "html" and document.markup == content
    assert "COMPANY CONFORMED NAME: EXAMPLE CORP" in document.text
    assert "The Company\u2019s\nshares" in document.text
    assert "06b\n2009" in document.text
    assert "Revenue        29.00" in document.text and "<S>" not in document.text
    assert "02D9)" not in document.text
    assert document.notes == ("1 file that is not text left out",)


# PDF


def test_a_pdf_is_its_pages(tmp_path: Path) -> None:
    document = read(tmp_path, pdf("Revenue was 29.00", "and costs 12.50"), "report.pdf")
    assert document.text.split("\n") == ["Revenue was 29.00", "and costs 12.50"]


def test_pages_without_text_are_noted_and_a_scan_is_refused(tmp_path: Path) -> None:
    assert read(tmp_path, pdf("One", "", "Three", ""), "part.pdf").notes == ("no text on pages 2, 4",)
    assert "its pages are pictures" in refusal(tmp_path, pdf("", ""), "scan.pdf")


def test_a_pdf_is_read_once_and_then_taken_from_the_cache(tmp_path: Path, own_cache: Path) -> None:
    first = read(tmp_path, pdf("Revenue was 29.00"), "report.pdf")
    (kept,) = own_cache.rglob("*.json")
    kept.write_text(kept.read_text().replace("29.00", "30.00"))
    assert read(tmp_path, pdf("Revenue was 29.00"), "copy.pdf").text == "Revenue was 30.00"
    kept.write_text("damaged")
    assert read(tmp_path, pdf("Revenue was 29.00"), "copy.pdf") == first


def test_a_locked_pdf_is_refused_and_one_without_a_real_lock_is_read(tmp_path: Path) -> None:
    import pypdf

    for password, name in (("secret", "locked.pdf"), ("", "open.pdf")):
        writer = pypdf.PdfWriter(io.BytesIO(pdf("Revenue was 29.00")))
        writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
        writer.write(tmp_path / name)
    assert "locked with a password" in refusal(tmp_path, (tmp_path / "locked.pdf").read_bytes(), "locked.pdf")
    assert "29.00" in read_document(tmp_path / "open.pdf").text


@pytest.mark.parametrize("cut", [9, 60, 200, 400])
def test_a_damaged_pdf_is_refused(tmp_path: Path, cut: int) -> None:
    assert "PDF" in refusal(tmp_path, pdf("One")[:cut] + b"\0\xff garbage", "damaged.pdf")


def test_a_missing_pdf_library_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    assert refusal(tmp_path, pdf("One"), "a.pdf").endswith(
        "is a PDF, and pypdf is missing (pip install pypdf)"
    )


# Packed

# Resident memory at its highest, of this process alone: getrusage counts that of the one that started it.
MEASURED = """
import sys
from pathlib import Path
from leadline.documents import UnreadableDocument, read_document

try:
    document = read_document(Path(sys.argv[1]))
    print(document.kind, len(document.text))
except UnreadableDocument:
    print("refused", 0)
print([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1])
"""


def measured(path: Path) -> tuple[str, int, float]:
    """Reads a document in a process of its own: its kind, its characters, the memory needed in MB."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc to know the memory of a process")
    command = [sys.executable, "-c", MEASURED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    kind, characters, kilobytes = done.stdout.split()
    return kind, int(characters), int(kilobytes) * 1024 / 1e6


NUMBERS = " ".join(map(str, range(450_000))).encode()  # 3 MB, a third of it packed


@pytest.mark.parametrize("name", ["page.htm.gz", "page.gz"])
def test_one_document_in_a_gzip_file_is_read(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, gzip.compress(b"<p>un<b>bro</b>ken"), name).text == "unbroken"


def test_one_document_in_a_zip_archive_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, zipped(page__xml="<a><b>1</b><b>2</b></a>"), "any.zip").text == "1\n2"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (gzip.compress(b"0" * 50_000_000), "more than 200 times its size"),
        (zipped(a=b"0" * 50_000_000), "more than 200 times its size"),
        (gzip.compress(NUMBERS), "unpacked, it is too large: 2,097,152 bytes"),
        (zipped(a=NUMBERS), "unpacked, it is too large: 2,097,152 bytes"),
        (gzip.compress(gzip.compress(b"text")), "a package in a package"),
        (zipped(a__zip=zipped(b="text")), "a package in a package"),
        (zipped(a="1", b="2"), "holds 2 files"),
        (zipped(), "holds no file"),
        (zipped(mimetype="application/epub+zip", b="2"), "an office document or a book"),
        (gzip.compress(b"text" * 1000)[:-12], "cut off"),
        (b"\x1f\x8b\x08\x00garbage", "gzip"),
        (b"PK\x03\x04garbage", "zip"),
        (zipped(a="text")[:-20], "zip"),
    ],
    ids=range(13),
)
def test_packages_that_are_not_one_document_are_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    assert reason in refusal(
        tmp_path, content, "package.zip", max_bytes=2_000_000 if "large" in reason else 10**8
    )


def test_a_zip_archive_that_lies_about_its_size_is_counted(tmp_path: Path) -> None:
    honest = zipped(a=b"0" * 50_000_000)
    size = (50_000_000).to_bytes(4, "little")
    assert size in honest
    assert "zip" in refusal(tmp_path, honest.replace(size, (100).to_bytes(4, "little")), "liar.zip")


def test_a_locked_zip_archive_is_refused(tmp_path: Path) -> None:
    content = bytearray(zipped(a="text"))
    content[6] |= 1  # the flag in the entry's own header,
    content[content.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    assert "locked with a password" in refusal(tmp_path, bytes(content), "locked.zip")


def test_a_bomb_costs_no_memory(tmp_path: Path) -> None:
    """10 GB of zeros in 10 MB: the process stays below 200 MB."""
    path = tmp_path / "bomb.gz"
    member = gzip.compress(b"\0" * 100_000_000)
    path.write_bytes(member * 100)
    outcome, _, megabytes = measured(path)
    assert outcome == "refused"
    assert megabytes < 200


# What is no document


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG picture"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "an old office document"),
        (b"\x7fELF" + bytes(100), "a program"),
        (bytes(1000), "a binary file"),
        (bytes(range(256)) * 40, "a binary file"),
        (os.urandom(5000), "a binary file"),
        ("<script>document.write('text')</script>", "has no text in it"),
    ],
    ids=range(10),
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes | str, reason: str) -> None:
    assert reason in refusal(tmp_path, content)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(tmp_path)  # names of sockets are short
        listening.bind("socket")
        (tmp_path / "loop").symlink_to("loop")
        cases = {
            tmp_path / "pipe": "a pipe",
            tmp_path / "socket": "is a socket, not a file",
            tmp_path: "a folder",
            Path("/dev/zero"): "a device",
            tmp_path / "none": "is not there",
            tmp_path / "loop": "cannot be opened",
            tmp_path / "none" / "below": "is not there",
            tmp_path / ("x" * 300): "cannot be opened",
            tmp_path / "a\0b": "cannot be opened",
        }
        for path, reason in cases.items():
            result: list[str] = []

            def attempt(path: Path = path, result: list[str] = result) -> None:
                try:
                    read_document(path)
                except UnreadableDocument as refused:
                    result.append(str(refused))

            thread = threading.Thread(target=attempt, daemon=True)
            thread.start()
            thread.join(5)
            assert result and reason in result[0], path


def test_a_file_over_the_limit_is_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a terabyte of nothing
    with pytest.raises(UnreadableDocument, match="is too large: 1,099,511,627,776 bytes"):
        read_document(path)


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path = tmp_path / "secret.txt"
    path.write_text("text")
    path.chmod(0)
    with pytest.raises(UnreadableDocument, match="Permission denied"):
        read_document(path)


# Whatever comes


@given(st.binary(max_size=400), st.sampled_from([".txt", ".htm", ".xml", ".pdf", ".gz"]))
def test_any_bytes_are_a_document_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(content)
    with contextlib.suppress(UnreadableDocument):
        assert isinstance(read_document(path).text, str)


UNITS = {
    "text": "The Company shall pay \u201c$5,000\u201d. ",
    "latin-1": "The Company shall pay \u00a35,000 to the caf\u00e9. ",
    "html": "<tr><td>The <b>Com</b>pany&rsquo;s</td><td style='width:9%'>$5,000 \u201cnet\u201d</td>\n",
    "xml": "<row><name>The Company\u2019s</name><value>5,000</value><note>a longer text</note></row>\n",
}


@pytest.mark.parametrize(("kind", "size"), [("text", 100), ("latin-1", 100), ("html", 100), ("xml", 25)])
def test_100_MB_are_read_in_less_than_a_gigabyte(tmp_path: Path, kind: str, size: int) -> None:
    before, after = {"html": ("<html><table>", "</table>"), "xml": ("<a>", "</a>")}.get(kind, ("", ""))
    path = tmp_path / f"large.{'xml' if kind == 'xml' else 'txt'}"
    block = (UNITS[kind] * 10_000).encode("latin-1" if kind == "latin-1" else "utf-8")
    with path.open("wb") as file:
        file.write(before.encode())
        for _ in range(size * 1_000_000 // len(block)):
            file.write(block)
        file.write(after.encode())
    found, characters, megabytes = measured(path)
    path.unlink()
    assert found == {"latin-1": "text"}.get(kind, kind)
    assert characters > size * 200_000
    assert megabytes < 10 * size
