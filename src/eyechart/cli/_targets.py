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
    from eyechart.opening import benchmark_options
    from eyechart.registry import names
    from eyechart.views import format_view, needs_target

    released = set(benchmark.released_views())
    impossible = [view for view in views if format_view(view) not in released and needs_target(view)]
    if not impossible or any(question.targets for question in benchmark.questions()):
        return
    possible = [format_view(view) for view in views if view not in impossible]
    shown = ", ".join(format_view(view) for view in impossible[:_N_SHOWN])
    name = benchmark.identity.name
    can = benchmark_options(name) if name in names("benchmark") else ()
    give = "give --boxes FILE" if "boxes" in can else "write a column box, and say --option box_format=xyxy"
    raise UsageError(
        f"{len(impossible)} of {len(views)} views need a target box ({shown}{', …' if impossible[_N_SHOWN:] else ''}), "
        f"and no question of {name} has one",
        hint=f"{give}{', or --views ' + ','.join(possible) if possible else ''}",
    )
