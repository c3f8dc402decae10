"""Accuracies by category of one run, for figures that show them side by side."""

from eyechart.figures._series import accuracies
from eyechart.schema import Estimate, Summary

_PREFIX = "task: "
_FEWEST = 3


def category_estimates(summary: Summary) -> dict[str, Estimate]:
    """Return category → accuracy on the original, or on the first condition that has a score; empty below three."""
    shown = accuracies(summary)
    condition = next((c.condition for c in summary.conditions if c.family == "original" and c.condition in shown), None)
    condition = condition or next(iter(shown), None)
    found = {
        (estimate.subset or "").removeprefix(_PREFIX): estimate
        for estimate in summary.breakdowns
        if estimate.condition == condition and (estimate.subset or "").startswith(_PREFIX)
    }
    return found if len(found) >= _FEWEST else {}
