"""Prediction files as VLMEvalKit and lmms-eval write them, with the libraries they use."""

import hashlib
import json

import xlsxwriter

LETTERS = "ABCD"
API_FAILURE = "Failed to obtain answer via API."
RANDOM_LOG = "Failed to predict, thus randomly generate one. "
# sha256 of "null": the document hash of every lmms-eval sample.
CONSTANT_HASH = hashlib.sha256(b"null").hexdigest()


def kit_table(questions, answers, **columns):
    """Rows of a VLMEvalKit table: index, question, options, answer, category, prediction, and more columns."""
    rows = []
    for number, question in enumerate(questions):
        options = dict(zip(LETTERS, question.choices, strict=False))
        more = {name: values[number] for name, values in columns.items()}
        rows.append(
            {
                "index": int(question.id) if question.id.isdecimal() else question.id,
                "question": question.text,
                **{letter: options.get(letter) for letter in LETTERS},
                "answer": question.answer,
                "category": question.task,
                "prediction": answers[number],
                **more,
            }
        )
    return rows


def write_xlsx(path, rows):
    """Write with XlsxWriter and its defaults, as pandas does for VLMEvalKit."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for column, name in enumerate(rows[0]):
            sheet.write(0, column, name)
            for number, row in enumerate(rows, start=1):
                if row[name] is not None:
                    sheet.write(number, column, row[name])
    return path


def write_tsv(path, rows):
    """Write as VLMEvalKit's ``dump_tsv``: tabs, everything quoted."""
    lines = ["\t".join(f'"{name}"' for name in rows[0])]
    for row in rows:
        cells = ("" if cell is None else str(cell).replace('"', '""') for cell in row.values())
        lines.append("\t".join(f'"{cell}"' for cell in cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_json(path, rows):
    """Write as Python's json does: NaN where a cell is missing."""
    given = [{name: float("nan") if cell is None else cell for name, cell in row.items()} for row in rows]
    path.write_text(json.dumps(given), encoding="utf-8")
    return path


def sample(question, response, number=0, **metrics):
    """One line of an lmms-eval samples file."""
    options = "\n".join(f"{letter}. {choice}" for letter, choice in zip(LETTERS, question.choices, strict=False))
    return {
        "doc_id": number,
        "target": question.answer,
        "input": f"{question.text}\n{options}\nAnswer with the option's letter from the given choices directly.",
        "resps": [[response]],
        "filtered_resps": [response],
        "token_counts": [{"input_tokens": 9, "output_tokens": 1, "reasoning_tokens": 0}],
        "doc_hash": CONSTANT_HASH,
        **metrics,
    }


def write_samples(path, samples):
    """Write an lmms-eval samples file."""
    path.write_text("\n".join(map(json.dumps, samples)), encoding="utf-8")
    return path
