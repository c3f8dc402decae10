"""The three published sources in miniature, in our own words and pictures."""

import base64
import csv
import io
import json

import numpy as np
from PIL import Image

LETTERS = "ABCD"


def picture(seed, size=(40, 30), kind="PNG"):
    stream = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), np.uint8)
    Image.fromarray(pixels).save(stream, kind)
    return stream.getvalue()


def write_vstar(folder, *, has_list=True):
    """Write V*'s folder: two categories, one picture with two boxes, a folder name with a dot in it."""
    annotations = {
        "direct_attributes/sa_10": ("What is the material of the glove?", ["rubber", "cotton", "kevlar", "leather"], 1),
        "direct_attributes/sa_2": ("What is the color of the dustpan?", ["red", "blue", "green", "white"], 1),
        "relative_position/sa_7": ("Is the cat left or right of the dog?", ["left (of it)", "right"], 2),
    }
    lines = []
    for number, (name, (question, options, n_boxes)) in enumerate(annotations.items()):
        path = folder / f"{name}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(number, kind="JPEG"))
        boxes = [[3 + 10 * index, 5, 8, 6] for index in range(n_boxes)]
        annotation = {"target_object": ["thing"] * n_boxes, "bbox": boxes, "question": question, "options": options}
        path.with_suffix(".json").write_text(json.dumps(annotation))
        shown = options[::-1]
        listed = "\n".join(f"({letter}) {option}" for letter, option in zip(LETTERS, shown, strict=False))
        lines.append(
            {
                "image": f"{name}.jpg",
                "text": f"{question}\n{listed}\nAnswer with the option's letter from the given choices directly.",
                "label": LETTERS[len(options) - 1],
                "question_id": number,
                "category": name.split("/")[0],
            }
        )
    if has_list:
        (folder / "test_questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


def hrbench_rows(n_base=2):
    """Rows as published: four rotations of each base question, all about one picture."""
    rows = []
    for base in range(n_base):
        options = [f"sign {base}", "a (b)", "c", "d"]
        encoded = base64.b64encode(picture(base)).decode()
        for turn in range(4):
            turned = options[turn:] + options[:turn]
            rows.append(
                {
                    "index": base * 4 + turn,
                    "question": f'What does sign "{base}" say?\nLook closely.',
                    "answer": LETTERS[turned.index(options[0])],
                    **dict(zip(LETTERS, turned, strict=True)),
                    "category": "single" if base % 2 == 0 else "cross",
                    "cycle_category": f"cycle_{turn}",
                    "image": encoded,
                }
            )
    return rows


def write_tsv(path, rows, quoting=csv.QUOTE_ALL):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t", quoting=quoting)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path, rows, picture_columns=("image",)):
    import pyarrow
    import pyarrow.parquet

    def cell(name, value):
        if name not in picture_columns or value is None:
            return value
        content = base64.b64decode(value) if isinstance(value, str) else value
        return {"bytes": content, "path": None}

    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {name: [cell(name, row[name]) for row in rows] for name in rows[0]}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def zoombench_rows(generation="query"):
    """Two multiple-choice questions and an open one, in the columns of one of the two generations."""
    query, response = ("query", "response") if generation == "query" else ("prompt", "answer")
    listed = "How many lamps are there? Select from the following choices.\n(A) 0\n(B) 2\n(C) 1 (one)\n(D) 3"
    return [
        {
            "id": "z0",
            query: listed,
            response: "C",
            "image": picture(1),
            "crop_image": picture(2, (8, 8)),
            "question_type": "MCQ",
            "sub_task": "Fine-Grained Counting",
            "bbox": [2.0, 3.0, 12.0, 9.0],
        },
        {
            "id": "z1",
            query: "Which word is on the door?\n(A) 出口\n(B) 入口",
            response: "B",
            "image": picture(3, kind="JPEG"),
            "crop_image": None,
            "question_type": "mcq",
            "sub_task": "OCR",
            "bbox": [1.0, 1.0, 20.0, 11.0],
        },
        {
            "id": "z2",
            query: "What does the plate say?",
            response: "B-17",
            "image": picture(3, kind="JPEG"),
            "crop_image": None,
            "question_type": "open",
            "sub_task": "OCR",
            "bbox": [1.0, 1.0, 20.0, 11.0],
        },
    ]
