"""Where the answer is: after the thinking, inside a tag, a box or a JSON field (rules S2 and S3)."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from eyechart.scorers.option_letter.traced import Edit, Traced

# Special tokens that mean the same as a tag. Chat templates of several model families, by their public tokenizers.
_TOKENS_AS_TAGS = (
    (re.compile(r"<\|begin_of_box\|>"), "<answer>"),
    (re.compile(r"<\|end_of_box\|>"), "</answer>"),
    (re.compile(r"<\|channel\|>\s?(?:analysis|commentary)[^<]{0,80}<\|message\|>"), "<think>"),
    (re.compile(r"<\|channel\|>\s?final[^<]{0,80}<\|message\|>"), "</think>"),
    (re.compile(r"<\|(?:begin_of_thought|start_thinking)\|>|◁think▷|\[THINK\]", re.IGNORECASE), "<think>"),
    (re.compile(r"<\|(?:end_of_thought|end_thinking)\|>|◁/think▷|\[/THINK\]", re.IGNORECASE), "</think>"),
    (re.compile(r"\[answer\](?=[^\[\]]{0,2000}\[/answer\])", re.IGNORECASE), "<answer>"),
    (re.compile(r"\[/answer\]", re.IGNORECASE), "</answer>"),
)
_SPECIAL_TOKEN = re.compile(
    r"<\|(?:im_start|start_header_id|start)\|>(?:assistant|user|system)?|<\|[^<>|\n]{1,40}\|>"
    r"|</?(?:s|bos|eos|pad|unk|end_of_turn|start_of_turn|image)>|\[/?INST\]|<</?SYS>>",
    re.IGNORECASE,
)
_CUT_CLOSING_TAG = re.compile(r"</[A-Za-z_]{0,14}\s*$")
_BYTE_NEWLINE = re.compile(r"<0x0[aA]>")
TAG = re.compile(
    r"<\s?(?P<close>/?)\s?(?:[a-z]{1,8}:)?(?:"
    r"(?P<think>think|thinking|thoughts?|analysis|reasoning)"
    r"|(?P<tool>tool_calls?|tool_response|function_calls?|tool_code)"
    r"|(?P<answer>answer|ans|final[ _-]?answer|final[ _-]?choice)"
    r"|(?P<outcome>conclusion|choice|option|selection|final|solution|result|output|response)"
    r")(?P<rest>(?:\s[^<>]{0,100})?/?)>",
    re.IGNORECASE,
)
BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s?\{")
_BRACE = re.compile(r"[{}]")
_WRAPPER = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|texttt|textnormal|mathrm|mathbf|mathit|mathsf|mathtt|mathcal|mbox|hbox"
    r"|emph|underline|operatorname|bold|bm|boldsymbol)\*?\s?\{([^{}]*)\}"
)
FIELD = re.compile(
    r"[\"'](?P<key>(?:final|correct|selected|chosen|best|your|my|predicted)?[ _-]?"
    r"(?:answer|ans|choice|option|selection|prediction|letter)(?:[ _-]?(?:letter|choice|option|label))?s?"
    r"|答案|选项)[\"']\s?:\s?"
    r"(?:\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^'\\\n]|\\.)*)'(?=\s?[,}])"
    r"|(?P<other>-?\d[^,}\n]{0,40}|null|none|true|false|nan|\[|\{))",
    re.IGNORECASE,
)


class Opened(NamedTuple):
    """The part of a response that may state the answer.

    Args:
        read: The text to apply the rules to.
        container: ``tag``, ``box``, ``json``, or empty where the whole response is read.
        is_empty: Whether a container holds no text at all, so that there is no answer whatever stands outside.
        is_conflicting: Whether one JSON object names different letters under different keys.
    """

    read: Traced
    container: str = ""
    is_empty: bool = False
    is_conflicting: bool = False


def open_containers(read: Traced) -> Opened:
    r"""Drop special tokens, tool calls and thinking, then open the last tag, box and JSON field, in this order.

    So version 1 reads: what it opens speaks alone. Later versions look at what each container holds.

    Example:
        >>> from eyechart.scorers.option_letter.characters import read_characters
        >>> open_containers(read_characters("<think>A?</think><answer>\\boxed{C}</answer>")).read.text
        'C'
    """
    read = without_thinking(without_tokens(tokens_as_tags(read)))
    opened = _open_tag(read)
    if not opened.is_empty:
        opened = _open_box(opened)
    if not opened.is_empty:
        opened = _open_json(opened)
    return opened


def tokens_as_tags(read: Traced) -> Traced:
    """Write the special tokens that open or close thinking or an answer as tags, and drop a tag cut at the end."""
    if "<" not in read.text and "[" not in read.text and "◁" not in read.text:
        return read
    cut = _CUT_CLOSING_TAG.search(read.text, max(0, len(read.text) - 20))
    read = read.cut(0, cut.start() if cut else len(read.text))
    for pattern, tag in _TOKENS_AS_TAGS:
        read = read.edited(Edit(match.start(), match.end(), tag) for match in pattern.finditer(read.text))
    return read


def without_tokens(read: Traced) -> Traced:
    """Drop all other special tokens."""
    if "<" not in read.text and "[" not in read.text:
        return read
    read = read.edited(Edit(match.start(), match.end(), "\n") for match in _BYTE_NEWLINE.finditer(read.text))
    return read.edited(Edit(match.start(), match.end(), "") for match in _SPECIAL_TOKEN.finditer(read.text))


def without_thinking(read: Traced) -> Traced:
    """Keep what follows the last closed thinking, without tool calls; one never closed removes all after it.

    Example:
        >>> without_thinking(Traced("<think>A or B?</think>C <tool_call>{}</tool_call>")).text.strip()
        'C'
    """
    if "<" not in read.text:
        return read
    tags = list(TAG.finditer(read.text))
    ends = [tag.end() for tag in tags if tag["think"] and tag["close"]]
    start = ends[-1] if ends else 0
    opening = [tag.start() for tag in tags if tag["think"] and not tag["close"] and tag.start() >= start]
    read = read.cut(start, opening[0] if opening else len(read.text))
    return read.edited(_tool_calls(read.text))


def _tool_calls(text: str) -> Iterator[Edit]:
    """Yield edits that remove tool calls; one that is never closed goes on to the end."""
    begin: int | None = None
    for tag in TAG.finditer(text):
        if not tag["tool"]:
            continue
        if not tag["close"] and begin is None:
            begin = tag.start()
        elif tag["close"] and begin is not None:
            yield Edit(begin, tag.end(), "\n")
            begin = None
    if begin is not None:
        yield Edit(begin, len(text), "")


def _open_tag(read: Traced) -> Opened:
    if "<" not in read.text:
        return Opened(read)
    tags = [tag for tag in TAG.finditer(read.text) if tag["answer"] or tag["outcome"]]
    for family in ("answer", "outcome"):
        openings = [tag for tag in tags if tag[family] and not tag["close"]]
        if not openings:
            continue
        opening = openings[-1]
        ends = [tag.start() for tag in tags if tag["close"] and tag.start() >= opening.end()]
        if not ends and family == "outcome":
            continue
        if opening["rest"].endswith("/"):
            return Opened(read, "tag", is_empty=True)
        content = read.cut(opening.end(), ends[0] if ends else len(read.text))
        return Opened(content, "tag", is_empty=not content.text.strip())
    return Opened(read.edited(Edit(tag.start(), tag.end(), "\n") for tag in tags))


def _open_box(opened: Opened) -> Opened:
    read = opened.read
    if "\\" not in read.text:
        return opened
    for _ in range(3):  # \text{\textbf{B}} and one level more
        read = read.edited(unwrapping_edits(read.text))
    boxes = list(BOX.finditer(read.text))
    if not boxes:
        return Opened(read, opened.container)
    content = read.cut(boxes[-1].end(), closing_brace(read.text, boxes[-1].end()))
    return Opened(content, "box", is_empty=not content.text.strip())


def unwrapping_edits(text: str) -> Iterator[Edit]:
    """Yield edits that remove the LaTeX commands of a typeface around a text, one level of them."""
    for match in _WRAPPER.finditer(text):
        yield Edit(match.start(), match.start(1), "")
        yield Edit(match.end(1), match.end(), "")


def closing_brace(text: str, start: int) -> int:
    """Return where the brace opened before ``start`` closes, the end of the text if it never does."""
    depth = 1
    for match in _BRACE.finditer(text, start):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return len(text)


def _open_json(opened: Opened) -> Opened:
    """Open the answer field of the last JSON object that has one; other fields are not consulted."""
    read = opened.read
    first_brace = read.text.find("{")
    if first_brace < 0:
        return opened
    fields = fields_of_last_object(read.text, list(FIELD.finditer(read.text, first_brace)))
    if not fields:
        return opened
    if any(field["other"] is not None for field in fields):
        return Opened(read, "json", is_empty=True)
    values = [value_of(read, field) for field in fields]
    letters = {value.text.strip(" ().").upper() for value in values if len(value.text.strip(" ().")) == 1}
    if len(letters) > 1:
        return Opened(read, "json", is_conflicting=True)
    lettered = [value for value in values if len(value.text.strip(" ().")) == 1]
    value = (lettered or values)[-1]
    return Opened(value, "json", is_empty=not value.text.strip())


def fields_of_last_object(text: str, fields: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the fields at the end that no closing brace separates."""
    kept: list[re.Match[str]] = []
    for field in reversed(fields):
        if kept and "}" in text[field.end() : kept[-1].start()]:
            break
        kept.append(field)
    return kept[::-1]


def value_of(read: Traced, field: re.Match[str]) -> Traced:
    """Return the text of a string field, its escapes decoded."""
    group = "double" if field["double"] is not None else "single"
    value = read.cut(field.start(group), field.end(group))
    return value.edited(_escape_edits(value.text)) if "\\" in value.text else value


_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt])|([\"'/\\]))")


def _escape_edits(text: str) -> Iterator[Edit]:
    for match in _ESCAPE.finditer(text):
        character = chr(int(match[1], 16)) if match[1] else "\n" if match[2] else match[3]
        yield Edit(match.start(), match.end(), character)
