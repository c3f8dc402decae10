"""Accuracy over the size of the target in the pixels that the model saw: by view, and pooled in bands."""

from math import isfinite, log2, sqrt

from eyechart.figures import accuracies, format_half_size, format_px
from eyechart.figures._numbers import BANDS_DIFFER
from eyechart.figures._series import count_note
from eyechart.reports._charts._frame import (
    ACCENT,
    ACCURACY_TOOLTIP,
    INK,
    LOOKS,
    MUTED,
    PX_LABEL,
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
from eyechart.schema import ConditionSummary, Estimate, HalfAccuracySize, JsonObject, SizeBand, Summary

_SCENE = "whole picture"
_OTHER = "other views"
_FAMILY_LOOKS = {
    _SCENE: (INK, "diamond"),
    **{name.replace("_", " "): (colour, shape) for name, (colour, shape, _) in LOOKS.items()},
    _OTHER: (MUTED, "triangle-down"),
}
_MOST_TICKS = 7
_TITLE = "target as seen: shorter side, px"


def acuity_charts(summary: Summary) -> tuple[JsonObject, ...]:
    """Return every view at the median seen size of its target, with the curve within questions and its half size."""
    found = accuracies(summary)
    seen = [
        (condition.target_px_seen, condition, found[condition.condition])
        for condition in summary.conditions
        if condition.target_px_seen and condition.condition in found
    ]
    if not seen:
        return ()
    seen.sort(key=lambda place: (place[0], place[1].condition))
    joined = {name for one in summary.close_views if one.is_one_picture for name in (one.condition, one.baseline)}
    rows = [_view_row(px, condition, estimate, joined) for px, condition, estimate in seen]
    size = next((one for one in summary.half_accuracy_sizes if one.task is None), None)
    names = [name for name in _FAMILY_LOOKS if any(row["family"] == name for row in rows)]
    sizes = [px for px, _, _ in seen] + [band.px for band in (size.bands if size else ())]
    note = count_note(estimate for _, _, estimate in seen)
    x = _px_axis(min(sizes) / 1.25, max(sizes) * 1.6, f"{_TITLE}, median", note)
    y = accuracy_y()
    color = _channel(names, [_FAMILY_LOOKS[name][0] for name in names])
    series: JsonObject = {"color": color, "shape": _channel(names, [_FAMILY_LOOKS[name][1] for name in names])}
    shown = tooltip(**ACCURACY_TOOLTIP, seen="target seen, px", note="note")
    bars = intervals(x, y)
    bars["encoding"] = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": color}
    hollow: JsonObject = {"condition": {"test": "datum.is_joined", "value": 0.15}, "value": 1}
    marks = points({"x": x, "y": y, **series, "stroke": color, "fillOpacity": hollow, "tooltip": shown})
    layers: list[JsonObject] = [
        *_within(size, summary.chance or 0.0, x),
        *chance_line(summary.chance),
        bars,
        marks,
        catchers({"x": x, "y": y, "tooltip": shown}),
    ]
    return (chart(rows, layers),)


def _view_row(px: float, condition: ConditionSummary, estimate: Estimate, joined: set[str]) -> JsonObject:
    evidence = f" ({condition.seen_evidence})" if condition.seen_evidence else ""
    is_joined = condition.condition in joined
    return estimate_row(
        condition.condition,
        estimate,
        px=round(px, 3),
        family=_family(condition.family),
        seen=f"{format_px(px)}{evidence}",
        is_joined=is_joined,
        note="one picture with another view: their difference is noise" if is_joined else "",
    )


def _family(family: str) -> str:
    if family in {"original", "downsample"}:
        return _SCENE
    return family.replace("_", " ") if family in LOOKS else _OTHER


def _channel(names: list[str], values: list[str]) -> JsonObject:
    return {"field": "family", "type": "nominal", "scale": {"domain": names, "range": values}}


def _px_axis(low: float, high: float, *titles: str) -> JsonObject:
    """Return a log₂ axis of pixels with round ticks."""
    exponents = range(int(log2(low)) - 1, int(log2(high)) + 2)
    marks = [2.0**exponent for exponent in exponents if low <= 2.0**exponent <= high]
    marks = marks[:: max(1, -(-len(marks) // _MOST_TICKS))]
    return {
        "field": "px",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "domain": [low, high], "nice": False},
        "axis": ticks(marks, PX_LABEL, *titles),
    }


def _within(size: HalfAccuracySize | None, chance: float, x: JsonObject) -> list[JsonObject]:
    """Return the curve within questions as accuracies, and the half-accuracy target size with its interval."""
    if size is None:
        return []
    layers: list[JsonObject] = []
    if size.px is not None:
        bounds = {"x": {"datum": size.low or size.px, "type": "quantitative"}, "x2": {"datum": size.high}}
        words = format_half_size(size).removesuffix(".")
        if size.high is not None:
            layers.append(once({"mark": {"type": "rect", "color": ACCENT, "opacity": 0.12}, "encoding": bounds}))
        line: JsonObject = {"x": {"datum": size.px, "type": "quantitative"}}
        layers.append(once({"mark": {"type": "rule", "stroke": ACCENT, "strokeDash": [2, 3]}, "encoding": line}))
        above = {"type": "text", "align": "right", "baseline": "bottom", "x": "width", "y": -4, "fill": ACCENT}
        layers.append(once({"mark": above, "encoding": {"text": {"value": words}}}))
    if size.has_curve:
        curve = [
            {"px": round(band.px, 3), "value": percent(chance + (1 - chance) * band.fitted)} for band in size.bands
        ]
        layers.append(
            {
                "data": {"values": curve},
                "mark": {"type": "line", "color": ACCENT, "strokeWidth": 1.8, "opacity": 0.8},
                "encoding": {"x": x, "y": accuracy_y()},
            }
        )
    return layers


def seen_charts(summary: Summary) -> tuple[JsonObject, ...]:
    """Return accuracy by bands of the seen size of the target, views pooled."""
    bands = summary.size_bands
    if not bands:
        return ()
    rows = [_band_row(band) for band in bands]
    edges = sorted({edge for band in bands for edge in _limits(band)})
    x = _px_axis(edges[0] / 1.1, edges[-1] * 1.1, _TITLE, count_note(band.estimate for band in bands), BANDS_DIFFER)
    y = accuracy_y()
    shown = tooltip(view="target seen", said="accuracy, interval", asked="n")
    layers: list[JsonObject] = [
        *chance_line(summary.chance),
        {
            "mark": {"type": "rule", "color": ACCENT, "strokeWidth": 1.2, "opacity": 0.6},
            "encoding": {"x": {**x, "field": "from_px"}, "x2": {"field": "to_px"}, "y": y},
        },
        intervals(x, y, color=ACCENT),
        {"mark": {"type": "line", "color": ACCENT, "strokeWidth": 1.6}, "encoding": {"x": x, "y": y}},
        points({"x": x, "y": y, "tooltip": shown}, color=ACCENT),
        catchers({"x": x, "y": y, "tooltip": shown}),
    ]
    return (chart(rows, layers),)


def _band_row(band: SizeBand) -> JsonObject:
    low, high = _limits(band)
    words = f"from {format_px(band.low_px)} px"
    if isfinite(band.high_px):
        words = f"{format_px(band.low_px)} to below {format_px(band.high_px)} px"
    return estimate_row(words, band.estimate, px=round(sqrt(low * high), 3), from_px=low, to_px=high)


def _limits(band: SizeBand) -> tuple[float, float]:
    """Return limits that can stand on a log axis: an open end becomes a factor of two."""
    high = band.high_px if isfinite(band.high_px) else 2 * max(band.low_px, 1.0)
    return (band.low_px if band.low_px > 0 else high / 2), high
