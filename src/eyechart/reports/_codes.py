"""What the codes of validity rules mean, for the reader of a report."""

from collections.abc import Iterable

MEANINGS: dict[str, str] = {
    "DIFFERENT_PROMPTS": "the two sides were asked with different prompts",
    "SUBSET_MISMATCH": "the views were not scored on the same questions; only common ones are compared",
    "MISSING_BY_VIEW": "more answers are missing under some views than under others: what is left is not a fair sample",
    "UNREADABLE_BY_VIEW": "unreadable answers are more frequent under some views, which looks like lower accuracy",
    "RANDOM_FILL": "unreadable answers had been replaced by random options before they came here",
    "LENIENT_MATCH": "scored by substring, which accepts wrong answers",
    "LETTER_BIAS": "the model prefers some letters whatever the question",
    "SHUFFLE": "options were asked in several orders",
    "BLIND": "the model answers above chance without a picture",
    "NEAR_LIMIT": "accuracy is so near to 1 or to chance that differences are compressed",
    "EPOCHS": "questions were asked several times; repeats belong to their question",
    "AA_NOISE": "identical pictures scored differently beyond chance: a fault, or a model that drifts",
    "SAME_INPUT": "both views give the model the same picture, so any difference is noise",
    "JUDGE_DRIFT": "the judge changed between the two sides",
    "SHARED_IMAGE": "several questions share a picture; intervals account for it",
    "TINY_GROUP": "fewer than 30 questions: no p; fewer than 10 pictures of equal weight: no interval and no p",
    "MANY_TESTS": "many p-values are shown without correction",
    "OPTION_MIX": "the groups have different numbers of options, so different chance levels",
    "ITEM_ERRATA": "questions with known errors are included",
    "DUP_ROWS": "one request has several different answers",
    "DRIFT": "the two sides were asked far apart in time, or the provider changed in between",
    "HETEROGENEOUS_SETTINGS": "the views were not asked with the same settings",
    "SAME_PICTURE": "one picture to the model, or less than 1.25 apart in scale: no effect of resolution shows",
    "VIEW_REJECTED": "the provider refuses the pictures of this view",
    "ALLOWED_FAULTS": "asked with --allow-faults of a collection that has errors",
    "OPTION_ORDER": "letters and copied texts name different options: another order, or a contradictory model",
    "NO_PICTURE": "requests with a picture cost as many tokens as without, so the picture may not have arrived",
    "BELOW_CHANCE": "answers that were read are right less often than guesses: labels, order or reading are swapped",
    "FLAT_PICTURE_PRICE": "tokens do not depend on the size of the picture, so they do not tell what the model sees",
}
"""Code (``eyechart.stats.codes``) → its meaning in the reader's words."""


def explain_codes(codes: Iterable[str]) -> tuple[str, ...]:
    """Return one sentence per distinct code, in order of first appearance; an unknown code stands alone.

    Example:
        >>> explain_codes(["SHUFFLE", "SHUFFLE", "OWN_RULE"])
        ('SHUFFLE: options were asked in several orders.', 'OWN_RULE.')
    """
    return tuple(f"{code}: {MEANINGS[code]}." if code in MEANINGS else f"{code}." for code in dict.fromkeys(codes))
