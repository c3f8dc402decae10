"""Paired differences of every view, and accuracy by category: one row each, numbers to the right."""

from math import ceil, floor

from eyechart.figures import (
    format_contrast,
    format_count,
    format_p,
    format_percent,
    main_contrasts,
    name_baseline,
    name_difference,
)
from eyechart.figures._categories import category_estimates
from eyechart.figures._series import count_note
from eyechart.reports._charts._frame import (
    ACCENT,
    ACCURACY_TOOLTIP,
    AT_RIGHT,
    INK,
    MUTED,
    PAPER,
    chart,
    count_words,
    estimate_row,
    once,
    percent,
    points,
    tooltip,
)
from eyechart.reports._printable import printable
from eyechart.reports._verdicts import verdict_of
from eyechart.schema import Contrast, Estimate, JsonObject, Summary

_ROW_PX = 22
_SMALLEST_RANGE = 10
_KINDS = ("holds", "open", "untested")


def forest_charts(summary: Summary) -> tuple[JsonObject, ...]:
    """Return the paired difference of every view from the baseline, largest gain on top; blocked ones are left out."""
    shown = sorted(
        (contrast for contrast in main_contrasts(summary).values() if not contrast.blocked_by),
        key=lambda contrast: -contrast.value,
    )
    if not shown:
        return ()
    rows = [_contrast_row(contrast, summary) for contrast in shown]
    reach = [bound for contrast in shown for bound in (contrast.value, *(contrast.interval or ()))]
    low, high = 10 * floor(10 * min(reach)), 10 * ceil(10 * max(reach))
    axis: JsonObject = {
        "title": [f"difference from {printable(name_baseline(summary) or '')}, points", count_note(shown)],
        **AT_RIGHT,
        "grid": True,
        "format": "+d",
        "labelExpr": "datum.value === 0 ? '0' : datum.label",
        "tickCount": 6,
        "labelFlush": False,
    }
    domain = [min(low, -_SMALLEST_RANGE), max(high, _SMALLEST_RANGE)]
    x: JsonObject = {"field": "value", "type": "quantitative", "scale": {"domain": domain}, "axis": axis}
    y = _names([str(row["view"]) for row in rows])
    words = tooltip(
        view="view", said="points, interval", verdict="verdict", p="p adjusted", asked="n", flips="gained, lost"
    )
    colour = _by_kind([ACCENT, MUTED, MUTED])
    layers: list[JsonObject] = [
        once({"mark": {"type": "rule", "stroke": INK}, "encoding": {"x": {"datum": 0, "type": "quantitative"}}}),
        {
            "mark": {"type": "rule"},
            "encoding": {
                "x": {**x, "field": "low"},
                "x2": {"field": "high"},
                "y": y,
                "color": {**colour, "legend": None},
                "strokeWidth": {"condition": {"test": "datum.kind === 'holds'", "value": 2.4}, "value": 1.4},
            },
        },
        points(
            {
                "x": x,
                "y": y,
                "stroke": {**colour, "legend": None},
                "fill": {**_by_kind([ACCENT, PAPER, PAPER]), "legend": None},
                "shape": {**_by_kind(["square", "circle", "cross"]), "legend": None},
                "tooltip": words,
            }
        ),
        _whole_rows(y, words),
    ]
    return (chart(rows, layers, height=_ROW_PX * len(rows)),)


def _contrast_row(contrast: Contrast, summary: Summary) -> JsonObject:
    verdict = verdict_of(contrast)
    return {
        "view": printable(name_difference(contrast, summary)),
        "value": percent(contrast.value),
        "low": None if contrast.low is None else percent(contrast.low),
        "high": None if contrast.high is None else percent(contrast.high),
        "n": contrast.n_questions,
        "said": format_contrast(contrast),
        "asked": count_words(contrast.n_questions, contrast.n_clusters),
        "p": format_p(contrast.p_adjusted),
        "flips": f"{format_count(contrast.gained)}, {format_count(contrast.lost)}",
        "verdict": verdict.words,
        "kind": verdict.kind,
    }


def _by_kind(values: list[str]) -> JsonObject:
    return {"field": "kind", "type": "nominal", "scale": {"domain": list(_KINDS), "range": values}}


def _names(names: list[str]) -> JsonObject:
    """Return the axis of names, in the order of the rows."""
    axis: JsonObject = {"title": None, "domain": False, "ticks": False, "labelPadding": 6}
    return {"field": "view", "type": "nominal", "sort": names, "axis": axis}


def _whole_rows(y: JsonObject, words: list[JsonObject]) -> JsonObject:
    """Return a layer that catches the pointer anywhere in a row."""
    return {
        "mark": {"type": "bar", "x": 0, "x2": "width", "height": _ROW_PX, "opacity": 0},
        "encoding": {"y": y, "tooltip": words},
    }


def category_charts(summary: Summary) -> tuple[JsonObject, ...]:
    """Return the accuracy of every category with its interval and its own chance level, best first."""
    found = category_estimates(summary)
    if not found:
        return ()
    ordered = sorted(found.items(), key=lambda entry: (-entry[1].value, entry[0]))
    rows = [_category_row(name, estimate) for name, estimate in ordered]
    title = ["accuracy, % (dashed: chance)", count_note(found.values())]
    axis: JsonObject = {"values": [0, 25, 50, 75, 100], "title": title, **AT_RIGHT, "grid": True}
    x: JsonObject = {"field": "value", "type": "quantitative", "scale": {"domain": [0, 100]}, "axis": axis}
    y = _names([str(row["view"]) for row in rows])
    words = tooltip(**{**ACCURACY_TOOLTIP, "view": "category"}, by_chance="by chance")
    thick: JsonObject = {"condition": {"test": "datum.at === picked", "value": 0.6}, "value": 0.35}
    layers: list[JsonObject] = [
        {"mark": {"type": "bar", "color": ACCENT}, "encoding": {"x": x, "y": y, "fillOpacity": thick}},
        {
            "mark": {"type": "rule", "stroke": INK, "strokeWidth": 1.4},
            "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y},
        },
        {"mark": {"type": "tick", "color": INK, "thickness": 2}, "encoding": {"x": x, "y": y}},
        {
            "transform": [{"filter": "datum.chance !== null"}],
            "mark": {
                "type": "tick",
                "color": INK,
                "thickness": 0,
                "stroke": INK,
                "strokeWidth": 1.4,
                "strokeDash": [2, 2],
            },
            "encoding": {"x": {**x, "field": "chance"}, "y": y},
        },
        _whole_rows(y, words),
    ]
    return (chart(rows, layers, height=(_ROW_PX + 4) * len(rows)),)


def _category_row(name: str, estimate: Estimate) -> JsonObject:
    chance = estimate.chance
    return estimate_row(
        name,
        estimate,
        chance=None if chance is None else percent(chance),
        by_chance="not known" if chance is None else f"{format_percent(chance)} %",
    )
