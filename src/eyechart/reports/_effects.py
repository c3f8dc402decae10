"""The tables of named effects, flips, thresholds, groups, readings and rules, as words and digits."""

from collections.abc import Callable, Iterable, Sequence

from eyechart.figures import (
    MISSING,
    format_contrast,
    format_count,
    format_estimate,
    format_level,
    format_p,
    format_percent,
)
from eyechart.reports._codes import explain_codes
from eyechart.reports._resolution import thresholds_table
from eyechart.reports._seen import close_views_table, half_size_table, matching_table
from eyechart.reports._table import SIGNIFICANT, Column, Row, Table, name_columns
from eyechart.schema import (
    Contrast,
    Decomposition,
    Estimate,
    HypothesisResult,
    Sensitivity,
    Summary,
    Threshold,
    ValidityRule,
    Value,
)

# Below this a group's accuracy is shown in brackets (rule TINY_GROUP).
_SMALL_GROUP = 30
_MOST_CONDITIONS = 5


class Section(Value, frozen=True):
    """One table of the report under its own heading; ``slug`` is its anchor."""

    slug: str
    heading: str
    table: Table


def effect_sections(summary: Summary) -> tuple[Section, ...]:
    """Return the sections that a summary fills, in the order of the report."""
    built: tuple[tuple[str, str, Callable[[Summary], Table]], ...] = (
        ("rules", "Validity rules", _rules),
        ("plan", "The plan's hypotheses", _plan),
        ("effects", "Named effects", _effects),
        ("decomposition", "What original → crop is made of", _decompositions),
        ("flips", "Flips", _flips),
        ("proportions", "Without guessing, and over all views", _proportions),
        ("matching", "Matched design", matching_table),
        ("half-accuracy-size", "Half-accuracy target size", half_size_table),
        ("close-views", "Views that are one picture to the model, or nearly", close_views_table),
        ("thresholds", "Resolution thresholds", thresholds_table),
        ("groups", "By task, source and target size", _groups),
        ("group-tests", "Is an effect the same in all groups?", _group_tests),
        ("sensitivity", "Other readings of the same answers", _sensitivity),
    )
    sections = (Section(slug, heading, build(summary)) for slug, heading, build in built)
    return tuple(section for section in sections if section.table.rows)


def _rules(summary: Summary) -> Table:
    columns = name_columns("rule", "level", "what was found", "views", words=4)
    caption = "Rules that apply, evaluated before any effect. An error blocks the comparisons it concerns."
    return Table(caption, columns, tuple(_rule_row(rule) for rule in summary.rules), ())


def _rule_row(rule: ValidityRule) -> Row:
    return Row(rule.code, "", (rule.code, rule.level, rule.message, ", ".join(rule.conditions) or "all"))


def _plan(summary: Summary) -> Table:
    """Return the hypotheses of the plan with their results, and what the run departs from it in."""
    found = summary.registration
    results = () if found is None else found.results
    columns = name_columns(
        "hypothesis", "contrast", "n", "points", "p adjusted", "margin", "p equivalent", "result", words=2
    )
    rows = tuple(
        Row(
            one.condition,
            "",
            (
                one.name,
                f"{one.condition} − {one.baseline}",
                MISSING if one.contrast is None else format_count(one.contrast.n_questions),
                MISSING if one.contrast is None else _starred(one.contrast),
                MISSING if one.contrast is None else _adjusted_p(one.contrast),
                "none" if one.margin is None else f"±{100 * one.margin:g}",
                format_p(one.equivalence_p),
                _verdict(one),
            ),
            contrast=one.contrast,
            is_significant=one.contrast is not None and one.contrast.claimed,
        )
        for one in results
    )
    if found is None:
        return Table("", columns, (), ())
    if found.is_changed:
        state = "The plan was CHANGED or does not count for this run: all results are exploratory."
    elif found.is_kept is False:
        state = "The plan was NOT KEPT: all results are exploratory."
    else:
        state = "The plan was not changed, and the run kept to it." if found.is_kept else "The plan was not changed."
    if found.look is not None:
        look = found.look
        which = f"Look {look.number} of {look.n_looks}" if look.n_looks else "A look as the plan allows at any time"
        state += (
            f" {which}, at {look.n_pictures} of {look.n_pictures_planned} pictures: p and intervals of the hypotheses "
            "hold over all looks together."
        )
    caption = (
        f"Written {found.written_at}, sha256 {found.sha256[:12]}…, corrected by {found.correction.title()}. {state}"
    )
    return Table(caption, columns, rows, found.notes)


def _verdict(one: HypothesisResult) -> str:
    """Say what became of a hypothesis."""
    if one.contrast is None:
        return "not tested"
    role = one.contrast.standing or one.contrast.role or ""
    if one.contrast.blocked_by:
        return f"blocked by {', '.join(one.contrast.blocked_by)}"
    if one.contrast.claimed:
        return f"{role}: different"
    if one.contrast.standing == "conditional":
        return "conditional: different only if the missing answers are like the others"
    return f"{role}: equivalent" if one.is_equivalent else f"{role}: cannot be told apart"


def _effects(summary: Summary) -> Table:
    effects = summary.effects
    columns = name_columns(
        "effect",
        "contrast",
        "n",
        "pictures",
        f"points [{_level(effects)}]",
        "p adjusted",
        "detectable",
        "marks",
        words=2,
    )
    rows = tuple(
        _row(
            one,
            (
                one.name,
                f"{one.condition} − {one.baseline}",
                format_count(one.n_questions),
                format_count(one.n_clusters),
                _starred(one),
                _adjusted_p(one),
                _points(one.detectable),
                _marks(one),
            ),
        )
        for one in effects
    )
    notes = (
        "Each effect is a paired difference on the questions scored under both views.",
        "A pair of the headline family has its p; others are secondary, corrected within their name, never claimed.",
        "Negative controls show identical pictures and are never corrected.",
        "Detectable: smallest difference, in points, found with a power of 80 % at this n and this many flips.",
        "Five points lost from 95 % and from 60 % are not comparable; see the chance-corrected accuracies.",
    )
    return Table("Effects by name.", columns, rows, (*notes, *explain_codes(_codes(effects))))


def _decompositions(summary: Summary) -> Table:
    parts = summary.decompositions
    columns = name_columns(
        "factor", "n", "crop − original", "= distraction", "+ canvas", "context × canvas", "whole picture", words=1
    )
    rows = tuple(Row(f"{part.area_ratio:g}×", "", _decomposition_cells(part)) for part in parts)
    notes = (
        "Distraction: white ground − original. Canvas: crop − white ground, position and token count included.",
        "The two add up exactly. Points; p in brackets, for the pairs of the headline family the one of that family.",
        "Whole picture: share of questions whose crop reaches over the whole picture, where both parts are 0.",
        *(
            f"At {part.area_ratio:g}× the interval of context × canvas, which is not corrected, excludes 0: the split "
            "may depend on the order."
            for part in parts
            if part.is_order_dependent
        ),
    )
    return Table("The exact split of the gain from the original to the crop.", columns, rows, notes)


def _decomposition_cells(part: Decomposition) -> tuple[str, ...]:
    return (
        f"{part.area_ratio:g}×",
        format_count(part.total.n_questions),
        *(f"{_starred(one)} ({_adjusted_p(one)})" for one in (part.total, part.distraction, part.canvas)),
        format_contrast(part.interaction),
        MISSING if part.saturated_share is None else f"{format_percent(part.saturated_share)} %",
    )


def _flips(summary: Summary) -> Table:
    columns = name_columns(
        "contrast", "n", "gained, %", "lost, %", "churn, %", "by guessing, %", "by repetition, %", words=1
    )
    rows = tuple(
        Row(
            flip.condition,
            "",
            (
                f"{flip.condition} − {flip.baseline}",
                format_count(flip.churn.n_questions),
                format_estimate(flip.gained),
                format_estimate(flip.lost),
                format_estimate(flip.churn),
                format_percent(flip.guessing),
                MISSING if flip.repetition is None else format_estimate(flip.repetition),
            ),
        )
        for flip in summary.flips
    )
    notes = (
        "Churn is gained plus lost. By guessing: what a model flips that guesses whatever it does not know.",
        "By repetition: what identical pictures flipped.",
    )
    return Table("How many scores changed, beside what changes by itself.", columns, rows, notes)


def _proportions(summary: Summary) -> Table:
    shown = summary.proportions
    columns = name_columns("what", "views", "n", "pictures", f"% [{_level(shown)}]", words=2)
    rows = tuple(
        Row(
            one.condition,
            "",
            (
                one.name,
                one.condition,
                format_count(one.n_questions),
                format_count(one.n_clusters),
                format_estimate(one),
            ),
        )
        for one in shown
    )
    methods = dict.fromkeys(f"{one.name}: {one.method}." for one in shown)
    note = "Right on all views falls and right on any view rises with the number of views by itself."
    return Table("Shares over questions; 0 % chance-corrected is guessing.", columns, rows, (*methods, note))


def _groups(summary: Summary) -> Table:
    """Return accuracy of every group under the first conditions, and what its n can detect."""
    conditions = tuple(condition.condition for condition in summary.conditions)[:_MOST_CONDITIONS]
    by_group: dict[str, dict[str, Estimate]] = {}
    for estimate in summary.breakdowns:
        by_group.setdefault(estimate.subset or "", {})[estimate.condition] = estimate
    detectable = {(one.subset, one.condition): one.detectable for one in summary.group_effects}
    columns = (
        *name_columns("group", "n", "pictures", "chance, %", words=1),
        *(Column(f"c{index}", f"{name}, %") for index, name in enumerate(conditions)),
        *name_columns("detectable", words=0),
    )
    rows = []
    for group, estimates in by_group.items():
        first = next(iter(estimates.values()))
        found = [detectable.get((group, name)) for name in conditions]
        known = [value for value in found if value is not None]
        cells = (
            group,
            format_count(first.n_questions),
            format_count(first.n_clusters),
            MISSING if first.chance is None else format_percent(first.chance),
            *(_group_cell(estimates.get(name)) for name in conditions),
            _points(max(known, default=None)),
        )
        rows.append(Row(group, group.partition(":")[0], cells))
    notes = [
        f"In brackets: fewer than {_SMALL_GROUP} questions. Groups have their own chance and size: never rank them.",
        "Detectable: the least sensitive of these views' comparisons, in points, at the flips of all questions.",
    ]
    if any(group.startswith("target size") for group in by_group):
        notes.append(
            "Bands of target size hold different questions: what differs between them is no effect of size alone."
        )
    if len(summary.conditions) > len(conditions):
        notes.append(f"The first {len(conditions)} of {len(summary.conditions)} views; all are in estimates.json.")
    return Table("Accuracy of groups of questions.", columns, tuple(rows), tuple(notes))


def _group_cell(estimate: Estimate | None) -> str:
    text = format_estimate(estimate)
    return f"({text})" if estimate is not None and estimate.n_questions < _SMALL_GROUP else text


def _group_tests(summary: Summary) -> Table:
    columns = name_columns("by", "contrast", "groups", "n", "p", "p adjusted", words=2)
    rows = tuple(
        Row(
            test.condition,
            "",
            (
                test.grouping,
                f"{test.condition} − {test.baseline}",
                format_count(test.n_groups),
                format_count(test.n_questions),
                format_p(test.p),
                format_p(test.p_adjusted),
            ),
        )
        for test in summary.group_tests
    )
    note = "p: group labels shuffled between pictures of as many questions, 499 times; exploratory, Benjamini–Hochberg."
    return Table("Equal effects in all groups are the null hypothesis.", columns, rows, (note,))


def _sensitivity(summary: Summary) -> Table:
    names = list(dict.fromkeys(one.subset or "" for check in summary.sensitivity for one in check.readings))
    columns = (
        *name_columns("contrast", words=1),
        *(Column(f"r{index}", f"{name}, points (p)") for index, name in enumerate(names)),
        *name_columns("changes", words=1),
    )
    rows = tuple(_sensitivity_row(check, names) for check in summary.sensitivity)
    notes = ("p is not corrected here. A sign or a significance at 5 % that changes with the reading is not robust.",)
    return Table("Every headline under other readings of the same answers.", columns, rows, notes)


def _sensitivity_row(check: Sensitivity, names: Sequence[str]) -> Row:
    found = {one.subset: one for one in check.readings}
    changes = ["sign"] * check.sign_changes + ["significance"] * check.significance_changes
    cells = (f"{format_contrast(one)} ({format_p(one.p)})" if (one := found.get(name)) else MISSING for name in names)
    label = f"{check.condition} − {check.baseline}"
    return Row(check.condition, "", (label, *cells, " and ".join(changes) or "nothing"))


def _row(contrast: Contrast, cells: tuple[str, ...]) -> Row:
    return Row(contrast.condition, "", cells, contrast=contrast, is_significant=contrast.claimed)


def _starred(contrast: Contrast) -> str:
    return f"{format_contrast(contrast)} {SIGNIFICANT}" if contrast.claimed else format_contrast(contrast)


def _adjusted_p(contrast: Contrast) -> str:
    if contrast.p is None or contrast.blocked_by:
        return MISSING
    return f"{format_p(contrast.p)} (not adjusted)" if contrast.p_adjusted is None else format_p(contrast.p_adjusted)


def _points(share: float | None) -> str:
    return MISSING if share is None else f"{100 * share:.1f}"


def _marks(contrast: Contrast) -> str:
    blocked = [f"blocked by {code}" for code in contrast.blocked_by]
    role = ["secondary"] if contrast.secondary else [] if contrast.standing is None else [contrast.standing]
    return ", ".join([*role, *blocked, *contrast.warnings])


def _codes(contrasts: Iterable[Contrast]) -> list[str]:
    return [code for one in contrasts for code in (*one.blocked_by, *one.warnings)]


def _level(records: Sequence[Contrast] | Sequence[Estimate] | Sequence[Threshold]) -> str:
    return format_level(records[0].confidence) if records else "95 %"
