"""Needle grids: the score of every region as it lies in the picture, and by distance from the top left."""

from eyechart.figures import format_count
from eyechart.figures._series import count_note
from eyechart.reports._charts._frame import (
    ACCENT,
    AT_RIGHT,
    INK,
    MUTED,
    accuracy_y,
    catchers,
    chart,
    estimate_row,
    intervals,
    percent,
    points,
    tooltip,
)
from eyechart.schema import GridSummary, JsonObject, RegionCell, Summary

_LARGEST_CELL_PX = 60
_MOST_WIDTH_PX = 300
_BRIGHT = 55
_MOST_WITH_SCORE = 12


def region_charts(summary: Summary) -> tuple[JsonObject, ...]:
    """Return one heat map per grid, coloured on one scale from 0 to 100 %; a region like the mean is hollow."""
    return tuple(
        _heatmap(grid)
        for grid in summary.grids
        if len(grid.cells) > 1 and any(cell.estimate is not None for cell in grid.cells)
    )


def _heatmap(grid: GridSummary) -> JsonObject:
    scored = [cell.estimate for cell in grid.cells if cell.estimate is not None]
    cell_px = min(_LARGEST_CELL_PX, _MOST_WIDTH_PX // grid.columns)
    notes = [f"per region: {count_note(scored)}"]
    if not all(cell.is_apart for cell in grid.cells):
        notes.append("hollow: cannot be told from the mean of all regions")
    x = _place("column", f"column of {grid.name}", *notes)
    y = _place("row", "row")
    color: JsonObject = {
        "field": "value",
        "type": "quantitative",
        "scale": {"scheme": "cividis", "domain": [0, 100]},
        "legend": {
            "type": "gradient",
            "title": "score, %",
            "values": [0, 50, 100],
            "gradientLength": 160,
            "columns": 3,
            "orient": "top",
        },
    }
    shown = tooltip(view="region", said="score, interval", asked="n", verdict="against the mean of the regions")
    picked: JsonObject = {"condition": {"test": "datum.at === picked", "value": 3}, "value": 0}
    ink: JsonObject = {
        "condition": [
            {"test": "!datum.is_apart", "value": INK},
            {"test": f"datum.value > {_BRIGHT}", "value": "#101010"},
        ],
        "value": "#fefefe",
    }
    layers: list[JsonObject] = [
        {
            "transform": [{"filter": "datum.is_apart && isValid(datum.value)"}],
            "mark": {"type": "rect", "stroke": INK},
            "encoding": {"x": x, "y": y, "color": color, "tooltip": shown, "strokeWidth": picked},
        },
        {
            "transform": [{"filter": "!datum.is_apart && isValid(datum.value)"}],
            "mark": {"type": "rect", "filled": False, "fill": "transparent"},
            "encoding": {
                "x": x,
                "y": y,
                "stroke": color,
                "tooltip": shown,
                "strokeWidth": {"condition": {"test": "datum.at === picked", "value": 6}, "value": 3},
            },
        },
    ]
    if grid.columns <= _MOST_WITH_SCORE:
        layers.append(
            {
                "mark": {"type": "text", "fontSize": 11, "tooltip": None},
                "encoding": {"x": x, "y": y, "text": {"field": "text", "type": "nominal"}, "color": ink},
            }
        )
    return chart(
        [_cell_row(cell) for cell in grid.cells], layers, height=cell_px * grid.rows, width=cell_px * grid.columns
    )


def _place(field: str, *titles: str) -> JsonObject:
    axis: JsonObject = {"title": list(titles), "labelAngle": 0, "domain": False, "ticks": False}
    return {"field": field, "type": "ordinal", "axis": axis, "scale": {"padding": 0.12}}


def _cell_row(cell: RegionCell) -> JsonObject:
    view = f"row {cell.row}, column {cell.column}"
    place: JsonObject = {"row": cell.row, "column": cell.column, "is_apart": cell.is_apart}
    if cell.estimate is None:
        return {"view": view, "value": None, "said": "not scored", "asked": "0", "text": "–", "verdict": "", **place}
    verdict = "differs" if cell.is_apart else "cannot be told apart"
    return estimate_row(view, cell.estimate, text=f"{100 * cell.estimate.value:.0f}", verdict=verdict, **place)


def distance_charts(summary: Summary) -> tuple[JsonObject, ...]:
    """Return one curve per grid: score by Manhattan distance, over the band of curves without positional effect."""
    return tuple(_distance(grid) for grid in summary.grids if grid.curve)


def _distance(grid: GridSummary) -> JsonObject:
    last = max(point.distance for point in grid.curve)
    x: JsonObject = {
        "field": "distance",
        "type": "quantitative",
        "scale": {"domain": [-0.5, last + 0.5], "nice": False},
        "axis": {
            "title": [
                f"rows + columns from the top left of {grid.name}",
                count_note(point.estimate for point in grid.curve),
            ],
            **AT_RIGHT,
            "values": [point.distance for point in grid.curve],
            "format": "d",
            "grid": False,
        },
    }
    y = accuracy_y("score, %")
    shown = tooltip(
        view="distance", said="score, interval", regions="regions", asked="n", null="without positional effect"
    )
    rows = [
        estimate_row(
            str(point.distance),
            point.estimate,
            distance=point.distance,
            regions=format_count(point.n_regions),
            null=f"{percent(point.null_low):.1f} to {percent(point.null_high):.1f} %",
            null_low=percent(point.null_low),
            null_high=percent(point.null_high),
        )
        for point in grid.curve
    ]
    layers: list[JsonObject] = [
        {
            "mark": {"type": "area", "color": MUTED, "opacity": 0.2},
            "encoding": {"x": x, "y": {**y, "field": "null_low"}, "y2": {"field": "null_high"}},
        },
        intervals(x, y, color=ACCENT),
        {"mark": {"type": "line", "color": ACCENT, "strokeWidth": 2}, "encoding": {"x": x, "y": y}},
        points({"x": x, "y": y, "tooltip": shown}, color=ACCENT),
        catchers({"x": x, "y": y, "tooltip": shown}),
    ]
    return chart(rows, layers)
