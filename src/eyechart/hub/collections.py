"""The published collections that can be fetched by name, and where they are kept."""

from typing import Literal

import msgspec

from eyechart.errors import UsageError
from eyechart.registry import unknown_name
from eyechart.schema import Value

Layout = Literal["release", "files"]


class Collection(Value, frozen=True):
    """One published collection.

    Args:
        name: As the command line and, where there is one, the benchmark call it.
        layout: ``release`` is SUM's layout, chosen by views and ids; ``files`` is chosen by parts.
        huggingface: ``owner/name`` of its dataset on the Hugging Face hub.
        modelscope: The same on ModelScope, where it is mirrored there.
        parts: Patterns of the files of each part; the first part is taken if none is named.
        omitted: Files that a mirror is known to lack.
        about: One line on what it is and how large.
    """

    name: str
    layout: Layout
    huggingface: str
    modelscope: str | None = None
    parts: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    omitted: tuple[str, ...] = ()
    about: str = ""


_SPLITS = ("testmini", "validation", "test")
_GRIDS = {"whitebackground": (1, 3, 5, 7, 10), "complexgrid": (3, 5, 7, 10)}


def _config_patterns(config: str, split: str) -> tuple[str, ...]:
    """Return the files of a split of a config, in one folder of files or with a folder per split."""
    return (f"*{config}/{split}[-/]*",)


COLLECTIONS: dict[str, Collection] = {
    collection.name: collection
    for collection in (
        Collection(
            name="sum",
            layout="release",
            huggingface="RL-MIND/SUM",
            modelscope="KAIWANG/SUM",
            # Dataset card of 2026-10-08: withdrawn by the mirror's automatic review.
            omitted=("data/crop_1_5x/test/images/000602.png", "data/downsample_0_75/test/images/000075.jpg"),
            about="700 questions in 29 views, 44 GB in all; choose with --views and --ids",
        ),
        Collection(
            name="vstar",
            layout="files",
            huggingface="craigwu/vstar_bench",
            parts={
                "all": ("*",),
                "direct_attributes": ("direct_attributes/*", "test_questions.jsonl"),
                "relative_position": ("relative_position/*", "test_questions.jsonl"),
            },
            about="V*Bench: 191 questions with boxes",
        ),
        Collection(
            name="zoombench",
            layout="files",
            huggingface="inclusionAI/ZoomBench",
            parts={"all": ("*",)},
            about="ZoomBench: 845 questions in one parquet file of 4 GB",
        ),
        Collection(
            name="hrbench",
            layout="files",
            huggingface="DreamMr/HR-Bench",
            parts={"4k": ("hr_bench_4k.parquet",), "8k": ("hr_bench_8k.parquet",), "all": ("*.parquet",)},
            about="HR-Bench: 200 questions in four rotations, 0.4 GB (4k) and 2.8 GB (8k) as parquet",
        ),
        Collection(
            name="hrscene",
            layout="files",
            huggingface="Wenliang04/HRScene",
            parts={
                **{split: _config_patterns("realworld_combined", split) for split in _SPLITS},
                **{
                    config: _config_patterns(config, "test")
                    for config in (f"{name}_{n}x{n}" for name, sizes in _GRIDS.items() for n in sizes)
                },
            },
            about="HRScene: three splits of real-world pictures, and grids of needles that eyechart makes without them",
        ),
    )
}
"""Collections by name."""


def find_collection(name: str) -> Collection:
    """Return a collection by name.

    Raises:
        UsageError: If there is none; the hint names the nearest.

    Example:
        >>> find_collection("sum").modelscope
        'KAIWANG/SUM'
    """
    if name not in COLLECTIONS:
        raise unknown_name("collection", name, tuple(COLLECTIONS))
    return COLLECTIONS[name]


def reading(collection: Collection, part: str | None) -> str:
    """Return the benchmark, with its option, that reads a part: what stands after ``eyechart run``.

    Example:
        >>> reading(COLLECTIONS["hrscene"], "whitebackground_5x5"), reading(COLLECTIONS["hrscene"], "test")
        ('whitebackground --option grid=5', 'hrscene --option split=test')
    """
    name, _, size = (part or "").rpartition("_")
    if name in _GRIDS:
        return f"{name} --option grid={size.partition('x')[0]}"
    return f"{collection.name} --option split={part}" if part in _SPLITS else collection.name


def patterns_of(collection: Collection, part: str | None) -> tuple[str, ...]:
    """Return the file patterns of a part, of the first one if none is named.

    Raises:
        UsageError: If the collection has no such part.
    """
    if not collection.parts:
        raise UsageError(f"{collection.name} has no parts", hint="choose with --views and --ids")
    if part is None:
        return next(iter(collection.parts.values()))
    if part not in collection.parts:
        raise unknown_name(f"part of {collection.name}", part, tuple(collection.parts))
    return collection.parts[part]
