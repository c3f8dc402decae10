"""Prediction files of other evaluation kits: VLMEvalKit tables and lmms-eval samples, as rows of one form."""

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Literal, NamedTuple

from eyechart.benchmarks._cells import Row, text_of
from eyechart.benchmarks._listed_options import take_apart
from eyechart.benchmarks._shown_options import options_in_row
from eyechart.benchmarks._spreadsheets import MAX_CELL_CHARACTERS, read_sheet
from eyechart.benchmarks._tables import next_row, read_rows
from eyechart.errors import BenchmarkError
from eyechart.releases.heads import Container, read_head
from eyechart.schema import ResponseState, TwiceError, once

Kit = Literal["vlmevalkit", "lmms-eval"]

# What the kits store in place of an answer (open-compass/VLMEvalKit vlmeval/inference.py; lmms-eval models/chat).
FAILURE_MARKS = ("failed to obtain answer via api", "[lmms_eval_request_failed", "[lmms_eval_budget_exceeded]")
RANDOM_MARK = "randomly generate one"
"""Stands in VLMEvalKit's log where the judge failed and a letter was drawn."""

_LMMS_FIELDS = frozenset(
    {
        *("doc_id", "target", "input", "resps", "filtered_resps", "token_counts", "doc_hash", "input_media"),
        *("doc", "arguments", "prompt_hash", "target_hash", "filter"),
    }
)
_THEIR_ANSWER = ("prediction", "parsed_pred", "pred", "gpt_prediction", "pred_answer", "extracted_answer")
_LMMS_KEYS = ("question_id", "id", "index", "qid")


class KitRow(NamedTuple):
    """One answer as a kit stored it.

    Args:
        place: File and row.
        key: The kit's own id of the row.
        text: The response; None where there is none.
        state: How the request ended; failures that the kit stored as text are errors here.
        stem: The question without its options; the whole prompt where options cannot be told from it.
        choices: Options in the order shown, "" where a letter stands for none; empty where the row does not tell.
        gold: The right letter by the kit's file, None where it does not tell.
        view: The view it names, None if none.
        task: Its category.
        theirs: The kit's own score of this row in 0–1, None where it stores none.
        their_answer: What the kit read from the response.
        notes: What the kit did that a score should not depend on.
    """

    place: str
    key: str
    text: str | None
    state: ResponseState
    stem: str
    choices: tuple[str, ...]
    gold: str | None
    view: str | None
    task: str | None
    theirs: float | None
    their_answer: str | None
    notes: tuple[str, ...] = ()


def read_kit(path: Path, kit: Kit, container: Container, *, metric: str | None = None) -> tuple[KitRow, ...]:
    """Read a prediction file of a kit.

    Args:
        path: The file.
        kit: Which kit wrote it.
        container: How the file keeps its rows (``releases.forms.recognise``).
        metric: For lmms-eval, the metric whose values are their scores; the first one with a value per row if None.

    Raises:
        BenchmarkError: If the file cannot be read, lacks a column, or has no metric of that name.
    """
    if kit == "vlmevalkit":
        judged = _judged(path)
        rows = tuple(_vlmevalkit_row(row, judged) for row in rows_in(path, container))
    else:
        rows = tuple(_lmms_row(row, metric) for row in rows_in(path, container))
    if not rows:
        raise BenchmarkError(f"{path} holds no prediction", hint="was the file copied completely?")
    if metric is not None and all(row.theirs is None for row in rows):
        raise BenchmarkError(f"{path} has no metric {metric!r} with a value per row", hint="leave --metric out")
    return rows


def judged_file(path: Path) -> Path | None:
    """Return the table with a score per row that VLMEvalKit's judge wrote beside a prediction file, if there is one.

    Raises:
        BenchmarkError: If there are several: judges may disagree, so none is chosen silently.
    """
    found = sorted(
        other
        for suffix in (".xlsx", ".tsv", ".json")
        for other in path.parent.glob(f"{_escape(path.stem)}_*_result{suffix}")
    )
    if len(found) > 1:
        raise BenchmarkError(
            f"{path}: {len(found)} judged files stand beside it: {', '.join(other.name for other in found)}",
            hint="give the one you mean instead of the prediction file",
        )
    return found[0] if found else None


def lettered_options(prompt: str) -> tuple[str, tuple[str, ...]]:
    r"""Split a prompt at its last list of options from A on, as a question's own text is split.

    What a prompt says after its list, on lines of their own, is not part of the last option where no other option has
    several lines.

    Returns:
        The text before the list, and the options; the whole prompt and no option where there is no list.

    Example:
        >>> lettered_options("Which?\n(A) red (dark)\n(B) blue\nAnswer directly.")
        ('Which?', ('red (dark)', 'blue'))
    """
    stem, options = take_apart(prompt)
    if options and not any("\n" in option for option in options[:-1]):
        options = (*options[:-1], options[-1].partition("\n")[0].strip())
    return stem, options


# --- VLMEvalKit -------------------------------------------------------------------------------------------------------


def rows_in(path: Path, container: Container) -> Iterator[Row]:
    """Yield the rows of a file of answers, whatever it is called.

    Raises:
        BenchmarkError: If the file cannot be read, or a row is damaged.
    """
    readers = {"xlsx": read_sheet, "tsv": _tsv_rows, "json": _json_rows, "jsonl": _jsonl_rows}
    reader = readers.get(container, partial(read_rows, suffix=f".{container}"))
    return reader(path)


def _tsv_rows(path: Path) -> Iterator[Row]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, delimiter="\t", strict=True)
            while (row := next_row(reader)) is not None:
                place = f"{path}:{reader.line_num}"
                if None in row or None in row.values():
                    raise BenchmarkError(f"{place}: the row has not as many cells as the header", hint="restore it")
                yield Row(place, {name: cell or None for name, cell in row.items()})
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error})", hint="check the path") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise BenchmarkError(f"{path}: not TSV ({error})", hint="save the file as UTF-8 TSV") from error


def _json_rows(path: Path) -> Iterator[Row]:
    """Yield records, also of a table written by columns; NaN, which their writers use for missing, is None."""
    try:
        content = json.loads(
            path.read_text(encoding="utf-8-sig"), parse_constant=lambda _: None, object_pairs_hook=once
        )
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error})", hint="check the path") from error
    except TwiceError as error:
        raise BenchmarkError(f"{path}: {error}", hint="keep one of the two") from error
    except (ValueError, RecursionError) as error:
        raise BenchmarkError(f"{path}: not JSON ({error})", hint="was the file copied completely?") from error
    if isinstance(content, dict):
        if content and all(isinstance(column, dict) for column in content.values()):
            keys: dict[str, object] = next(iter(content.values()))
            content = [{name: column.get(key) for name, column in content.items()} for key in keys]
        else:
            content = content["logs"] if isinstance(content.get("logs"), list) else [content]
    for number, values in enumerate(content if isinstance(content, list) else [content], start=1):
        place = f"{path}: item {number}"
        yield Row(place, _object(values, place))


def _object(values: object, place: str) -> dict[str, object]:
    if not isinstance(values, dict):
        raise BenchmarkError(f"{place} is not a JSON object", hint="was the file copied completely?")
    return values


def _jsonl_rows(path: Path) -> Iterator[Row]:
    """Yield the objects of a JSON-lines file; NaN, which Python's writer lets through, is None."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    values = json.loads(line, parse_constant=lambda _: None, object_pairs_hook=once)
                    yield Row(f"{path}:{number}", _object(values, f"{path}:{number}"))
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error})", hint="check the path") from error
    except TwiceError as error:
        raise BenchmarkError(f"{path}:{number}: {error}", hint="keep one of the two") from error
    except (ValueError, RecursionError) as error:
        raise BenchmarkError(
            f"{path}:{max(1, number)}: not JSON ({error})", hint="was the file copied completely?"
        ) from error


def _judged(path: Path) -> dict[str, Mapping[str, object]]:
    """Return the rows of the judged file beside a prediction file by index; none where there is no such file."""
    other = judged_file(path) if not path.stem.endswith("_result") else None
    return {_key(row): row.values for row in rows_in(other, read_head(other).container)} if other else {}


def _vlmevalkit_row(row: Row, judged: Mapping[str, Mapping[str, object]]) -> KitRow:
    values, place = row.values, row.place
    if "prediction" not in values:
        raise BenchmarkError(f"{place}: no column 'prediction'", hint="is this a file of predictions?")
    key = _key(row)
    longest = MAX_CELL_CHARACTERS if ".xlsx:" in place else None
    text, state, notes = _stored_text(values.get("prediction"), longest=longest)
    verdict = judged.get(key, {})
    if _cell(verdict, "prediction") != _cell(values, "prediction"):
        verdict = {}  # it judges another answer: the file is of another run or data set with a like name
    log = str(values.get("log") or verdict.get("log") or "")
    if RANDOM_MARK in log:
        notes += ("the kit drew a random letter",)
    options = options_in_row({letter: _cell(values, letter) for letter in ascii_uppercase if letter in values}) or ()
    gold = _cell(values, "answer")
    theirs = _score(values.get("hit"))
    return KitRow(
        place=place,
        key=key,
        text=text,
        state=state,
        stem=_cell(values, "question") or "",
        choices=options,
        gold=gold if gold in {letter for letter, text in zip(ascii_uppercase, options, strict=False) if text} else None,
        view=_cell(values, "view_id") or _cell(values, "view"),
        task=_cell(values, "category"),
        theirs=_score(verdict.get("hit")) if theirs is None else theirs,
        their_answer=_cell(values, "opt"),
        notes=notes,
    )


def _filled_letters(options: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(letter for letter, option in zip(ascii_uppercase, options, strict=True) if option is not None)


def _key(row: Row) -> str:
    index = row.values.get("index")
    if isinstance(index, float) and index.is_integer():
        index = int(index)
    return "" if index is None else str(index)


def _cell(values: Mapping[str, object], name: str) -> str | None:
    cell = values.get(name)
    if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
        return None
    return text_of(cell) if isinstance(cell, float) else str(cell)


# --- lmms-eval --------------------------------------------------------------------------------------------------------


def _lmms_row(row: Row, metric: str | None) -> KitRow:
    values, place = row.values, row.place
    responses = _flat(values.get("resps")) or _flat(values.get("filtered_resps"))
    # An exception inside the kit leaves an empty answer (its models/chat/_chat_base.py).
    text, state, notes = _stored_text((responses[0] or None) if responses else None)
    if len(responses) > 1:
        notes += (f"the first of {len(responses)} responses",)
    prompt = next(
        (text for text in (values.get("input"), *_flat(values.get("arguments"))) if isinstance(text, str)), ""
    )
    stem, listed = lettered_options(prompt)
    target = str(values.get("target") or "")
    metrics = {name: value for name, value in values.items() if name not in _LMMS_FIELDS}
    chosen = [metrics.get(metric)] if metric is not None else list(metrics.values())
    entry = next((value for value in chosen if isinstance(value, dict)), {})
    answer = next((str(entry[name]) for name in _THEIR_ANSWER if entry.get(name) is not None), None)
    theirs = next((score for value in chosen if (score := _metric_score(value, answer, target)) is not None), None)
    told = [record for record in (entry, values.get("doc")) if isinstance(record, dict)]
    key = next((record[name] for record in told for name in _LMMS_KEYS if record.get(name) is not None), None)
    choices = options_in_row(entry) or listed
    return KitRow(
        place=place,
        key="" if key is None else str(key),
        text=text,
        state=state,
        stem=stem,
        choices=choices,
        gold=_gold(target, choices),
        view=_cell(entry, "view_id") or _cell(entry, "view"),
        task=_cell(entry, "category"),
        theirs=theirs,
        their_answer=answer,
        notes=notes,
    )


def _flat(value: object) -> list[str]:
    """Return the texts of ``resps`` or ``filtered_resps``: a text, a list, or a list of lists."""
    if isinstance(value, list):
        return [text for entry in value for text in _flat(entry)]
    return [value] if isinstance(value, str) else []


def _metric_score(value: object, answer: str | None, target: str) -> float | None:
    """Return one metric's score of a row: a number, or a record with a score or with what was read."""
    if not isinstance(value, dict):
        return _score(value)
    for name in ("score", "correct", "is_correct", "hit", "acc"):
        score = _score(value.get(name))
        if score is not None:
            return score
    return float(answer.strip().casefold() == target.strip().casefold()) if answer is not None and target else None


def _gold(target: str, choices: Sequence[str]) -> str | None:
    letters = ascii_uppercase[: len(choices)] or ascii_uppercase
    if len(target) == 1 and target in letters:
        return target
    return ascii_uppercase[choices.index(target)] if list(choices).count(target) == 1 else None


# --- both -------------------------------------------------------------------------------------------------------------


def _stored_text(stored: object, *, longest: int | None = None) -> tuple[str | None, ResponseState, tuple[str, ...]]:
    """Return response, state and notes; a failure stored as text is an error, and so is what a file lost."""
    if stored is None or (isinstance(stored, float) and math.isnan(stored)):
        return None, ResponseState.TRANSIENT, ("no answer in the file",)
    text = str(stored)
    if any(mark in text.casefold() for mark in FAILURE_MARKS):
        return None, ResponseState.TRANSIENT, ("the kit stored its failure as the answer",)
    if longest is not None and len(text) >= longest:
        return text, ResponseState.TRUNCATED, ("as long as a cell can be, so probably cut",)
    return text, ResponseState.ANSWERED, ()


def _score(value: object) -> float | None:
    """Return a score in 0–1, None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    is_score = isinstance(value, bool | int | float) and 0 <= value <= 1  # false for NaN
    return float(value) if is_score and isinstance(value, bool | int | float) else None


def _escape(stem: str) -> str:
    """Return a file stem with what ``glob`` reads as a pattern taken literally."""
    return re.sub(r"([*?[])", r"[\1]", stem)
