"""What is asked: questions and their pictures as the benchmark has them."""

from typing import Literal

from eyechart.schema._base import Box, JsonObject, Record, Size, Value


class ImageRef(Value, frozen=True):
    """One encoded picture, named by its content and never by its path.

    Args:
        file_sha256: SHA-256 of the encoded bytes, lower-case hex; empty if the picture exists only as pixels.
        size: Stored size in pixels, before any EXIF rotation.
        media_type: ``image/jpeg``, ``image/png``, …
        n_bytes: Length of the encoded bytes; None if it exists only as pixels.
        pixel_sha256: SHA-256 of mode, size and raw RGB after decoding; None until it was decoded.
        exif_orientation: EXIF tag 274 as stored, 1 where there is none.
        is_plain: Whether the file holds 8-bit RGB or grey and nothing that changes them: no colour profile, gamma,
            transparency or second frame; None where its header was not read.
        fault: Which file it is and why no picture can be made of it, as far as its header shows; its questions are
            not asked. Where not even a size is known, ``size`` is 0 × 0. None where nothing is known to be wrong.
    """

    file_sha256: str
    size: Size
    media_type: str
    n_bytes: int | None = None
    pixel_sha256: str | None = None
    exif_orientation: int = 1
    is_plain: bool | None = None
    fault: str | None = None


TargetPolicy = Literal["union", "first"]


class Question(Record, frozen=True, kw_only=True):
    """What is asked about one picture, before any view.

    ``targets`` are the boxes as given, half-open xyxy in stored pixels of ``image``; ``targets_clipped`` the same boxes
    cut at the border. ``answer`` is a letter, or None where it is hidden or free-form; ``answers`` are the accepted
    texts of a free-form question. Where ``asks_for_cell``, the right answer is the cell of a grid where the view
    puts the picture, among ``distractors``. ``image_group`` is the cluster for statistics; ``extra`` keeps the rest.
    """

    id: str
    benchmark: str
    text: str
    image: ImageRef
    image_group: str
    choices: tuple[str, ...] = ()
    answer: str | None = None
    answers: tuple[str, ...] = ()
    text_raw: str | None = None
    targets: tuple[Box, ...] = ()
    targets_clipped: tuple[Box, ...] = ()
    target_policy: TargetPolicy = "union"
    distractors: tuple[ImageRef, ...] = ()
    asks_for_cell: bool = False
    task: str | None = None
    source: str | None = None
    notes: tuple[str, ...] = ()
    extra: JsonObject = {}
