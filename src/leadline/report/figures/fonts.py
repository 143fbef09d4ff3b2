"""Which fonts a figure is set in: matplotlib's own, and for what it lacks those that are installed."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

OWN = "DejaVu Sans"
# What systems have for the scripts that the own font lacks, Chinese, Japanese and Korean above all.
FALLBACKS = (
    "Noto Sans CJK SC", "Noto Sans CJK TC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans SC",
    "Noto Sans TC", "Noto Sans JP", "Noto Sans KR", "Source Han Sans SC", "Source Han Sans CN",
    "PingFang SC", "Hiragino Sans GB", "Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei", "Yu Gothic",
    "Malgun Gothic", "SimHei", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback",
    "Arial Unicode MS", "Unifont", "Noto Sans Devanagari", "Noto Sans Thai", "Noto Sans Bengali",
)  # fmt: skip


def families(signs: AbstractSet[str]) -> list[str]:
    """The own font, and behind it installed ones where it lacks one of `signs`.

    Figures of plain words are so the same bytes on every machine.

    >>> families({"a", "é", "τ"})
    ['DejaVu Sans', 'sans-serif']
    """
    known = get_font(findfont(FontProperties(family=OWN))).get_charmap()
    if all(ord(sign) in known or not sign.isprintable() for sign in signs):
        return [OWN, "sans-serif"]
    there = {one.name for one in fontManager.ttflist}
    return [OWN, *(name for name in FALLBACKS if name in there), "sans-serif"]
