"""Questions whose texts look like labels, numbers and gaps, written in random ways: a law for whoever reads them.

Written by those who wrote the reader, to break it: what has two meanings may be refused. ``rewritten_questions`` was
written by somebody who had not seen the reader, and judges how much of what people write is read.
"""

import base64
import csv
import io
import json
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase

from PIL import Image

WORDS = (
    *("teal", "amber", "violet", "ivory", "dark red", "Größe 4", "出口", "it's", 'a "quoted" word', "left, then right"),
    *("100000.0", "1e5", "0", "1", "2", "3", "12345.678", "2.50", "007", "1,000", "A", "b", "Both A and B", "none"),
    *("None of the above", "=5", "-3", "3/4", "50%", "true", "Dr. No", "B. Obama", "x = 1; y = 2", "[sic]", "a.b"),
)
NAMES = {
    "id": ("id", "question_id", "qid", "uid", "ID", "Question ID"),
    "question": ("question", "query", "prompt", "problem", "Question"),
    "choices": ("choices", "options", "candidates", "answer_choices", "Answer choices"),
    "answer": ("answer", "gold", "label", "ground_truth", "correct_answer", "Answer"),
    "image": ("image", "image_path", "img", "file_name", "Image", "image_1"),
}


class Meant:
    """What a file means: for each question its id, text, options and right option."""

    def __init__(self, rng, folder, words):
        n_options = rng.randint(2, 5)
        self.rows = []
        for number in range(rng.randint(1, 5)):
            n = n_options if rng.random() < 0.7 else rng.randint(2, 5)
            options = rng.sample(words, n)
            picture = rng.choice(("p1.png", "p2.png"))
            self.rows.append(
                {
                    "id": f"q{number}",
                    "question": rng.choice(("What is the shade of the mug?", "Wie groß\nist es?", "Is 1 < 2, or B?")),
                    "choices": options,
                    "gold": rng.randrange(n),
                    "image": picture,
                    "sha256": None,
                }
            )
        for name, colour in (("p1.png", "red"), ("p2.png", "blue")):
            if not (folder / name).exists():
                Image.new("RGB", (32, 24), colour).save(folder / name)


def write(rng, folder: Path, *, is_clear: bool = False) -> tuple[Path, Meant]:
    """Write random questions in a random way; return the file and what it means.

    With ``is_clear`` nothing in it can mean two things: no option is a letter, a label or a number, no place is empty,
    and no answer is a number.
    """
    meant = Meant(rng, folder, WORDS[: WORDS.index("100000.0")] if is_clear else WORDS)
    container = rng.choice(("csv", "tsv", "json", "jsonl", "parquet", "xlsx"))
    nests = container in {"json", "jsonl", "parquet"}
    names = {role: rng.choice(own) for role, own in NAMES.items()}
    names["letters"] = rng.choice((ascii_uppercase, ascii_lowercase))
    options = rng.choice(
        ("list", "list", "object", "columns", "named columns", "text", "python", "lettered", "numbers")
    )
    forms = ("letter", "lower", "bracket", "dot", "text", "both", "list")
    answer = (
        rng.choice(forms)
        if is_clear
        else rng.choice(("letter", "letter", "lower", "bracket", "dot", "text", "both", "index0", "index1", "list"))
    )
    if options == "numbers" and answer == "index1":
        answer = "index0"  # the numbers of the options are their labels
    picture = rng.choice(("path", "path", "dotted", "uri", "base64", "object", "list", "bytes"))
    rows = []
    for one in meant.rows:
        row = {names["id"]: one["id"], names["question"]: one["question"]}
        row |= _options(one, options, names, nests=nests, rng=rng)
        if options == "text":
            row[names["question"]] = f"{one['question']}\n{_listed(one['choices'], rng)}"
        row[names["answer"]] = _answer(one, answer, nests=nests)
        row[names["image"]] = _picture(one["image"], picture, folder, container)
        rows.append(row)
    if not is_clear and rng.random() < 0.3:  # an empty option somewhere
        at = rng.randrange(len(rows))
        wrong = [place for place in range(len(meant.rows[at]["choices"])) if place != meant.rows[at]["gold"]]
        _empty_one(rng.choice(wrong), rows[at], names, options)
    file = folder / f"questions.{container}"
    _WRITERS[container](file, rows, rng)
    return file, meant


def _options(one, how, names, *, nests, rng):  # noqa: PLR0911 -- one return per way to write them
    choices, column = one["choices"], names["choices"]
    if how == "object":
        found = dict(zip(ascii_uppercase, choices, strict=False))
        return {column: found if nests else json.dumps(found, ensure_ascii=False)}
    if how == "numbers":
        found = {str(number): text for number, text in enumerate(choices)}
        return {column: found if nests else json.dumps(found)}
    if how in {"columns", "named columns"}:
        letters = names["letters"] if how == "columns" else ascii_lowercase
        prefix = "" if how == "columns" else "option_"
        return {f"{prefix}{letters[at]}": choices[at] if at < len(choices) else None for at in range(5)}
    if how == "python":
        return {column: repr(choices)}
    if how == "lettered":
        form = rng.choice(("({}) {}", "{}. {}", "{}) {}", "{}: {}"))
        found = [form.format(letter, text) for letter, text in zip(ascii_uppercase, choices, strict=False)]
        return {column: found if nests else json.dumps(found)}
    if how == "text":
        return {}
    padded = [*choices, *([""] * rng.choice((0, 0, 1)))]
    if nests:
        return {column: padded}
    is_safe = not any("|" in text for text in choices)
    return {column: "|".join(choices) if is_safe and rng.random() < 0.5 else json.dumps(padded)}


def _listed(choices, rng):
    form = rng.choice(("({}) {}", "{}. {}", "{}) {}"))
    lines = [form.format(letter, text) for letter, text in zip(ascii_uppercase, choices, strict=False)]
    return "\n".join([*lines, *rng.choice(((), ("Answer with the option's letter from the given choices directly.",)))])


def _answer(one, how, *, nests):
    gold, text = one["gold"], one["choices"][one["gold"]]
    letter = ascii_uppercase[gold]
    found = {
        "letter": letter,
        "lower": letter.lower(),
        "bracket": f"({letter})",
        "dot": f"{letter}.",
        "text": text,
        "both": f"{letter}. {text}",
        "index0": gold,
        "index1": gold + 1,
        "list": [letter] if nests else json.dumps([letter]),
    }
    return found[how]


def _picture(name, how, folder, container):
    content = (folder / name).read_bytes()
    encoded = base64.b64encode(content).decode()
    if how == "bytes" and container == "parquet":
        return {"bytes": content, "path": name}
    found = {"path": name, "dotted": f"./{name}", "uri": f"data:image/png;base64,{encoded}", "base64": encoded}
    if how == "object" and container in {"json", "jsonl"}:
        return {"bytes": encoded, "path": name}
    if how == "list" and container in {"json", "jsonl", "parquet"}:
        return [name]
    return found.get(how, name)


def _empty_one(place, row, names, how):
    """Empty a wrong option: a right one that is not there means nothing."""
    cells = row.get(names["choices"])
    if isinstance(cells, list):
        cells[place] = ""
    elif isinstance(cells, dict):
        cells[list(cells)[place]] = None
    elif how in {"columns", "named columns"}:
        row[[name for name in row if name not in names.values() and row[name] is not None][place]] = None


def _text_cells(row):
    return {name: "" if cell is None else cell for name, cell in row.items()}


def _separated(file, rows, rng, delimiter):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter, lineterminator=rng.choice(("\n", "\r\n")))
    writer.writeheader()
    writer.writerows(map(_text_cells, rows))
    file.write_bytes(stream.getvalue().encode(rng.choice(("utf-8", "utf-8-sig", "utf-16"))))


def _jsonl(file, rows, rng):
    lines = [json.dumps(row, ensure_ascii=rng.random() < 0.5) for row in rows]
    file.write_bytes("\n".join(lines).encode(rng.choice(("utf-8", "utf-8-sig", "utf-16"))))


def _json(file, rows, rng):
    found = rng.choice((rows, {"data": rows}, {"questions": rows, "version": 1}))
    file.write_text(json.dumps(found, indent=rng.choice((None, 2))), encoding="utf-8")


def _parquet(file, rows, rng):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)


def _xlsx(file, rows, rng):
    import xlsxwriter

    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet()
        for column, name in enumerate(rows[0]):
            sheet.write_string(0, column, name)
            for number, row in enumerate(rows, start=1):
                cell = row[name]
                if isinstance(cell, str) and cell:
                    sheet.write_string(number, column, cell)
                elif cell is not None and cell != "":
                    sheet.write_number(number, column, cell)


_WRITERS = {
    "csv": lambda file, rows, rng: _separated(file, rows, rng, ","),
    "tsv": lambda file, rows, rng: _separated(file, rows, rng, "\t"),
    "json": _json,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "xlsx": _xlsx,
}
