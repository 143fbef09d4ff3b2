"""The claims and all tables as LaTeX (booktabs), for papers; long ones break over pages (longtable)."""

from __future__ import annotations

import re

from leadline.report.claims import HEADS, ClaimGroup, claim_groups
from leadline.report.document import FindingsDocument
from leadline.report.headline import Headline, headlines
from leadline.report.labels import spelt_out
from leadline.report.numbers import Printed, printed
from leadline.report.tables import Table, slug, tables

# More rows than this do not fit on a page with their caption.
FLOAT_ROWS = 30

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    # Signs of the field, for engines that do not read them as they are.
    "τ": r"$\tau$",
    "−": r"$-$",
    "–": "--",
    "—": "---",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "∞": r"$\infty$",
    "Σ": r"$\Sigma$",
    "·": r"$\cdot$",
    "∪": r"$\cup$",
    "∩": r"$\cap$",
    "±": r"$\pm$",
    "ρ": r"$\rho$",
    "ⁿ": r"$^n$",
    "²": r"$^2$",
    "½": r"$\frac{1}{2}$",
    "₀": r"$_0$",
    "₁": r"$_1$",
    "₂": r"$_2$",
}
_ANY_SPECIAL = re.compile("|".join(map(re.escape, _SPECIAL)))

_PREAMBLE = r"""% Needs \usepackage{booktabs,longtable,graphicx} and \usepackage[T1]{fontenc}; letters
% outside Latin scripts need LuaLaTeX or XeLaTeX. \input this file, or copy the tables you want."""


def latex_tables(document: FindingsDocument) -> str:
    """The headline of each model, the claims by status, then every finding, as LaTeX source."""
    benchmark = document.benchmark
    blocks = [
        _PREAMBLE,
        f"% {_comment(document.study)}, {document.created.isoformat()}",
        f"% {_comment(f'{benchmark.name} {benchmark.version}, {benchmark.content_hash}')}",
        *([f"% Population: {_comment(benchmark.population)}"] if benchmark.population else ()),
        *(_headline(entry, benchmark.population) for entry in headlines(document)),
        *(_claims(group) for group in claim_groups(document)),
        *(_table(entry) for entry in tables(document) if entry.rows),
    ]
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX prints as it is, whatever signs it holds."""
    one_line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return _ANY_SPECIAL.sub(lambda found: _SPECIAL[found[0]], one_line)


def _comment(text: str) -> str:
    """Text for one line of a comment."""
    return " ".join(text.split())


def _figure(value: Printed) -> str:
    interval = value.interval and f"{{\\scriptsize {escape(value.interval)}}}"
    counted = value.counted and f"{{\\scriptsize ({escape(value.counted)})}}"
    return "~".join(piece for piece in (escape(value.value), counted, interval) if piece)


def _headline(entry: Headline, population: str) -> str:
    spans: list[list[object]] = []
    for column in entry.columns:
        if spans and spans[-1][0] == column.group:
            spans[-1][1] = int(str(spans[-1][1])) + 1
        else:
            spans.append([column.group, 1])
    groups = " & ".join(
        ["", *(f"\\multicolumn{{{width}}}{{c}}{{{escape(str(name))}}}" for name, width in spans)]
    )
    heads = " & ".join(["Method", *(escape(column.label) for column in entry.columns)])
    body = [
        " & ".join(
            [escape(row.label)]
            + [_figure(printed(c.figure, f)) for c, f in zip(entry.columns, row.figures, strict=True)]
        )
        for row in entry.rows
    ]
    accuracy = printed("acc", entry.baseline_accuracy)
    caption = f"{entry.model}: each method against the baseline {entry.baseline} (Acc {accuracy})"
    if population:
        caption += f"; {population}"
    return _float(
        caption, slug("headline", entry.model), "l" + "r" * len(entry.columns), [groups, heads], body
    )


def _claims(group: ClaimGroup) -> str:
    """One long table per status; its columns wrap, since claims are sentences."""
    body = [
        " & ".join(map(escape, (one.text, one.point, one.conservative, f"{one.table} ({one.model})")))
        for one in group.sentences
    ]
    widths = (0.42, 0.15, 0.2, 0.13)  # of the line; what is left goes between the columns
    columns = "".join(rf"p{{{width}\linewidth}}" for width in widths)
    caption = f"Claims, {group.status}: {group.meaning}"
    return _long(caption, slug("claims", group.status), columns, [" & ".join(HEADS)], body)


def _table(entry: Table) -> str:
    heads = " & ".join(map(escape, (*entry.key_heads, *entry.figure_heads)))
    body = [
        " & ".join([*map(escape, row.keys), *(_figure(cell.printed) if cell else "" for cell in row.cells)])
        for row in entry.rows
    ]
    caption = f"{spelt_out(entry.lens)}: {entry.title} ({entry.model})"
    columns = "l" * len(entry.key_heads) + "r" * len(entry.figure_heads)
    make = _float if len(body) <= FLOAT_ROWS else _long
    return make(caption, entry.anchor, columns, [heads], body)


def _float(caption: str, label: str, columns: str, heads: list[str], body: list[str]) -> str:
    lines = [
        r"\begin{table}",
        r"\centering",
        f"\\caption{{{escape(caption)}}}",
        f"\\label{{tab:{_label(label)}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *(f"{line} \\\\" for line in heads),
        r"\midrule",
        *(f"{line} \\\\" for line in body),
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def _long(caption: str, label: str, columns: str, heads: list[str], body: list[str]) -> str:
    lines = [
        r"{\scriptsize",
        f"\\begin{{longtable}}{{{columns}}}",
        f"\\caption{{{escape(caption)}}}\\label{{tab:{_label(label)}}} \\\\",
        r"\toprule",
        *(f"{line} \\\\" for line in heads),
        r"\midrule",
        r"\endhead",
        *(f"{line} \\\\" for line in body),
        r"\bottomrule",
        r"\end{longtable}}",
    ]
    return "\n".join(lines)


def _label(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text)
