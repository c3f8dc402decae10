"""How the numbers of a report were made: per quantity its n, its interval, its test and its correction; and seeds."""

from collections.abc import Iterable, Iterator, Sequence

from eyechart.figures import MISSING, format_count, format_level
from eyechart.reports._table import Row, Table, name_columns
from eyechart.schema import Contrast, Estimate, Summary

_BOOTSTRAP = "cluster bootstrap over pictures"
_WITHIN = "logistic curve with question effects, profile with variance by leaving out pictures"


def statistics_table(summary: Summary) -> Table:
    """Return one row per kind of number and way of estimating it; empty where nothing was estimated."""
    columns = name_columns("what", "interval", "test", "corrected by", "over", "n", "pictures", "level", words=5)
    rows = tuple(_rows(summary))
    caption = "Questions about one picture are one cluster; views of one question are paired."
    return Table(caption, columns, rows, _notes(summary) if rows else ())


def used_methods(summary: Summary) -> tuple[str, ...]:
    """Return the names of all ways of estimating, testing and correcting that the summary's records tell."""
    records = [record for _, found in _kinds(summary) for record in found]
    named = [one.method for one in records]
    for one in records:
        if isinstance(one, Contrast):
            named += [word for word in (one.p_method, one.correction) if word]
    if summary.registration is not None:
        named.append(summary.registration.correction)
    if summary.group_tests:
        named.append("benjamini-hochberg")
    if summary.thresholds or summary.movement:
        named.append(_BOOTSTRAP)
    return tuple(dict.fromkeys(named))


def _kinds(summary: Summary) -> Iterator[tuple[str, Sequence[Estimate | Contrast]]]:
    """Yield what is estimated, in the order of the report, with its records."""
    yield "accuracy of a view", summary.estimates
    yield "difference between views", summary.contrasts
    yield "named effect", summary.effects
    yield (
        "parts of the gain by cropping",
        [part for one in summary.decompositions for part in (one.total, one.distraction, one.canvas)],
    )
    yield "flips", [part for one in summary.flips for part in (one.gained, one.lost, one.churn)]
    yield "share over views", summary.proportions
    yield "accuracy of a group", summary.breakdowns
    yield "difference in a group", summary.group_effects
    yield "average over datasets", summary.averages
    yield "Perf of a grid", [grid.perf for grid in summary.grids if grid.perf is not None]
    yield "Size of a grid", [grid.size for grid in summary.grids if grid.size is not None]
    yield "Region of a grid", [grid.region for grid in summary.grids if grid.region is not None]


def _rows(summary: Summary) -> Iterator[Row]:
    for what, records in _kinds(summary):
        by_way: dict[tuple[str, ...], list[Estimate | Contrast]] = {}
        for one in records:
            by_way.setdefault(_way(one), []).append(one)
        for way, own in by_way.items():
            yield Row(what, what, (what, *way, *_counts(own)))
    for what, method, counts in _curves(summary):
        yield Row(what, what, (what, method, MISSING, MISSING, MISSING, *counts))
    if summary.group_tests:
        n = [test.n_questions for test in summary.group_tests]
        way = ("no interval", "group labels shuffled between pictures", "Benjamini-Hochberg", "one grouping")
        yield Row("", "", ("same effect in all groups", *way, _span(n), MISSING, MISSING))


def _way(one: Estimate | Contrast) -> tuple[str, ...]:
    """Return interval, test, correction and family of a record."""
    method = one.method.partition(";")[0].partition(", mean of ")[0] or MISSING
    if isinstance(one, Estimate) or one.p is None:
        return (method, MISSING, MISSING, MISSING)
    correction = (one.correction or "").title()
    return (method, one.p_method or MISSING, correction or "not corrected", one.family or MISSING)


def _counts(records: Sequence[Estimate | Contrast]) -> tuple[str, str, str]:
    levels = dict.fromkeys(format_level(one.confidence) for one in records)
    return _span(one.n_questions for one in records), _span(one.n_clusters for one in records), ", ".join(levels)


def _curves(summary: Summary) -> Iterator[tuple[str, str, tuple[str, str, str]]]:
    """Yield curves, whose records name no method of their own."""
    if summary.thresholds:
        found = summary.thresholds
        counts = _span(one.n_questions for one in found), _span(one.n_clusters for one in found)
        yield "resolution threshold", f"isotonic curve, {_BOOTSTRAP}", (*counts, format_level(found[0].confidence))
    known = [one for one in summary.half_accuracy_sizes if one.n_questions]
    if known:
        counts = _span(one.n_questions for one in known), _span(one.n_clusters for one in known)
        yield "half-accuracy target size", _WITHIN, (*counts, format_level(known[0].confidence))


def _span(counts: Iterable[int]) -> str:
    """Write one count, or the smallest and the largest.

    Example:
        >>> _span([40, 40]), _span([6, 34])
        ('40', '6–34')
    """
    found = sorted(set(counts))
    return "–".join(format_count(count) for count in dict.fromkeys((found[0], found[-1])))


def _notes(summary: Summary) -> tuple[str, ...]:
    run = summary.run
    seeds = ", ".join(f"{name} {seed}" for name, seed in run.seeds.items()) or "none was needed"
    alpha = 1 - (summary.estimates[0].confidence if summary.estimates else 0.95)
    times = f"{run.n_repeats} time{'s' * (run.n_repeats != 1)}"
    orders = f"{run.n_rotations} order{'s' * (run.n_rotations != 1)}"
    holds = (
        f"A difference holds where its corrected p lies below {alpha:.2g} and its interval, which is not corrected, "
        "excludes 0; else the two cannot be told apart."
    )
    seeded = (
        f"Seeds of the run: {seeds}. Bootstrap, sign flips and shuffles start from seed 0, so that the same answers "
        "give the same numbers."
    )
    asked = f"Each question was asked {times} in {orders} of its options; an error is missing, never wrong."
    return (holds, seeded, asked)
