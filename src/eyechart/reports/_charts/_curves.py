"""Accuracy over the scale of the picture, over the shown area, and over the size of a needle grid."""

from collections.abc import Iterable, Mapping

from eyechart.figures import format_px
from eyechart.figures._numbers import format_label
from eyechart.figures._series import Level, Point, context_levels, count_note, resolution_points
from eyechart.reports._charts._frame import (
    ACCENT,
    ACCURACY_TOOLTIP,
    INK,
    LOOKS,
    MUTED,
    SCALE_LABEL,
    accuracy_y,
    catchers,
    chance_line,
    chart,
    estimate_row,
    intervals,
    once,
    percent,
    points,
    ticks,
    tooltip,
)
from eyechart.schema import Estimate, GridSummary, JsonObject, Summary

# Below this share of the target's sent pixels the model shrank the picture further by itself.
_BINDING = 0.98
_CLOSEST_TICKS = 1.35
# The whole canvas, which has no area ratio, stands apart at the right; families stand side by side at one ratio.
_CANVAS_FACTOR = 2.2
_BESIDE = {"crop": 1 / 1.045, "whiteground": 1.0, "target_only": 1.045}
_GRID_NAMES = {"white": "white ground", "captioned": "among other pictures"}
_GRID_LOOKS = {"white": LOOKS["crop"], "captioned": LOOKS["whiteground"]}


def resolution_charts(summary: Summary) -> tuple[JsonObject, ...]:
    """Return accuracy against the linear scale of the whole picture, on a log₂ axis."""
    found = resolution_points(summary)
    if not found:
        return ()
    scales = [point.x or 1.0 for point in found]
    marks = [2.0**-exponent for exponent in range(16) if 2.0**-exponent >= min(scales) * 0.99]
    x: JsonObject = {
        "field": "scale",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "domain": [min(scales) / 1.12, max(scales) * 1.12], "nice": False},
        "axis": ticks(
            marks, SCALE_LABEL, "linear scale of the picture (1 = original)", count_note(one.estimate for one in found)
        ),
    }
    y = accuracy_y()
    shown = tooltip(**ACCURACY_TOOLTIP, seen="target seen, px")
    layers: list[JsonObject] = [
        *_limit(found),
        {
            "mark": {"type": "area", "color": ACCENT, "opacity": 0.16},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "line", "color": ACCENT, "strokeWidth": 2}, "encoding": {"x": x, "y": y}},
        *chance_line(summary.chance),
        points({"x": x, "y": y, "tooltip": shown}, color=ACCENT),
        catchers({"x": x, "y": y, "tooltip": shown}),
    ]
    return (chart([_resolution_row(point) for point in found], layers),)


def _resolution_row(point: Point) -> JsonObject:
    evidence = f" ({point.condition.seen_evidence})" if point.condition.seen_evidence else ""
    return estimate_row(
        point.condition.condition,
        point.estimate,
        scale=point.x,
        seen=f"{format_px(point.condition.target_px_seen)}{evidence}",
    )


def _limit(found: Iterable[Point]) -> list[JsonObject]:
    """Return a shade over the scales at which the model shrank the picture further by itself."""
    bound = [
        point.x or 1.0
        for point in found
        if point.condition.target_px_sent
        and point.condition.target_px_seen
        and point.condition.target_px_seen < _BINDING * point.condition.target_px_sent
    ]
    if not bound:
        return []
    left: JsonObject = {"datum": min(bound) / 1.06, "type": "quantitative"}
    return [
        once({"mark": {"type": "rect", "color": MUTED, "opacity": 0.18, "x2": "width"}, "encoding": {"x": left}}),
        once(
            {
                "mark": {"type": "text", "align": "right", "baseline": "bottom", "x": "width", "y": -4, "fill": MUTED},
                "encoding": {"text": {"value": "shaded: shrunk further by the model"}},
            }
        ),
    ]


def context_charts(summary: Summary) -> tuple[JsonObject, ...]:
    """Return accuracy of crops, whitegrounds and target-only views against the shown area, one chart per level."""
    return tuple(_level_chart(level, summary) for level in context_levels(summary))


def _level_chart(level: Level, summary: Summary) -> JsonObject:
    families = level.families
    ratios = sorted({point.x for found in families.values() for point in found if point.x})
    canvas = max(ratios, default=1.0) * _CANVAS_FACTOR
    rows = [
        estimate_row(
            point.condition.condition,
            point.estimate,
            family=family.replace("_", " "),
            ratio=(point.x or canvas) * _BESIDE[family],
            is_canvas=point.x is None,
        )
        for family, found in families.items()
        for point in found
    ]
    marks: list[float] = []
    for ratio in ratios:
        if not marks or ratio >= marks[-1] * _CLOSEST_TICKS:
            marks.append(ratio)
    if any(row["is_canvas"] for row in rows):
        marks.append(canvas)
    edge = max(ratios, default=0.0) * 1.5
    shown = [point.estimate for found in families.values() for point in found]
    within = f", in {format_label(level.name)}" if level.name else ""
    x: JsonObject = {
        "field": "ratio",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [min(marks) / 1.15, max(marks) * 1.15], "nice": False},
        "axis": ticks(
            marks,
            f"datum.value > {edge} ? 'canvas' : format(datum.value, '~r') + '×'",
            f"shown area as a multiple of the target’s{within}",
            count_note([*shown, level.original] if level.original else shown),
            *([f"dash-dotted with band: original {percent(level.original.value):.1f} %"] if level.original else []),
        ),
    }
    return _series_chart(rows, x, [family.replace("_", " ") for family in families], level.original, summary.chance)


def _series_chart(
    rows: list[JsonObject], x: JsonObject, names: list[str], original: Estimate | None, chance: float | None
) -> JsonObject:
    """Return a chart of several families, each with its colour, marker and dashes; a click in the legend picks one."""
    looks = [LOOKS[name.replace(" ", "_")] for name in names]
    series = _series_channels("family", names, looks)
    y, shown = accuracy_y(), tooltip(**ACCURACY_TOOLTIP)
    faded: JsonObject = {"condition": {"param": "family", "value": 1}, "value": 0.15}
    bars = intervals(x, y)
    bars["encoding"] = {**_channels(bars), "color": series["color"], "opacity": faded}
    marks = points({"x": x, "y": y, **series, "tooltip": shown, "opacity": faded})
    marks["params"] = [{"name": "family", "select": {"type": "point", "fields": ["family"]}, "bind": "legend"}]
    return chart(
        rows,
        [
            *_original(original),
            *chance_line(chance),
            bars,
            *_lines(x, y, series["color"], dict(zip(names, looks, strict=True)), opacity=faded),
            marks,
            catchers({"x": x, "y": y, "tooltip": shown}),
        ],
    )


def _channels(layer: JsonObject) -> JsonObject:
    encoding = layer["encoding"]
    return encoding if isinstance(encoding, dict) else {}


def _series_channels(field: str, names: list[str], looks: list[tuple[str, str, list[int]]]) -> JsonObject:
    """Return colour and shape of named series."""

    def channel(values: list[str]) -> JsonObject:
        return {"field": field, "type": "nominal", "scale": {"domain": names, "range": values}}

    return {"color": channel([colour for colour, _, _ in looks]), "shape": channel([shape for _, shape, _ in looks])}


def _lines(
    x: JsonObject, y: JsonObject, color: object, looks: Mapping[str, tuple[str, str, list[int]]], **further: object
) -> list[JsonObject]:
    """Return one line per series with its own dashes, over the rows that have a place on the axis."""
    return [
        {
            "transform": [{"filter": f"datum.family === '{name}' && !datum.is_canvas"}],
            "mark": {"type": "line", "strokeWidth": 2, "strokeDash": dashes},
            "encoding": {"x": x, "y": y, "color": color, **further},
        }
        for name, (_, _, dashes) in looks.items()
    ]


def _original(estimate: Estimate | None) -> list[JsonObject]:
    """Return the accuracy on the untouched pictures as a line with its band."""
    if estimate is None:
        return []
    line: JsonObject = {"datum": percent(estimate.value), "type": "quantitative"}
    rule = once({"mark": {"type": "rule", "stroke": INK, "strokeDash": [8, 2, 1, 2]}, "encoding": {"y": line}})
    if estimate.interval is None:
        return [rule]
    low, high = map(percent, estimate.interval)
    band: JsonObject = {"y": {"datum": low, "type": "quantitative"}, "y2": {"datum": high}}
    whole = {"type": "rect", "color": INK, "opacity": 0.08, "x": 0, "x2": "width"}
    return [once({"mark": whole, "encoding": band}), rule]


def size_charts(summary: Summary) -> tuple[JsonObject, ...]:
    """Return the score of square needle grids against their size."""
    scored = [(grid, grid.perf) for grid in summary.grids if grid.perf is not None and grid.rows == grid.columns]
    styles = [style for style in _GRID_NAMES if sum(grid.style == style for grid, _ in scored) > 1]
    chosen = sorted((pair for pair in scored if pair[0].style in styles), key=lambda pair: pair[0].columns)
    if not chosen:
        return ()
    sides = sorted({grid.columns for grid, _ in chosen})
    x: JsonObject = {
        "field": "side",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [min(sides) / 1.2, max(sides) * 1.2], "nice": False},
        "axis": ticks(
            sides, "datum.value + '×' + datum.value", "regions of the grid", count_note(perf for _, perf in chosen)
        ),
    }
    names = [_GRID_NAMES[style] for style in styles]
    looks = [_GRID_LOOKS[style] for style in styles]
    series = _series_channels("family", names, looks)
    y, shown = accuracy_y("Perf, %"), tooltip(view="grid", said="Perf, interval", asked="n", by_chance="by chance")
    bars = intervals(x, y)
    bars["encoding"] = {**_channels(bars), "color": series["color"]}
    layers: list[JsonObject] = [
        _grid_chance(x),
        bars,
        *_lines(x, y, series["color"], dict(zip(names, looks, strict=True))),
        points({"x": x, "y": y, **series, "tooltip": shown}),
        catchers({"x": x, "y": y, "tooltip": shown}),
    ]
    rows = [_size_row(grid, perf) for grid, perf in chosen]
    return (chart(rows, layers),)


def _size_row(grid: GridSummary, perf: Estimate) -> JsonObject:
    chance = None if grid.chance is None else percent(grid.chance)
    return estimate_row(
        grid.name,
        perf,
        family=_GRID_NAMES[grid.style],
        side=grid.columns,
        chance=chance,
        by_chance="not known" if chance is None else f"{chance:.1f} %",
    )


def _grid_chance(x: JsonObject) -> JsonObject:
    """Return the level of chance, which differs by size."""
    return {
        "transform": [{"filter": "datum.chance !== null"}],
        "mark": {"type": "line", "stroke": MUTED, "strokeDash": [4, 3], "strokeWidth": 1.2},
        "encoding": {"x": x, "y": {**accuracy_y("Perf, %"), "field": "chance"}},
    }
