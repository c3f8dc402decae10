"""Which validity rules apply to a run, evaluated before any effect is printed."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec
import numpy as np

from eyechart.runs.answer_rules import check_answers
from eyechart.runs.breakdowns import groupings
from eyechart.runs.cells import Cell, RunTable
from eyechart.runs.closeness import check_close
from eyechart.runs.letter_rules import check_letter_preference, check_rotations
from eyechart.runs.sights import BLIND_VIEWS
from eyechart.schema import CloseViews, Contrast, Estimate, ResponseState
from eyechart.stats.clusters import find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition
from eyechart.stats.design_rules import check_constant, check_same_input, check_subsets
from eyechart.stats.findings import Finding, Level
from eyechart.stats.repeats import measure_noise
from eyechart.stats.score_rules import (
    check_blind,
    check_groups,
    check_missing,
    check_range,
    check_shared_images,
    check_size,
    check_tests,
    check_unparsed,
    is_often,
    rule_confidence,
)

# One side asked longer than this, or this much later than the other, may have met another model behind one name.
_LONGEST_SPAN, _LARGEST_GAP = timedelta(days=7), timedelta(days=1)
_LOOSE_MODES = frozenset({"lenient", "compat"})
_MOST_NAMED = 5


def find_rules(
    table: RunTable, scores: ScoreTable, estimates: Sequence[Estimate], close: Sequence[CloseViews] = ()
) -> tuple[Finding, ...]:
    """Return the rules that apply to a run, one finding per rule and cause.

    Args:
        table: The run.
        scores: Its scores, averaged over repeats.
        estimates: Accuracy of every condition.
        close: Pairs of conditions that the model can hardly tell apart (``runs.closeness``).
    """
    if not table.questions:
        return ()
    names, clusters = table.conditions, find_clusters(table.image_groups)
    asked = table.mask(table.cells)
    answered = table.mask(key for key, cell in table.cells.items() if cell.is_answered)
    n_there = table.shares(key for key, cell in table.cells.items() if cell.is_answered)
    unparsed = table.shares(key for key, cell in table.cells.items() if cell.is_unparsed)
    cells = {name: [cell for _, cell in own] for name, own in zip(names, table.columns(), strict=True)}
    answers = check_answers(table)
    # Letters of another order say nothing about what letters the model prefers.
    is_other_order = any(rule.code is Code.OPTION_ORDER and rule.level == "error" for rule in answers)
    found = [
        *answers,
        *_check_making(table, cells),
        *check_subsets([question.id for question in table.questions], asked, names),
        check_missing(np.where(asked, n_there, 1.0), clusters, names),
        check_unparsed(unparsed, answered, clusters, names),
        *(() if is_other_order else check_letter_preference(table)),
        *(check_rotations(table, _by_condition(table)) if table.run.n_rotations > 1 else ()),
        *_check_blind(table, scores, estimates),
        *_check_range(scores, _not_below_chance(estimates, answers)),
        *_check_epochs(table),
        check_size(clusters),
        check_shared_images(clusters),
        *_check_groups(table, scores),
        *_check_errata(table),
        *_check_pictures(table, cells, close),
    ]
    return tuple(rule for rule in found if rule is not None)


def check_contrasts(contrasts: Sequence[Contrast]) -> tuple[Finding, ...]:
    """Return the rules about contrasts: identical pictures that differ, and many p-values without correction."""
    found = []
    for one in contrasts:
        if Code.SAME_INPUT not in one.warnings:
            continue
        is_alarm = Code.AA_NOISE in one.warnings
        end = ": a fault, or a model that drifts" if is_alarm else ", which is what repetition alone changes"
        found.append(
            Finding(
                code=Code.AA_NOISE,
                level="warning" if is_alarm else "info",
                message=f"{one.condition} and {one.baseline} show the same pictures, yet {one.gained} answers were "
                f"gained and {one.lost} lost{end}",
            )
        )
    many = check_tests(contrasts)
    return tuple(found) if many is None else (*found, many)


def concerning_contrasts(rules: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the rules that mark contrasts: errors, and warnings that name conditions.

    Views that are close to each other concern their own contrast alone, which ``closeness.block_close`` marks.
    """
    marking = (rule for rule in rules if rule.code != Code.SAME_PICTURE)
    return tuple(rule for rule in marking if rule.level == "error" or rule.conditions)


def _check_making(table: RunTable, cells: dict[str, list[Cell]]) -> list[Finding | None]:
    """Find what differs in how conditions were asked, answered and judged."""
    shown = {name: [cell for cell in own if cell.recipes] for name, own in cells.items()}
    judges = {name: [cell.verdict.judge for cell in own if cell.verdict is not None] for name, own in cells.items()}
    return [
        _check_prompts(table),
        check_constant(
            Code.HETEROGENEOUS_SETTINGS,
            "settings",
            {name: [cell.settings for cell in own] for name, own in shown.items() if own},
        ),
        check_constant(Code.JUDGE_DRIFT, "judges", {name: own for name, own in judges.items() if own}),
        *_check_drift(cells),
        _check_random_fill(cells),
        _check_loose_matching(table),
        *_check_contradictions(table, cells),
    ]


def _check_prompts(table: RunTable) -> Finding | None:
    """Find conditions that asked a question in other words than most conditions did."""
    n_apart = dict.fromkeys(table.conditions, 0)
    for question in range(len(table.questions)):
        words = {
            name: cell.prompt_sha256
            for index, name in enumerate(table.conditions)
            if (cell := table.cells.get((question, index, 0))) is not None
        }
        if len(set(words.values())) > 1:
            listed = list(words.values())
            usual = max(words.values(), key=lambda word: (listed.count(word), word))
            for name, word in words.items():
                n_apart[name] += word != usual
    apart = tuple(name for name, n in n_apart.items() if n)
    if not apart:
        return None
    counts = ", ".join(f"{name} {n_apart[name]} of {len(table.questions)} questions" for name in apart)
    return Finding(
        code=Code.DIFFERENT_PROMPTS,
        level="error",
        message=f"asked in other words than the rest: {counts}",
        conditions=apart,
    )


def _check_drift(cells: dict[str, list[Cell]]) -> list[Finding]:
    """Find a provider that changed, a run that took days, and conditions asked at another time than the rest."""
    endings = [cell.ending for own in cells.values() for cell in own if cell.ending is not None]
    prints = sorted({ending.provider_fingerprint for ending in endings if ending.provider_fingerprint})
    times = {
        name: [time for cell in own if cell.ending and (time := _time(cell.ending.finished_at)) is not None]
        for name, own in cells.items()
    }
    every = sorted(time for own in times.values() for time in own)
    found = []
    if len(prints) > 1:
        text = f"the provider's fingerprint changed during the run: {', '.join(prints[:_MOST_NAMED])}"
        found.append(Finding(code=Code.DRIFT, level="warning", message=text))
    if every and every[-1] - every[0] > _LONGEST_SPAN:
        text = f"the answers span {(every[-1] - every[0]).days} days"
        found.append(Finding(code=Code.DRIFT, level="warning", message=text))
    middles = {name: sorted(own)[len(own) // 2] for name, own in times.items() if own}
    if middles and max(middles.values()) - min(middles.values()) > _LARGEST_GAP:
        first = min(middles.values())
        late = tuple(name for name, middle in middles.items() if middle - first > _LARGEST_GAP)
        text = f"asked more than a day after the other views: {', '.join(late)}; view and date are confounded"
        found.append(Finding(code=Code.DRIFT, level="warning", message=text, conditions=late))
    return found


def _time(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text or "")
    except ValueError:
        return None


def _check_random_fill(cells: dict[str, list[Cell]]) -> Finding | None:
    filled = {
        name: sum(cell.ending is not None and cell.ending.is_random_fill for cell in own) for name, own in cells.items()
    }
    names = tuple(name for name, n in filled.items() if n)
    if not names:
        return None
    return Finding(
        code=Code.RANDOM_FILL,
        level="error",
        message=f"unreadable answers had been replaced by random options ({_counted(filled)}): score the raw texts",
        conditions=names,
    )


def _check_loose_matching(table: RunTable) -> Finding | None:
    judges = {cell.verdict.judge for cell in table.cells.values() if cell.verdict is not None}
    loose = sorted(judge for judge in judges if judge.partition("@")[0].partition(".")[2] in _LOOSE_MODES)
    if not loose:
        return None
    text = f"{', '.join(loose)} reads a letter where none is stated: report the strict reading beside it"
    return Finding(code=Code.LENIENT_MATCH, level="warning", message=text)


def _check_contradictions(table: RunTable, cells: dict[str, list[Cell]]) -> list[Finding]:
    """Find requests with several different answers; few are two processes that asked at once, many a mixed store."""
    if not table.n_contradicted:
        return []
    n_tested = len(table.conditions)
    is_error = any(is_often(n, len(cells[name]), n_conditions=n_tested) for name, n in table.n_contradicted.items())
    level: Level = "error" if is_error else "warning"
    text = f"requests with several different answers ({_counted(table.n_contradicted)}); the first counts"
    return [Finding(code=Code.DUP_ROWS, level=level, message=text, conditions=tuple(table.n_contradicted))]


def _check_blind(table: RunTable, scores: ScoreTable, estimates: Sequence[Estimate]) -> list[Finding]:
    """Find questions that can be answered without the picture."""
    found = []
    named = [one.condition for one in estimates if table.view_of.get(one.condition) in BLIND_VIEWS]
    for estimate in _at_confidence_of_rule(scores, named):
        if estimate.chance is None:
            continue
        rule = check_blind(estimate)
        if rule is None:
            continue
        column = scores.column(estimate.condition)
        right = np.asarray(scores.present)[:, column] & (np.asarray(scores.values)[:, column] >= 1.0)
        solved = [question.id for question, is_right in zip(table.questions, right, strict=True) if is_right]
        more = f" and {len(solved) - _MOST_NAMED} more" if len(solved) > _MOST_NAMED else ""
        text = f"{rule.message}; {len(solved)} solved blind: {', '.join(solved[:_MOST_NAMED])}{more}"
        found.append(msgspec.structs.replace(rule, message=text))
    return found


def _check_range(scores: ScoreTable, estimates: Sequence[Estimate]) -> list[Finding]:
    """Find conditions at the ceiling or at chance; one finding for all of a kind."""
    by_end: dict[bool, list[Finding]] = {}
    named = [one.condition for one in estimates if one.condition not in BLIND_VIEWS]
    for estimate in _at_confidence_of_rule(scores, named):
        rule = check_range(estimate)
        if rule is not None:
            by_end.setdefault("ceiling" in rule.message, []).append(rule)
    return [_merged(rules) for rules in by_end.values()]


def _not_below_chance(estimates: Sequence[Estimate], answers: Iterable[Finding]) -> list[Estimate]:
    below = {name for rule in answers if rule.code == Code.BELOW_CHANCE for name in rule.conditions}
    return [one for one in estimates if one.condition not in below]


def _at_confidence_of_rule(scores: ScoreTable, conditions: Sequence[str]) -> tuple[Estimate, ...]:
    """Return accuracies with the intervals whose bounds decide about a rule in all these conditions together."""
    if not conditions:
        return ()
    columns = [scores.column(name) for name in conditions]
    part = msgspec.structs.replace(
        scores,
        values=np.asarray(scores.values)[:, columns],
        present=np.asarray(scores.present)[:, columns],
        conditions=tuple(conditions),
    )
    return accuracy_by_condition(part, confidence=rule_confidence(len(conditions)))


def _merged(rules: Sequence[Finding]) -> Finding:
    """Return one finding for all; from the second on, conditions are listed by name and the first few only."""
    names = tuple(name for rule in rules for name in rule.conditions)
    others = names[1 : _MOST_NAMED + 1]
    more = f" and {len(names) - 1 - _MOST_NAMED} more" if len(names) - 1 > _MOST_NAMED else ""
    text = f"{rules[0].message}; the same holds for {', '.join(others)}{more}" if others else rules[0].message
    return msgspec.structs.replace(rules[0], message=text, conditions=names)


def _check_epochs(table: RunTable) -> list[Finding]:
    """Say how noisy repeats are; they are averaged per question, never counted as questions."""
    if table.run.n_repeats <= 1:
        return []
    shape = (len(table.questions), table.n_slots)
    flips, shares = [], []
    for own in _by_condition(table):
        values, present = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        for (row, slot), cell in own.items():
            if cell.value is not None:
                values[row, slot], present[row, slot] = cell.value, True
        noise = measure_noise(values, present)
        if noise.n_pairs:
            flips.append(noise.flip_rate)
            shares.append(noise.within_share)
    if not flips:
        return []
    text = (
        f"{table.run.n_repeats} repeats, averaged per question: {100 * float(np.mean(flips)):.1f} % of pairs "
        f"of repeats differ, {100 * float(np.mean(shares)):.1f} % of the variance lies within questions"
    )
    return [Finding(code=Code.EPOCHS, level="info", message=text)]


def _check_groups(table: RunTable, scores: ScoreTable) -> list[Finding]:
    """Find groupings whose scored questions have different chance levels."""
    found = []
    is_scored, groups = np.asarray(scores.present.any(axis=1)), table.image_groups
    tested = {name: labels for name, labels in groupings(table.questions).items() if name != "options"}  # by definition
    for grouping, labels in tested.items():
        by_group: dict[str, list[float]] = {}
        images: dict[str, list[str]] = {}
        for at, (label, chance) in enumerate(zip(labels, table.chance.tolist(), strict=True)):
            if is_scored[at]:
                by_group.setdefault(label, []).append(chance)
                images.setdefault(label, []).append(groups[at])
        rates = {name: np.array(own) for name, own in by_group.items()}
        rule = check_groups(rates, images, n_groupings=len(tested))
        if rule is not None:
            found.append(msgspec.structs.replace(rule, message=f"by {grouping}, {rule.message}"))
    return found


def _check_errata(table: RunTable) -> list[Finding]:
    known = [question.id for question in table.questions if question.has_errata]
    if not known:
        return []
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    text = f"{len(known)} questions have known errata: {', '.join(known[:_MOST_NAMED])}{more}; see results without them"
    return [Finding(code=Code.ITEM_ERRATA, level="info", message=text)]


def _check_pictures(table: RunTable, cells: dict[str, list[Cell]], close: Sequence[CloseViews]) -> list[Finding]:
    """Find views that are one picture to the model, and views whose pictures were refused."""
    refused = {
        name: sum(cell.ending is not None and cell.ending.state == ResponseState.REFUSED_INPUT for cell in own)
        for name, own in cells.items()
    }
    names = _often_refused(table)
    found = [*_same_files(table), *check_close(close, table.conditions)]
    if names:
        often = {name: refused[name] for name in names}
        text = (
            f"pictures were refused, by the provider or as too large to be sent ({_counted(often)}): "
            "what is left is not a fair sample"
        )
        found.append(Finding(code=Code.VIEW_REJECTED, level="warning", message=text, conditions=names))
    return found


def _often_refused(table: RunTable) -> tuple[str, ...]:
    """Return the conditions in which more pictures were refused than single failures explain.

    Pictures are counted and not answers, since what refuses a picture refuses it for all its questions.
    """
    groups = table.image_groups
    often = []
    for name, own in zip(table.conditions, table.columns(), strict=True):
        asked = {groups[row] for row, _ in own}
        refused = {
            groups[row]
            for row, cell in own
            if cell.ending is not None and cell.ending.state == ResponseState.REFUSED_INPUT
        }
        n_each = len(own) / max(len(asked), 1)
        if is_often(len(refused), len(asked), n_conditions=len(table.conditions), n_each=n_each):
            often.append(name)
    return tuple(often)


def _same_files(table: RunTable) -> tuple[Finding, ...]:
    """Find conditions that send the very same pictures, where what the model sees is known."""
    if not any(cell.sight is not None and cell.sight.seen_size is not None for cell in table.cells.values()):
        return ()
    recipes = []
    for question in range(len(table.questions)):
        cells = [table.cells.get((question, index, 0)) for index in range(len(table.conditions))]
        whole = [cell for cell in cells if cell is not None]
        if len(whole) == len(cells):
            recipes.append([" ".join(cell.recipes) for cell in whole])
    return check_same_input(recipes, table.conditions)


def _by_condition(table: RunTable) -> list[dict[tuple[int, int], Cell]]:
    """Return per condition: question and slot → cell."""
    found: list[dict[tuple[int, int], Cell]] = [{} for _ in table.conditions]
    for (row, condition, slot), cell in table.cells.items():
        found[condition][row, slot] = cell
    return found


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items() if n)
