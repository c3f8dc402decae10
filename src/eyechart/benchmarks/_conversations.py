"""Rows that are conversations (LLaVA, ShareGPT, OpenAI messages), as rows of a question, an answer and a picture."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from eyechart.benchmarks._cells import in_text, is_absent, shown, text_of
from eyechart.benchmarks._listed_options import without_instruction
from eyechart.errors import BenchmarkError

SystemTurn = Literal["refuse", "ignore"]
"""What to do with a system turn, whose wording eyechart does not send."""

_COLUMNS = ("conversations", "messages", "conversation")
_ASKS, _ANSWERS = frozenset({"human", "user"}), frozenset({"gpt", "assistant", "model", "bot"})


class _Turn(NamedTuple):
    who: str
    text: str
    pictures: tuple[object, ...]


def conversation_column(values: Mapping[str, object]) -> str | None:
    """Return the column that holds a conversation, None where there is none."""
    return next((name for name in _COLUMNS if name in values and not is_absent(values[name])), None)


def flatten(values: Mapping[str, object], column: str, place: str, system: SystemTurn = "refuse") -> dict[str, object]:
    r"""Return a row with the question, the answer and the picture of its conversation in columns of their own.

    A closing instruction such as "Answer with the option's letter" is left out of the question: the wording is ours.

    Args:
        values: The row.
        column: The column with the conversation.
        place: File and row.
        system: What to do with a system turn.

    Raises:
        BenchmarkError: If there is not exactly one question with at most one answer after it.

    Example:
        >>> turns = [{"from": "human", "value": "<image>\nWhich?"}, {"from": "gpt", "value": "B"}]
        >>> flatten({"conversations": turns, "image": "a.png"}, "conversations", "q.json: item 1")
        {'image': 'a.png', 'question': '<image>\nWhich?', 'turn_text': '<image>\nWhich?', 'turn_answer': 'B'}
    """
    turns = _turns(values[column], column, place)
    asked = [turn for turn in turns if turn.who in _ASKS]
    answered = [turn for turn in turns if turn.who in _ANSWERS]
    other = [turn for turn in turns if turn.who not in _ASKS | _ANSWERS]
    if len(asked) != 1 or len(answered) > 1:
        n = max(len(asked), len(answered)) if asked else 0
        raise BenchmarkError(
            f"{place}: {n} questions in one conversation",
            hint="eyechart asks one question a row: write each into a row of its own",
        )
    if any(turn.who != "system" for turn in other) or (other and system == "refuse"):
        raise BenchmarkError(
            f"{place}: the conversation has a {shown(other[0].who)} turn, which would not be sent",
            hint="--option system_turn=ignore asks without it; --prompt gives a wording of your own",
        )
    if turns and answered and turns.index(answered[0]) < turns.index(asked[0]):
        raise BenchmarkError(f"{place}: the answer stands before the question", hint="restore the order of the turns")
    flat = {name: cell for name, cell in values.items() if name != column}
    if asked[0].pictures:
        flat["turn_images"] = list(asked[0].pictures)
    flat |= {"question": without_instruction(asked[0].text), "turn_text": asked[0].text}
    if answered:
        flat["turn_answer"] = answered[0].text
    return flat


def _turns(cell: object, column: str, place: str) -> list[_Turn]:
    written = in_text(cell) if isinstance(cell, str) else cell
    if not isinstance(written, list) or not all(isinstance(turn, Mapping) for turn in written):
        raise BenchmarkError(
            f"{place}: {column} {shown(cell)} is not a list of turns", hint='write [{"from": "human", "value": "…"}]'
        )
    return [_turn(turn, place) for turn in written]


def _turn(turn: Mapping[str, object], place: str) -> _Turn:
    who = text_of(turn.get("from", turn.get("role")), "a turn's speaker", place).casefold()
    content = turn.get("value", turn.get("content"))
    if isinstance(content, str) or content is None:
        return _Turn(who, content or "", ())
    texts: list[str] = []
    pictures: list[object] = []
    for part in content if isinstance(content, Sequence) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            texts.append(str(part["text"]))
        elif isinstance(part, Mapping) and (
            kind := next((k for k in _PICTURE_PARTS if not is_absent(part.get(k))), None)
        ):
            pictures.append(part[kind])
        elif not (isinstance(part, Mapping) and part.get("type") == "image"):  # a bare mark: its picture stands beside
            raise BenchmarkError(f"{place}: {shown(part)} is not a part of a turn", hint="texts and pictures are read")
    return _Turn(who, "\n".join(texts), tuple(pictures))


_PICTURE_PARTS = ("image_url", "input_image", "image", "path", "url", "data")
