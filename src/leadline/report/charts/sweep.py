"""Does the number of samples decide the result? Shares found and agreement of rankings over K."""

from __future__ import annotations

from leadline.lenses.finding import Figure
from leadline.report.charts.svg import Canvas, Chart, Legend
from leadline.report.document import FindingsDocument
from leadline.report.numbers import MINUS, printed
from leadline.report.tables import anchor, slug

LEFT, WIDTH = 11, 80  # percent: numbers stand left of the axis, a temperature's name right of its line
FOUND_TOP, FOUND_HEIGHT = 30, 150
TAU_TOP, TAU_HEIGHT = 232, 110


def sweep(document: FindingsDocument, model: str, temperature: str) -> Chart | None:
    """Share of the shallow set found at K, and Kendall's τ-b with the ranking at the study's own K."""
    finding = document.finding("beyond_sampling", "sweep", model)
    points = [
        (int(row.keys["k"]), row.figures)
        for row in (finding.rows if finding else ())
        if row.keys.get("temperature") == temperature and row.keys.get("k", "").isdigit()
    ]
    if finding is None or len(points) < 2:
        return None
    first, last = points[0][0], points[-1][0]
    described = "; ".join(
        f"K={k}: " + ", ".join(f"{key} {printed(key, figure).value}" for key, figure in figures.items())
        for k, figures in points
        if k in (first, last) or k % 10 == 0
    )
    title = f"Sweep over the number of samples at τ = {temperature}, {model}"
    height = TAU_TOP + TAU_HEIGHT + 34
    canvas = Canvas(slug("c-sweep", temperature, model), title, described, height)

    def across(k: int) -> float:
        return LEFT + WIDTH * (k - first) / (last - first)

    used = next(
        (part.k for part in document.protocol.partitions if f"{part.temperature:g}" == temperature), 20
    )
    _frame(canvas, "Share of the shallow failures found", FOUND_TOP, FOUND_HEIGHT, ("100 %", "50 %", "0 %"))
    lowest = -1.0 if any(value < 0 for value in _values(points, ("kendall_sgr", "kendall_dgr"))) else 0.0
    marks = ("1", "0", f"{MINUS}1") if lowest else ("1", "0.5", "0")
    _frame(canvas, f"Kendall τ-b with the ranking at K = {used}", TAU_TOP, TAU_HEIGHT, marks)
    for top, tall in ((FOUND_TOP, FOUND_HEIGHT), (TAU_TOP, TAU_HEIGHT)):
        canvas.line(across(used), top, across(used), top + tall, "mark")
    canvas.text(across(used), FOUND_TOP + FOUND_HEIGHT - 6, f"K = {used}", "tick halo", anchor="end", dx=-4)
    for k in dict.fromkeys([first, *(k for k, _ in points if k % 5 == 0), last]):
        canvas.text(across(k), height - 16, str(k), "tick", anchor="middle")
    canvas.text(LEFT + WIDTH / 2, height - 1, "K, samples per item", "tick", anchor="middle")
    for key, kind, top, tall, low, high in (
        ("found_share_expected", "expected", FOUND_TOP, FOUND_HEIGHT, 0.0, 1.0),
        ("found_share", "found", FOUND_TOP, FOUND_HEIGHT, 0.0, 1.0),
        ("kendall_dgr", "deep", TAU_TOP, TAU_HEIGHT, lowest, 1.0),
        ("kendall_sgr", "shallow", TAU_TOP, TAU_HEIGHT, lowest, 1.0),
    ):
        previous: tuple[float, float] | None = None
        for k, figures in points:
            figure = figures.get(key)
            if figure is None or figure.value is None:
                previous = None
                continue
            here = (across(k), top + tall * (1 - (figure.value - low) / (high - low)))
            if previous is not None:
                canvas.line(*previous, *here, f"{kind}-line")
            if kind in ("found", "shallow"):
                canvas.circle(*here, 2.2, f"{kind}-point")
            previous = here
    legend = (
        Legend("found-swatch", "Found, in the order of drawing"),
        Legend("expected-swatch", "Found, expected over all orders"),
        Legend("shallow-line-swatch", "τ-b of the SGR ranking"),
        Legend("deep-line-swatch", "τ-b of the DGR ranking"),
    )
    return Chart(model, f"τ = {temperature}", canvas.drawn(), legend, (anchor(finding),))


def _frame(canvas: Canvas, title: str, top: float, tall: float, marks: tuple[str, str, str]) -> None:
    canvas.text(0, top - 16, title, "row-label")
    for place, words in enumerate(marks):
        y = top + tall * place / 2
        canvas.line(LEFT, y, LEFT + WIDTH, y, "axis" if place == 2 else "grid")
        canvas.text(LEFT, y + 4, words, "tick", anchor="end", dx=-6)


def _values(points: list[tuple[int, dict[str, Figure]]], keys: tuple[str, ...]) -> list[float]:
    figures = [figures[key] for _, figures in points for key in keys if key in figures]
    return [figure.value for figure in figures if figure.value is not None]
