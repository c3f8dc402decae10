"""Whether a headline survives other ways to read and to count the same answers."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from eyechart.opening import open_scorer
from eyechart.runs.cells import RunTable, Slot, slot_of
from eyechart.runs.gold import shown_letter
from eyechart.runs.store import RunStore
from eyechart.schema import Contrast, Score, Sensitivity
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.claims import adjust_family
from eyechart.stats.codes import Code
from eyechart.stats.conditions import ScoreTable, contrasts_between
from eyechart.stats.missing import ScoreBounds
from eyechart.stats.repeats import average_repeats
from eyechart.stats.sensitivity import bound_missing, changes_of_verdict, verdict_of

AS_SCORED = "as scored"
OF_UNREAD = (AS_SCORED, "lenient", "readable only", "unreadable by chance")
"""Readings that differ in unreadable answers alone."""
_SUBSET_SHARE = 0.01


def judge_unread(
    store: RunStore, table: RunTable, scorer_id: str, scores: Iterable[Score] | None = None
) -> dict[Slot, float]:
    """Judge the answers again in which a scorer read nothing, in its last and most lenient mode.

    A letter that the strict mode reads is also the lenient one, so nothing else can change.

    Args:
        store: The run.
        table: The same, gathered.
        scorer_id: The scorer of the scores.
        scores: The scores; the stored ones if None.

    Returns:
        Question, condition, slot → score, of the answers that the lenient mode reads; empty for a scorer of one mode.
    """
    scorer, mode = open_scorer(scorer_id)
    if scorer.name != "option_letter" or mode == "lenient":
        return {}
    if not any(cell.is_unparsed for cell in table.cells.values()):
        return {}
    unread = {
        score.request_id
        for score in (store.scores(scorer_id) if scores is None else scores)
        if score.value == 0.0 and score.answer is None
    }
    places = {question.id: row for row, question in enumerate(table.questions)}
    questions = {question.id: question for question in store.questions()}
    asked = {request.id: request for request in store.requests() if request.id in unread}
    read: dict[Slot, float] = {}
    for response in store.responses():
        request = asked.get(response.request_id)
        if request is None:
            continue
        question = questions[request.question_id]
        gold = shown_letter(question.answer, request.choice_order)
        choices = tuple(question.choices[index] for index in request.choice_order)
        score: Score = scorer.score(response, question, choices, gold, "lenient")
        if score.value is not None and score.answer is not None:
            condition = table.conditions.index(request.condition)
            read[places[question.id], condition, slot_of(request, table.run)] = score.value
    return read


def readings_of(table: RunTable, scores: ScoreTable, lenient: Mapping[Slot, float]) -> dict[str, ScoreTable]:
    """Return the scores of a run under every reading that differs from its own.

    ``lenient`` accepts an option's text; ``readable only`` leaves unreadable answers out on both sides; ``unreadable by
    chance`` credits them with the guess rate; ``missing wrong`` and ``missing right`` bound what is missing; ``without
    errata`` leaves out questions with known errors.

    Args:
        table: The run.
        scores: Its scores as they stand.
        lenient: Question, condition, slot → score of answers that only the lenient mode reads.
    """
    unread = [key for key, cell in table.cells.items() if cell.is_unparsed]
    found = {AS_SCORED: scores}
    if lenient:
        found["lenient"] = _with(scores, *_slots(table, dict(lenient)))
    if unread:
        rates = {key: float(table.chance[key[0]]) for key in unread}
        found["readable only"] = _with(scores, *_slots(table, dict.fromkeys(unread)))
        found["unreadable by chance"] = _with(scores, *_slots(table, rates))
    if not np.asarray(scores.present).all():
        found |= bound_missing(scores)
    errata = np.array([question.has_errata for question in table.questions], dtype=np.bool_)
    if errata.any():
        sound = np.asarray(scores.present) & ~errata[:, None]
        found["without errata"] = msgspec.structs.replace(scores, present=sound, filled=None)
    return found


def of_unread(readings: Mapping[str, ScoreTable]) -> dict[str, ScoreTable]:
    """Return the readings that differ in unreadable answers alone, and the one as scored."""
    return {name: scores for name, scores in readings.items() if name in OF_UNREAD}


def check_sensitivity(
    readings: Mapping[str, ScoreTable], contrasts: Sequence[Contrast], *, alpha: float = 0.05
) -> tuple[Sensitivity, ...]:
    """Return every contrast under every reading, with what changes; nothing where there is one reading only.

    Args:
        readings: Reading → scores.
        contrasts: The headlines.
        alpha: Level at which significance is judged, on p corrected over the contrasts, as reports claim by it.
    """
    if len(readings) <= 1 or not contrasts:
        return ()
    pairs = [(one.condition, one.baseline) for one in contrasts]
    by_pair: dict[tuple[str, str], list[Contrast]] = {pair: [] for pair in pairs}
    verdicts: dict[tuple[str, str], list[int]] = {pair: [] for pair in pairs}
    for name, scores in readings.items():
        for contrast in contrasts_between(scores, pairs):
            named = msgspec.structs.replace(
                contrast,
                subset=name,
                p_adjusted=None,
                p_if_like_others=None,
                correction=None,
                family=None,
                secondary=True,
            )
            by_pair[contrast.condition, contrast.baseline].append(named)
            if contrast.p is not None:
                verdicts[contrast.condition, contrast.baseline].append(verdict_of(contrast, alpha))
    found = []
    for (condition, baseline), own in by_pair.items():
        changes = changes_of_verdict(verdicts[condition, baseline])
        found.append(
            Sensitivity(
                condition,
                baseline,
                readings=tuple(own),
                sign_changes="sign" in changes,
                significance_changes="significance" in changes,
            )
        )
    return tuple(found)


def block_fragile(contrasts: Iterable[Contrast], checked: Iterable[Sensitivity]) -> tuple[Contrast, ...]:
    """Block contrasts whose sides are unreadable at different rates and whose verdict depends on the reading.

    Args:
        contrasts: Contrasts with their warnings.
        checked: The same under the readings ``of_unread``.
    """
    fragile = {(one.condition, one.baseline) for one in checked if one.sign_changes or one.significance_changes}
    return tuple(
        msgspec.structs.replace(one, blocked_by=tuple(dict.fromkeys((*one.blocked_by, str(Code.UNREADABLE_BY_VIEW)))))
        if (one.condition, one.baseline) in fragile and Code.UNREADABLE_BY_VIEW in one.warnings
        else one
        for one in contrasts
    )


def block_subsets(
    contrasts: Iterable[Contrast], scores: ScoreTable, headlines: Sequence[Contrast], *, alpha: float = 0.05
) -> tuple[Contrast, ...]:
    """Block contrasts of views with other questions, where those that one side was not asked could undo the verdict.

    Such a contrast is judged on the questions that both sides were asked. It is blocked if more than 1 % of the others
    belong to one side only, and it is significant as it stands but not whatever these would have been.

    Args:
        contrasts: Contrasts with their warnings.
        scores: The scores, with their bounds.
        headlines: The family over which both verdicts are corrected.
        alpha: Level at which significance is judged.
    """
    marked = list(contrasts)
    if not any(Code.SUBSET_MISMATCH in one.warnings for one in marked):
        return tuple(marked)
    stand = contrasts_between(scores, [(one.condition, one.baseline) for one in headlines])
    if_asked = [
        msgspec.structs.replace(one, p_worst=_p_if_asked(scores, one)) if are_apart(scores, one) else one
        for one in stand
    ]
    whole = adjust_family(if_asked, "holm", "as if both sides had been asked all").contrasts
    undone = {
        (one.condition, one.baseline)
        for one, other in zip(stand, whole, strict=True)
        if are_apart(scores, one) and verdict_of(one, alpha) != 0 and verdict_of(other, alpha) == 0
    }
    return tuple(
        msgspec.structs.replace(one, blocked_by=tuple(dict.fromkeys((*one.blocked_by, str(Code.SUBSET_MISMATCH)))))
        if (one.condition, one.baseline) in undone and Code.SUBSET_MISMATCH in one.warnings
        else one
        for one in marked
    )


def are_apart(scores: ScoreTable, contrast: Contrast) -> bool:
    """Whether more than 1 % of the questions that one side of a contrast was asked were not asked on the other."""
    first, second = (scores.bounds.asked[:, scores.column(name)] for name in (contrast.condition, contrast.baseline))
    return bool(np.count_nonzero(first != second) > _SUBSET_SHARE * np.count_nonzero(first | second))


def _p_if_asked(scores: ScoreTable, contrast: Contrast) -> float | None:
    """Return the largest p whatever the questions would have given that one side alone was asked."""
    columns = [scores.column(name) for name in (contrast.condition, contrast.baseline)]
    lowest, highest, asked = scores.bounds
    either = np.broadcast_to(asked[:, columns].any(axis=1, keepdims=True), asked.shape)
    filled = ScoreBounds(np.where(asked, lowest, 0.0), np.where(asked, highest, 1.0), either)
    pair = (contrast.condition, contrast.baseline)
    return contrasts_between(msgspec.structs.replace(scores, filled=filled), [pair])[0].p_worst


def _slots(table: RunTable, changed: Mapping[Slot, float | None]) -> tuple[Floats, Bools]:
    """Return scores averaged over repeats with some replaced, or left out where None."""
    shape = (len(table.questions), len(table.conditions), table.n_slots)
    values, present = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    for key, cell in table.cells.items():
        value = changed.get(key, cell.value)
        if value is not None:
            values[key], present[key] = value, True
    return average_repeats(values, present)


def _with(scores: ScoreTable, values: Floats, present: Bools) -> ScoreTable:
    return msgspec.structs.replace(scores, values=values, present=present, filled=None)
