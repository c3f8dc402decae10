"""Sentences that give a figure's numbers to readers who do not see it."""

from collections.abc import Callable, Iterable

from eyechart.figures._numbers import format_count, format_estimate, format_percent
from eyechart.figures._series import Point
from eyechart.schema import Estimate, Summary


def opening(summary: Summary, horizontal: str) -> str:
    """Say what is plotted against what, for which model and questions, and the chance level."""
    chance = "" if summary.chance is None else f" Chance is {format_percent(summary.chance)} %."
    return (
        f"Accuracy in percent, with its interval, against {horizontal}, for {summary.run.model.spec} "
        f"on {summary.run.benchmark.name}.{chance}"
    )


def describe_estimate(label: str, estimate: Estimate) -> str:
    """Say one accuracy with interval and n."""
    return f"{label}: {format_estimate(estimate)}, n = {format_count(estimate.n_questions)}"


def describe_points(points: Iterable[Point], label: Callable[[Point], str]) -> str:
    """Say the accuracies of a curve, point by point."""
    return "; ".join(describe_estimate(label(point), point.estimate) for point in points) + "."
