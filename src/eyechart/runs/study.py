"""What a study can detect and what it costs, from an assumed discordance or from a pilot run."""

from collections.abc import Sequence

import numpy as np

from eyechart.errors import UsageError
from eyechart.runs.cells import RunTable
from eyechart.schema import Question, Value
from eyechart.stats.clusters import find_clusters
from eyechart.stats.paired import subtract
from eyechart.stats.pilot import estimate_components, read_pilot
from eyechart.stats.power import Design, bases_needed, detectable_difference, questions_needed

# Typical of two views of one picture where nothing is known (specification section 4: 10–20 %).
ASSUMED_DISCORDANCE = 0.15
_TWO = 2


class GroupPower(Value, frozen=True):
    """What the questions of one task can detect; ``detectable`` is None where nothing can be."""

    group: str
    n_questions: int
    n_pictures: int
    detectable: float | None


class PairPower(Value, frozen=True, kw_only=True):
    """What one comparison can detect, and what an effect needs.

    Args:
        condition: Condition.
        baseline: Its baseline.
        discordance: Share of questions whose score differs.
        source: ``pilot`` or ``assumed``.
        variance_inflation: Factor by which shared pictures inflate the variance.
        detectable: Smallest difference that all questions detect; None where nothing can be.
        n_needed: Questions that the effect asked for needs; None without one, or where it exceeds the discordance.
        groups: The same per task.
    """

    condition: str
    baseline: str
    discordance: float
    source: str
    variance_inflation: float
    detectable: float | None
    n_needed: int | None
    groups: tuple[GroupPower, ...]


class StudyPower(Value, frozen=True, kw_only=True):
    """What a study can detect.

    Args:
        n_questions: Questions.
        n_pictures: Pictures.
        n_requests: Questions times views times repeats.
        alpha: Error rate of the family.
        power: Chance to detect.
        n_comparisons: Size of the family; the first step tests at alpha/n_comparisons.
        pairs: The comparisons.
        useful_views: From a pilot: past about this many views per question, averaging more is wasted; None if unknown.
        useful_repeats: From a pilot with repeats: past about this many, more are wasted; None if unknown.
        bases_needed: Base samples that keep the noise floor of a grid's regional gap below half the target; None if not
            asked for.
    """

    n_questions: int
    n_pictures: int
    n_requests: int
    alpha: float
    power: float
    n_comparisons: int
    pairs: tuple[PairPower, ...]
    useful_views: float | None = None
    useful_repeats: float | None = None
    bases_needed: int | None = None


class StudyOptions(Value, frozen=True, kw_only=True):
    """What is asked of the power calculation; see ``StudyPower``."""

    alpha: float = 0.05
    power: float = 0.8
    discordance: float | None = None
    effect: float | None = None
    n_views: int = 1
    n_repeats: int = 1
    grid: int | None = None
    grid_target: float = 0.05
    within_sd: float = 0.35


def study_power(
    questions: Sequence[Question],
    pairs: Sequence[tuple[str, str]],
    options: StudyOptions,
    pilot: RunTable | None = None,
) -> StudyPower:
    """Return what the questions can detect for every pair of conditions, over all and per task.

    Discordance and the inflation by shared pictures come from the pilot where it asked both conditions; without one,
    the discordance is assumed and the inflation is that of pictures whose questions fully agree (the worst case).

    Args:
        questions: The questions to be asked.
        pairs: (condition, baseline) of each comparison; they form one family.
        options: Error rate, power, assumed discordance, effect.
        pilot: A run of the same kind.

    Raises:
        UsageError: If no pair is given, or a number is out of range.
    """
    _check_options(options)
    if not pairs:
        raise UsageError("nothing to compare", hint="name at least two views")
    clusters = find_clusters([question.image_group for question in questions])
    found = tuple(_pair(questions, pair, options, len(pairs), pilot) for pair in pairs)
    views, repeats = _useful(pilot, pairs)
    return StudyPower(
        n_questions=len(questions),
        n_pictures=clusters.n_clusters,
        n_requests=len(questions) * options.n_views * options.n_repeats,
        alpha=options.alpha,
        power=options.power,
        n_comparisons=len(pairs),
        pairs=found,
        useful_views=views,
        useful_repeats=repeats,
        bases_needed=None
        if options.grid is None
        else bases_needed(options.grid_target, options.within_sd, options.grid**2),
    )


def _check_options(options: StudyOptions) -> None:
    """Refuse shares that are none, and counts below 1."""
    shares = {
        "--alpha": options.alpha,
        "--power": options.power,
        "--discordance": options.discordance,
        "--effect": options.effect,
    }
    for flag, share in shares.items():
        if share is not None and not 0.0 < share < 1.0:
            raise UsageError(f"{flag} {share:g} does not lie between 0 and 1", hint="five points are written 0.05")
    for flag, count in {"--repeats": options.n_repeats, "--grid": options.grid}.items():
        if count is not None and count < 1:
            raise UsageError(f"{flag} {count} is below 1", hint="give a whole number from 1")


def _pair(
    questions: Sequence[Question],
    pair: tuple[str, str],
    options: StudyOptions,
    n_comparisons: int,
    pilot: RunTable | None,
) -> PairPower:
    discordance, inflation, source = _from_pilot(pilot, pair)
    if options.discordance is not None or discordance is None or discordance == 0.0:
        discordance, source = options.discordance or ASSUMED_DISCORDANCE, "assumed"
    groups = sorted({question.task for question in questions if question.task})
    by_group = [(group, [question for question in questions if question.task == group]) for group in groups]
    design = _design(questions, inflation, options, n_comparisons)
    is_possible = options.effect is not None and 0.0 < abs(options.effect) <= discordance
    return PairPower(
        condition=pair[0],
        baseline=pair[1],
        discordance=discordance,
        source=source,
        variance_inflation=design.variance_inflation,
        detectable=detectable_difference(len(questions), discordance, design),
        n_needed=questions_needed(options.effect, discordance, design)
        if is_possible and options.effect is not None
        else None,
        groups=tuple(
            GroupPower(
                group,
                len(own),
                len({question.image_group for question in own}),
                detectable_difference(len(own), discordance, _design(own, inflation, options, n_comparisons)),
            )
            for group, own in by_group
        ),
    )


def _design(
    questions: Sequence[Question], inflation: float | None, options: StudyOptions, n_comparisons: int
) -> Design:
    worst = find_clusters([question.image_group for question in questions]).variance_inflation
    return Design(
        alpha=options.alpha,
        power=options.power,
        n_comparisons=n_comparisons,
        variance_inflation=worst if inflation is None else inflation,
    )


def _from_pilot(pilot: RunTable | None, pair: tuple[str, str]) -> tuple[float | None, float | None, str]:
    if pilot is None or not set(pair) <= set(pilot.conditions):
        return None, None, "assumed"
    values, present = pilot.scores()
    first, second = (np.array([pilot.conditions.index(name)]) for name in pair)
    change, both = subtract(values, present, first, second)
    found = read_pilot(change, both, find_clusters(pilot.image_groups))
    return float(found.discordance[0]), float(found.variance_inflation[0]), "pilot"


def _useful(pilot: RunTable | None, pairs: Sequence[tuple[str, str]]) -> tuple[float | None, float | None]:
    """Return past how many views, and repeats, more of them are wasted, where a pilot says."""
    if pilot is None:
        return None, None
    shape = (len(pilot.questions), len(pilot.conditions), pilot.n_slots)
    values, present = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    for key, cell in pilot.cells.items():
        if cell.value is not None:
            values[key], present[key] = cell.value, True
    shown = [pair for pair in pairs if set(pair) <= set(pilot.conditions)]
    if len(shown) < _TWO:
        return None, None
    first = [pilot.conditions.index(condition) for condition, _ in shown]
    second = [pilot.conditions.index(baseline) for _, baseline in shown]
    both = present[:, first] & present[:, second]
    change = np.where(both, values[:, first] - values[:, second], 0.0)
    if np.count_nonzero(both.all(axis=(1, 2))) < _TWO:
        return None, None
    parts = estimate_components(change, both)
    repeats = (
        parts.repeat / (parts.question + parts.view) if pilot.n_slots > 1 and parts.question + parts.view else None
    )
    return (parts.useful_views if parts.question > 0.0 else None), repeats
