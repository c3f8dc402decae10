"""The answers file of HRScene's explorer: questions with options, and every model's answers in their order."""

import hashlib
import re
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

import msgspec

from eyechart.benchmarks._hrscene.sets import set_named
from eyechart.errors import BenchmarkError
from eyechart.schema import ImageRef, Question, Size

SPLIT = "explorer"
_CHOICE = re.compile(r"\(([A-Z])\)[ \t]?(.*)", re.DOTALL)


class _Row(msgspec.Struct, frozen=True):
    """One question of the file."""

    id: str
    question: str
    answer: str
    dataset: str
    choices: list[str]
    image: str = ""


class _File(msgspec.Struct, frozen=True):
    """The file: where it comes from, its questions, and model → answers, None where one is missing."""

    questions: list[_Row]
    responses: dict[str, list[str | None]]
    source: str = ""
    licence: str = ""


class Explorer(NamedTuple):
    """Questions, and the answers of every model in their order. The pictures are not part of it."""

    questions: tuple[Question, ...]
    answers: dict[str, tuple[str | None, ...]]
    sha256: str
    source: str
    licence: str


def read_explorer(path: Path) -> Explorer:
    """Read the file.

    Returns:
        The questions, each with a picture of unknown size and hash, in the group of its picture's name.

    Raises:
        BenchmarkError: If the file breaks its form: an option without its letter, an answer that is none, an unknown
            dataset, an id twice, or a model with another number of answers.
    """
    try:
        content = path.read_bytes()
        file = msgspec.json.decode(content, type=_File)
    except (OSError, msgspec.DecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BenchmarkError(
            f"cannot read {path}: {reason}", hint="a JSON object with questions and responses is expected"
        ) from error
    questions = tuple(_question(row, f"{path.name}: question {index}") for index, row in enumerate(file.questions))
    ids = [question.id for question in questions]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if not questions or twice is not None:
        raise BenchmarkError(
            f"{path.name}: {'no question' if twice is None else f'id {twice!r} stands twice'}",
            hint="ids must be unique",
        )
    for model, answers in file.responses.items():
        if len(answers) != len(questions):
            raise BenchmarkError(
                f"{path.name}: {model} has {len(answers)} answers to {len(questions)} questions",
                hint="answers stand in the order of the questions, null where one is missing",
            )
    return Explorer(
        questions,
        {model: tuple(answers) for model, answers in file.responses.items()},
        hashlib.sha256(content).hexdigest(),
        file.source,
        file.licence,
    )


def _choices(row: _Row, place: str) -> tuple[str, ...]:
    """Return the options without their letters; the source pads some lists with empty texts that have no letter."""
    listed = list(row.choices)
    while listed and not listed[-1]:
        listed.pop()
    choices = []
    for letter, choice in zip(ascii_uppercase, listed, strict=False):
        match = _CHOICE.fullmatch(choice)
        if match is None or match[1] != letter:
            raise BenchmarkError(f"{place}: option {choice!r} does not begin with ({letter})", hint="write (A) red")
        choices.append(match[2])
    return tuple(choices)


def _question(row: _Row, place: str) -> Question:
    known = set_named(row.dataset)
    if known is None:
        raise BenchmarkError(f"{place}: HRScene has no dataset {row.dataset!r}", hint="eyechart ls benchmarks hrscene")
    choices = _choices(row, place)
    letters = ascii_uppercase[: len(choices)]
    if len(row.answer) != 1 or row.answer not in letters:
        raise BenchmarkError(f"{place}: the answer {row.answer!r} is no option of {letters}", hint="one capital letter")
    return Question(
        id=row.id,
        benchmark="hrscene",
        text=row.question.strip(),
        text_raw="\n".join((row.question.strip(), *(choice for choice in row.choices if choice))),
        image=ImageRef(file_sha256="", size=Size(0, 0), media_type="image/unknown"),
        image_group=row.image or row.id,
        choices=choices,
        answer=row.answer,
        task=known.category,
        source=known.name,
        notes=("the picture is not part of the source",),
    )
