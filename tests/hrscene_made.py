"""Copies of HRScene's real-world part, small: rows as its card describes them, pictures of one colour."""

from io import BytesIO

from PIL import Image

QUESTION = "What is moving?\n(A) the car\n(B) the tree\n(C) nothing\n(D) the sky\n"


def picture(index, size=(40, 30), kind="JPEG", mode="RGB"):
    """The bytes of a one-coloured picture, different for each index."""
    stream = BytesIO()
    Image.new("RGB", size, (index * 7 % 256, index // 7 % 256, 99)).convert(mode).save(stream, kind)
    return stream.getvalue()


def make_rows(n, *, answer="B", size=(40, 30), start=0):
    return [
        {
            "id": start + index,
            "image": {"bytes": picture(start + index, size), "path": None},
            "question": QUESTION,
            "answer": answer,
        }
        for index in range(n)
    ]


def write_parquet(path, rows, row_group_size=None):
    import pyarrow
    import pyarrow.parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=row_group_size)
    return path
