"""What real processors make of pictures that are shapes alone, against what they make of pixels."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from seen.local.families import FAMILIES, build
from seen.local.ramps import ramp, tiles_of

from eyechart.schema import Box, Size
from eyechart.seen.local.processor import LocalProcessor

pytestmark = pytest.mark.hf

SIZES = [(448, 448), (1000, 563), (300, 900)]
COUNTED = sorted(FAMILIES)


@pytest.fixture(scope="module", params=COUNTED)
def family(request):
    return FAMILIES[request.param], build(request.param)


def run_on_pixels(processor, sizes, arguments=None):
    """Return what the processor makes of pictures of noise, as an inference calls it."""
    rng = np.random.default_rng(0)
    pictures = [Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8)) for width, height in sizes]
    token = getattr(processor, "image_token", None) or "<image>"
    return processor(text=[f"{token} ?" * len(sizes)], images=[pictures], return_tensors="pt", **(arguments or {}))


def placeholders(output):
    """Return how often the commonest token of a prompt occurs, which is the placeholder of the vision features."""
    return Counter(output["input_ids"][0].tolist()).most_common(1)[0][1]


def test_at_least_fifteen_classes_of_image_processors_are_tested():
    assert len({family.image_processor for family in FAMILIES.values()}) >= 15


def test_family_is_built_around_its_class(family):
    described, processor = family
    assert type(processor.image_processor).__name__ == described.image_processor


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_tokens_are_those_of_a_run_on_pixels(family, size):
    _, processor = family
    (seen,) = LocalProcessor(processor).see([Size(*size)]).pictures
    assert seen.tokens == placeholders(run_on_pixels(processor, [size]))


@pytest.mark.parametrize("name", sorted(name for name, family in FAMILIES.items() if family.overrides))
def test_tokens_under_overridden_limits_are_those_of_a_run_on_pixels(name):
    processor, overrides = build(name), FAMILIES[name].overrides
    (seen,) = LocalProcessor(processor, overrides).see([Size(1000, 563)]).pictures
    assert seen.tokens == placeholders(run_on_pixels(processor, [(1000, 563)], overrides))


def test_random_sizes_give_the_tokens_of_a_run_on_pixels(family):
    _, processor = family
    local = LocalProcessor(processor)
    rng = np.random.default_rng(7)
    for width, height in rng.integers(60, 900, (4, 2)).tolist():
        (seen,) = local.see([Size(width, height)]).pictures
        assert (width, height, seen.tokens) == (
            width,
            height,
            placeholders(run_on_pixels(processor, [(width, height)])),
        )


TILED = sorted(name for name, family in FAMILIES.items() if family.tiles)
# Their processors switch tiling on by an argument of their own.
TILING = {"internvl": {"crop_to_patches": True}, "aya": {"crop_to_patches": True}, "ovis2": {"crop_to_patches": True}}
# The default crop of 224 px does not divide the default canvases of 336 px, so tiles would have several scales.
TILING["llava-next"] = {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}


@pytest.mark.parametrize("size", [(1280, 720), (500, 1100)], ids=str)
@pytest.mark.parametrize("name", TILED)
def test_geometry_is_what_a_ramp_of_coordinates_shows(name, size):
    pictures = build(name).image_processor
    arguments = {"do_normalize": False, "do_rescale": False, **TILING.get(name, {})}
    (seen,) = LocalProcessor(pictures, arguments).see([Size(*size)]).pictures
    output = pictures(images=[ramp(*size)], return_tensors="pt", **arguments)
    tiles = [tile for key in output for tile in (tiles_of(output[key]) if "pixel_values" in key else ())]
    scale, _ = max(tiles, key=lambda tile: tile[0][0] * tile[0][1])
    regions = [region for own, region in tiles if own == pytest.approx(scale, rel=0.01)]
    assert [seen.stages[-1][axis] / size[axis] for axis in (0, 1)] == pytest.approx(scale, rel=0.01)
    shown = Box(*(min(r[i] for r in regions) for i in (0, 1)), *(max(r[i] for r in regions) for i in (2, 3)))
    assert shown == pytest.approx(seen.kept or Box(0, 0, *size), abs=0.02 * max(size))


def test_grid_of_patches_is_the_size_that_is_reported():
    processor = build("qwen2.5-vl")
    for width, height in SIZES:
        (seen,) = LocalProcessor(processor).see([Size(width, height)]).pictures
        _, rows, columns = run_on_pixels(processor, [(width, height)])["image_grid_thw"][0].tolist()
        assert seen.size == Size(columns * 14, rows * 14)
        assert seen.cell_px == 28


def test_official_helper_ignores_an_override_and_is_not_trusted():
    processor = build("qwen2.5-vl")
    capped = {"size": {"shortest_edge": 3136, "longest_edge": 12845056}}
    (seen,) = LocalProcessor(processor, capped).see([Size(3840, 2160)]).pictures
    assert seen.tokens == 10549
    told = processor._get_num_multimodal_tokens(image_sizes=[(2160, 3840)], **capped)["num_image_tokens"]
    assert told == [1222]  # the default cap: the helper does not look at size
    assert seen.tokens == placeholders(run_on_pixels(processor, [(3840, 2160)], capped))


def test_helper_of_a_processor_with_the_larger_cap_does_not_see_the_smaller_one_either():
    processor = build("qwen2.5-vl")
    processor.image_processor.size = {"shortest_edge": 3136, "longest_edge": 12845056}
    capped = {"size": {"shortest_edge": 3136, "longest_edge": 1003520}}
    told = processor._get_num_multimodal_tokens(image_sizes=[(2160, 3840)], **capped)["num_image_tokens"]
    (seen,) = LocalProcessor(processor, capped).see([Size(3840, 2160)]).pictures
    assert (told, seen.tokens) == ([10549], 1222)
    assert seen.tokens == placeholders(run_on_pixels(processor, [(3840, 2160)], capped))


def test_shape_of_945_megapixels_costs_no_pixel():
    (seen,) = LocalProcessor(build("qwen3-vl")).see([Size(35503, 26627)]).pictures
    assert seen.size.n_px <= 1003520 * 32 * 32 / 28**2
    assert LocalProcessor(build("qwen3-vl")).see([Size(35503, 26627)]).stand_in == "meta"


@pytest.mark.parametrize(
    ("name", "stand_in"), [("qwen2.5-vl", "meta"), ("llama4", "blank"), ("phi-4", "blank"), ("idefics2", "pillow")]
)
def test_class_that_does_not_work_on_shapes_falls_back_to_pixels(name, stand_in):
    assert LocalProcessor(build(name)).see([Size(640, 480)]).stand_in == stand_in


def test_shape_that_the_processor_cannot_take_is_refused_with_its_reason():
    (seen,) = LocalProcessor(build("qwen2.5-vl")).see([Size(5000, 10)]).pictures
    assert seen.size is None
    assert seen.tokens is None
    assert "fails on this shape (ValueError: absolute aspect ratio must be smaller than 200" in seen.refused


def test_two_pictures_of_one_request_are_counted_one_by_one():
    for name in ("qwen2.5-vl", "internvl", "idefics3", "pixtral"):
        processor = build(name)
        sizes = [(640, 480), (300, 500)]
        seen = LocalProcessor(processor).see([Size(*size) for size in sizes]).pictures
        assert sum(one.tokens for one in seen) == placeholders(run_on_pixels(processor, sizes))
        assert all(one.tokens and one.size for one in seen)


def test_second_picture_changes_what_llava_onevision_makes_of_the_first():
    local = LocalProcessor(build("llava-onevision"))
    (alone,) = local.see([Size(1000, 700)]).pictures
    together, _ = local.see([Size(1000, 700), Size(400, 400)]).pictures
    assert alone.tokens > together.tokens


def test_center_crop_is_a_lost_area():
    (seen,) = LocalProcessor(build("llava-clip")).see([Size(1920, 1080)]).pictures
    assert seen.size == Size(224, 224)
    assert seen.lost_area == pytest.approx(1 - 1080 / 1920, abs=0.01)


def test_configuration_hash_changes_with_the_arguments_alone():
    processor = build("qwen2.5-vl")
    one, same = LocalProcessor(processor), LocalProcessor(build("qwen2.5-vl"))
    other = LocalProcessor(processor, {"max_pixels": 100352})
    assert one.configuration_sha256 == same.configuration_sha256 != other.configuration_sha256
    assert one.name.startswith("Qwen2VLImageProcessor@transformers-")


def test_what_was_answered_about_is_observed_with_its_whole_way():
    local = LocalProcessor(build("llava-clip"))
    (seen,) = local.observe([Size(1920, 1080)])
    assert (seen.evidence, seen.rule_id, seen.configuration_sha256) == (
        "executed",
        local.name,
        local.configuration_sha256,
    )
    assert (seen.seen_size, seen.stages, seen.visual_tokens) == (Size(224, 224), (Size(398, 224),), 256)
    assert seen.kept.width == pytest.approx(1080, abs=5)
    assert LocalProcessor(build("qwen2.5-vl")).observe([Size(5000, 10)]) == ()


# Worked out by another program that recorded torchvision's resizes. Where coordinate ramps show that it missed a
# padding, a cut before the resize or a second resize, the scale is the ramp's (LLaVA-1.5 padded, Gemma 3 with pan and
# scan, Step 3.7 at 1080p).
WORKED = [json.loads(line) for line in Path(__file__).with_name("executed_worked.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("model", sorted({row["model"] for row in WORKED}))
def test_worked_table_of_open_models_is_reproduced(model):
    import transformers

    for row in (row for row in WORKED if row["model"] == model):
        pictures = getattr(transformers, row["processor"])(**row["config"])
        (seen,) = LocalProcessor(pictures, row["arguments"]).see([Size(*row["sent"])]).pictures
        found = [seen.stages[-1][axis] / row["sent"][axis] for axis in (0, 1)]
        assert found == pytest.approx(row["scale"], abs=0.001), row["sent"]
        assert row["tokens"] is None or seen.tokens == row["tokens"]
