"""A folder of needles, small and different from each other."""

import json

from PIL import Image

SIZE = (40, 30)


def write_needles(folder, n=4, **columns):
    """Write ``n`` one-coloured pictures with a question, answers and a caption each; return the rows."""
    folder.mkdir(exist_ok=True)
    rows = []
    for index in range(n):
        Image.new("RGB", SIZE, (index * 9 % 256, 255 - index, index)).save(folder / f"p{index}.png")
        rows.append(
            {
                "id": f"coco_{index}",
                "image": f"p{index}.png",
                "question": f"Which number is {index}?",
                "answers": [str(index)] * 9 + ["none"],
                "caption": f"a picture of {index}",
                **{name: value(index) for name, value in columns.items()},
            }
        )
    write_rows(folder, rows)
    return rows


def write_rows(folder, rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "needles.jsonl").write_text(text, encoding="utf-8")
