"""Interactive charts: the figures of a report as Vega-Lite specifications, made from the same estimates."""

from collections.abc import Callable

from eyechart.reports._charts._acuity import acuity_charts, seen_charts
from eyechart.reports._charts._bars import category_charts, forest_charts
from eyechart.reports._charts._curves import context_charts, resolution_charts, size_charts
from eyechart.reports._charts._regions import distance_charts, region_charts
from eyechart.schema import JsonObject, Summary

Charts = tuple[JsonObject, ...]

_BUILT: dict[str, Callable[[Summary], Charts]] = {
    "acuity_curve": acuity_charts,
    "region_heatmap": region_charts,
    "manhattan_curve": distance_charts,
    "size_curve": size_charts,
    "resolution_curve": resolution_charts,
    "context_curve": context_charts,
    "seen_curve": seen_charts,
    "view_forest": forest_charts,
    "category_bars": category_charts,
}


def charts_of(summary: Summary, name: str) -> Charts:
    """Return the charts of one figure, one per panel; empty for a figure that has only a still picture.

    A chart's data are one row per estimate: numbers in percent or percentage points, and beside them the words of a
    tooltip, written as tables write them. Colours are names of the page's own, so that a dark page has dark charts.

    Args:
        summary: The summary.
        name: Name of the figure, such as ``view_forest``.
    """
    build = _BUILT.get(name)
    return () if build is None else build(summary)
