"""Which policies explain the boxes, sizes and pixels of a release: what its makers left open, read from its data."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import get_args

from eyechart.benchmarks._release import as_box, as_boxes, as_size
from eyechart.errors import GeometryError
from eyechart.geometry import (
    BorderPolicy,
    BoxRounding,
    GeometryPolicy,
    SizeRounding,
    TargetBasis,
    downsampled_size,
    grow_area,
    intersect,
    whole,
)
from eyechart.images.giga import needs_tiles
from eyechart.releases.conform_pixels import IdentityCount, PixelSample, ResamplerFit, compare_pixels
from eyechart.releases.conform_rows import IdentityRule, check_identities
from eyechart.releases.contents import Contents, Row, read_contents
from eyechart.releases.row_checks import original_sizes
from eyechart.releases.row_types import RowDeviation, row_deviations
from eyechart.schema import Box, Crop, Downsample, Size, TargetOnly, Value, View, Whiteground
from eyechart.views import format_view

DEFAULT_PIXEL_QUESTIONS = 12


class PolicyFit(Value, frozen=True):
    """How many rows one combination of policies explains exactly.

    Args:
        policy: The combination, for example ``border=clip box_rounding=outward target_basis=clipped``.
        n_explained: Rows whose numbers follow from it.
        n_rows: Rows that could be compared.
        first_unexplained: ``view/id`` of the first other row, None if all are explained.
    """

    policy: str
    n_explained: int
    n_rows: int
    first_unexplained: str | None = None

    @property
    def explains_all(self) -> bool:
        """Whether no row contradicts it."""
        return self.n_explained == self.n_rows > 0


class ConformReport(Value, frozen=True):
    """What the data of a release say about how it was made.

    Fits are sorted, best first; fits with the same count cannot be told apart by this release.

    Args:
        crop_boxes: Border, box rounding and target basis (G4, G5, G2), from ``crop_box_original``.
        sizes: Rounding of downsampled sides (G7), from width and height.
        resamplers: Kernels (G9), from the pixels of a sample.
        identities: Pairs that are equal by definition, from the pixels of the sample.
        rules: Identities between the numbers of rows.
        n_pixel_questions: Questions in that sample.
        n_questions: Questions of the release.
        saturated: Rows whose crop is the whole image, by view.
        boxes_across_border: Ids whose source box leaves the image.
        deviations: Where its rows differ from the columns that ``build`` writes.
    """

    crop_boxes: tuple[PolicyFit, ...]
    sizes: tuple[PolicyFit, ...]
    resamplers: tuple[ResamplerFit, ...]
    identities: tuple[IdentityCount, ...]
    rules: tuple[IdentityRule, ...]
    n_pixel_questions: int
    n_questions: int
    saturated: dict[str, int]
    boxes_across_border: tuple[str, ...]
    deviations: tuple[RowDeviation, ...] = ()


def explain_release(
    root: Path, *, n_pixel_questions: int = DEFAULT_PIXEL_QUESTIONS, without: Collection[str] = ()
) -> ConformReport:
    """Fit the open policies of sum.md 1.5 to a release.

    Args:
        root: Folder of the release.
        n_pixel_questions: How many questions are decoded, spread evenly over the release; 0 reads no pixel.
        without: Questions whose images are damaged, so that no pixel of theirs is compared.

    Raises:
        BenchmarkError: If the folder holds nothing that looks like a release.
        ImageError: If an image of the sample cannot be decoded: verify the release first.
    """
    contents, _ = read_contents(root)
    sizes = original_sizes(contents)
    samples = _pixel_samples(contents, sizes, n_pixel_questions, frozenset(without))
    resamplers, identities = compare_pixels(samples)
    return ConformReport(
        crop_boxes=_fit_crop_boxes(contents, sizes),
        sizes=_fit_sizes(contents, sizes),
        resamplers=resamplers,
        identities=identities,
        rules=check_identities(contents, sizes),
        n_pixel_questions=len(samples),
        n_questions=len(contents.canonical),
        saturated=_saturated(contents, sizes),
        boxes_across_border=_across_border(contents, sizes),
        deviations=row_deviations(contents),
    )


def _fit_crop_boxes(contents: Contents, sizes: Mapping[str, Size]) -> tuple[PolicyFit, ...]:
    rows = [
        (f"{view_id}/{row.id}", area_ratio, row, crop)
        for view_id, row in _rows(contents)
        if (area_ratio := _area_ratio(contents.view_of(view_id))) is not None
        and (crop := as_box(row.values.get("crop_box_original"))) is not None
        and row.id in sizes
    ]
    choices = product(get_args(BorderPolicy), get_args(BoxRounding), get_args(TargetBasis))
    fits = []
    for border, box_rounding, target_basis in choices:
        policy = GeometryPolicy(border=border, box_rounding=box_rounding, target_basis=target_basis)
        others = [
            name
            for name, area_ratio, row, crop in rows
            if _planned_crop(row, area_ratio, sizes[row.id], policy) != crop
        ]
        name = f"border={border} box_rounding={box_rounding} target_basis={target_basis}"
        fits.append(_fit(name, others, len(rows)))
    return _best_first(fits)


def _fit_sizes(contents: Contents, sizes: Mapping[str, Size]) -> tuple[PolicyFit, ...]:
    rows = [
        (f"{view_id}/{row.id}", view.linear_scale, sizes[row.id], size)
        for view_id, row in _rows(contents)
        if isinstance(view := contents.view_of(view_id), Downsample)
        and (size := as_size(row.values)) is not None
        and row.id in sizes
    ]
    fits = []
    for rounding in get_args(SizeRounding):
        others = [name for name, scale, original, size in rows if downsampled_size(original, scale, rounding) != size]
        fits.append(_fit(f"size_rounding={rounding}", others, len(rows)))
    return _best_first(fits)


def _fit(policy: str, others: Sequence[str], n_rows: int) -> PolicyFit:
    return PolicyFit(policy, n_rows - len(others), n_rows, others[0] if others else None)


def _best_first(fits: Sequence[PolicyFit]) -> tuple[PolicyFit, ...]:
    return tuple(sorted(fits, key=lambda fit: -fit.n_explained))


def _planned_crop(row: Row, area_ratio: float, original: Size, policy: GeometryPolicy) -> Box | None:
    field = "bbox_original" if policy.target_basis == "source" else "bbox_clipped"
    target = next(iter(as_boxes(row.values.get(field))), None)
    try:
        return None if target is None else grow_area(target, area_ratio, original, policy)
    except GeometryError:
        return None


def _area_ratio(view: View | None) -> float | None:
    return view.area_ratio if isinstance(view, Crop | Whiteground | TargetOnly) else None


def _rows(contents: Contents) -> Iterator[tuple[str, Row]]:
    for view_id in contents.views:
        for row in contents.rows[view_id]:
            yield view_id, row


def _saturated(contents: Contents, sizes: Mapping[str, Size]) -> dict[str, int]:
    counts = dict.fromkeys(contents.views, 0)
    for view_id, row in _rows(contents):
        crop = as_box(row.values.get("crop_box_original"))
        counts[view_id] += crop is not None and row.id in sizes and crop == whole(sizes[row.id])
    return {view_id: n for view_id, n in counts.items() if n}


def _across_border(contents: Contents, sizes: Mapping[str, Size]) -> tuple[str, ...]:
    return tuple(
        question_id
        for question_id, values in contents.canonical.items()
        if question_id in sizes
        and any(intersect(box, whole(sizes[question_id])) != box for box in as_boxes(values.get("bbox_original")))
    )


def _own_name(contents: Contents, view_id: str) -> str:
    """Return our id of a release's view, its own where no family of ours reads it."""
    view = contents.view_of(view_id)
    return view_id if view is None else format_view(view)


def _pixel_samples(
    contents: Contents, sizes: Mapping[str, Size], n_questions: int, without: frozenset[str]
) -> tuple[PixelSample, ...]:
    """Return the files of questions spread evenly over those whose original is on disk and not too large."""
    files: dict[str, dict[str, Path]] = {}
    saturated: dict[str, set[str]] = {}
    names = {view_id: _own_name(contents, view_id) for view_id in contents.views}
    for view_id, row in _rows(contents):
        if row.image is not None and row.id not in without and (contents.root / row.image).is_file():
            files.setdefault(row.id, {})[names[view_id]] = contents.root / row.image
            if row.id in sizes and as_box(row.values.get("crop_box_original")) == whole(sizes[row.id]):
                saturated.setdefault(row.id, set()).add(names[view_id])
    usable = [
        PixelSample(question_id, listed, frozenset(saturated.get(question_id, ())))
        for question_id, listed in files.items()
        if "original" in listed and not (question_id in sizes and needs_tiles(sizes[question_id]))
    ]
    step = max(1, len(usable) // n_questions) if n_questions else len(usable) + 1
    return tuple(usable[::step][:n_questions])
