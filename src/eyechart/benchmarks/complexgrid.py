"""HRScene's ComplexGrid: find the picture that a caption describes among others, in every cell of a grid."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from eyechart.benchmarks._cell_names import view_ids
from eyechart.benchmarks._distractors import Candidate, Choice, Similarity, choose_at_random, load_embedding
from eyechart.benchmarks._grid_questions import GridBenchmark, stored_options
from eyechart.benchmarks._hub_grids import HubGrids, find_hub_grids
from eyechart.benchmarks._needles import Needle, NeedleOptions, needle_source, read_needles
from eyechart.errors import UsageError
from eyechart.images.decode import examine
from eyechart.kinds import AskDefaults
from eyechart.schema import BenchmarkIdentity, ImageRef, Question, content_sha256

__all__ = ["ComplexGridKind"]

_NAME = "complexgrid"


class ComplexGridOptions(NeedleOptions, frozen=True, forbid_unknown_fields=True):
    """Which needles among which others, on which grids.

    Args:
        caption_column: Column of the caption.
        distractors: Folder of pictures to choose distractors from; the other needles if left out.
        choice: ``random``, or ``similar`` for those most similar by ``embedding``.
        embedding: Function that maps a picture to a vector, as ``FILE.py:FUNCTION`` or ``MODULE:FUNCTION``.
        seed: Decides which distractors are drawn at random.
        order_seed: Decides which distractor stands where.
    """

    caption_column: str = "caption"
    distractors: str | None = None
    choice: Choice = "random"
    embedding: str | None = None
    seed: int = 0
    order_seed: int = 0


class ComplexGridKind:
    """The benchmark ``complexgrid``: in which cell is the picture that the caption describes?"""

    options = ComplexGridOptions

    def open(self, data: Path | None, options: msgspec.Struct) -> GridBenchmark | HubGrids:
        """Return the benchmark of a folder of needles, or of a copy of the hub's configs.

        Args:
            data: The folder, its question file, or a folder that holds ``complexgrid_5x5`` or the like;
                ``options.needles`` if None.
            options: A ``ComplexGridOptions``.

        Raises:
            UsageError: If no needles are given, the grid is not a size, or the embedding cannot be used.
            BenchmarkError: If a row breaks the contract, or there are too few other pictures.
        """
        if not isinstance(options, ComplexGridOptions):
            raise UsageError(f"{type(options).__name__} are not the options of {_NAME}", hint="pass ComplexGridOptions")
        defaults = AskDefaults(
            views=view_ids("captioned", options.grids, options.order_seed), prompt="hrscene_clean", scorer="grid_cell"
        )
        stored = find_hub_grids(data, _NAME, "captioned", options.grids, defaults)
        if stored is not None:
            if options.order_seed:
                raise UsageError("the order of stored grids is what it is", hint="leave order_seed out")
            return stored
        file = read_needles(needle_source(data, options, _NAME), options, options.caption_column, None)
        needles = [_candidate(needle) for needle in file.needles]
        # A picture that cannot be read surrounds no other needle.
        whole = [candidate for candidate in needles if not candidate.image.fault]
        pool = whole if options.distractors is None else _pictures(Path(options.distractors))
        chosen = _choose(file.needles, pool, options)
        questions = tuple(_question(needle, chosen[needle.id]) for needle in file.needles)
        return GridBenchmark(
            BenchmarkIdentity(
                name=_NAME,
                revision=content_sha256(
                    [
                        file.sha256,
                        [[question.image.file_sha256, *_hashes(question.distractors)] for question in questions],
                    ]
                ),
                options=stored_options(options),
            ),
            questions,
            {candidate.image.file_sha256: candidate.path for candidate in (*pool, *needles)},
            defaults=defaults,
            warnings=file.warnings,
        )


def _choose(
    needles: Sequence[Needle], pool: Sequence[Candidate], options: ComplexGridOptions
) -> dict[str, tuple[ImageRef, ...]]:
    """Return the distractors of every needle, enough for the largest grid."""
    n_wanted = max(options.grids) ** 2 - 1
    if options.choice == "random":
        if options.embedding is not None:
            raise UsageError(
                "an embedding is given, but distractors are drawn at random", hint="--option choice=similar"
            )
        return {
            needle.id: choose_at_random(needle.id, _candidate(needle), pool, n_wanted, options.seed)
            for needle in needles
        }
    if options.embedding is None:
        raise UsageError(
            "similar distractors need an embedding model", hint="--option embedding=my_clip.py:embed, or choice=random"
        )
    similarity = Similarity(load_embedding(options.embedding), options.embedding)
    seen = [candidate for candidate in pool if similarity.can_see(candidate)]

    def chosen(needle: Needle) -> tuple[ImageRef, ...]:
        one = _candidate(needle)
        if one.image.fault is None and similarity.can_see(one):
            return similarity.choose(needle.id, one, seen, n_wanted)
        return choose_at_random(needle.id, one, seen, n_wanted, options.seed)  # nothing is like it, and it is not asked

    return {needle.id: chosen(needle) for needle in needles}


def _pictures(folder: Path) -> list[Candidate]:
    """Return the pictures of a folder and the folders in it, in the order of their paths; other files are passed over.

    Raises:
        UsageError: If it is not a folder.
    """
    if not folder.is_dir():
        raise UsageError(f"distractors {folder} is not a folder", hint="give a folder of pictures")
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        image, _ = examine(path, path.name)
        if image.fault:
            continue  # a licence, a list, a damaged file: not needed, since enough others must be there
        found.append(Candidate(image, path, image.file_sha256))
    return found


def _candidate(needle: Needle) -> Candidate:
    return Candidate(needle.image, needle.path, needle.group)


def _hashes(images: Sequence[ImageRef]) -> list[str]:
    return [image.file_sha256 for image in images]


def _question(needle: Needle, distractors: tuple[ImageRef, ...]) -> Question:
    return Question(
        id=needle.id,
        benchmark=_NAME,
        text=needle.text,
        image=needle.image,
        image_group=needle.group,
        distractors=distractors,
        asks_for_cell=True,
        extra=needle.extra,
    )
