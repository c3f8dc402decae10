"""The files of HRScene's explorer: questions with options, and every model's answers, as published or as one JSON."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple, TypeVar

import msgspec

from eyechart.benchmarks._hrscene.literals import read_assignments
from eyechart.benchmarks._hrscene.sets import set_named
from eyechart.errors import BenchmarkError
from eyechart.schema import NOT_JSON, ImageRef, Question, Size

SPLIT = "explorer"
Form = TypeVar("Form")
_DATA, _MODELS = "data.js", "model_responses"
_MODEL_TARGET = 2
_CHOICE = re.compile(r"\(([A-Z])\)[ \t]?(.*)", re.DOTALL)


class _Row(msgspec.Struct, frozen=True):
    """One question of the file."""

    id: str
    question: str
    answer: str
    dataset: str
    choices: list[str]
    image: str = ""


class _Answer(msgspec.Struct, frozen=True):
    """One entry of a model's file; null where the answer is missing."""

    id: str
    response: str | None = None


class _File(msgspec.Struct, frozen=True):
    """The file: where it comes from, its questions, and model → answers, None where one is missing."""

    questions: list[_Row]
    responses: dict[str, list[str | None]]
    source: str = ""
    licence: str = ""


class Explorer(NamedTuple):
    """Questions, and the answers of every model in their order. The pictures are not part of it.

    Args:
        questions: The questions.
        answers: (n_questions,) texts by model, None where one is missing.
        sha256: By model, of what its answers were read from.
        source: Where they come from, empty if that is not said.
        licence: Their licence, empty if that is not said.
    """

    questions: tuple[Question, ...]
    answers: dict[str, tuple[str | None, ...]]
    sha256: dict[str, str]
    source: str = ""
    licence: str = ""


def read_explorer(*paths: Path) -> Explorer:
    """Read the site's own files as it publishes them, or all of them in one JSON file.

    Args:
        paths: ``data.js`` and ``model_responses/MODEL/data.js`` (what stands beside one of them is found), their
            folder, or the JSON file. What a file is says its content.

    Returns:
        The questions, each with a picture of unknown size and hash, in the group of its picture's name.

    Raises:
        BenchmarkError: If a file breaks its form: an option without its letter, an answer that is none, an unknown
            dataset, an id twice, answers to unknown questions, or code in place of data.
    """
    contents = {path: _read_bytes(path) for path in _files_of(paths)}
    if any(content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") for content in contents.values()):
        if len(contents) > 1:
            raise BenchmarkError(f"{', '.join(map(str, contents))}: a JSON file stands alone", hint="give it by itself")
        return _from_json(*next(iter(contents.items())))
    return _from_site(contents)


def _files_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files to read: those of a folder, and those beside a single file that belong to it."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [path, path / "data" / "explorer"]
            home = next((folder for folder in inside if (folder / _DATA).is_file()), None)
            if home is None:
                raise BenchmarkError(f"{path} holds no {_DATA}", hint=f"give the folder of {_DATA} and {_MODELS}")
            found += [home / _DATA, *_model_files(home)]
        else:
            found.append(path)
    if len(paths) == 1 and found == list(paths) and paths[0].suffix == ".js":
        (path,) = paths
        questions = path.parent.parent.parent / _DATA
        if path.parent.parent.name == _MODELS and questions.is_file():
            found.insert(0, questions)
        else:
            found += _model_files(path.parent)
    return list(dict.fromkeys(found))


def _model_files(home: Path) -> list[Path]:
    return sorted((home / _MODELS).glob(f"*/{_DATA}"))


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BenchmarkError(
            f"cannot read {path}: {error.strerror}", hint="a JSON file, data.js, or the folder that holds it"
        ) from error


def _from_json(path: Path, content: bytes) -> Explorer:
    try:
        file = msgspec.json.decode(content, type=_File)
    except NOT_JSON as error:
        raise BenchmarkError(
            f"cannot read {path}: {error}", hint="a JSON object with questions and responses is expected"
        ) from error
    questions = _questions(file.questions, path.name)
    for model, answers in file.responses.items():
        if len(answers) != len(questions):
            raise BenchmarkError(
                f"{path.name}: {model} has {len(answers)} answers to {len(questions)} questions",
                hint="answers stand in the order of the questions, null where one is missing",
            )
    sha256 = hashlib.sha256(content).hexdigest()
    answers_of = {model: tuple(answers) for model, answers in file.responses.items()}
    return Explorer(questions, answers_of, dict.fromkeys(answers_of, sha256), file.source, file.licence)


def _from_site(contents: Mapping[Path, bytes]) -> Explorer:
    """Read ``test_data = [questions]`` and ``cache["MODEL"] = {"0": {id, response}}`` of the site's files."""
    rows: tuple[str, list[_Row], bytes] | None = None
    given: dict[str, tuple[str, dict[str, _Answer], bytes]] = {}
    for path, content in contents.items():
        name = f"{path.parent.name}/{path.name}"
        for target, value in read_assignments(content, name):
            if target == ("test_data",) and rows is None:
                rows = name, _as(list[_Row], value, name), content
            elif len(target) == _MODEL_TARGET and target[0] == "cache" and target[1] not in given:
                given[target[1]] = name, _as(dict[str, _Answer], value, name), content
            else:
                shown = target[0] + "".join(f'["{key}"]' for key in target[1:])
                is_known = target == ("test_data",) or target[0] == "cache"
                what = "stands twice" if is_known else "is neither test_data nor the answers of a model"
                raise BenchmarkError(f"{name}: {shown} {what}", hint="give the files of one site as they are published")
    if rows is None or not given:
        lacking = f"{_DATA} with the questions" if rows is None else f"{_MODELS}/MODEL/{_DATA} with answers"
        raise BenchmarkError(
            f"{', '.join(map(str, contents))}: there is no {lacking}", hint="give both, or the folder that holds them"
        )
    place, listed, about = rows
    questions = _questions(listed, place)
    hashes = {model: hashlib.sha256(about + content).hexdigest() for model, (_, _, content) in given.items()}
    answers = {model: _in_order(questions, entries, name, model) for model, (name, entries, _) in given.items()}
    return Explorer(questions, answers, hashes)


def _as(kind: type[Form], value: object, place: str) -> Form:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise BenchmarkError(f"{place}: {error}", hint="is it a file of HRScene's explorer?") from error


def _in_order(
    questions: Sequence[Question], entries: Mapping[str, _Answer], place: str, model: str
) -> tuple[str | None, ...]:
    """Return a model's answers in the order of the questions, None where one is null or left out."""
    by_id: dict[str, str | None] = {}
    known = {question.id for question in questions}
    for entry in entries.values():
        if entry.id not in known or entry.id in by_id:
            what = "two answers to" if entry.id in by_id else "an answer to the unknown question"
            raise BenchmarkError(f"{place}: {model} has {what} {entry.id!r}", hint="are the files of one site?")
        by_id[entry.id] = entry.response
    return tuple(by_id.get(question.id) for question in questions)


def _questions(rows: Sequence[_Row], place: str) -> tuple[Question, ...]:
    questions = tuple(_question(row, f"{place}: question {index}") for index, row in enumerate(rows))
    ids = [question.id for question in questions]
    twice = next((name for name, n in Counter(ids).items() if n > 1), None)
    if not questions or twice is not None:
        raise BenchmarkError(
            f"{place}: {'no question' if twice is None else f'id {twice!r} stands twice'}", hint="ids must be unique"
        )
    return questions


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
        raise BenchmarkError(
            f"{place}: the answer {row.answer!r} is not an option of {letters}", hint="one capital letter"
        )
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
