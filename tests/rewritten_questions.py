"""Rewrites of question files that all mean the same, made from what tools and people write and not from our reader.

Each rewrite is a folder with pictures and one file of questions. Column names, containers, encodings, the forms of
options, answers and pictures are drawn apart from one seed, so that a seed gives the same file again.
"""

import base64
import csv
import io
import json
import random
from pathlib import Path
from typing import NamedTuple

from PIL import Image

SHADES = ("teal", "amber", "violet", "ivory", "crimson", "olive", "navy blue", "dark grey", "off-white", "rose")
ODD = (
    *("a red, yellow and blue kite", 'the sign "EXIT"', "it's closed", "Straße 12", "日本語", "50 %", "3/4", "C#"),
    *("<b>", "yes / no", "10:45 pm", "Rua da Glória; 7", "-5 °C", "semi-detached house", "x = y", "l'été"),
)
NUMBERS = ("0", "1", "2", "7", "12", "100", "2024", "3.5", "0.25", "100000")
STEMS = (
    "What is the shade of the mug?",
    "Which one stands left of the lamp",
    "What does the sign say, if anything?",
    "How many are there in the picture?",
    "Où se trouve le vélo ?",
    "Welche Aufschrift trägt das Schild?",
    "Look closely: is it open?\nAnswer from what you see.",
)
LETTERS = "ABCDEFGHIJ"
ID_COLUMNS = ("id", "question_id", "qid", "index", "uid")
TEXT_COLUMNS = ("question", "query", "text", "prompt", "problem")
LIST_COLUMNS = ("choices", "options", "candidates", "answer_choices")
ANSWER_COLUMNS = ("answer", "gold", "label", "ground_truth", "correct_answer", "solution")
INDEX_COLUMNS = ("answer_idx", "answer_index", "correct_idx")
IMAGE_COLUMNS = ("image", "image_path", "img", "file_name")
TASK_COLUMNS = ("task", "category", "type", "subtask")


class Meant(NamedTuple):
    """What a question means however it is written."""

    text: str
    choices: tuple[str, ...]
    gold: int

    @property
    def gold_text(self):
        return self.choices[self.gold]


class Rewrite(NamedTuple):
    """A file on the disk, what its rows mean, and how it was written."""

    path: Path
    meant: tuple[Meant, ...]
    how: dict[str, str]


def write_rewrite(seed: int, folder: Path) -> Rewrite:
    """Write one rewrite into an empty folder."""
    rng = random.Random(seed)  # noqa: S311 -- repeatable, not secret
    meant = _questions(rng)
    container = rng.choice(("jsonl", "json", "json-wrapped", "json-columns", "csv", "csv", "tsv", "parquet", "xlsx"))
    is_nested = container.startswith("json") or container == "parquet"
    form = _option_form(rng, is_nested)
    answer = _answer_form(rng, form, meant)
    picture = _picture_form(rng, is_nested)
    # A file of one origin seldom differs from the usual in everything at once.
    answer_columns = INDEX_COLUMNS if answer == "index" and rng.random() < 0.3 else ANSWER_COLUMNS
    groups = {"id": ID_COLUMNS, "text": TEXT_COLUMNS, "list": LIST_COLUMNS, "answer": answer_columns}
    groups |= {"image": IMAGE_COLUMNS, "task": TASK_COLUMNS}
    columns = {key: rng.choice(names) if rng.random() < 0.5 else names[0] for key, names in groups.items()}
    has_tag = rng.choice(("", "", "", "<image>\n", "<image 1> ", "<image>"))
    id_of = rng.choice(("{}".format, int, "q{}".format, "{:06d}".format, "shelf/{}".format))
    rows = []
    for number, one in enumerate(meant):
        name = f"{rng.choice(('p', 'shot-', 'Bild '))}{number}.{rng.choice(('png', 'jpg', 'webp'))}"
        _picture(rng, folder / "pics" / name)
        row = {columns["id"]: id_of(number)}
        row |= {columns["image"]: _image_cell(picture, folder, f"pics/{name}")}
        stem = one.text
        row |= _option_cells(form, columns["list"], one)
        if form.startswith("text"):
            stem = _listed_in_text(form, one)
        row[columns["text"]] = has_tag + stem
        row[columns["answer"]] = _answer_cell(answer, one)
        if rng.random() < 0.5:
            row[columns["task"]] = rng.choice(("colour", "position"))
        rows.append(row)
    if form.startswith("letters") or "columns" in form:
        widest = max(len(one.choices) for one in meant)
        rows = [_padded(row, form, widest) for row in rows]
    rows = [{key: row.get(key) for key in _all_keys(rows)} for row in rows]
    if rng.random() < 0.3:
        keys = list(rows[0])
        rng.shuffle(keys)
        rows = [{key: row[key] for key in keys} for row in rows]
    encoding = rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"))
    if container in {"parquet", "xlsx"} or (encoding == "cp1252" and not _fits(rows, "cp1252")):
        encoding = "utf-8"
    newline = rng.choice(("\n", "\n", "\r\n"))
    path = _write(container, rows, folder, encoding, newline, rng)
    how = {"seed": str(seed), "container": container, "options": form, "answers": answer, "picture": picture}
    how |= {"tag": repr(has_tag), "encoding": encoding, "newline": repr(newline)}
    how |= {f"column {key}": value for key, value in columns.items()}
    return Rewrite(path, tuple(meant), how)


def _questions(rng):
    """Between three and eight questions of one file; all with as many options in half of the files."""
    pool = rng.choice((SHADES, SHADES, ODD, NUMBERS, (*SHADES, *ODD)))
    same = rng.choice((None, None, 2, 4, 5))
    meant = []
    for number in range(rng.randint(3, 8)):
        choices = tuple(rng.sample(pool, same or rng.randint(2, 6)))
        stem = f"{rng.choice(STEMS)}" if rng.random() < 0.7 else f"Question {number}: {rng.choice(STEMS)}"
        meant.append(Meant(stem, choices, rng.randrange(len(choices))))
    return meant


def _option_form(rng, is_nested):
    flat = ("letter columns", "lower columns", "option_a columns", "option_1 columns", "choice_0 columns")
    shared = (*flat, "text (A)", "text A.", "text A)", "text inline", "list as JSON text", "list as Python text")
    nested = (
        "list",
        "list",
        "list",
        "lettered list (A)",
        "lettered list A.",
        "object",
        "lower object",
        "label and text",
    )
    return rng.choice((*shared, *nested, *nested) if is_nested else shared)


def _answer_form(rng, form, meant):
    forms = [
        "letter",
        "letter",
        "letter",
        "(letter)",
        "letter.",
        "lower letter",
        "letter. text",
        "(letter) text",
        "text",
    ]
    if not _numeric(meant):
        forms += ["index"]
    if not form.startswith("text"):
        forms += ["letter"]
    return rng.choice(forms)


def _numeric(meant):
    return any(choice.replace(".", "").isdigit() for one in meant for choice in one.choices)


def _answer_cell(form, one):
    letter = LETTERS[one.gold]
    return {
        "letter": letter,
        "(letter)": f"({letter})",
        "letter.": f"{letter}.",
        "lower letter": letter.lower(),
        "letter. text": f"{letter}. {one.gold_text}",
        "(letter) text": f"({letter}) {one.gold_text}",
        "text": one.gold_text,
        "index": one.gold,
    }[form]


def _option_cells(form, column, one):
    choices = one.choices
    cells = {
        "list": list(choices),
        "list as JSON text": json.dumps(choices, ensure_ascii=False),
        "list as Python text": repr(list(choices)),
        "lettered list (A)": [f"({letter}) {text}" for letter, text in zip(LETTERS, choices, strict=False)],
        "lettered list A.": [f"{letter}. {text}" for letter, text in zip(LETTERS, choices, strict=False)],
        "object": dict(zip(LETTERS, choices, strict=False)),
        "lower object": dict(zip(LETTERS.lower(), choices, strict=False)),
        "label and text": {"label": list(LETTERS[: len(choices)]), "text": list(choices)},
    }
    return {column: cells[form]} if form in cells else dict(zip(_flat_names(form), choices, strict=False))


def _flat_names(form):
    return {
        "letter columns": list(LETTERS),
        "lower columns": list(LETTERS.lower()),
        "option_a columns": [f"option_{letter}" for letter in LETTERS.lower()],
        "option_1 columns": [f"option_{number + 1}" for number in range(10)],
        "choice_0 columns": [f"choice_{number}" for number in range(10)],
    }.get(form, [])


def _padded(row, form, widest):
    return {**dict.fromkeys(_flat_names(form)[:widest]), **row}


def _all_keys(rows):
    keys = {}
    for row in rows:
        keys |= dict.fromkeys(row)
    return keys


def _listed_in_text(form, one):
    marks = {"text (A)": "({}) ", "text A.": "{}. ", "text A)": "{}) ", "text inline": "({}) "}[form]
    listed = [marks.format(letter) + text for letter, text in zip(LETTERS, one.choices, strict=False)]
    return f"{one.text} {' '.join(listed)}" if form == "text inline" else one.text + "\n" + "\n".join(listed)


def _picture_form(rng, is_nested):
    flat = ("path", "path", "./path", "absolute path", "file URL", "data URI", "base64")
    return rng.choice((*flat, "bytes and path", "path object", "list of one path") if is_nested else flat)


def _image_cell(form, folder, name):
    raw = (folder / name).read_bytes()
    text = base64.b64encode(raw).decode()
    return {
        "path": name,
        "./path": f"./{name}",
        "absolute path": str((folder / name).absolute()),
        "file URL": (folder / name).absolute().as_uri(),
        "path object": {"path": name},
        "list of one path": [name],
        "base64": text,
        "data URI": f"data:image/{name.rpartition('.')[2].replace('jpg', 'jpeg')};base64,{text}",
        "bytes and path": {"bytes": raw, "path": name},
    }[form]


def _picture(rng, path):
    path.parent.mkdir(exist_ok=True, parents=True)
    Image.new("RGB", (rng.randint(40, 90), rng.randint(30, 60)), (rng.randrange(256), 90, rng.randrange(256))).save(
        path
    )


def _fits(rows, encoding):
    try:
        json.dumps(rows, ensure_ascii=False, default=str).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _json_ready(value):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _json_ready(one) for key, one in value.items()}
    return value


def _write(container, rows, folder, encoding, newline, rng):
    if container == "parquet":
        return _write_parquet(rows, folder / "questions.parquet")
    if container == "xlsx":
        return _write_xlsx(rows, folder / "questions.xlsx")
    if container in {"csv", "tsv"}:
        text = io.StringIO(newline="")
        delimiter = "," if container == "csv" else "\t"
        quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
        writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter, lineterminator=newline, quoting=quoting)
        writer.writeheader()
        writer.writerows({key: "" if value is None else value for key, value in row.items()} for row in rows)
        path, content = folder / f"questions.{container}", text.getvalue()
    else:
        ready = [_json_ready(row) for row in rows]
        if rng.random() < 0.5:  # absent instead of null
            ready = [{key: value for key, value in row.items() if value is not None} for row in ready]
        is_ascii = rng.random() < 0.5
        if container == "jsonl":
            content = newline.join(json.dumps(row, ensure_ascii=is_ascii) for row in ready) + newline
        elif container == "json-wrapped":
            key = rng.choice(("data", "questions", "samples", "annotations"))
            content = json.dumps({"version": "1.0", key: ready}, ensure_ascii=is_ascii, indent=2)
        elif container == "json-columns":
            columns = {key: {str(place): row.get(key) for place, row in enumerate(ready)} for key in _all_keys(ready)}
            content = json.dumps(columns, ensure_ascii=is_ascii)
        else:
            content = json.dumps(ready, ensure_ascii=is_ascii, indent=rng.choice((None, 1)))
        path = folder / ("questions.jsonl" if container == "jsonl" else "questions.json")
    path.write_bytes(content.encode(encoding))
    return path


def _write_parquet(rows, path):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def _write_xlsx(rows, path):
    import xlsxwriter

    with xlsxwriter.Workbook(path, {"strings_to_urls": False, "strings_to_formulas": False}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, list(rows[0]))
        for number, row in enumerate(rows, 1):
            for place, value in enumerate(row.values()):
                if isinstance(value, int):
                    sheet.write_number(number, place, value)
                elif value is not None:
                    sheet.write_string(number, place, str(value))
    return path
