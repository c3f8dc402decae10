"""Laws of transport policies: what leaves, at which size, and that nothing changes silently."""

import io

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from eyechart.errors import UsageError
from eyechart.images.probe import probe_image
from eyechart.runs.foresight import fit_for, foresee
from eyechart.runs.pictures import PictureSource
from eyechart.runs.plan import PlanOptions
from eyechart.schema import Box, Composition, GridComposition, ModelIdentity, Picture, Recipe, Size
from eyechart.seen.fitting import budget_size, fitted_size
from eyechart.seen.ledger import chain_of, planned_seen, refusals
from eyechart.seen.rules import bundled_rules, look_up, rule_for
from eyechart.seen.transport import Transport, fit_geometry, fit_of, parse_transport
from eyechart.views import resolve_views

SIDES = st.integers(16, 9000)
RULES = [rule for rule in bundled_rules() if rule.algorithm.apply(Size(900, 700)).size is not None]
HOSTED = [
    ModelIdentity("openai", "gpt-4o", settings={"detail": "high"}),
    ModelIdentity("openai", "gpt-5.4", settings={"detail": "high"}),
    ModelIdentity("openai", "gpt-5.5", settings={"detail": "original"}),
    ModelIdentity("openai", "gpt-6-astra", settings={"detail": "original"}),
    ModelIdentity("anthropic", "claude-sonnet-4-5"),
    ModelIdentity("anthropic", "claude-opus-4-7"),
    ModelIdentity("google", "gemini-2.5-pro", settings={"media_resolution": "high"}),
    ModelIdentity("google", "gemini-3-pro-preview", settings={"media_resolution": "high"}),
]
DOWNSAMPLES = ",".join(["original", *(f"downsample_0_{text}" for text in ("75", "5", "25", "1", "05"))])


def planned(make, size, identity, transport, views=DOWNSAMPLES):
    """Return the requests of one question about a picture of a size, and the model's rule."""
    question = make.question(0)
    question = msgspec.structs.replace(
        question,
        image=msgspec.structs.replace(question.image, size=Size(*size)),
        targets=(Box(100, 100, 400, 220),),
        targets_clipped=(Box(100, 100, 400, 220),),
    )
    lookup = look_up(identity)
    plan = make.plan(
        benchmark=make.benchmark([question]),
        views=views,
        model=identity,
        options=PlanOptions(transport=parse_transport(transport).id),
        fit=fit_of(lookup, identity.spec) if transport.startswith("fit") else None,
    )
    return plan.requests, lookup


@pytest.mark.parametrize("size", [(3840, 2160), (7680, 4320), (4320, 7680)])
@pytest.mark.parametrize("identity", HOSTED, ids=lambda one: one.name)
def test_under_fit_no_downsample_view_of_4k_or_8k_is_refused_and_sent_is_seen(make, identity, size):
    requests, lookup = planned(make, size, identity, "fit")
    assert len(requests) == 6
    for request in requests:
        (picture,) = request.pictures
        assert refusals(lookup.rule.limits, picture.size, media_type="image/png") == ()
        seen = planned_seen(request, 0, lookup)
        assert seen.seen_size == seen.sent_size == picture.size


@pytest.mark.parametrize("identity", HOSTED, ids=lambda one: one.name)
def test_under_fit_no_picture_is_refused_for_its_bytes(make, identity):
    requests, lookup = planned(make, (7680, 4320), identity, "fit")
    # No PNG of ours is longer than its raw pixels and a little. Only the larger tier of Claude, with 10 MB of base64
    # a picture, needs +jpeg95 for that: 4K of pure noise, fitted to it, spends 2.001 bytes on a pixel.
    bytes_per_px = 2.05 if identity.name == "claude-opus-4-7" else 3.01
    sizes = [int(bytes_per_px * request.pictures[0].size.n_px) for request in requests]
    assert all(refusals(lookup.rule.limits, Size(1, 1), n_bytes=n_bytes) == () for n_bytes in sizes)


def test_natively_an_8k_original_is_refused_where_it_has_too_many_patches(make):
    (request,), lookup = planned(make, (7680, 4320), HOSTED[3], "native", "original")
    assert planned_seen(request, 0, lookup).reason == "32400 patches, more than 30000"


@given(width=SIDES, height=SIDES, which=st.integers(0, len(RULES) - 1), n=st.sampled_from([1, 25]))
def test_a_fitted_size_is_left_alone_and_not_refused(width, height, which, n):
    rule = RULES[which]
    if max(width, height) > 20 * min(width, height):
        return  # units of Gemini 2 never settle on ribbons
    size = fitted_size(rule, Size(width, height), n)
    assert refusals(rule.limits, size, n_images=min(n, rule.limits.max_images or n)) == ()
    assert rule.algorithm.apply(size).size == size


@given(width=SIDES, height=SIDES, low=st.integers(0, 10**6), more=st.integers(1, 10**8))
def test_a_budget_bounds_pixels_and_keeps_the_aspect(width, height, low, more):
    size = budget_size(Size(width, height), low, low + more)
    assert size.n_px <= low + more or size.n_px >= width * height
    if width * height < low:
        assert size.n_px >= low
    elif width * height <= low + more:
        assert size == (width, height)
    if min(size) >= 50:
        assert size.width / size.height == pytest.approx(width / height, rel=0.05)


@given(scale=st.sampled_from([1.0, 0.5, 0.25, 0.1]), width=st.integers(20, 4000), height=st.integers(20, 4000))
def test_no_policy_brings_back_what_a_view_left_out(scale, width, height):
    whole = Size(4000, 3000)
    nominal = None if scale == 1.0 else Size(int(4000 * scale), int(3000 * scale))
    geometry = Composition(whole, Box(0, 0, *whole), resized=nominal)
    sent = fit_geometry(geometry, Size(width, height))
    assert sent.size == (width, height)
    for axis in (0, 1):
        assert (sent.resized or whole)[axis] <= max(whole[axis] * scale, (width, height)[axis] if scale == 1 else 0)


def test_enlarged_downsample_keeps_its_information_scale(make):
    requests, lookup = planned(make, (3840, 2160), HOSTED[-1], "fit", "downsample_0_1,crop_3x")
    seen = {request.view: planned_seen(request, 0, lookup) for request in requests}
    assert seen["downsample_0_1"].information_scale == (0.1, 0.1)
    assert seen["downsample_0_1"].presented_scale[0] == pytest.approx(0.55)
    assert seen["downsample_0_1"].target_px == pytest.approx((30, 12))
    assert seen["crop_3x"].information_scale == (1.0, 1.0)
    assert chain_of(requests[0].pictures[0], ()).sent[0] > 0.5


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        ("native", "native@1"),
        (" fit@1 ", "fit@1"),
        ("fit+jpeg95", "fit@1+jpeg95@1"),
        ("fit@1+jpeg95@1", "fit@1+jpeg95@1"),
        ("budget(3136,12845056)", "budget@1(3136,12845056)"),
        ("budget:0,1003520", "budget@1(0,1003520)"),
        ("budget@1(0,9)+jpeg95@1", "budget@1(0,9)+jpeg95@1"),
        ("native+jpeg95", "native@1+jpeg95@1"),
        ("jpeg95", "native@1+jpeg95@1"),
        ("jpeg75", "native@1+jpeg75@1"),
        ("fit@1+jpeg75@1", "fit@1+jpeg75@1"),
    ],
)
def test_every_policy_is_read_from_its_name_and_its_id(text, id_):
    assert parse_transport(text).id == id_
    assert parse_transport(id_) == parse_transport(text)


@pytest.mark.parametrize(
    "text", ["", "shrink", "budget", "budget(9)", "budget(10,9)", "budget(0,0)", "fit+jpeg90", "+", "fit+"]
)
def test_an_unknown_policy_is_refused(text):
    with pytest.raises(UsageError, match="transport"):
        parse_transport(text)


def test_every_policy_enters_the_recipe_key_even_where_it_changes_no_size(make):
    keys = {
        transport: planned(make, (300, 200), HOSTED[0], transport, "original")[0][0].pictures[0].recipe_key
        for transport in ("native", "fit", "budget(0,9000000)", "native+jpeg95", "native+jpeg75")
    }
    assert len(set(keys.values())) == 5


def test_a_grid_that_is_not_known_is_said_and_not_guessed(make):
    with pytest.raises(UsageError, match=r"no rule is known for openai/gpt-99") as caught:
        planned(make, (300, 200), ModelIdentity("openai", "gpt-99"), "fit")
    assert "--rules" in caught.value.hint
    with pytest.raises(UsageError, match=r"rule xai-grok@1 tells no sizes"):
        planned(make, (300, 200), ModelIdentity("xai", "grok-4", settings={"detail": "high"}), "fit")
    with pytest.raises(UsageError, match="no rule was given"):
        Transport("fit").resize(Size(3, 2), 1, None)


def test_models_that_do_not_look_have_no_grid(make):
    ahead = foresee(make.model(), ModelIdentity("scripted", "tiny"))
    assert not ahead.is_known
    assert list(ahead.ledger(make.plan(1).requests)) == []
    assert fit_for("native@1", ahead) is None
    with pytest.raises(UsageError, match="looks at no picture"):
        fit_for("fit@1", ahead)


def test_a_grid_of_pictures_is_resized_as_a_whole_and_its_scale_counts_both(make):
    cell = Size(100, 100)
    grid = GridComposition(Size(300, 300), "white", 3, 3, 0, 0, tile=cell, pitch=cell)
    assert fit_geometry(grid, Size(300, 300)) is grid
    sent = fit_geometry(grid, Size(150, 150))
    assert (sent.size, sent.canvas) == ((150, 150), (300, 300))
    image = make.question(0).image
    picture = Picture(image, Recipe(sent), "key", sent.size, Box(0, 0, 10, 10))
    assert chain_of(picture, ()).sent == pytest.approx((0.5 * 100 / image.size.width, 0.5 * 100 / image.size.height))


def test_jpeg95_sends_the_jpeg_whose_pixels_it_shows(make, tmp_path):
    rng = np.random.default_rng(3)
    path = tmp_path / "new.png"
    Image.fromarray(rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)).save(path)
    image = probe_image(path)
    path.rename(tmp_path / f"{image.file_sha256}.png")
    question = msgspec.structs.replace(make.question(0), image=image, targets=(Box(5, 5, 30, 20),), targets_clipped=())
    benchmark = make.benchmark([question], folder=tmp_path)
    options = PlanOptions(transport=parse_transport("budget(0,1200)+jpeg95").id)
    plan = make.plan(benchmark=benchmark, views="original,crop_1x", options=options)
    source = PictureSource(benchmark)
    for request in plan.requests:
        sent = source.send(request.pictures[0])
        assert sent.media_type == "image/jpeg"
        shown = Image.open(io.BytesIO(sent.encoded()))
        assert shown.size == tuple(request.pictures[0].size)
        assert shown.size[0] * shown.size[1] <= 1200
        assert np.array_equal(np.asarray(shown), sent.pixels())


def test_rule_of_a_view_list_is_the_same_for_every_view(make):
    views, _ = resolve_views("sum29")
    names = "original,whiteground_3x,downsample_0_5"
    requests, _ = planned(make, (7680, 4320), HOSTED[4], "fit", names)
    assert len(views) == 29
    assert len({request.pictures[0].size for request in requests}) == 1
    assert rule_for(HOSTED[4]).id == "claude-standard@1"
