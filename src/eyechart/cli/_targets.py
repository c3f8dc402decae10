"""Refuse views that need a target box where there is none."""

from typing import TYPE_CHECKING

from eyechart.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyechart.kinds import Benchmark
    from eyechart.schema import View

_N_SHOWN = 3


def check_targets(benchmark: "Benchmark", views: "Sequence[View]") -> None:
    """Refuse views that need a target box where no question has one.

    Raises:
        UsageError: If so; the message counts them, and the hint names those that are possible.
    """
    from eyechart.views import format_view, needs_target

    released = set(benchmark.released_views())
    impossible = [view for view in views if format_view(view) not in released and needs_target(view)]
    if not impossible or any(question.targets for question in benchmark.questions()):
        return
    possible = [format_view(view) for view in views if view not in impossible]
    names = ", ".join(format_view(view) for view in impossible[:_N_SHOWN])
    raise UsageError(
        f"{len(impossible)} of {len(views)} views need a target box ({names}{', …' if impossible[_N_SHOWN:] else ''}), "
        f"and no question of {benchmark.identity.name} has one",
        hint=f"give --boxes FILE{', or --views ' + ','.join(possible) if possible else ''}",
    )
