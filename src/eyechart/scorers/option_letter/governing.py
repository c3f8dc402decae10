"""Whether a negation governs the option that follows it, or describes another thing in the same clause."""

from collections.abc import Sequence
from itertools import pairwise


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A verb behind the negated words begins what is said of the thing that they describe: "not parked | is red".
_VERBS = _words(
    """is are was were has have had looks appears seems wears holds carries stands sits shows reads says contains
    displays can will must chose wore held carried stood sat showed said contained est ist sind sont son es está"""
)
_RELATIVE = _words("that which who whose where qui que welche welcher welches")
_NEVER_BEFORE_A_PARTICIPLE = _words(
    """is are was were be been being am do does did can could will would shall should may might must has have had it's
    that's there's i we you they he she it this and or but if why"""
)
_PARTICIPLES = ("ing", "ed", "en", "wn", "ut")
_EXCEPTIONS = _words("unlike except excepting excluding excepto sauf")
_ATTRIBUTES = _words("wrong false excluded eliminated rejected dismissed discarded")
_ARTICLES = _words("the a an this that one")
_OF_ALL = _words("neither nor kein keine jamais")
_QUANTIFIERS = _words("all any every each many much a an one only either")
# Behind these the verb still belongs to what is denied: "I don't think it is red", "not clear whether it is red".
_DENIES_A_CLAUSE = _words(
    """that whether if it this there think believe say seem seems mean suppose feel expect know tell confirm conclude
    agree claim sure certain clear convinced confident obvious likely evidence indication guarantee"""
)
# Of options themselves the negation is said, whatever stands between: "the option that does not fit is B".
_ABOUT_OPTIONS = _words("option options choice choices answer answers letter statement possibility pick guess")
_VERDICTS = _words("correct right true valid possible plausible fit fits match matches supported consistent applicable")


def governs_something_else(before: Sequence[str], negator: str, after: Sequence[str]) -> bool:
    """Return whether a negation belongs to the description of a thing of which an option is then said.

    It does in a relative clause ("the car that is not parked is red"), before a participle ("the lamp not lit is
    red"), as an attribute ("the wrong key is red"), and in an exception ("everything except the door is red"), if a
    verb stands between what is negated and the option, and if nothing says that the whole statement is denied.

    Args:
        before: Words of the clause before the negation, in lower case.
        negator: The word that negates.
        after: Words from there to the option.

    Example:
        >>> governs_something_else("the car that is".split(), "not", "parked is".split())
        True
        >>> governs_something_else("the option that is".split(), "not", "correct is".split())
        False
    """
    verb = next((index for index in range(len(after) - 1, 0, -1) if after[index] in _VERBS), None)
    if verb is None or negator in _OF_ALL or after[0] in _QUANTIFIERS:
        return False
    if ("look", "like") in pairwise(after) or ("looks", "like") in pairwise(after):
        return False
    if frozenset(after[:verb]) & (_DENIES_A_CLAUSE | _ABOUT_OPTIONS | _VERDICTS) or not _ABOUT_OPTIONS.isdisjoint(
        before
    ):
        return False
    previous = before[-1] if before else ""
    if negator in _ATTRIBUTES:
        return previous in _ARTICLES
    is_after_noun = previous.isalpha() and previous not in _NEVER_BEFORE_A_PARTICIPLE
    is_participle = negator in {"not", "never"} and is_after_noun and after[0].endswith(_PARTICIPLES)
    return negator in _EXCEPTIONS or is_participle or not _RELATIVE.isdisjoint(before)
