"""Compare two runs, two views of one run, or rank many models; no model is asked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._flags import Plugin, load_plugins, read_codes
from eyechart.cli._output import Json, print_json, print_table, say
from eyechart.cli.gate import say_gate
from eyechart.errors import UsageError
from eyechart.stats.corrections import Correction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyechart.runs.compare import Comparison, Difference, DiffOptions
    from eyechart.runs.gate import Gate
    from eyechart.runs.pairing import Side
    from eyechart.runs.store import RunStore

EXIT_BELOW = 4
_PAIR = 2


def diff(
    *runs: Path,
    views: Annotated[
        str, Parameter(help="Views to compare, comma-separated; for one run exactly two. All shared ones if left out.")
    ] = "",
    margin: Annotated[
        float | None, Parameter(help="Largest difference that does not matter: 0.02 is two points. Tests equivalence.")
    ] = None,
    correction: Annotated[Correction, Parameter(help="Correction over all differences shown.")] = "holm",
    allow: Annotated[
        tuple[str, ...],
        Parameter(
            negative="", show_default=False, help="Compare in spite of this code, such as DIFFERENT_PROMPTS; repeat it."
        ),
    ] = (),
    fail_below: Annotated[
        float | None,
        Parameter(
            help="Exit 4 if the gate fails with this limit for the mean and every view, such as -0.02; see gate."
        ),
    ] = None,
    confidence: Annotated[float, Parameter(help="Coverage of the intervals.")] = 0.95,
    scorer: Annotated[
        str | None, Parameter(help="Judges every run, such as option_letter.lenient; the first run's own if left out.")
    ] = None,
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """Print later minus earlier: B − A for ``diff A B``, on the questions that both were asked alike.

    With one run and two --views, the second view less the first. With more than two runs, the places that the data
    allow each model, as sets. Different questions, prompts or transports are refused unless allowed by name.

    Args:
        runs: Run folders; or two folders of suites, whose runs are compared cell by cell.
    """
    from eyechart.runs.compare import DiffOptions

    load_plugins(plugin)
    allow = read_codes(allow)
    if not runs:
        raise UsageError("no run was named", hint="eyechart diff RUN_A RUN_B, or eyechart diff RUN --views A,B")
    chosen = tuple(part.strip() for part in views.split(",") if part.strip())
    options = DiffOptions(
        views=chosen, margin=margin, correction=correction, confidence=confidence, allowed=tuple(allow)
    )
    if fail_below is not None and not -1.0 < fail_below <= 0.0:
        raise UsageError(
            f"--fail-below {fail_below:g} is not a difference between -1 and 0",
            hint="two points of loss are --fail-below=-0.02",
        )
    found = [_compare(pair, scorer, options, fail_below) for pair in _suite_pairs(runs) or (runs,)]
    comparisons = [comparison for comparison, _ in found]
    if json:
        print_json(comparisons if _suite_pairs(runs) else comparisons[0])
    else:
        for comparison in comparisons:
            _show(comparison)
    return 0 if fail_below is None else _say_verdicts(found, fail_below)


def _say_verdicts(found: "Sequence[tuple[Comparison, Gate | None]]", limit: float) -> int:
    """Say every verdict of the gate, and return 4 where one is a failure; many runs fail by a claimed difference."""
    has_failed = False
    for comparison, gate in found:
        is_below = comparison.lies_below(limit) if gate is None else gate.verdict == "fail"
        has_failed = has_failed or is_below
        if gate is not None:
            say_gate(gate)
    if has_failed:
        say(f"a difference lies below {100 * limit:+g} points")
    return EXIT_BELOW if has_failed else 0


def _compare(
    runs: "Sequence[Path]", scorer: str | None, options: "DiffOptions", fail_below: float | None
) -> "tuple[Comparison, Gate | None]":
    """Return a comparison, and the verdict of the gate where one is wanted and there are two sides."""
    from eyechart.runs.compare import compare_runs, compare_views, view_sides
    from eyechart.runs.gate import GateLimits, judge_sides

    sides, scorer_id = read_sides(runs, scorer)
    is_one_run = len(sides) == 1
    comparison = compare_views(sides[0], scorer_id, options) if is_one_run else compare_runs(sides, scorer_id, options)
    pair = view_sides(sides[0], options.views) if is_one_run else sides
    if fail_below is None or len(pair) != _PAIR:
        return comparison, None
    limits = GateLimits(margin=-fail_below, view_margin=-fail_below)
    return comparison, judge_sides(pair[1], pair[0], comparison, limits, () if is_one_run else options.views)


def _suite_pairs(runs: "Sequence[Path]") -> list[tuple[Path, Path]]:
    """Return the pairs of runs of one cell where two folders of suites are named; empty where they are runs.

    Raises:
        UsageError: If two suites have no cell in common.
    """
    from eyechart.runs.later_plans import RUN_FILE

    if len(runs) != _PAIR or any((run / RUN_FILE).is_file() for run in runs):
        return []
    cells = [{path.parent.name for path in run.glob(f"*/{RUN_FILE}")} for run in runs]
    if not all(cells):
        return []
    common = sorted(cells[0] & cells[1])
    if not common:
        raise UsageError(f"{runs[0]} and {runs[1]} have no cell in common", hint="run both from one suite's file")
    for name in sorted(cells[0] ^ cells[1]):
        say(f"{name} is in one of the suites only and is not compared")
    return [(runs[0] / name, runs[1] / name) for name in common]


def read_sides(folders: "Sequence[Path]", scorer: str | None) -> "tuple[list[Side], str]":
    """Judge every run by one scorer and gather it; nothing is written into the run folders."""
    from eyechart.runs.cells import read_table
    from eyechart.runs.choosing import choose_scorer
    from eyechart.runs.pairing import Side
    from eyechart.runs.readings import judge_unread
    from eyechart.runs.score import judge, scorer_id_of
    from eyechart.runs.store import RunStore

    stores = [RunStore(folder) for folder in folders]
    chosen, mode = choose_scorer(stores, scorer)
    scorer_id = scorer_id_of(chosen, mode)
    sides = []
    for label, store in zip(_labels(stores), stores, strict=True):
        scores = judge(store, chosen, mode)
        table = read_table(store, scorer_id, scores)
        sides.append(Side(label, table, judge_unread(store, table, scorer_id, scores)))
    return sides, scorer_id


def _labels(stores: "Sequence[RunStore]") -> list[str]:
    """Name each run by its model, or by its folder where models repeat.

    Raises:
        UsageError: If one folder is named twice.
    """
    folders = [store.folder.resolve() for store in stores]
    if len(set(folders)) != len(folders):
        raise UsageError("one run folder is named twice", hint="two views of one run: diff RUN --views A,B")
    for labels in ([store.run.model.spec for store in stores], [store.folder.name for store in stores]):
        if len(set(labels)) == len(labels):
            return labels
    return [str(store.folder) for store in stores]


def _show(comparison: "Comparison") -> None:
    """Print rules, then ranks or differences; sentences go to stderr."""
    from eyechart.figures import format_n
    from eyechart.runs.findings import find

    for rule in comparison.rules:
        say(f"{rule.level}: {rule.code}: {rule.message}")
    counts = format_n(comparison.n_questions, comparison.n_clusters)
    if comparison.left_out:
        say(f"left out, because more than a tenth of their answers are missing: {', '.join(comparison.left_out)}")
    if comparison.ranks:
        _show_ranks(comparison, counts)
    else:
        _show_accuracies(comparison, counts)
    _show_differences(comparison)
    for one in comparison.differences:
        for finding in find([one.contrast], ()):
            say(f"• {one.view}: {finding.text}" if comparison.kind != "views" else f"• {finding.text}")
        if one.equivalence is not None:
            verdict = "equivalent" if one.equivalence.is_equivalent else "not shown to be equivalent"
            say(
                f"• {one.view}: {verdict} within ±{100 * one.equivalence.margin:g} points, p = {one.equivalence.p:.3g} "
                "(two one-sided tests)"
            )
        if one.changes:
            what = f"{one.contrast.condition} − {one.contrast.baseline}"
            where = "" if comparison.kind == "views" else f" on {one.view}"
            say(
                f"warning: {what}{where} is not robust to how unreadable and missing answers are counted: "
                f"{' and '.join(one.changes)} changes"
                + (f"; --allow {' '.join(one.contrast.blocked_by)} shows it" if one.contrast.blocked_by else "")
            )
    if comparison.differences:
        first = comparison.differences[0].contrast
        say(f"p: {first.p_method or 'none'}; family: {comparison.family}; interval: {first.method}, not adjusted")


def _show_ranks(comparison: "Comparison", counts: str) -> None:
    from eyechart.figures import format_estimate

    rows = [
        [
            f"{rank.best}" if rank.best == rank.worst else f"{rank.best}–{rank.worst}",
            rank.label,
            str(rank.accuracy.n_questions),
            format_estimate(rank.accuracy),
        ]
        for rank in comparison.ranks
    ]
    say(f"places that the data allow on {', '.join(comparison.views)}: {counts}, scored by {comparison.scorer}")
    print_table(["place", "model", ">n", ">accuracy, % [interval]"], rows)


def _show_accuracies(comparison: "Comparison", counts: str) -> None:
    from eyechart.figures import format_estimate

    rows = [
        [
            estimate.name.removeprefix("accuracy under "),
            estimate.condition,
            str(estimate.n_questions),
            format_estimate(estimate),
        ]
        for estimate in comparison.accuracies
    ]
    if comparison.kind == "views":
        rows = [row[1:] for row in rows]
    columns = [*([] if comparison.kind == "views" else ["view"]), "side", ">n", ">accuracy, % [interval]"]
    say(f"on the shared questions: {counts}, scored by {comparison.scorer}")
    print_table(columns, rows)


def _show_differences(comparison: "Comparison") -> None:
    columns = ["difference", ">n", ">pictures", ">points [interval]", ">p adjusted", ">p", ">gained", ">lost"]
    has_margin = any(one.equivalence is not None for one in comparison.differences)
    columns += [">p equivalent"] if has_margin else []
    rows = [_row(one, comparison.kind) for one in comparison.differences]
    print_table([*columns, "marks"], rows)


def _row(one: "Difference", kind: str) -> list[str]:
    from eyechart.figures import format_contrast, format_p

    contrast = one.contrast
    where = "" if kind == "views" else f" on {one.view}"
    star = " *" if contrast.claimed else ""
    return [
        f"{contrast.condition} − {contrast.baseline}{where}",
        str(contrast.n_questions),
        str(contrast.n_clusters),
        f"{format_contrast(contrast)}{star}",
        format_p(None if contrast.blocked_by else contrast.p_adjusted),
        format_p(None if contrast.blocked_by else contrast.p),
        str(contrast.gained),
        str(contrast.lost),
        *([] if one.equivalence is None else [format_p(one.equivalence.p)]),
        ", ".join(contrast.warnings),
    ]
