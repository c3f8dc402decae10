"""Whether a released row's boxes and sizes belong together, whatever policies made them (sum.md 1.4)."""

from collections.abc import Iterator, Mapping

from eyechart.benchmarks._foreign_views import known_view
from eyechart.benchmarks._release import as_box, as_size
from eyechart.geometry import scale_box, translate
from eyechart.schema import Box, Crop, Downsample, Original, Size, TargetOnly, View, Whiteground

# Roundings that the release does not tell are at most a pixel.
TOLERANCE_PX = 1.0
_CROPPED = (Crop, Whiteground, TargetOnly)


def check_geometry(view_id: str, values: Mapping[str, object], original: Size) -> Iterator[tuple[str, str]]:
    """Yield the faults of one row as (code, message).

    Args:
        view_id: The view.
        values: The row's fields.
        original: Size of the original image.
    """
    view, size = known_view(view_id, values), as_size(values)
    if view is None or size is None:
        return
    crop = as_box(values.get("crop_box_original"))
    if values.get("crop_box_original") is not None and (crop is None or crop.width <= 0 or crop.height <= 0):
        yield "bad_box", f"crop_box_original {values['crop_box_original']!r}"
        return
    if crop is not None and not _inside(crop, original, TOLERANCE_PX):
        yield "box_outside", f"crop_box_original {list(crop)} of the {original.width}×{original.height} image"
        return
    yield from _scale_faults(view, values)
    canvas = expected_canvas(view, crop, original)
    if canvas is not None and _distance(canvas, size) > TOLERANCE_PX:
        code = "scale_differs" if isinstance(view, Downsample) else "canvas_differs"
        yield code, f"{size.width}×{size.height}, expected {canvas.width}×{canvas.height}"
        return
    yield from _view_box_faults(view, values, crop, original, size)


def expected_canvas(view: View, crop: Box | None, original: Size) -> Size | None:
    """Return the size a view must have to within a pixel, None where the row does not tell."""
    if isinstance(view, Original | Whiteground) or view == TargetOnly(None):
        return original
    if isinstance(view, Downsample):
        scale = view.linear_scale
        return Size(max(1, round(original.width * scale)), max(1, round(original.height * scale)))
    if isinstance(view, Crop | TargetOnly) and crop is not None:
        return Size(round(crop.width), round(crop.height))
    return None


def _scale_faults(view: View, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    given = values.get("downsample_linear_scale")
    if isinstance(view, Downsample) and given is not None and given != view.linear_scale:
        yield "scale_differs", f"downsample_linear_scale {given!r}"
    given = values.get("crop_area_multiplier")
    if isinstance(view, _CROPPED) and given is not None and given != view.area_ratio:
        yield "scale_differs", f"crop_area_multiplier {given!r}"


def _view_box_faults(
    view: View, values: Mapping[str, object], crop: Box | None, original: Size, size: Size
) -> Iterator[tuple[str, str]]:
    given = values.get("bbox_view")
    if given is None:
        return
    box = as_box(given)
    if box is None or box.width <= 0 or box.height <= 0:
        yield "bad_box", f"bbox_view {given!r}"
        return
    if not _inside(box, size, TOLERANCE_PX) and as_box(values.get("bbox_clipped")) == as_box(
        values.get("bbox_original")
    ):
        yield "box_outside", f"bbox_view {list(box)} of the {size.width}×{size.height} view"
        return
    # The released views of boxes that leave the image may have been made from either box.
    sources = (as_box(values.get("bbox_clipped")), as_box(values.get("bbox_original")))
    expected = [carry(source, view, crop, original, size) for source in sources if source is not None]
    carried = [other for other in expected if other is not None]
    if carried and min(_edge_distance(box, other) for other in carried) > TOLERANCE_PX:
        yield "box_view_differs", f"{list(box)}, expected {[round(edge, 2) for edge in carried[0]]}"


def carry(box: Box, view: View, crop: Box | None, original: Size, size: Size) -> Box | None:
    """Return a box of the original in pixels of the view, None where the row does not tell how."""
    if isinstance(view, Original | Whiteground) or view == TargetOnly(None):
        return box
    if isinstance(view, Downsample):
        return scale_box(box, original, size)
    if isinstance(view, Crop | TargetOnly) and crop is not None:
        return translate(box, -crop.x0, -crop.y0)
    return None


def _inside(box: Box, size: Size, tolerance: float = 0.0) -> bool:
    return (
        box.x0 >= -tolerance
        and box.y0 >= -tolerance
        and box.x1 <= size.width + tolerance
        and box.y1 <= size.height + tolerance
    )


def _distance(size: Size, other: Size) -> int:
    return max(abs(size.width - other.width), abs(size.height - other.height))


def _edge_distance(box: Box, other: Box) -> float:
    return max(abs(edge - expected) for edge, expected in zip(box, other, strict=True))
