"""Making SVG elements: the standard library's tree does the escaping."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup


@dataclass(frozen=True)
class Legend:
    """A line of the legend: the class of its swatch in the style sheet, and what it stands for."""

    swatch: str
    text: str


@dataclass(frozen=True)
class Chart:
    """A drawn chart with what stands around it on the page."""

    model: str
    title: str
    svg: Markup
    legend: tuple[Legend, ...]
    tables: tuple[str, ...]  # ids of the tables that hold the same figures


class Canvas:
    """A picture of full width and a fixed height in pixels. x runs from 0 to 100 (percent), y in pixels."""

    def __init__(self, name: str, title: str, description: str, height: float) -> None:
        self.name = name
        self.root = Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "class": "chart",
                "role": "img",
                "aria-labelledby": f"{name}-title {name}-desc",
                "width": "100%",
                "height": _number(height),
            },
        )
        SubElement(self.root, "title", {"id": f"{name}-title"}).text = title
        SubElement(self.root, "desc", {"id": f"{name}-desc"}).text = description

    def hatch(self) -> str:
        """A fill of slanted lines for bars that stand for something worse; seen without colour too."""
        identifier = f"{self.name}-hatch"
        definitions = SubElement(self.root, "defs")
        pattern = SubElement(
            definitions,
            "pattern",
            {
                "id": identifier,
                "width": "5",
                "height": "5",
                "patternUnits": "userSpaceOnUse",
                "patternTransform": "rotate(45)",
            },
        )
        SubElement(pattern, "rect", {"width": "5", "height": "5", "class": "worse"})
        SubElement(pattern, "rect", {"width": "1.5", "height": "5", "class": "worse-line"})
        return f"fill:url(#{identifier})"

    def rect(self, x: float, y: float, width: float, height: float, kind: str, *, style: str = "") -> None:
        """A bar from `x` percent, `width` percent wide."""
        self._add("rect", kind, style, x=_percent(x), y=y, width=_percent(max(width, 0)), height=height)

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line."""
        self._add("line", kind, x1=_percent(x1), y1=y1, x2=_percent(x2), y2=y2)

    def circle(self, x: float, y: float, radius: float, kind: str) -> None:
        """A dot."""
        self._add("circle", kind, cx=_percent(x), cy=y, r=radius)

    def diamond(self, x: float, y: float, half: float, kind: str) -> None:
        """A square that stands on its corner (a path cannot start at a percentage; a nested picture can)."""
        nested = SubElement(self.root, "svg", {"x": _percent(x), "y": _number(y), "overflow": "visible"})
        path = f"M0 {-half}L{half} 0L0 {half}L{-half} 0Z"
        SubElement(nested, "path", {"d": path, "class": kind})

    def text(
        self, x: float, y: float, words: str, kind: str, *, anchor: str = "start", dx: float = 0
    ) -> None:
        """Words at `x` percent plus `dx` pixels."""
        added = self._add("text", kind, x=_percent(x), y=y, dx=dx)
        if anchor != "start":
            added.set("text-anchor", anchor)
        added.text = words

    def whisker(self, low: float, high: float, y: float, kind: str = "whisker") -> None:
        """An interval: a line with two caps."""
        if kind == "whisker":  # it crosses a bar: a rim keeps it apart from the bar's colour
            self.line(low, y, high, y, "whisker-rim")
        self.line(low, y, high, y, kind)
        for end in (low, high):
            self.line(end, y - 3, end, y + 3, kind)

    def drawn(self) -> Markup:
        """The picture as text that may stand in a page as it is."""
        return Markup(tostring(self.root, encoding="unicode"))  # ElementTree has escaped it

    def _add(self, tag: str, kind: str, style: str = "", **attributes: float | str) -> Element:
        texts = {
            key: value if isinstance(value, str) else _number(value) for key, value in attributes.items()
        }
        if kind:
            texts["class"] = kind
        if style:
            texts["style"] = style
        return SubElement(
            self.root, tag, {key: value for key, value in texts.items() if (key, value) != ("dx", "0")}
        )


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _percent(value: float) -> str:
    return f"{_number(value)}%"
