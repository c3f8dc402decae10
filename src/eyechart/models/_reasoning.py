"""Parts a model's thoughts from its answer where both come in one text."""

import re
from typing import NamedTuple

# The closing tags of sum.md 4.1 (S2), and Kimi's own spelling.
_TAG = re.compile(r"<(/?)(?:think|thinking|thought|analysis|reasoning)>|◁(/?)think▷", re.IGNORECASE)


class SplitText(NamedTuple):
    """A reply in two parts.

    Args:
        answer: What follows the thoughts.
        reasoning: The thoughts without their tags, None where there are none.
        is_cut_off: Whether a thought was opened and never closed, so that the answer may be missing.
    """

    answer: str
    reasoning: str | None
    is_cut_off: bool


def split_reasoning(text: str) -> SplitText:
    r"""Part thoughts written as ``<think>…</think>`` from the answer.

    The answer is what follows the last closing tag: some servers put the opening tag into the prompt, so that only the
    closing one is in the reply. A thought that is opened and never closed takes everything after it, so it is never
    read as an answer. A text without such tags is returned as it is.

    Args:
        text: The reply as the server gave it.

    Example:
        >>> split_reasoning("<think>A or B?</think>\n\nB")
        SplitText(answer='B', reasoning='A or B?', is_cut_off=False)
        >>> split_reasoning("A or B? B it is.</think>B").answer
        'B'
        >>> split_reasoning("<think>It could be A")
        SplitText(answer='', reasoning='It could be A', is_cut_off=True)
    """
    tags = list(_TAG.finditer(text))
    if not tags:
        return SplitText(text, None, is_cut_off=False)
    closing = [tag for tag in tags if _closes(tag)]
    start = closing[-1].end() if closing else 0
    opened = next((tag for tag in tags if not _closes(tag) and tag.start() >= start), None)
    end = opened.start() if opened else len(text)
    thoughts = (text[:start], text[end:])
    reasoning = "\n".join(bare for thought in thoughts if (bare := _TAG.sub("", thought).strip()))
    return SplitText(text[start:end].strip(), reasoning or None, is_cut_off=opened is not None)


def join_reasoning(*thoughts: str | None) -> str | None:
    r"""Return the thoughts of several channels as one text, None where there are none.

    Example:
        >>> join_reasoning(None, "first", "", "second")
        'first\nsecond'
    """
    return "\n".join(thought for thought in thoughts if thought) or None


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag[1] or tag[2])
