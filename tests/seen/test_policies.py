"""Laws of transport policies in a check: what would be refused, and that no file is longer than was said."""

import datetime
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from seen.made import identity, picture, shown

from eyechart.images.compose import compose
from eyechart.images.encode import encode_composition, encode_jpeg
from eyechart.schema import Box, Composition, Size
from eyechart.seen.check import check_pictures
from eyechart.seen.cost import Asking, Costing, cost_of
from eyechart.seen.policies import check_policies, needs_jpeg, upload_of
from eyechart.seen.prices import Price
from eyechart.seen.rules import rule_for

EIGHT_K = (7680, 4320)


def policies(pictures, spec, **options):
    checks = check_policies(pictures, rule_for(identity(spec, options)))
    return {check.transport: check for check in checks}


def test_views_refused_natively_go_through_under_fit():
    pictures = [
        shown("original", picture(EIGHT_K, n_bytes=9_000_000)),
        shown("downsample_0_5", picture(EIGHT_K, resized=(3840, 2160))),
    ]
    found = policies(pictures, "openai/gpt-6-astra", detail="original")
    assert found["native@1"].refused == {"original": 1}
    assert found["native@1"].reasons == {"patches, more than 30000": 1}
    assert found["fit@1"].gets_all_through
    assert found["fit@1"].most_bytes > found["native@1"].most_bytes / 2
    assert needs_jpeg(found.values()).id == "fit@1"


def test_bytes_that_are_not_known_yet_are_a_risk_and_no_refusal():
    pictures = [shown("downsample_0_5", picture(EIGHT_K, resized=(3840, 2160)))]
    found = policies(pictures, "anthropic/claude-opus-4-7")
    assert (found["native@1"].n_refused, found["native@1"].at_risk) == (0, {"downsample_0_5": 1})
    assert found["fit@1"].at_risk == {"downsample_0_5": 1}
    assert needs_jpeg(found.values()).id == "fit@1+jpeg95@1"


def test_a_file_that_is_too_long_is_refused_natively():
    pictures = [shown("original", picture((2000, 1000), n_bytes=9_000_000))]
    found = policies(pictures, "anthropic/claude-sonnet-4-5")
    assert found["native@1"].reasons == {"bytes as base64, more than 10485760": 1}
    assert found["fit@1"].gets_all_through


def test_without_a_rule_nothing_is_fitted_and_no_refusal_foretold():
    native, fit, jpeg = check_policies([shown("original", picture(EIGHT_K, n_bytes=5))], None)
    assert (native.most_bytes, native.n_refused, native.reason) == (5, 0, None)
    assert fit.reason == jpeg.reason == "the model's grid is not known"
    assert needs_jpeg([native, fit, jpeg]) is None


@settings(max_examples=25)
@given(
    seed=st.integers(0, 9),
    area=st.tuples(st.integers(1, 90), st.integers(1, 70)),
    is_small=st.booleans(),
    is_jpeg=st.booleans(),
)
def test_no_picture_is_longer_than_was_said_even_of_noise(seed, area, is_small, is_jpeg):
    pixels = np.random.default_rng(seed).integers(0, 256, (70, 90, 3), dtype=np.uint8)
    kept = Box(0, 0, *area)
    geometry = Composition(Size(90, 70), kept, resized=Size(60, 50) if is_small else None)
    one = picture((90, 70), cut=kept)
    one = type(one)(one.image, type(one.recipe)(geometry), "key", geometry.size)
    most, is_exact, media_type = upload_of(one, geometry.size, is_jpeg=is_jpeg)
    content = encode_jpeg(compose(pixels, geometry), 95, "4:4:4") if is_jpeg else encode_composition(pixels, geometry)
    assert not is_exact or kept == (0, 0, 90, 70)
    if not is_exact:
        assert len(content) <= most
        assert Image.open(io.BytesIO(content)).get_format_mimetype() == media_type


def test_cost_counts_repeats_refusals_and_what_is_assumed():
    asking = Asking(n_calls=300, text_tokens=3000, n_repeats=3, assumed=Costing(50, 4, 8.0))
    cost = cost_of(asking, Price(input=1.0, output=10.0), image_tokens=1000, most_bytes=7, n_refused=10)
    assert (cost.image_tokens, cost.answer_tokens, cost.most_upload_bytes) == (3000, 270 * 50, 21)
    assert cost.usd == pytest.approx((3000 + 3000) / 1e6 + 13_500 * 10 / 1e6)
    assert cost.hours == pytest.approx(300 * 8 / 4 / 3600)
    assert cost_of(asking, None, image_tokens=1000, most_bytes=7).usd is None
    assert cost_of(asking, Price(input=1.0, output=1.0), image_tokens=None, most_bytes=7).usd is None


def test_a_refused_view_costs_no_tokens():
    pictures = [shown("original", picture(EIGHT_K, n_bytes=5)), shown("crop_3x", picture((64, 64), n_bytes=5))]
    (model,) = check_pictures(
        pictures,
        [identity("openai/gpt-6-astra", {"detail": "original"})],
        today=datetime.date(2026, 11, 30),
        asking=Asking(n_calls=2, text_tokens=10),
    ).models
    assert model.cost.image_tokens == 5
    assert model.cost.answer_tokens == 100
    assert model.cost.price.input == 10.0
