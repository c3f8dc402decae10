"""Exact option-letter accuracy of predictions; absent and unreadable answers count as incorrect."""

import argparse
import csv
import io
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from eyechart.scorers.option_letter.extraction import VERSIONS, extract

SCORER = "option_letter"
VERSION = VERSIONS[-1]
ERRORS = frozenset({"refused_input", "bad_request", "empty_reply", "unreadable_image", "transient"})
REFUSED = frozenset({"refusal", "content_filter"})
STATES = ERRORS | REFUSED | {"answered", "truncated"}
ID_DIGITS = 6
_MAX_CELL_CHARACTERS = 1 << 30


class Answer(NamedTuple):
    """One response, None where there is none, and how its request ended."""

    text: str | None
    state: str


class Verdict(NamedTuple):
    """1.0 or 0.0, and why an answer scored 0 without naming a wrong letter."""

    value: float
    reason: str | None


def judge(answer: Answer | None, sample: Mapping[str, object], mode: Literal["strict", "lenient"]) -> Verdict | None:
    """Return the verdict on one response, None where there is no answer to judge.

    Args:
        answer: The response.
        sample: A row of ``dataset.json``.
        mode: ``strict`` is the score of this collection; ``lenient`` reads more.
    """
    if answer is None or answer.state in ERRORS:
        return None
    if answer.state in REFUSED:
        return Verdict(0.0, answer.state)
    read = extract(answer.text or "", tuple(choices_of(sample)), mode, VERSION)
    reason = "truncated" if read.reason and answer.state == "truncated" else read.reason
    return Verdict(float(read.letter == sample["answer"]) if read.letter else 0.0, reason)


def evaluate(
    samples: Sequence[Mapping[str, object]],
    answers: Mapping[tuple[str, str], Answer],
    views: Sequence[str],
    families: Mapping[str, str],
    mode: Literal["strict", "lenient"] = "strict",
) -> dict[str, object]:
    """Return accuracies by view, family, source and task, and macro means.

    Args:
        samples: Rows of ``dataset.json``.
        answers: Responses by question and view.
        views: All views, in order; those without any response are left out.
        families: Family of each view.
        mode: How letters are read.
    """
    judged = [sample for sample in samples if isinstance(sample.get("answer"), str)]
    given = [view for view in views if any(place == view for _, place in answers)]
    columns = {view: [judge(answers.get((id_of(sample), view)), sample, mode) for sample in judged] for view in given}
    by_family: dict[str, list[str]] = {}
    for view in given:
        by_family.setdefault(families.get(view, view), []).append(view)
    shown = {view: [view] for view in given}
    shown.update({f"family:{name}": members for name, members in by_family.items() if len(members) > 1})
    cells = [
        _cell(name, subset, [[columns[view][row] for view in members] for row in rows])
        for name, members in shown.items()
        for subset, rows in _subsets(judged)
    ]
    macro = [
        {"view": view, "over": f"{field}s", "accuracy": _macro(cells, view, field)}
        for view in given
        for field in ("task", "source")
        if len({subset for subset, _ in _subsets(judged) if subset and subset.startswith(f"{field}=")}) > 1
    ]
    return {"scorer": f"{SCORER}.{mode}@{VERSION}", "cells": cells, "macro": macro}


def _cell(view: str, subset: str | None, rows: Sequence[Sequence[Verdict | None]]) -> dict[str, object]:
    values = [[verdict.value if verdict else 0.0 for verdict in row] for row in rows]
    answered = [[verdict.value for verdict in row if verdict] for row in rows]
    reasons = Counter(verdict.reason for row in rows for verdict in row if verdict and verdict.reason)
    means = [math.fsum(row) / len(row) for row in answered if row]
    return {
        "view": view,
        "subset": subset,
        "n_questions": len(rows),
        "n_correct": math.fsum(value for row in values for value in row),
        "n_absent": sum(verdict is None for row in rows for verdict in row),
        "reasons": dict(sorted(reasons.items())),
        "accuracy": math.fsum(math.fsum(row) / len(row) for row in values) / len(rows),
        "accuracy_of_answered": math.fsum(means) / len(means) if means else None,
    }


def _macro(cells: Sequence[Mapping[str, object]], view: str, field: str) -> float:
    found = [
        float(str(cell["accuracy"]))
        for cell in cells
        if cell["view"] == view and str(cell["subset"] or "").startswith(f"{field}=")
    ]
    return math.fsum(found) / len(found)


def _subsets(samples: Sequence[Mapping[str, object]]) -> Iterator[tuple[str | None, list[int]]]:
    yield None, list(range(len(samples)))
    for field, column in (("source", "source_dataset"), ("task", "task_type")):
        for name in sorted({str(sample[column]) for sample in samples if sample.get(column) is not None}):
            yield f"{field}={name}", [row for row, sample in enumerate(samples) if sample.get(column) == name]


def id_of(row: Mapping[str, object]) -> str:
    """Return the id that all views share; whole numbers are padded."""
    for name in ("base_sample_id", "id"):
        value = row.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return f"{value:0{ID_DIGITS}d}"
        if isinstance(value, str) and value:
            return value
    raise SystemExit(f"error: a row has no id: {dict(row)}")


def choices_of(sample: Mapping[str, object]) -> list[str]:
    """Return the options of a question."""
    value = sample.get("choices")
    return [str(choice) for choice in value] if isinstance(value, list) else []


def read_answers(
    path: Path, ids: frozenset[str], views: Sequence[str], view: str | None
) -> Iterator[tuple[tuple[str, str], Answer]]:
    """Yield the responses of a JSONL, JSON or CSV file."""
    default = view or (path.stem if path.stem in views else None)
    for number, row in enumerate(_rows(path), start=1):
        place = f"{path}: row {number}"
        shown = row.get("view_id") or row.get("view") or default
        if shown is None:
            raise SystemExit(f"error: {place} names no view; add a column view_id, or give --view")
        column = next((name for name in ("response", "prediction", "answer") if name in row), None)
        if column is None:
            raise SystemExit(f"error: {place} has no response")
        question_id = id_of(row)
        if question_id not in ids and question_id.zfill(ID_DIGITS) in ids:
            question_id = question_id.zfill(ID_DIGITS)
        if question_id not in ids or shown not in views:
            raise SystemExit(f"error: {place}: unknown id or view: {question_id!r}, {shown!r}")
        text = row[column]
        if row.get("error") not in (None, "", False) and not str(text or "").strip():
            text = None  # what failed is not an empty answer
        state = str(row.get("state") or ("transient" if text is None else "answered"))
        if state not in STATES:
            raise SystemExit(f"error: {place}: state {state!r}, not one of {', '.join(sorted(STATES))}")
        yield (question_id, str(shown)), Answer(None if text is None else str(text), state)


def _rows(path: Path) -> list[dict[str, object]]:
    if path.suffix.lower() == ".csv":
        # Long reasoning does not fit into the module's default of 131,072 characters a cell.
        earlier_limit = csv.field_size_limit(_MAX_CELL_CHARACTERS)
        try:
            with path.open(encoding="utf-8-sig", newline="") as lines:
                return [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(lines)]
        finally:
            csv.field_size_limit(earlier_limit)
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".json":
        rows: list[dict[str, object]] = json.loads(text)
        return rows
    # Not splitlines: a JSON string may hold U+2028, which is not a line break of the file.
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def read_views(release: Path) -> dict[str, str]:
    """Return all views of the collection with their families, in the order of its summary."""
    summary = json.loads((release / "metadata" / "validation_summary.json").read_text(encoding="utf-8"))
    return {config["config_name"]: config["view_family"] for config in summary["configs"]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate prediction files and print a table, or everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("predictions", type=Path, nargs="+", help="JSONL, JSON or CSV: id, view_id, response")
    parser.add_argument("--release", type=Path, default=Path(__file__).parent.parent, help="folder of the collection")
    parser.add_argument("--view", help="view of rows that name none")
    parser.add_argument("--mode", choices=("strict", "lenient"), default="strict")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    samples = json.loads((options.release / "dataset.json").read_text(encoding="utf-8"))
    families = read_views(options.release)
    ids = frozenset(map(id_of, samples))
    answers: dict[tuple[str, str], Answer] = {}
    for path in options.predictions:
        for key, answer in read_answers(path, ids, tuple(families), options.view):
            if answers.setdefault(key, answer) != answer:
                raise SystemExit(f"error: {path}: another response to {key[0]} in {key[1]}; keep one row")
    if isinstance(sys.stdout, io.TextIOWrapper):  # a task's name may hold what the terminal lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    report = evaluate(samples, answers, tuple(families), families, options.mode)
    sys.stdout.write(json.dumps(report, indent=2) + "\n" if options.json else _table(report))
    return 0


def _table(report: Mapping[str, object]) -> str:
    cells = report["cells"]
    lines = [f"{'view':24} {'questions':34} {'n':>5} {'correct':>8} {'accuracy':>9} {'absent':>7}"]
    lines += [
        f"{cell['view']:24} {cell['subset'] or 'all':34} {cell['n_questions']:5} {cell['n_correct']:8g} "
        f"{100 * cell['accuracy']:8.2f}% {cell['n_absent']:7}"
        for cell in (cells if isinstance(cells, list) else [])
    ]
    lines.append(f"Scored by {report['scorer']}.")
    lines.append("Intervals and paired differences: eyechart score --predictions FILE --data FOLDER")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
