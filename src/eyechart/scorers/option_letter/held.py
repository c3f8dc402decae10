"""What each container of a response holds: one that holds no answer decides nothing (rule S3 since version 2)."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from eyechart.scorers.option_letter.containers import (
    BOX,
    FIELD,
    TAG,
    closing_brace,
    fields_of_last_object,
    unwrapping_edits,
    value_of,
)
from eyechart.scorers.option_letter.traced import Edit, Traced

MOST_OF_A_KIND = 3
"""So many of the last tags and boxes are looked into."""
MOST_FIELDS = 32
"""So many of the last answer fields of JSON objects are looked at."""
LONGEST_LIST = 400
"""So many characters of a list in an answer field are read."""

_WITHHELD = re.compile(
    r"\W*(?:(?:i am |i'm )?(?:unknown|none|n/?a|null|nan|undefined|unsure|uncertain|not sure|no answer|unanswerable"
    r"|unclear|not visible))?\W*",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"\W*(?:(?:as|see|refer to|given|your|the|final|my)\s){0,3}(?:above|below|explained|stated|reasoning|explanation"
    r"|answer|letter|option|choice|text)(?:\s(?:above|below|here|letter))?\W*",
    re.IGNORECASE,
)
# Signs of a formula; its letters are quantities. Typefaces are removed before this is asked.
_FORMULA = re.compile(r"[=<>^_]|\\(?!(?:quad|qquad|left|right|displaystyle)\b)[A-Za-z]+")
_QUOTES = re.compile(r"[\"']")


class Held(NamedTuple):
    """One container.

    Args:
        content: What stands in it.
        container: ``tag``, ``box`` or ``json``.
        start: Where the outermost container begins in the response.
        end: Where it ends.
        is_conflicting: Whether one JSON object names different letters under different keys.
    """

    content: Traced
    container: str
    start: int
    end: int
    is_conflicting: bool = False

    @property
    def is_withheld(self) -> bool:
        """Whether it is empty, or says in a word that there is no answer."""
        return len(self.content.text) <= _LONGEST_WORDS and _WITHHELD.fullmatch(self.content.text) is not None

    @property
    def is_formula(self) -> bool:
        """Whether it is a box around a formula, whose letters name quantities and no options."""
        return self.container == "box" and _FORMULA.search(self.content.text) is not None

    @property
    def is_pointer(self) -> bool:
        """Whether it holds no answer but says where one stands, "see above", or a word of the prompt."""
        return len(self.content.text) <= _LONGEST_WORDS and _POINTER.fullmatch(self.content.text) is not None


_LONGEST_WORDS = 60


class Laid(NamedTuple):
    """A response with its containers, the one that speaks first in front, and the spans of them and of lone tags."""

    whole: Traced
    containers: tuple[Held, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def outside(self) -> Traced:
        """What stands outside the containers."""
        return _without(self.whole, self.spans)


def lay_out(read: Traced) -> Laid:
    r"""Find the containers of a response: answer tags, other closing tags, boxes, the last JSON object with an answer.

    Example:
        >>> laid = lay_out(Traced("<answer>\\boxed{C}</answer> The area is \\boxed{42}. Answer: C"))
        >>> [(held.container, held.content.text) for held in laid.containers], laid.outside.text
        ([('box', 'C'), ('box', '42')], '\n The area is \n. Answer: C')
    """
    if "\\" in read.text:
        for _ in range(3):  # \text{\textbf{B}} and one level more
            read = read.edited(unwrapping_edits(read.text))
    tags = list(TAG.finditer(read.text)) if "<" in read.text else []
    tagged = [held for family in ("answer", "outcome") for held in _tagged(read, tags, family)]
    spans = [(held.start, held.end) for held in tagged]
    loose = [
        held for held in (*_boxes(read), *_json(read)) if not any(start <= held.start < end for start, end in spans)
    ]
    spans += [(held.start, held.end) for held in loose]
    spans += [tag.span() for tag in tags if tag["answer"] or tag["outcome"]]
    return Laid(read, (*tagged, *loose), tuple(spans))


def _tagged(read: Traced, tags: list[re.Match[str]], family: str) -> Iterator[Held]:
    """Yield the contents of the last tags of a family, and before each the containers inside it."""
    openings = [tag for tag in tags if tag[family] and not tag["close"]]
    closings = [tag for tag in tags if (tag["answer"] or tag["outcome"]) and tag["close"]]
    for opening in openings[: -MOST_OF_A_KIND - 1 : -1]:
        closing = next((tag for tag in closings if tag.start() >= opening.end()), None)
        if closing is None and family == "outcome":
            continue
        start, end = opening.start(), len(read.text) if closing is None else closing.end()
        if opening["rest"].endswith("/"):
            yield Held(read.cut(opening.end(), opening.end()), "tag", start, opening.end())
            continue
        content = read.cut(opening.end(), end if closing is None else closing.start())
        inner = [*_boxes(content), *_json(content)]
        for held in inner:
            yield held._replace(start=start, end=end)
        rest = _without(content, [(held.start, held.end) for held in inner])
        if not inner or rest.text.strip():
            yield Held(rest, "tag", start, end)


def _boxes(read: Traced) -> Iterator[Held]:
    if "\\" not in read.text:
        return
    for box in list(BOX.finditer(read.text))[: -MOST_OF_A_KIND - 1 : -1]:
        end = closing_brace(read.text, box.end())
        yield Held(read.cut(box.end(), end), "box", box.start(), min(end + 1, len(read.text)))


def _json(read: Traced) -> Iterator[Held]:
    """Yield the answer field of the last JSON object that has one; its other fields are not consulted."""
    first_brace = read.text.find("{")
    if first_brace < 0:
        return
    found = list(FIELD.finditer(read.text, first_brace))[-MOST_FIELDS:]
    fields = fields_of_last_object(read.text, found)
    if not fields:
        return
    start = read.text.rfind("{", 0, fields[0].start())
    end = read.text.find("}", fields[-1].end())
    end = len(read.text) if end < 0 else end + 1
    values = [_field_value(read, field) for field in fields if field["other"] != "{"]
    letters = {value.text.strip(" ().").upper() for value in values if len(value.text.strip(" ().")) == 1}
    lettered = [value for value in values if value.text.strip(" ().").isalpha() and len(value.text.strip(" ().")) == 1]
    if not values:
        return
    yield Held((lettered or values)[-1], "json", start, end, is_conflicting=len(letters) > 1)


def _field_value(read: Traced, field: re.Match[str]) -> Traced:
    """Return the text of a field: of a list what stands in it, without quotation marks."""
    if field["other"] is None:
        return value_of(read, field)
    if field["other"] == "[":
        longest = min(field.end() + LONGEST_LIST, len(read.text))
        end = read.text.find("]", field.end(), longest)
        content = read.cut(field.end(), longest if end < 0 else end)
        return content.edited(Edit(quote.start(), quote.end(), "") for quote in _QUOTES.finditer(content.text))
    return read.cut(field.start("other"), field.end("other"))


def _without(read: Traced, spans: Iterable[tuple[int, int]]) -> Traced:
    """Replace spans, which may overlap, by line breaks."""
    edits: list[Edit] = []
    for start, end in sorted(spans):
        if edits and start < edits[-1].end:
            edits[-1] = edits[-1]._replace(end=max(end, edits[-1].end))
        else:
            edits.append(Edit(start, end, "\n"))
    return read.edited(edits)
