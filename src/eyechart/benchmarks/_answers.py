"""Choices and the right answer as files give them, turned into letters."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Literal

import msgspec

from eyechart.errors import BenchmarkError

AnswerForm = Literal["either", "letter", "text"]
MIN_CHOICES, MAX_CHOICES = 2, len(ascii_uppercase)
_SEPARATOR = "|"


def parse_choices(cell: object, separator: str, place: str) -> tuple[str, ...]:
    """Read a list of options: a list, an object by letter, JSON text, or text with a separator.

    Returns:
        The options in order; empty for a free-form question.

    Raises:
        BenchmarkError: If they are not 2–26, or one of them is empty or no text.

    Example:
        >>> parse_choices("red | blue", "|", "q.csv:2"), parse_choices({"B": "blue", "A": "red"}, "|", "q.jsonl:1")
        (('red', 'blue'), ('red', 'blue'))
    """
    entries = _entries(cell, separator, place)
    if not entries:
        return ()
    if not MIN_CHOICES <= len(entries) <= MAX_CHOICES:
        raise BenchmarkError(
            f"{place}: {len(entries)} choices", hint=f"give {MIN_CHOICES}–{MAX_CHOICES}, or none for a free answer"
        )
    texts = tuple(_text(entry) for entry in entries)
    choices = tuple(text for text in texts if text)
    if len(choices) != len(entries):
        raise BenchmarkError(f"{place}: choices {entries!r} hold one without text", hint="every choice needs a text")
    return choices


def letter_of(answer: object, choices: Sequence[str], form: AnswerForm, place: str) -> str | None:
    """Return the letter of the right choice, from a letter or from the exact text of one choice.

    Returns:
        The letter, None where the answer is hidden.

    Raises:
        BenchmarkError: If the answer is not among the choices, fits several, or means two things.

    Example:
        >>> letter_of("B", ["red", "blue"], "either", "q.jsonl:1"), letter_of("red", ["red", "blue"], "either", "")
        ('B', 'A')
    """
    text = _text(answer)
    if not text:
        return None
    letters = ascii_uppercase[: len(choices)]
    by_letter = {text} & set(letters) if form != "text" else set()
    by_text = {letter for letter, choice in zip(letters, choices, strict=True) if choice == text}
    found = by_letter | (by_text if form != "letter" else set())
    if len(found) == 1:
        return found.pop()
    if found:
        raise BenchmarkError(
            f"{place}: answer {text!r} fits choices {', '.join(sorted(found))}",
            hint="say answer_form=letter or answer_form=text, or make the choices distinct",
        )
    raise BenchmarkError(
        f"{place}: answer {text!r} is not among the choices {list(choices)!r}",
        hint=f"give a letter A–{letters[-1]} or the exact text of one choice",
    )


def accepted_texts(answer: object) -> tuple[str, ...]:
    """Return the accepted texts of a free-form question: one text, a list of texts, or none where hidden.

    Example:
        >>> accepted_texts("17"), accepted_texts(["B-17", "B17"]), accepted_texts(None)
        (('17',), ('B-17', 'B17'), ())
    """
    entries = answer if isinstance(answer, list) else [answer]
    return tuple(text for text in map(_text, entries) if text)


def listed_answers(cell: object) -> tuple[str, ...]:
    """Return the accepted answers: texts, separated by "|" in a text cell, or records with ``answer`` as in VQAv2.

    Example:
        >>> listed_answers("B-17|B17"), listed_answers('["a", "b"]'), listed_answers([{"answer": "red"}])
        (('B-17', 'B17'), ('a', 'b'), ('red',))
    """
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        with contextlib.suppress(msgspec.DecodeError):  # a plain answer may start with a bracket
            cell = msgspec.json.decode(cell)
    elif isinstance(cell, str) and _SEPARATOR in cell:
        cell = cell.split(_SEPARATOR)
    entries = cell if isinstance(cell, list) else [cell]
    return accepted_texts([entry.get("answer") if isinstance(entry, dict) else entry for entry in entries])


def accepted_answers(answer: object, answers: object, place: str) -> tuple[str, ...]:
    """Return the accepted texts of a free-form question, from the one answer, from a list of answers, or from both.

    Returns:
        Those of the list where there is one, else the one; empty where both are missing.

    Raises:
        BenchmarkError: If the list holds no text, or not the one answer.

    Example:
        >>> accepted_answers(None, ["B-17", "B17"], "q.jsonl:1"), accepted_answers("17", None, "q.jsonl:2")
        (('B-17', 'B17'), ('17',))
    """
    one = accepted_texts(answer)
    if answers in (None, "", []):
        return one
    listed = listed_answers(answers)
    if not listed:
        raise BenchmarkError(
            f"{place}: answers {answers!r} hold no text",
            hint="give the accepted answer, or a list of what several people said",
        )
    strange = [text for text in one if text.casefold() not in {known.casefold() for known in listed}]
    if strange:
        raise BenchmarkError(
            f"{place}: answer {strange[0]!r} is not among the answers {list(listed)!r}",
            hint="add it there, or rename column 'answers' if it holds something else than accepted answers",
        )
    return listed


def equal_up_to_case(choices: Sequence[str]) -> tuple[str, ...]:
    """Return the choices that another one equals up to case and outer blanks, in order.

    Example:
        >>> equal_up_to_case(["red", "Red", "Brown", "Black"])
        ('red', 'Red')
    """
    folded = [choice.strip().casefold() for choice in choices]
    return tuple(choice for choice, key in zip(choices, folded, strict=True) if folded.count(key) > 1)


def _entries(cell: object, separator: str, place: str) -> list[object]:
    if cell is None:
        return []
    if isinstance(cell, Mapping):
        return [cell[letter] for letter in sorted(cell) if cell[letter] is not None]
    if isinstance(cell, str):
        cell = _split(cell, separator)
    if isinstance(cell, list | tuple):
        return list(cell)
    raise BenchmarkError(f"{place}: choices {cell!r} are no list", hint='write ["red", "blue"]')


def _split(cell: str, separator: str) -> object:
    text = cell.strip()
    if text.startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            pass  # a plain text that happens to start with a bracket
    return [part.strip() for part in text.split(separator)] if text else []


def _text(value: object) -> str:
    """Return a value as text; "" for what is missing or no text, so that callers can say where."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return ""
