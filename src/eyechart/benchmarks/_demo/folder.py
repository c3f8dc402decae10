"""The demo's pictures on disk, with a question file that the benchmark ``folder`` reads too."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from eyechart.benchmarks._demo.draw import draw_scene, read_photo
from eyechart.benchmarks._demo.items import Item
from eyechart.benchmarks._demo.plan import Scene
from eyechart.errors import BenchmarkError, ImageError
from eyechart.images.encode import encode_jpeg
from eyechart.images.files import write_pieces
from eyechart.images.probe import probe_image
from eyechart.schema import ImageRef, Question

# JPEG, as most photographs are, so that the bytes can go to any provider; 4:4:4 keeps coloured letters sharp.
JPEG_QUALITY = 92
JPEG_SUBSAMPLING: Literal["4:4:4"] = "4:4:4"
QUESTION_FILE = "questions.jsonl"
HASH_FILE = "scenes.sha256"
_MARK = "# eyechart demo "


def write_scenes(scenes: Sequence[Scene], folder: Path, revision: str) -> dict[str, ImageRef]:
    """Draw all pictures that are not in the folder yet, and return what lies there by scene name.

    A picture that was changed, damaged or drawn by another revision is drawn again. Each file appears whole or not at
    all, so several processes may do this at once.

    Args:
        scenes: What to draw.
        folder: Where to; made if missing.
        revision: What the pictures follow from; written beside them.

    Raises:
        BenchmarkError: If the folder holds something that no demo wrote.
        StoreError: If the folder cannot be written.
        ImageError: If the photograph in the package is damaged.
    """
    known = _known_hashes(folder, revision)
    found = {scene.name: _intact(folder / f"{scene.name}.jpg", known.get(scene.name)) for scene in scenes}
    missing = [scene for scene in scenes if found[scene.name] is None]
    if missing:
        photo = read_photo()
        for scene in missing:
            content = encode_jpeg(draw_scene(scene, photo), JPEG_QUALITY, JPEG_SUBSAMPLING)
            write_pieces(folder / f"{scene.name}.jpg", [content])
    images = {scene.name: found[scene.name] or probe_image(folder / f"{scene.name}.jpg") for scene in scenes}
    if missing:
        lines = "".join(f"{image.file_sha256}  {name}.jpg\n" for name, image in images.items())
        write_pieces(folder / HASH_FILE, [f"{_MARK}{revision}\n{lines}".encode()])
    return images


def questions_of(scenes: Sequence[Scene], images: dict[str, ImageRef], benchmark: str) -> tuple[Question, ...]:
    """Return the questions, numbered in the order of the pictures."""
    items = [(scene, item) for scene in scenes for item in scene.items]
    return tuple(
        Question(
            id=f"q{number:02d}",
            benchmark=benchmark,
            text=question_text(item),
            image=images[scene.name],
            image_group=scene.name,
            choices=item.options,
            answer=item.letter,
            targets=(item.box,),
            targets_clipped=(item.box,),
            task="page" if item.on_page else "sign",
            source="drawn at run time",
            extra={"text_px": item.text_px},
        )
        for number, (scene, item) in enumerate(items, start=1)
    )


def write_question_file(questions: Sequence[Question], folder: Path) -> None:
    """Write the questions for ``folder`` (box format ``xyxy``).

    Raises:
        StoreError: If the folder cannot be written.
    """
    rows = [
        {
            "id": question.id,
            "image": f"{question.image_group}.jpg",
            "question": question.text,
            "choices": question.choices,
            "answer": question.answer,
            "box": question.targets[0],
            "image_group": question.image_group,
            "task": question.task,
            **question.extra,
        }
        for question in questions
    ]
    write_pieces(folder / QUESTION_FILE, [msgspec.json.encode(row) + b"\n" for row in rows])


def question_text(item: Item) -> str:
    """Return the question about an item."""
    if item.on_page:
        return f"Which number does the page give for {item.word}?"
    return f"Which number is on the sign that says {item.word}?"


def _known_hashes(folder: Path, revision: str) -> dict[str, str]:
    """Return the hashes of the pictures that this revision once wrote into the folder, by scene name."""
    try:
        is_foreign = folder.is_dir() and any(folder.iterdir()) and not (folder / HASH_FILE).is_file()
        lines = [] if is_foreign or not folder.is_dir() else (folder / HASH_FILE).read_text("utf-8").splitlines()
    except FileNotFoundError:  # an empty folder
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BenchmarkError(f"{folder}: cannot be read ({error})", hint="name another folder with --data") from error
    if is_foreign:
        raise BenchmarkError(
            f"{folder} holds files that are not the demo's", hint="name a new or an empty folder with --data"
        )
    if not lines or lines[0] != _MARK + revision:
        return {}
    pairs = (line.split("  ", 1) for line in lines[1:])
    return {name.removesuffix(".jpg"): sha256 for sha256, name in pairs}


def _intact(path: Path, sha256: str | None) -> ImageRef | None:
    """Return what a file holds if it is the picture once written there, else None."""
    if sha256 is None or not path.is_file():
        return None
    try:
        image = probe_image(path)
    except ImageError:
        return None
    return image if image.file_sha256 == sha256 else None
