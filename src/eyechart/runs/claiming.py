"""One headline family for a whole report: every place that shows a contrast takes its verdict from there."""

from collections.abc import Sequence

import msgspec

from eyechart.runs.cells import RunTable
from eyechart.schema import Contrast, Decomposition, GridSummary, Summary
from eyechart.stats.claims import Made, adjust_family, decide, decide_all, take_record
from eyechart.stats.codes import Code

_LEVEL = 0.05


def made_of(table: RunTable) -> Made:
    """Return how far a run without a plan may claim anything: ``interim`` until it is finished."""
    return "exploratory" if table.is_finished else "interim"


def settle(summary: Summary, made: Made) -> Summary:
    """Return a summary whose contrasts carry one adjusted p and one verdict wherever they stand.

    The headline family is what ``Summary.contrasts`` holds, negative controls apart, the sizes of needle grids and
    whether the region of a grid matters. Everything else is secondary and keeps its numbers.

    Args:
        summary: The summary, with all that blocks its contrasts.
        made: How the run was made.
    """
    apart = [one.secondary or Code.SAME_INPUT in one.warnings for one in summary.contrasts]
    members = [one for one, is_apart in zip(summary.contrasts, apart, strict=True) if not is_apart]
    gaps = [grid.map_gap_p for grid in summary.grids if grid.map_gap_p is not None]
    n_tests = sum(one.p is not None for one in members) + len(gaps)
    name = f"{n_tests} contrasts shown" if not gaps else f"{n_tests} contrasts and regions shown"
    family = adjust_family(members, "holm", name, others=gaps)
    adjusted = iter(family.contrasts)
    headline = tuple(
        decide(one, made, secondary=True) if is_apart else decide(next(adjusted), made)
        for one, is_apart in zip(summary.contrasts, apart, strict=True)
    )
    gap_p = iter(family.others)
    grids = tuple(_judged_grid(grid, None if grid.map_gap_p is None else next(gap_p), made) for grid in summary.grids)
    return share_records(msgspec.structs.replace(summary, contrasts=headline, grids=grids), made)


def share_records(summary: Summary, made: Made) -> Summary:
    """Return a summary that shows its headline contrasts alike everywhere, and everything else as secondary.

    Args:
        summary: The summary, whose ``contrasts`` are decided.
        made: How what is secondary was made.
    """
    headline = summary.contrasts

    def shared(contrasts: Sequence[Contrast], known: Sequence[Contrast]) -> tuple[Contrast, ...]:
        taken = (take_record(one, known) for one in contrasts)
        return tuple(decide(one, made) if one.secondary else one for one in taken)

    effects = shared(summary.effects, headline)
    everywhere = (*headline, *effects)
    return msgspec.structs.replace(
        summary,
        effects=effects,
        group_effects=decide_all(summary.group_effects, made, secondary=True),
        decompositions=tuple(_shared_parts(part, everywhere, made) for part in summary.decompositions),
        sensitivity=tuple(
            msgspec.structs.replace(one, readings=decide_all(one.readings, made, secondary=True))
            for one in summary.sensitivity
        ),
        grids=tuple(
            grid if grid.size is None else msgspec.structs.replace(grid, size=shared([grid.size], headline)[0])
            for grid in summary.grids
        ),
        close_views=tuple(
            one if one.noise is None else msgspec.structs.replace(one, noise=shared([one.noise], headline)[0])
            for one in summary.close_views
        ),
    )


def _shared_parts(part: Decomposition, known: Sequence[Contrast], made: Made) -> Decomposition:
    parts = {name: getattr(part, name) for name in ("total", "distraction", "canvas", "interaction")}
    taken = {name: take_record(one, known) for name, one in parts.items() if one is not None}
    return msgspec.structs.replace(
        part, **{name: decide(one, made) if one.secondary else one for name, one in taken.items()}
    )


def _judged_grid(grid: GridSummary, p: float | None, made: Made) -> GridSummary:
    """Return a grid with whether its regions are told apart; base samples left out for a missing answer forbid it."""
    is_enough = grid.region_map_gap is not None and not grid.region_map_gap.warnings
    holds = made != "interim" and is_enough and p is not None and p < _LEVEL
    return msgspec.structs.replace(
        grid,
        map_gap_p_adjusted=p,
        claimed=holds and not grid.n_dropped,
        standing="conditional" if holds and grid.n_dropped else made,
    )
