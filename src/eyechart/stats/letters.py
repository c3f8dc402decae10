"""Letters: whether a model prefers one, and what rotating the choices shows."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats, Integers
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.omnibus import Omnibus, score_test
from eyechart.stats.region import expected_maximum


def stuart_maxwell(counts: Integers) -> Omnibus:
    """Test whether a square table has equal margins, such as given against gold letters.

    Takes all questions as independent; with repeated images use ``estimate_letter_bias``.

    Args:
        counts: (k, k) numbers of questions.

    Returns:
        dᵀV⁻¹d with d the difference of margins; letters that never occur in either margin are left out.

    Raises:
        StatisticsError: If the table is not square.

    Example:
        >>> stuart_maxwell(np.array([[9, 3], [1, 9]])).statistic
        1.0

    References:
        Stuart (1955), https://doi.org/10.1093/biomet/42.3-4.412; Maxwell (1970), https://doi.org/10.1192/bjp.116.535.651
    """
    table = np.asarray(counts, dtype=np.float64)
    if len(table.shape) <= 1 or table.shape[0] != table.shape[1]:
        raise StatisticsError(f"counts of shape {table.shape}", hint="rows and columns are the same letters")
    difference = table.sum(axis=1) - table.sum(axis=0)
    variance = np.diag(table.sum(axis=1) + table.sum(axis=0)) - table - table.T
    is_used = (np.diag(variance) > 0.0) if len(table) else np.zeros(0, dtype=np.bool_)
    return _wald(difference[is_used], variance[np.ix_(is_used, is_used)], int(table.sum()))


class Evenness(NamedTuple):
    """How evenly letters are spread.

    Args:
        shares: (k,) share of each letter.
        test: Whether they depart from 1/k each, with cluster variance over images.
    """

    shares: Floats
    test: Omnibus


def estimate_evenness(letters: Integers, clusters: Clusters, n_options: int) -> Evenness:
    """Say how evenly letters, counted from 0, are spread over the options.

    Args:
        letters: (n_questions,) index of the letter of each question, below ``n_options``.
        clusters: Grouping of the questions.
        n_options: Number of options of every question.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> estimate_evenness(np.arange(40) % 4, find_clusters(list(range(40))), 4).test.p
        1.0
    """
    marks = np.eye(n_options)[letters]
    return Evenness(marks.mean(axis=0), score_test(marks - 1.0 / n_options, clusters))


class LetterBias(NamedTuple):
    """How given letters depart from gold letters, among questions with one number of options.

    Args:
        test: Stuart–Maxwell with cluster variance over images.
        given: (k,) share of each letter among answers.
        gold: (k,) share of each letter among gold answers.
        recall: (k,) accuracy where this letter is gold; 0.0 where it never is.
        recall_range: Largest less smallest recall over letters that are gold somewhere.
        noise_floor: Range to expect without any preference.
        recall_sd: Standard deviation of the recalls (RStd).
        excess: (k,) share of each letter among answers, less the share that a model without preference would give:
            one that is as accurate and spreads its wrong answers evenly over the other options.
        preference: Whether ``excess`` is 0, with cluster variance over images. Unlike ``test``, it holds where gold
            letters are uneven.
        evenness: How evenly the gold letters are spread.
    """

    test: Omnibus
    given: Floats
    gold: Floats
    recall: Floats
    recall_range: float
    noise_floor: float
    recall_sd: float
    excess: Floats
    preference: Omnibus
    evenness: Evenness


def estimate_letter_bias(given: Integers, gold: Integers, clusters: Clusters, n_options: int) -> LetterBias:
    """Compare given with gold letters; both from 0. Never mix questions with different numbers of options.

    Args:
        given: (n_questions,) index of the letter given; leave out questions without a letter.
        gold: (n_questions,) index of the right letter.
        clusters: Grouping of the questions.
        n_options: Number of options of every question, at least 2.

    Raises:
        StatisticsError: If a letter lies beyond the options, there is no question, or shapes differ.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> gold = np.arange(40) % 4
        >>> bias = estimate_letter_bias(np.zeros(40, dtype=int), gold, find_clusters(list(range(40))), 4)
        >>> bias.recall.tolist(), bias.test.p < 0.01
        ([1.0, 0.0, 0.0, 0.0], True)
    """
    letters = np.concatenate([np.ravel(given), np.ravel(gold)])
    is_possible = letters.size > 0 and n_options > 1 and letters.min() >= 0 and letters.max() < n_options
    if np.shape(given) != np.shape(gold) or not is_possible:
        raise StatisticsError(
            f"{np.size(given)} given and {np.size(gold)} gold letters among {n_options} options",
            hint="give two equally long lists of letters, counted from 0, of questions with this number of options",
        )
    identity = np.eye(n_options)
    sums = cluster_sums(identity[given] - identity[gold], clusters)
    asked = np.bincount(gold, minlength=n_options)
    right = np.bincount(gold[given == gold], minlength=n_options)
    is_asked = asked > 0
    recall = np.where(is_asked, right / np.maximum(asked, 1), 0.0)
    accuracy = float((given == gold).mean())
    n_letters = int(is_asked.sum())
    # The range of k equal cells is twice their expected maximum times the standard error of one.
    error = np.sqrt(accuracy * (1.0 - accuracy) * float((1.0 / asked[is_asked]).mean()))
    is_used = (sums != 0.0).any(axis=0)
    variance = sums[:, is_used].T @ sums[:, is_used]
    by_guess = (1.0 - identity[gold]) / (n_options - 1)
    gain = identity[gold] - by_guess
    excess = identity[given] - by_guess - accuracy * gain
    # The accuracy is estimated from the same answers: what each of them adds to it is taken out again.
    deviations = excess - ((given == gold) - accuracy)[:, None] * gain.mean(axis=0)
    return LetterBias(
        test=_wald(sums.sum(axis=0)[is_used], variance, len(gold)),
        given=np.bincount(given, minlength=n_options) / len(given),
        gold=asked / len(gold),
        recall=recall,
        recall_range=float(np.ptp(recall[is_asked])),
        noise_floor=2.0 * expected_maximum(n_letters) * float(error),
        recall_sd=float(recall[is_asked].std()),
        excess=excess.mean(axis=0),
        preference=score_test(deviations, clusters),
        evenness=estimate_evenness(gold, clusters, n_options),
    )


class Rotations(NamedTuple):
    """What stays when the choices are rotated under their letters.

    Args:
        mean: (n_questions,) accuracy over the rotations asked: one number per question.
        all_right: (n_questions,) whether every rotation was right (circular accuracy).
        letter_following: Share of pairs of rotations with the same letter given for different contents; 0.0 without
            any pair.
        n_rotations: (n_questions,) rotations answered.
    """

    mean: Floats
    all_right: Bools
    letter_following: float
    n_rotations: Integers


def summarise_rotations(letters: Integers, contents: Integers, gold: Integers, present: Bools) -> Rotations:
    """Summarise rotated choices per question; feed ``mean`` to ``estimate_proportions`` with images as clusters.

    Args:
        letters: (n_questions, n_rotations) letter given, from 0.
        contents: Same shape, the option that letter stood for, as its index in the unrotated choices.
        gold: (n_questions,) right option, as its index in the unrotated choices.
        present: Same shape as ``letters``, True where an answer was given.

    Raises:
        StatisticsError: If the shapes do not belong together.

    Example:
        >>> letters, contents = np.array([[0, 0]]), np.array([[0, 1]])
        >>> summarise_rotations(letters, contents, np.array([0]), letters >= 0).letter_following
        1.0
    """
    if not np.shape(letters) == np.shape(contents) == np.shape(present) or np.shape(letters)[:1] != np.shape(gold):
        raise StatisticsError(
            f"letters {np.shape(letters)}, contents {np.shape(contents)}, gold {np.shape(gold)}",
            hint="rows are questions, columns are rotations",
        )
    is_right = present & (contents == gold[:, None])
    counts = np.count_nonzero(present, axis=1).astype(np.int64)
    first, second = np.triu_indices(letters.shape[1], k=1)
    is_pair = present[:, first] & present[:, second]
    is_same_letter = is_pair & (letters[:, first] == letters[:, second])
    is_following = is_same_letter & (contents[:, first] != contents[:, second])
    return Rotations(
        mean=is_right.sum(axis=1) / np.maximum(counts, 1),
        all_right=(counts > 0) & (is_right.sum(axis=1) == counts),
        letter_following=float(is_following.sum() / max(int(is_pair.sum()), 1)),
        n_rotations=counts,
    )


def _wald(difference: Floats, variance: Floats, n_rows: int) -> Omnibus:
    """Return dᵀV⁻d, χ² with the rank of V as degrees of freedom."""
    from scipy.special import chdtrc

    freedom = int(np.linalg.matrix_rank(variance)) if difference.size else 0
    if freedom == 0:
        return Omnibus(0.0, 0, 1.0, n_rows)
    statistic = float(difference @ np.linalg.pinv(variance, hermitian=True) @ difference)
    return Omnibus(round(statistic, 12), freedom, float(chdtrc(freedom, statistic)), n_rows)
