"""What all charts share: one look, one scale of accuracy, rows of data with the words of their tooltips."""

from collections.abc import Iterable, Mapping, Sequence

from eyechart.figures import format_count, format_estimate, format_percent
from eyechart.reports._printable import printable
from eyechart.schema import Estimate, JsonObject

INK, MUTED, RULE, ACCENT, PAPER = "var(--ink)", "var(--muted)", "var(--rule)", "var(--accent)", "var(--paper)"
# Vega-Lite names of the markers and dashes that the drawn figures use: colour, shape and dashes each tell a series.
LOOKS: dict[str, tuple[str, str, list[int]]] = {
    "crop": (ACCENT, "circle", [1, 0]),
    "whiteground": ("var(--whiteground)", "square", [6, 3]),
    "target_only": ("var(--target-only)", "triangle-up", [2, 2]),
}
DATA = "rows"
HEIGHT_PX = 260
# The row that the pointer or the arrow keys are at; the page sets it.
_PICKED = {"test": "datum.at === picked"}
SCALE_LABEL = "datum.value >= 0.999 ? '1' : '1/' + round(1 / datum.value)"
PX_LABEL = "datum.value >= 1 ? format(datum.value, '~r') : '1/' + round(1 / datum.value)"
# Long titles end where the axis ends, so that a narrow window cuts none.
AT_RIGHT: JsonObject = {"titleAnchor": "end", "titleAlign": "right"}
_AXIS: JsonObject = {
    "labelColor": INK,
    "titleColor": INK,
    "gridColor": RULE,
    "domainColor": MUTED,
    "tickColor": MUTED,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "titlePadding": 8,
    "titleLineHeight": 17,
    "labelLimit": 150,
}
_CONFIG: JsonObject = {
    "aria": False,  # the still picture is what a screen reader reads; the page says each value that is picked
    "font": "system-ui, sans-serif",
    "background": "transparent",
    "view": {"stroke": None},
    "axis": _AXIS,
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "symbolStrokeWidth": 2,
        "orient": "top",
        "title": None,
        "columns": 2,
    },
}


def percent(share: float) -> float:
    """Return a share in percent, to a hundredth: finer than what is printed, coarser than rounding errors.

    Example:
        >>> percent(0.62504999)
        62.5
    """
    return round(100 * share, 2) + 0.0


def estimate_row(view: str, estimate: Estimate, **further: object) -> JsonObject:
    """Return one row: value and interval in percent, n, and the words of the tooltip.

    Args:
        view: What the row is about, as the reader knows it.
        estimate: A share in 0–1.
        further: Places on other axes, and further words.
    """
    return {
        "view": printable(view),
        "value": percent(estimate.value),
        "low": None if estimate.low is None else percent(estimate.low),
        "high": None if estimate.high is None else percent(estimate.high),
        "n": estimate.n_questions,
        "said": f"{format_estimate(estimate)} %",
        "asked": count_words(estimate.n_questions, estimate.n_clusters),
        **further,
    }


def count_words(n_questions: int, n_clusters: int) -> str:
    """Write n for a tooltip.

    Example:
        >>> count_words(40, 20)
        '40 on 20 pictures'
    """
    return f"{format_count(n_questions)} on {format_count(n_clusters)} picture{'' if n_clusters == 1 else 's'}"


def chart(
    rows: Sequence[JsonObject], layers: Iterable[JsonObject], *, height: int = HEIGHT_PX, width: int | None = None
) -> JsonObject:
    """Return a whole specification: numbered rows, layers, and the look.

    Args:
        rows: One per value that can be picked, in reading order.
        layers: Vega-Lite layers over them.
        height: In pixels, without axes.
        width: The same; the room that the page gives if left out.
    """
    return {
        "width": "container" if width is None else width,
        "height": height,
        "autosize": {"type": "fit-x" if width is None else "pad", "contains": "padding"},
        "params": [{"name": "picked", "value": -1}],
        "data": {"name": DATA, "values": [{"at": at, **row} for at, row in enumerate(rows)]},
        "layer": list(layers),
        "config": _CONFIG,
    }


def tooltip(**titles: str) -> list[JsonObject]:
    """Return a tooltip: the named fields under these titles, all of them words."""
    return [{"field": field, "type": "nominal", "title": title} for field, title in titles.items()]


ACCURACY_TOOLTIP = {"view": "view", "said": "accuracy, interval", "asked": "n"}


def accuracy_y(title: str = "accuracy, %") -> JsonObject:
    """Return the vertical axis of every accuracy: 0 to 100 %, whatever the data."""
    return {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, 100]},
        "axis": {"values": [0, 25, 50, 75, 100], "title": title, "grid": True},
    }


def points(encoding: Mapping[str, object], **mark: object) -> JsonObject:
    """Return a layer of points, of which the picked one is larger."""
    return {
        "mark": {"type": "point", "filled": True, "opacity": 1, "strokeWidth": 1.6, **mark},
        "encoding": {"size": {"condition": {**_PICKED, "value": 190}, "value": 64}, **encoding},
    }


def catchers(encoding: Mapping[str, object]) -> JsonObject:
    """Return a layer of large invisible points, so that a finger or a pointer need not hit the small ones."""
    return {"mark": {"type": "point", "filled": True, "size": 500, "opacity": 0}, "encoding": dict(encoding)}


def intervals(x: JsonObject, y: JsonObject, **mark: object) -> JsonObject:
    """Return a layer of upright intervals, on the axes of the values."""
    return {
        "mark": {"type": "rule", "strokeWidth": 1.4, "clip": True, **mark},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }


def chance_line(chance: float | None) -> list[JsonObject]:
    """Return the level of chance as a dashed line with its value, nothing where it is not known."""
    if chance is None:
        return []
    line: JsonObject = {"datum": percent(chance), "type": "quantitative"}
    return [
        once({"mark": {"type": "rule", "strokeDash": [4, 3], "stroke": MUTED}, "encoding": {"y": line}}),
        level_text(line, f"chance {format_percent(chance)} %", MUTED),
    ]


def level_text(line: JsonObject, words: str, colour: str) -> JsonObject:
    """Return words at the right end of a horizontal line."""
    mark = {"type": "text", "align": "right", "baseline": "bottom", "dx": -2, "dy": -2, "x": "width"}
    return once({"mark": {**mark, "fill": colour, "fontSize": 12}, "encoding": {"y": line, "text": {"value": words}}})


def once(layer: JsonObject) -> JsonObject:
    """Return a layer of fixed marks that is drawn one time, and not one time for each row."""
    return {"data": {"values": [{}]}, **layer}


def ticks(values: Sequence[float], label: str, *titles: str) -> JsonObject:
    """Return a horizontal axis with ticks at these values.

    Args:
        values: Where.
        label: Vega expression of ``datum.value`` that writes a tick.
        titles: Lines of the title, such as what is measured and n.
    """
    return {
        "values": list(values),
        "title": [printable(line) for line in titles],
        **AT_RIGHT,
        "grid": False,
        "labelExpr": label,
        "labelOverlap": True,
        "labelFlush": False,
    }
