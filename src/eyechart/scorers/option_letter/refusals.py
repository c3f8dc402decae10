"""Responses that say they cannot answer."""

import re
from collections.abc import Iterator

_CANNOT_TELL = re.compile(r"\W*cannot tell\W*", re.IGNORECASE)
_LONGEST = 40
# What says it by itself, and what says it together with a verb such as "determine"; found by plain search for speed.
_PHRASES = (
    *(
        "don't know",
        "do not know",
        "don't have access",
        "do not have access",
        "don't have enough",
        "no idea",
        "no way to",
    ),
    *("no clue", "as an ai", "not visible", "not enough information", "insufficient information", "not clear enough"),
    *("i'm sorry", "i am sorry", "sorry,", "i apologi", "failed to obtain answer", "won't answer", "will not answer"),
    *("refuse to", "not possible to", "impossible to", "unable to", "not able to"),
    *("无法判断", "无法确定", "无法看", "无法回答", "无法识别", "无法辨认", "不能确定", "看不清", "不知道", "抱歉"),
    *("わかりません", "分かりません", "判断できません", "알 수 없", "모르겠"),
)
_MODALS = ("cannot", "can't", "cant ", "can not", "could not", "couldn't")
_VERB = re.compile(
    r"\s?(?:be\s)?(?:\w{1,12}\s){0,2}?(?:tell|determined?|see|seen|view|identif\w{1,3}|answer(?:ed)?|help|assist|provide|process|read"
    r"|access|analy[sz]e|stated?|confirm|assess|comply|make out|discern(?:ed)?|say|inferred)\b"
)


def says_cannot_tell(text: str) -> bool:
    """Return whether the text is exactly "cannot tell", the sentence of models that know when they cannot.

    Example:
        >>> says_cannot_tell("Cannot tell."), says_cannot_tell("I cannot tell the colour")
        (True, False)
    """
    return len(text) <= _LONGEST and _CANNOT_TELL.fullmatch(text) is not None


def refusal_spans(lowered: str) -> tuple[tuple[int, int], ...]:
    """Return where the text, given in lower case, says that it cannot, or will not, answer.

    Example:
        >>> refusal_spans("sorry, i can't help with that.")
        ((0, 6), (9, 19))
    """
    return tuple(sorted(_spans(lowered)))


def _spans(lowered: str) -> Iterator[tuple[int, int]]:
    for phrase in _PHRASES:
        start = lowered.find(phrase)
        while start >= 0:
            yield start, start + len(phrase)
            start = lowered.find(phrase, start + len(phrase))
    for modal in _MODALS:
        start = lowered.find(modal)
        while start >= 0:
            verb = _VERB.match(lowered, start + len(modal))
            if verb is not None:
                yield start, verb.end()
            start = lowered.find(modal, start + len(modal))
