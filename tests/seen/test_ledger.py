"""The ledger of what is seen: scales along the chain, targets, collapse and refusals."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seen.made import identity, picture, request

from eyechart.schema import Box, DecodePolicy, GridComposition, ImageRef, Picture, Recipe, Size
from eyechart.seen.ledger import (
    chain_of,
    cut_of,
    have_collapsed,
    planned_ledger,
    planned_seen,
    refusals,
    source_size,
    target_on_grid,
)
from eyechart.seen.rules import Limits, look_up

WORKED = [json.loads(line) for line in Path(__file__).with_name("worked_target.jsonl").read_text().splitlines()]
MASTER = Size(7680, 4320)
TARGET = Box(1000, 1000, 1064, 1024)

VIEWS = {
    "original 7680x4320": picture(MASTER, target=TARGET),
    "downsample 0.5": picture(MASTER, resized=(3840, 2160), target=Box(500, 500, 532, 512)),
    "downsample 0.25": picture(MASTER, resized=(1920, 1080), target=Box(250, 250, 266, 256)),
    **{
        f"crop {side}x{side} native": picture(
            MASTER, cut=Box(900, 900, 900 + side, 900 + side), target=Box(100, 100, 164, 124)
        )
        for side in (2048, 1024, 448)
    },
}


@pytest.mark.parametrize("row", WORKED, ids=lambda row: f"{row['model']}-{row['settings']}-{row['view']}")
def test_target_px_and_tokens_reproduce_the_worked_table(row):
    lookup = look_up(identity(row["model"], row["settings"]))
    one = VIEWS[row["view"]]
    seen = planned_seen(request(one), 0, lookup)
    if row.get("refused"):
        assert seen.seen_size is None
        assert "patches, more than 30000" in seen.reason
        return
    assert seen.target_px == pytest.approx(row["target_px"], abs=0.06)
    resized = lookup.rule.algorithm.apply(one.size)
    target = target_on_grid(one, chain_of(one, resized.stages), resized.cell_px)
    assert target.presented_px == pytest.approx(row["presented_px"], abs=0.06)
    if row["tokens"] is None:
        assert target.tokens is None
    else:
        assert target.tokens == pytest.approx(row["tokens"], abs=0.0051)


def test_record_names_rule_date_evidence_and_configuration():
    seen = planned_seen(request(VIEWS["downsample 0.5"]), 0, look_up(identity("openai/gpt-4o")))
    assert (seen.phase, seen.evidence, seen.rule_id, seen.rule_date) == (
        "planned",
        "documented",
        "openai-tile-gpt4o@1",
        "2026-11-30",
    )
    assert seen.seen_size == Size(1365, 768)
    assert seen.visual_tokens == 1105
    assert seen.n_tiles == 6
    assert seen.lost_area == 0
    assert len(seen.configuration_sha256) == 64
    assert seen.reason is None


def test_unknown_model_is_unknown_and_never_a_guess():
    seen = planned_seen(request(VIEWS["original 7680x4320"]), 0, look_up(identity("openai/gpt-9")))
    assert seen.evidence == "unknown"
    assert (seen.seen_size, seen.visual_tokens, seen.information_scale, seen.target_px) == (None, None, None, None)
    assert seen.reason == "no rule is known for openai/gpt-9"


def test_unpublished_size_keeps_its_tokens_and_says_why():
    seen = planned_seen(request(picture((1000, 800))), 0, look_up(identity("xai/grok-4", {"detail": "high"})))
    assert seen.seen_size is None
    assert seen.visual_tokens == 1792
    assert "no size can be told" in seen.reason


def test_ledger_yields_the_same_records_as_single_pictures():
    requests = [request(one, view=view) for view, one in VIEWS.items()] + [request(*VIEWS.values())]
    for spec in ("openai/gpt-6-astra", "openai/gpt-9", "anthropic/claude-opus-4-7"):
        lookup = look_up(identity(spec))
        expected = [planned_seen(one, index, lookup) for one in requests for index in range(len(one.pictures))]
        assert list(planned_ledger(requests, lookup)) == expected


scales = st.integers(1, 6000)
sizes = st.builds(Size, scales, scales)


@given(source=sizes, resized=sizes, stages=st.lists(sizes, min_size=1, max_size=3).map(tuple))
def test_information_is_never_more_than_any_stage_or_than_one(source, resized, stages):
    chain = chain_of(picture(source, resized=resized), stages)
    for axis in (0, 1):
        own = [resized[axis] / source[axis], *(stage[axis] / source[axis] for stage in stages)]
        assert chain.information[axis] == pytest.approx(min(1, *own))
        assert chain.presented[axis] == pytest.approx(own[-1])


@given(
    target=st.tuples(st.floats(0.5, 500), st.floats(0.5, 500)),
    offset=st.tuples(st.floats(0, 28), st.floats(0, 28)),
)
def test_tokens_touched_lie_between_fewest_and_most_wherever_the_grid_lies(target, offset):
    one = picture((2000, 2000), target=Box(0, 0, *target))
    found = target_on_grid(one, chain_of(one, (Size(2000, 2000),)), 28)
    touched = math.prod(
        math.ceil((start + length) / 28) - math.floor(start / 28) for start, length in zip(offset, target, strict=True)
    )
    fewest, most = found.tokens_touched
    assert fewest <= touched <= most
    assert found.tokens <= touched + 1e-9


def test_collapse_is_within_three_percent_on_both_axes():
    assert have_collapsed((0.5, 0.5), (0.5 * math.exp(0.029), 0.5))
    assert not have_collapsed((0.5, 0.5), (0.5 * math.exp(0.031), 0.5))
    assert not have_collapsed((0.5, 0.5), (0.5, 0.5 * math.exp(-0.031)))


def test_cut_is_what_is_shown_whatever_its_size():
    assert cut_of(VIEWS["original 7680x4320"]) == cut_of(VIEWS["downsample 0.25"])
    assert cut_of(VIEWS["original 7680x4320"]) != cut_of(VIEWS["crop 448x448 native"])
    grid = GridComposition(
        canvas=Size(100, 100), style="white", rows=2, columns=2, row=0, column=1, tile=Size(50, 50), pitch=Size(50, 50)
    )
    in_grid = Picture(ImageRef("a" * 64, Size(50, 50), "image/png"), Recipe(grid), "key", Size(100, 100))
    assert cut_of(in_grid) != cut_of(picture((50, 50)))
    assert chain_of(in_grid, (Size(50, 50),)).presented == (0.5, 0.5)


def test_source_size_follows_the_decode_policy():
    image = ImageRef("a" * 64, Size(40, 30), "image/jpeg", exif_orientation=6)
    plain = picture((40, 30))
    turned = Picture(image, Recipe(plain.recipe.geometry, decode=DecodePolicy(exif="apply")), "key", Size(40, 30))
    assert source_size(plain) == Size(40, 30)
    assert source_size(turned) == Size(30, 40)


CLAUDE = look_up(identity("anthropic/claude-opus-4-7")).rule.limits


@pytest.mark.parametrize(
    ("limits", "size", "facts", "reasons"),
    [
        (CLAUDE, (8000, 8000), {}, ()),
        (CLAUDE, (8001, 10), {}, ("a side of 8001 px, more than 8000",)),
        (CLAUDE, (2001, 10), {"n_images": 21}, ("a side of 2001 px, more than 2000",)),
        (CLAUDE, (2001, 10), {"n_images": 20}, ()),
        (CLAUDE, (10, 10), {"n_images": 601}, ("601 pictures, more than 600",)),
        (CLAUDE, (10, 10), {"n_bytes": 7_864_320}, ()),
        (CLAUDE, (10, 10), {"n_bytes": 7_864_321}, ("10485764 bytes as base64, more than 10485760",)),
        (CLAUDE, (10, 10), {"media_type": "image/tiff"}, ("image/tiff, which is not accepted",)),
        (Limits(max_patches=30000, patch_px=32), (7680, 4320), {}, ("32400 patches, more than 30000",)),
        (Limits(max_patches=30000, patch_px=32), (7680, 3840), {}, ()),
        (Limits(max_image_bytes=100), (10, 10), {"n_bytes": 101}, ("101 bytes, more than 100",)),
        (
            Limits(max_request_bytes=100),
            (10, 10),
            {"n_bytes": 90},
            ("120 bytes as base64, more than a request of 100",),
        ),
        (Limits(), (99999, 99999), {"n_bytes": 10**12, "media_type": "image/tiff", "n_images": 9999}, ()),
    ],
)
def test_refusals_name_the_bound_that_is_broken(limits, size, facts, reasons):
    assert refusals(limits, Size(*size), **facts) == reasons
