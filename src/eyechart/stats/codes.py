"""The names of everything that can make a number misleading."""

from enum import StrEnum


class Code(StrEnum):
    """Codes of validity rules, as they stand in ``Estimate.warnings``, ``Contrast.warnings`` and ``blocked_by``."""

    PROMPT_MIX = "PROMPT_MIX"
    SUBSET_MISMATCH = "SUBSET_MISMATCH"
    MNAR = "MNAR"
    UNPARSED_BY_VIEW = "UNPARSED_BY_VIEW"
    RANDOM_FILL = "RANDOM_FILL"
    LENIENT_MATCH = "LENIENT_MATCH"
    LETTER_BIAS = "LETTER_BIAS"
    SHUFFLE = "SHUFFLE"
    BLIND = "BLIND"
    LOW_CEILING = "LOW_CEILING"
    EPOCHS = "EPOCHS"
    AA_NOISE = "AA_NOISE"
    SAME_INPUT = "SAME_INPUT"
    JUDGE_DRIFT = "JUDGE_DRIFT"
    SHARED_IMAGE = "SHARED_IMAGE"
    TINY_GROUP = "TINY_GROUP"
    MANY_TESTS = "MANY_TESTS"
    OPTION_MIX = "OPTION_MIX"
    ITEM_ERRATA = "ITEM_ERRATA"
    DUP_ROWS = "DUP_ROWS"
    DRIFT = "DRIFT"
    HETEROGENEOUS_SETTINGS = "HETEROGENEOUS_SETTINGS"
    VIEW_COLLAPSE = "VIEW_COLLAPSE"
    VIEW_REJECTED = "VIEW_REJECTED"
    ALLOWED_FAULTS = "ALLOWED_FAULTS"
