"""The size of target at which half of the accuracy is left, from what changes when one question is shown smaller."""

from typing import Literal, NamedTuple

import numpy as np

from eyechart.stats.arrays import Bools, Floats, Integers, check_scores, divide
from eyechart.stats.clusters import Clusters, cluster_sums, find_clusters
from eyechart.stats.intervals import critical_t
from eyechart.stats.ratio import correct_for_chance
from eyechart.stats.small_samples import bell_mccaffrey_freedom, effective_clusters, has_interval
from eyechart.stats.threshold import check_sizes, half_octaves

HalfSizeStatus = Literal["estimated", "not reached", "not identified"]

_FEWEST_QUESTIONS = 30
_LEAST_SPAN = 1.0  # octaves between the smallest and the largest size of a typical question
_SAME_SIZE = 0.05  # octaves: sizes closer than that are one size
_SEEN_TAIL = 0.025  # share of the answers at sizes beyond which the curve is not followed
_FLAT_PER_OCTAVE = 0.05

# The parameters: threshold, its drift with the mean size of a question, log of the width, plateau, floor, and the
# drifts of the last two. A weak pull towards plain values keeps the curve finite where few answers tell; it is worth
# less than a question each and was set by simulation (design/statistics.md).
_PULL_TO = np.array([0.0, 0.0, np.log(0.5), 0.6, 0.0, 0.0, 0.0])
_PULL = np.array([1e-6, 0.15, 2.0, 0.3, 7.0, 3.0, 7.0])
_THRESHOLD, _WIDTH, _PLATEAU, _PLATEAU_DRIFT = 0, 2, 3, 5
_WIDTHS = np.log([0.2, 4.0])
_STARTS = (0.15, 0.4, 0.7)
_HELD = 1e5  # weight by which a profile holds the half-accuracy size where it is put
_HELD_WITHIN = 0.02
_MAX_STEPS, _MAX_TRIES = 60, 8
_N_BISECTIONS = 7


class SizeBands(NamedTuple):
    """The pooled answers by size of the target as it was seen, from the largest down; bands hold different questions.

    Args:
        log2_px: (n_bands,) mean log₂ of the shorter side in pixels.
        corrected: (n_bands,) chance-corrected accuracy.
        low: (n_bands,) lower bounds, NaN where fewer than 10 effective pictures are too few for an interval.
        high: (n_bands,) upper bounds, likewise.
        fitted: (n_bands,) chance-corrected accuracy if all targets were of this size, by the curve within questions;
            the raw one where no curve was fitted.
        chance: (n_bands,) mean guess rate.
        n_rows: (n_bands,) rows with an answer in the band.
    """

    log2_px: Floats
    corrected: Floats
    low: Floats
    high: Floats
    fitted: Floats
    chance: Floats
    n_rows: Integers


class HalfSizeEstimate(NamedTuple):
    """Where half of the chance-corrected plateau would be left if all targets had one size.

    Args:
        status: ``not reached`` where more than half is left even at the smallest targets, ``not identified`` where
            the answers do not tell; ``reason`` says why.
        reason: Why there is no estimate; empty if there is.
        used: (n_rows,) rows with answers at two sizes or more, from which all this is.
        n_clusters: Their pictures.
        log2_px: log₂ of the size in pixels, None unless estimated.
        low: log₂ of its lower bound, None where it lies below the smallest targets.
        high: log₂ of its upper bound, None where there is no estimate.
        slope: Change of the score per octave within a question, None where there are too few answers for one.
        slope_p: One-sided p of a slope above 0.
        bands: The answers by size; None where there are too few.
        has_curve: Whether ``bands.fitted`` follows a fitted curve.
    """

    status: HalfSizeStatus
    reason: str
    used: Bools
    n_clusters: int
    log2_px: float | None = None
    low: float | None = None
    high: float | None = None
    slope: float | None = None
    slope_p: float | None = None
    bands: SizeBands | None = None
    has_curve: bool = False


def estimate_half_size(
    values: Floats,
    present: Bools,
    chance: Floats,
    labels: Integers,
    target_px: Floats,
    *,
    confidence: float = 0.95,
    slope_alpha: float = 0.01,
) -> HalfSizeEstimate:
    """Estimate the size at which half of the chance-corrected plateau is left, or say why it is not known.

    Only rows that were asked at two sizes or more count. First a test of the slope within rows, whose means are taken
    out, so that a model that ignores the pixels has none whatever the sizes of easy and of hard questions are. Then a
    curve c + (1 − c)·(φ + (λ − φ)·logistic((x − θ)/σ)) over log₂ pixels x by least squares, where threshold θ, plateau
    λ and floor φ each drift linearly with the mean size of the row: what differs between questions of different size is
    not read as an effect of size. The half-accuracy size is where the curve, averaged over the mean sizes of all rows,
    has fallen to half of its plateau. Its interval holds the sizes at which the curve may be held without the squares
    rising by more than t² · V/V₀, where V is the variance by leaving out one picture at a time and V₀ that of the
    squares.

    Args:
        values: (n_rows, n_views) scores in [0, 1] of one model; a row is one question under views that show the same
            part of its picture at several sizes.
        present: Same shape, True where there is a score and the target's size is known.
        chance: (n_rows,) guess rates in [0, 1).
        labels: (n_rows,) picture of each row.
        target_px: (n_rows, n_views) positive where present: the shorter side in pixels the model saw.
        confidence: Coverage of the interval, in (0, 1).
        slope_alpha: Level of the test of the slope; divide it by the number of curves that are shown together.

    Raises:
        StatisticsError: If shapes differ, or a size is not positive.

    Example:
        >>> px = np.repeat([[64.0, 32, 16, 8]], 40, axis=0)
        >>> found = estimate_half_size((px > 20) * 1.0, px > 0, np.zeros(40), np.arange(40), px)
        >>> found.status, round(2**found.log2_px, 1)
        ('estimated', 23.2)

    References:
        Mundlak (1978), https://doi.org/10.2307/1913646 (mean of the covariate beside its deviation).
        Bell & McCaffrey (2002), Survey Methodology 28, 169–181 (variance by leaving out clusters).
    """
    scores, mask = check_scores(values, present)
    check_sizes(target_px, scores, mask)
    log2_px = np.where(mask, np.log2(np.where(mask, target_px, 1.0)), 0.0)
    span = np.where(mask, log2_px, -np.inf).max(axis=1, initial=-np.inf) - np.where(mask, log2_px, np.inf).min(
        axis=1, initial=np.inf
    )
    used = np.asarray(span > _SAME_SIZE, dtype=np.bool_)
    mask = mask & used[:, None]
    clusters = find_clusters(labels)
    counts = cluster_sums(used, clusters)
    blank = HalfSizeEstimate("not identified", "", used, int((counts > 0).sum()))
    if not used.any():
        return blank._replace(reason="no question was asked at two sizes of its target, by views that only resize")
    if used.sum() < _FEWEST_QUESTIONS or not has_interval(counts):
        reason = f"{int(used.sum())} questions on {effective_clusters(counts):.3g} effective pictures are too few"
        return blank._replace(reason=reason)
    typical = float(np.median(span[used]))
    if typical < _LEAST_SPAN:
        return blank._replace(reason=f"a typical question was asked over {typical:.1f} octaves of size: too few")
    bands = _bands(scores, mask, np.asarray(chance, dtype=np.float64), clusters, log2_px, confidence)
    slope, p = _slope_within(scores[used], mask[used], log2_px[used], np.asarray(labels)[used])
    blank = blank._replace(bands=bands, slope=slope, slope_p=p)
    if not (slope > 0.0 and p < slope_alpha):
        reason = (
            "within a question the score does not clearly rise with the size of the target "
            f"({100 * slope:+.1f} points an octave, p = {p:.2g}, needed is {slope_alpha:.2g}), "
            "so it reads all sizes alike or does not look"
        )
        return blank._replace(reason=reason.replace("-", "−"))
    answers = _gather(scores[used], mask[used], np.asarray(chance)[used], np.asarray(labels)[used], log2_px[used])
    return _half_size(answers, blank, bands, confidence)


class _Answers(NamedTuple):
    """One entry per answer, sorted by picture; sizes are less ``centre``."""

    size: Floats
    mean: Floats
    gain: Floats
    room: Floats
    starts: Integers
    row_means: Floats
    row_clusters: Clusters
    centre: float


class _Point(NamedTuple):
    """Parameters, with everything that belongs to them."""

    parameters: Floats
    squares: float
    held: float
    residuals: Floats
    slopes: Floats
    half: "_Half | None"


class _Half(NamedTuple):
    """How far the averaged curve lies above half of its plateau at one size, by row, and its derivatives."""

    above: Floats
    gradient: Floats
    rise: float


def _gather(scores: Floats, mask: Bools, chance: Floats, labels: Integers, log2_px: Floats) -> _Answers:
    order = np.argsort(labels, kind="stable")
    scores, mask, chance, log2_px = scores[order], mask[order], chance[order], log2_px[order]
    means = np.where(mask, log2_px, 0.0).sum(axis=1) / mask.sum(axis=1)
    centre = float(means.mean())
    per_row = mask.sum(axis=1)
    clusters = find_clusters(labels[order])
    per_cluster = cluster_sums(per_row.astype(np.float64), clusters).astype(np.int64)
    guesses = np.repeat(chance, per_row)
    return _Answers(
        size=log2_px[mask] - centre,
        mean=np.repeat(means, per_row) - centre,
        gain=scores[mask] - guesses,
        room=1.0 - guesses,
        starts=(np.cumsum(per_cluster) - per_cluster).astype(np.int64),
        row_means=means - centre,
        row_clusters=clusters,
        centre=centre,
    )


def _slope_within(scores: Floats, mask: Bools, log2_px: Floats, labels: Integers) -> tuple[float, float]:
    """Return the change of the score per octave within rows, and the one-sided p that there is none.

    Under no effect of size Σ(x − x̄)·y has mean 0 in every row, whatever its own accuracy is; pictures are independent.
    """
    from scipy.special import stdtr  # late: keeps the command line fast

    n = mask.sum(axis=1, keepdims=True)
    deviations = np.where(mask, log2_px - np.where(mask, log2_px, 0.0).sum(axis=1, keepdims=True) / n, 0.0)
    clusters = find_clusters(labels)
    sums = cluster_sums((deviations * scores).sum(axis=1), clusters)
    slope = float(sums.sum() / (deviations**2).sum())
    error = float(np.sqrt((sums**2).sum()))
    freedom = float(bell_mccaffrey_freedom(clusters.sizes.astype(np.float64)))
    return slope, float(stdtr(freedom, -sums.sum() / error)) if error > 1e-9 else 1.0  # noqa: PLR2004 - rounding


def _curve(parameters: Floats, size: Floats | float, mean: Floats) -> tuple[Floats, Floats]:
    """Return chance-corrected accuracies at sizes, of rows of given mean size, and their derivatives (…, 7)."""
    from scipy.special import expit

    threshold, drift, log_width, plateau, floor, plateau_drift, floor_drift = parameters
    width = np.exp(log_width)
    place = (size - threshold - drift * mean) / width
    share = expit(place)
    top, bottom = plateau + plateau_drift * mean, floor + floor_drift * mean
    rise = (top - bottom) * share * (1.0 - share)
    parts = [-rise / width, -rise * mean / width, -rise * place, share, 1.0 - share, share * mean, (1.0 - share) * mean]
    return bottom + (top - bottom) * share, np.stack(parts, axis=-1)


def _half(parameters: Floats, size: float, means: Floats) -> _Half:
    values, slopes = _curve(parameters, size, means)
    gradient = slopes.mean(axis=0)
    rise = float(-gradient[_THRESHOLD])
    gradient[_PLATEAU] -= 0.5
    gradient[_PLATEAU_DRIFT] -= 0.5 * means.mean()
    return _Half(values - 0.5 * (parameters[_PLATEAU] + parameters[_PLATEAU_DRIFT] * means), gradient, rise)


def _point(answers: _Answers, parameters: Floats, held_at: float | None) -> _Point:
    values, slopes = _curve(parameters, answers.size, answers.mean)
    residuals = answers.gain - answers.room * values
    squares = float(residuals @ residuals + (_PULL * (parameters - _PULL_TO) ** 2).sum())
    half = None if held_at is None else _half(parameters, held_at, answers.row_means)
    held = squares if half is None else squares + _HELD * float(half.above.mean()) ** 2
    return _Point(parameters, squares, held, residuals, slopes * answers.room[:, None], half)


def _fit(answers: _Answers, parameters: Floats, held_at: float | None = None) -> _Point:
    """Return the least squares from a start (Levenberg–Marquardt), the half-accuracy size held if wanted."""
    point = _point(answers, parameters, held_at)
    damping, is_done = 1e-3, False
    for _ in range(_MAX_STEPS):
        information = point.slopes.T @ point.slopes + np.diag(_PULL)
        descent = point.slopes.T @ point.residuals - _PULL * (point.parameters - _PULL_TO)
        if point.half is not None:
            information += _HELD * np.outer(point.half.gradient, point.half.gradient)
            descent -= _HELD * float(point.half.above.mean()) * point.half.gradient
        for _ in range(_MAX_TRIES):
            step = np.linalg.solve(information + damping * np.diag(np.diag(information)), descent)
            moved = point.parameters + step
            moved[_WIDTH] = np.clip(moved[_WIDTH], *_WIDTHS)
            tried = _point(answers, moved, held_at)
            if tried.held <= point.held:
                break
            damping *= 5.0
        else:
            break
        is_done = point.held - tried.held < 1e-8 * point.held  # far below any printed digit
        point, damping = tried, max(damping / 5.0, 1e-9)
        if is_done:
            break
    return point


def _half_size(answers: _Answers, blank: HalfSizeEstimate, bands: SizeBands, confidence: float) -> HalfSizeEstimate:
    """Fit the curve, find where half of it is left, and how far that may be moved."""
    points = []
    for share in _STARTS:
        start = _PULL_TO.copy()
        start[[_THRESHOLD, _WIDTH]] = np.quantile(answers.size, share), 0.0
        points.append(_fit(answers, start))
    best = min(points, key=lambda one: one.squares)
    smallest, largest = (float(end) for end in np.quantile(answers.size, [_SEEN_TAIL, 1.0 - _SEEN_TAIL]))
    fitted = [_curve(best.parameters, one - answers.centre, answers.row_means)[0].mean() for one in bands.log2_px]
    found = blank._replace(bands=bands._replace(fitted=np.array(fitted)), has_curve=True)
    above = [float(_half(best.parameters, end, answers.row_means).above.mean()) for end in (smallest, largest)]
    if above[0] > 0.0:
        px = 2.0 ** (smallest + answers.centre)
        reason = f"more than half of the plateau is left at the smallest targets, about {px:.3g} px"
        return found._replace(status="not reached", reason=reason)
    if above[1] <= 0.0:
        return found._replace(reason="the largest targets do not reach the plateau, so half of it is not known")
    low, high = smallest, largest
    for _ in range(50):
        middle = (low + high) / 2.0
        is_above = float(_half(best.parameters, middle, answers.row_means).above.mean()) > 0.0
        low, high = (low, middle) if is_above else (middle, high)
    at_half = _half(best.parameters, high, answers.row_means)
    if at_half.rise < _FLAT_PER_OCTAVE:
        return found._replace(reason="the curve has a plateau at half of its height, so that no size stands out")
    half_width, most = _tolerance(answers, best, at_half, confidence)
    ends = [
        _profile(answers, best, high, sign * half_width, best.squares + most, end)
        for sign, end in ((-1.0, smallest), (1.0, largest))
    ]
    if ends[1] is None:
        both = "covers every size" if ends[0] is None else "reaches beyond the largest size"
        return found._replace(reason=f"the interval {both} that was seen")
    low_bound = None if ends[0] is None else ends[0] + answers.centre
    centre = answers.centre
    return found._replace(status="estimated", reason="", log2_px=high + centre, low=low_bound, high=ends[1] + centre)


def _tolerance(answers: _Answers, best: _Point, half: _Half, confidence: float) -> tuple[float, float]:
    """Return the half-width of a plain interval, and by how much the squares may rise within the interval.

    The variance is that of leaving out each picture (one step of its own fit), or the one independent answers give if
    that is larger. Its degrees of freedom are those of the layout, and no more than the pictures that carry it.
    """
    information = best.slopes.T @ best.slopes + np.diag(_PULL)
    gradients = np.add.reduceat(best.slopes * best.residuals[:, None], answers.starts, axis=0)
    squares = best.slopes[:, :, None] * best.slopes[:, None, :]
    moves = np.linalg.solve(information - np.add.reduceat(squares, answers.starts, axis=0), gradients[:, :, None])
    sizes = answers.row_clusters.sizes.astype(np.float64)
    n_rows = sizes.sum()
    own = cluster_sums(half.above - half.above.mean(), answers.row_clusters) / (n_rows - sizes)
    influence = (moves[:, :, 0] @ half.gradient + own) / half.rise
    variance = float((influence**2).sum())
    carriers = variance**2 / float((influence**4).sum())
    leverage = np.linalg.solve(information, half.gradient)
    right = answers.gain + (1.0 - answers.room) - best.residuals  # the fitted probability
    right = np.clip(right, 0.02, 0.98)
    independent = float(
        ((best.slopes @ leverage) ** 2 * right * (1.0 - right)).sum() + (half.above**2).sum() / n_rows**2
    )
    variance = max(variance, independent / half.rise**2)
    freedom = np.clip(carriers - 1.0, 1.0, float(bell_mccaffrey_freedom(sizes)))
    critical = float(critical_t(freedom, confidence))
    residual = float(best.residuals @ best.residuals) / max(len(best.residuals) - len(_PULL), 1)
    plain = float(half.gradient @ leverage) / half.rise**2
    return critical * float(np.sqrt(variance)), critical**2 * max(variance / plain, residual)


def _profile(answers: _Answers, best: _Point, start: float, step: float, most: float, end: float) -> float | None:
    """Return how far from ``start`` the half-accuracy size may be held; None if ``end`` is allowed too."""

    def is_allowed(point: _Point) -> bool:
        holds = point.half is not None and abs(float(point.half.above.mean())) < _HELD_WITHIN
        return holds and point.squares <= most

    inside, near = start, best.parameters
    while True:
        outside = min(inside + step, end) if step > 0.0 else max(inside + step, end)
        point = _fit(answers, near, outside)
        if not is_allowed(point):
            break
        if outside == end:
            return None
        inside, near = outside, point.parameters
    for _ in range(_N_BISECTIONS):
        middle = (inside + outside) / 2.0
        point = _fit(answers, near, middle)
        if is_allowed(point):
            inside, near = middle, point.parameters
        else:
            outside = middle
    return outside


def _bands(
    scores: Floats, mask: Bools, chance: Floats, clusters: Clusters, log2_px: Floats, confidence: float
) -> SizeBands:
    """Pool the answers into bands of half an octave, where a row counts once with its mean score."""
    bins = half_octaves(log2_px, mask)
    members = np.stack([mask & (bins == index) for index in range(int(bins.max(initial=-1)) + 1)], axis=-1)
    n = members.sum(axis=1)
    means = divide(np.where(members, scores[:, :, None], 0.0).sum(axis=1), n, where_zero=0.0)
    table = correct_for_chance(means, n > 0, chance, clusters, confidence=confidence)
    centres = np.array([float(log2_px[members[..., index]].mean()) for index in range(members.shape[-1])])
    low, high = (np.where(table.has_interval, bound, np.nan) for bound in (table.low, table.high))
    return SizeBands(centres, table.value, low, high, table.value, table.chance, (n > 0).sum(axis=0))
