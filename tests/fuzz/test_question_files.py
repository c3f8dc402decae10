"""A question file with any of its bytes or values changed: questions that can be asked, or one of our errors."""

import csv
import io
import json
from string import ascii_uppercase

import pytest
from fuzz_cases import changed_bytes, changed_value, n_cases, random_of
from PIL import Image

from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.errors import EyechartError
from eyechart.schema import Question, decode_record, encode_record

pytestmark = pytest.mark.fuzz

ROWS = [
    {
        "id": "q1",
        "image": "a.png",
        "question": "Which word?",
        "choices": ["STOP", "GO", "Größe 4", "none"],
        "answer": "A",
        "box": [4, 2, 30, 20],
        "task": "ocr",
    },
    {
        "id": "q2",
        "image": "b.png",
        "question": "Is it on?",
        "choices": ["yes", "no"],
        "answer": "no",
        "box": [0, 0, 9, 9],
    },
    {
        "id": "q3",
        "image": "a.png",
        "question": "第几个?",
        "choices": ["1.0", "2", "3e2"],
        "answer": "2",
        "box": [1, 1, 5, 5],
    },
]
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
OPTIONS = FolderOptions(box_format="xyxy")


def separated(rows, delimiter):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer.writerow(names)
    for row in rows:
        cells = (row.get(name, "") for name in names)
        writer.writerow([json.dumps(cell) if isinstance(cell, list | dict) else cell for cell in cells])
    return text.getvalue().encode("utf-8", errors="surrogatepass")


def parquet(rows):
    import pyarrow
    import pyarrow.parquet

    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), buffer, compression="none")
    return buffer.getvalue()


def written(rows, suffix):
    """Return rows as a file of each kind holds them."""
    if suffix == ".parquet":
        return parquet(rows)
    if suffix in {".csv", ".tsv"}:
        return separated(rows, "," if suffix == ".csv" else "\t")
    if suffix == ".json":
        return json.dumps(rows, ensure_ascii=False).encode(errors="surrogatepass")
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode(errors="surrogatepass")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    for name in ("a.png", "b.png"):
        Image.new("RGB", (64, 48), (len(name), 0, 0)).save(folder / name)
    return folder


def check_questions(questions):
    """Whatever was read can be asked, scored and stored."""
    assert questions
    assert len({question.id for question in questions}) == len(questions)
    for question in questions:
        assert question.text
        assert len(question.choices) != 1
        assert all(isinstance(choice, str) and choice for choice in question.choices)
        if question.choices:
            assert question.answer is None or question.answer in ascii_uppercase[: len(question.choices)]
        else:
            assert question.answer is None
        assert all(box.width > 0 and box.height > 0 for box in question.targets_clipped)
        assert decode_record(encode_record(question), Question, "row") == question


def check_file(folder, name, content):
    (folder / name).write_bytes(content)
    try:
        questions = list(FolderKind().open(folder / name, OPTIONS).questions())
    except EyechartError:
        return False
    except Exception as error:
        error.add_note(f"{name}: {content[:3000]!r}")
        raise
    try:
        check_questions(questions)
    except Exception as error:
        error.add_note(f"{name}: {content[:3000]!r}")
        raise
    return True


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_changed_bytes_are_questions_or_one_of_our_errors(folder, suffix):
    content = written(ROWS, suffix)
    assert check_file(folder, f"whole{suffix}", content)
    for number in range(n_cases(1 / 2 / len(SUFFIXES))):
        rng = random_of(suffix, number)
        changed = changed_bytes(rng, content, rng.choice([1, 1, 2, 4, 8]))
        check_file(folder, f"changed{suffix}", changed)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_changed_values_are_questions_or_one_of_our_errors(folder, suffix):
    for number in range(n_cases(1 / 2 / len(SUFFIXES))):
        rng = random_of(suffix, "values", number)
        rows = changed_value(rng, ROWS, rng.choice([1, 1, 2, 4, 8]))
        if suffix != ".json" and not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
            continue
        try:
            content = written(rows, suffix)
        except (ValueError, TypeError, ArithmeticError, AttributeError, NotImplementedError):  # no such table exists
            continue
        check_file(folder, f"values{suffix}", content)
