"""What a hosted model will see of each picture of a request, from the published rule and arithmetic alone."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from eyechart.schema import Box, GridComposition, Picture, Request, Seen, Size, Value
from eyechart.seen.algorithms import Resized
from eyechart.seen.rules import Limits, Lookup, Rule
from eyechart.seen.standing import planned_file

# Grid rounding moves a scale by up to 1.5 %, and two of them differ by up to 3 %; pictures closer than this had
# a PSNR of 43 dB and more in real processors, all others 39 dB and less.
COLLAPSE_LOG_RATIO = 0.03

_EXIF_SWAPS_AXES = 5  # orientations 5 to 8, EXIF 2.32

Scale = tuple[float, float]


class Chain(Value, frozen=True):
    """Scales per axis from the original's pixels to the model's grid.

    Args:
        sent: Scale of the view itself.
        presented: Scale on the model's grid; above 1 where the model enlarges.
        information: The smallest scale anywhere on the way, at most 1: what detail can be left.
    """

    sent: Scale
    presented: Scale
    information: Scale


class Target(Value, frozen=True):
    """The target on the model's grid.

    Args:
        px: Width and height in pixels by information scale: the effective target size.
        presented_px: The same by presented scale.
        tokens: Its area in tokens; below 1 it shares its token. None where tokens are not a grid.
        tokens_touched: Fewest and most tokens it touches, depending on where the grid lies.
    """

    px: Scale
    presented_px: Scale
    tokens: float | None = None
    tokens_touched: Scale | None = None


def planned_seen(request: Request, index: int, lookup: Lookup) -> Seen:
    """Return what a model is expected to see of one picture of a request.

    Where no rule is known, the evidence is ``unknown`` and the reason says why; where the provider will refuse the
    picture, no size is given and the reason says what bound it breaks.

    Args:
        request: The request.
        index: Which of its pictures.
        lookup: The model's rule (``eyechart.seen.rules.look_up``).
    """
    picture, rule = request.pictures[index], lookup.rule
    if rule is None:
        return _unknown(request.id, index, picture, lookup.reason)
    refused = refusals(rule.limits, picture.size, n_images=len(request.pictures))
    resized = None if refused else rule.apply_to_all([one.size for one in request.pictures])[index]
    return seen_by_rule(request.id, index, picture, rule, resized, refused)


def planned_ledger(requests: Iterable[Request], lookup: Lookup) -> Iterator[Seen]:
    """Yield what a model is expected to see of every picture of every request; each size is worked out once."""
    rule = lookup.rule
    resize = lru_cache(maxsize=None)(rule.apply_to_all) if rule else None
    sha256 = rule.sha256 if rule else None
    for request in requests:
        sizes = tuple(picture.size for picture in request.pictures)
        for index, picture in enumerate(request.pictures):
            if rule is None or resize is None:
                yield _unknown(request.id, index, picture, lookup.reason)
                continue
            refused = refusals(rule.limits, picture.size, n_images=len(sizes))
            resized = None if refused else resize(sizes)[index]
            yield seen_by_rule(request.id, index, picture, rule, resized, refused, configuration_sha256=sha256)


def seen_by_rule(
    request_id: str,
    index: int,
    picture: Picture,
    rule: Rule,
    resized: Resized | None,
    refused: Sequence[str] = (),
    *,
    configuration_sha256: str | None = None,
) -> Seen:
    """Return the record of one picture under a rule; ``resized`` is None where the picture is refused.

    ``configuration_sha256`` is the rule's hash, for callers that have many pictures and worked it out before.
    """
    known = resized or Resized(refused="; ".join(refused))
    row = seen_as(request_id, index, picture, known, unseen=rule.note)
    return msgspec.structs.replace(
        row,
        evidence=rule.evidence,
        rule_id=rule.id,
        rule_date=rule.date.isoformat(),
        configuration_sha256=configuration_sha256 or rule.sha256,
    )


def seen_as(request_id: str, index: int, picture: Picture, known: Resized, *, unseen: str = "") -> Seen:
    """Return the planned record of one picture that becomes this, whoever says so.

    Args:
        request_id: The request.
        index: Which of its pictures.
        picture: The picture.
        known: What becomes of it.
        unseen: Why no size is known, where nothing better says it.
    """
    chain = chain_of(picture, known.stages) if known.stages else None
    target = target_on_grid(picture, chain, known.cell_px, known.kept) if chain else None
    sent_bytes, media_type = planned_file(picture)
    return Seen(
        request_id=request_id,
        picture_index=index,
        phase="planned",
        evidence="unknown",
        source_size=source_size(picture),
        sent_size=picture.size,
        sent_bytes=sent_bytes,
        sent_media_type=media_type,
        seen_size=known.size,
        n_tiles=known.n_tiles,
        visual_tokens=known.tokens,
        information_scale=chain.information if chain else None,
        presented_scale=chain.presented if chain else None,
        target_px=target.px if target else None,
        target_tokens=target.tokens_touched if target else None,
        tokens_on_target=target.tokens if target else None,
        lost_area=known.lost_area if chain else None,
        anisotropy=chain.presented[0] / chain.presented[1] if chain else None,
        reason=_why_less(known, picture, target, unseen),
        recipe_key=picture.recipe_key or None,
    )


def _why_less(known: Resized, picture: Picture, target: "Target | None", note: str) -> str | None:
    """Return why there is no picture, no size, or no target in it, though the rule is known; None where there is."""
    if known.refused or not known.stages:
        return known.refused or known.unseen or note or "size not published"
    if target is None and picture.target is not None:
        return "the target lies in the part that is cut off"
    return None


def chain_of(picture: Picture, stages: Sequence[Size]) -> Chain:
    """Return the scales of a picture that goes through these sizes after it was sent.

    Example:
        >>> from eyechart.schema import Box, Composition, ImageRef, Recipe
        >>> whole = Composition(canvas=Size(8000, 4000), kept=Box(0, 0, 8000, 4000), resized=Size(4000, 2000))
        >>> picture = Picture(ImageRef("", Size(8000, 4000), ""), Recipe(whole), "", Size(4000, 2000))
        >>> chain_of(picture, (Size(1000, 500), Size(2000, 1000)))
        Chain(sent=(0.5, 0.5), presented=(0.25, 0.25), information=(0.125, 0.125))
    """
    own = _own_scales(picture)
    sent = own[-1]
    per_axis = [
        [*(scale[axis] for scale in own), *(sent[axis] * stage[axis] / picture.size[axis] for stage in stages)]
        for axis in (0, 1)
    ]
    return Chain(
        sent=sent,
        presented=(per_axis[0][-1], per_axis[1][-1]),
        information=(min(1.0, *per_axis[0]), min(1.0, *per_axis[1])),
    )


def sent_scale(picture: Picture) -> Scale:
    """Return the scale per axis from the original's pixels to the picture as sent; exactly what the view resized."""
    return _own_scales(picture)[-1]


def _own_scales(picture: Picture) -> tuple[Scale, ...]:
    """Return the scales per axis after each resize before sending; a released file was resized when it was made."""
    geometry, first = picture.recipe.geometry, (1.0, 1.0)
    if picture.release is not None:
        first = _ratios(picture.image.size, picture.release.geometry.canvas)
    if isinstance(geometry, GridComposition):
        tile = _ratios(geometry.tile, source_size(picture))
        if geometry.resized is None:
            return (first, tile)
        whole = _ratios(geometry.resized, geometry.canvas)
        return (first, tile, (tile[0] * whole[0], tile[1] * whole[1]))
    stages = (_ratios(size, geometry.canvas) for size in (geometry.resized, geometry.enlarged) if size is not None)
    return (first, *((first[0] * stage[0], first[1] * stage[1]) for stage in stages))


def _ratios(size: Size, of: Size) -> Scale:
    return (size.width / of.width, size.height / of.height)


def target_on_grid(picture: Picture, chain: Chain, cell_px: int | None, kept: Box | None = None) -> Target | None:
    """Return the target's size on the model's grid, None if the picture has no target or a cut leaves nothing of it.

    A stretch of length L cells touches at least ⌈L⌉ cells, and at most ⌈L⌉ + 1 where the grid lies unluckily.

    Args:
        picture: The picture as sent.
        chain: Its scales.
        cell_px: Side of the square that one token stands for, None where tokens are not a grid.
        kept: The part of the picture that a cut leaves, None for all of it.
    """
    shown = picture.target
    if shown is not None and kept is not None:
        shown = Box(max(shown.x0, kept.x0), max(shown.y0, kept.y0), min(shown.x1, kept.x1), min(shown.y1, kept.y1))
    if shown is None or shown.x0 >= shown.x1 or shown.y0 >= shown.y1:
        return None
    source = (shown.width / chain.sent[0], shown.height / chain.sent[1])
    presented = (source[0] * chain.presented[0], source[1] * chain.presented[1])
    px = (source[0] * chain.information[0], source[1] * chain.information[1])
    if cell_px is None:
        return Target(px, presented)
    cells = [length / cell_px for length in presented]
    fewest = [math.ceil(length) for length in cells]
    return Target(
        px,
        presented,
        tokens=cells[0] * cells[1],
        tokens_touched=(float(fewest[0] * fewest[1]), float((fewest[0] + 1) * (fewest[1] + 1))),
    )


def refusals(
    limits: Limits, size: Size, *, n_bytes: int | None = None, media_type: str | None = None, n_images: int = 1
) -> tuple[str, ...]:
    """Return why a provider refuses a picture: pixels, patches, bytes, format, number; empty if it does not.

    Args:
        limits: The provider's bounds.
        size: Size as sent.
        n_bytes: Length as sent before base64; None where it is not known yet.
        media_type: As sent; None where it is not known yet.
        n_images: Pictures in the request.

    Example:
        >>> refusals(Limits(max_side_px=8000), Size(9000, 100))
        ('a side of 9000 px, more than 8000',)
    """
    is_many = limits.many_images is not None and n_images > limits.many_images
    side_bound = limits.max_side_px_of_many if is_many else limits.max_side_px
    found = []
    if side_bound is not None and max(size) > side_bound:
        found.append(f"a side of {max(size)} px, more than {side_bound}")
    if limits.max_patches is not None and limits.patch_px is not None:
        n_patches = math.ceil(size.width / limits.patch_px) * math.ceil(size.height / limits.patch_px)
        if n_patches > limits.max_patches:
            found.append(f"{n_patches} patches, more than {limits.max_patches}")
    if limits.max_images is not None and n_images > limits.max_images:
        found.append(f"{n_images} pictures, more than {limits.max_images}")
    if n_bytes is not None:
        found.extend(_byte_refusals(limits, n_bytes))
    if media_type is not None and limits.media_types and media_type not in limits.media_types:
        found.append(f"{media_type}, which is not accepted")
    return tuple(found)


def have_collapsed(first: Scale, second: Scale) -> bool:
    """Whether two views of the same cut are the same picture to the model: scales within 3 % on both axes.

    Example:
        >>> have_collapsed((0.1777, 0.1778), (0.18, 0.18)), have_collapsed((0.25, 0.25), (0.275, 0.275))
        (True, False)
    """
    return all(abs(math.log(a / b)) < COLLAPSE_LOG_RATIO for a, b in zip(first, second, strict=True))


def cut_of(picture: Picture) -> tuple[object, ...]:
    """Return what a picture shows, whatever its size: pictures of equal cut differ by their scale alone."""
    geometry, file_sha256 = picture.recipe.geometry, picture.image.file_sha256
    if picture.release is not None:
        geometry, file_sha256 = picture.release.geometry, picture.release.file_sha256
    if isinstance(geometry, GridComposition):
        return (file_sha256, msgspec.structs.replace(geometry, resized=None))
    return (file_sha256, geometry.canvas, geometry.kept, geometry.offset)


def source_size(picture: Picture) -> Size:
    """Return the original's size in the frame of its boxes: rotated if the decode policy rotates."""
    if picture.release is not None:
        return picture.release.size
    size, decode = picture.image.size, picture.recipe.decode
    is_turned = decode.exif == "apply" and picture.image.exif_orientation >= _EXIF_SWAPS_AXES
    return Size(size.height, size.width) if is_turned else size


def _byte_refusals(limits: Limits, n_bytes: int) -> Iterator[str]:
    base64_bytes = 4 * math.ceil(n_bytes / 3)
    if limits.max_image_bytes is not None and n_bytes > limits.max_image_bytes:
        yield f"{n_bytes} bytes, more than {limits.max_image_bytes}"
    if limits.max_base64_bytes is not None and base64_bytes > limits.max_base64_bytes:
        yield f"{base64_bytes} bytes as base64, more than {limits.max_base64_bytes}"
    if limits.max_request_bytes is not None and base64_bytes > limits.max_request_bytes:
        yield f"{base64_bytes} bytes as base64, more than a request of {limits.max_request_bytes}"


def _unknown(request_id: str, index: int, picture: Picture, reason: str) -> Seen:
    return seen_as(request_id, index, picture, Resized(unseen=reason))
