"""What ``check`` says about views and models, from geometry alone."""

import datetime

import pytest
from seen.made import identity, picture, request, shown

from eyechart.benchmarks.demo import DEMO_VIEWS, DemoKind, DemoOptions
from eyechart.opening import open_prompt
from eyechart.runs.plan import plan_run
from eyechart.schema import Box, ModelIdentity
from eyechart.seen.algorithms import Fit
from eyechart.seen.check import FOUR_FAMILIES, check_pictures, sentences
from eyechart.seen.rules import Limits, Rule
from eyechart.seen.shown import pictures_of
from eyechart.views import parse_view

TODAY = datetime.date(2026, 11, 30)


def views_of(size, question_id="q1"):
    """Return an 8K-like original, three downsamples of it, and a crop."""
    width, height = size
    return [
        shown("original", picture(size, target=Box(0, 0, 64, 24), n_bytes=1000), question_id),
        *(
            shown(
                f"downsample_{text}",
                picture(size, resized=(width // n, height // n), target=Box(0, 0, 64 / n, 24 / n)),
                question_id,
            )
            for text, n in (("0_5", 2), ("0_25", 4), ("0_125", 8))
        ),
        shown("crop_3x", picture(size, cut=Box(0, 0, 100, 50), target=Box(0, 0, 64, 24)), question_id),
    ]


def check(pictures, spec, settings=None, **options):
    (model,) = check_pictures(pictures, [identity(spec, settings)], today=TODAY, **options).models
    return model


def by_view(model):
    return {view.view: view for view in model.views}


def test_an_8k_original_and_its_half_and_quarter_are_one_picture_to_claude():
    model = check(views_of((7680, 4320)), "anthropic/claude-sonnet-4-5")
    assert model.groups == (("original", "downsample_0_5", "downsample_0_25"),)
    assert model.n_distinct == 3
    assert by_view(model)["downsample_0_5"].same_as == {"original": 1, "downsample_0_25": 1}
    assert by_view(model)["original"].target_px == pytest.approx((4.55, 4.55, 4.55), abs=0.01)


def test_views_that_collapse_for_some_questions_only_are_counted_and_not_grouped():
    pictures = [*views_of((7680, 4320), "q1"), *views_of((1000, 500), "q2")]
    model = check(pictures, "anthropic/claude-sonnet-4-5")
    assert model.groups == ()
    assert by_view(model)["original"].same_as == {"downsample_0_5": 1, "downsample_0_25": 1}
    assert model.n_distinct == 5


def test_order_in_which_views_are_asked_does_not_change_what_collapses():
    one, other = views_of((7680, 4320), "q1"), views_of((7680, 4320), "q2")[::-1]
    model = check([*one, *other], "anthropic/claude-sonnet-4-5")
    assert model.groups == (("original", "downsample_0_5", "downsample_0_25"),)
    assert by_view(model)["original"].same_as == {"downsample_0_5": 2, "downsample_0_25": 2}


def test_near_views_are_those_sent_at_twice_the_scale_and_seen_at_nearly_the_same():
    model = check(views_of((7680, 4320)), "google/gemini-3-pro-preview", {"media_resolution": "high"})
    assert by_view(model)["original"].near_to == {"downsample_0_25": 1}
    assert by_view(model)["downsample_0_25"].n_enlarged == 1
    assert by_view(model)["original"].n_enlarged == 0


def test_refused_views_are_counted_by_reason_and_have_no_size():
    model = check(views_of((7680, 4320)), "openai/gpt-6-astra", {"detail": "original"})
    assert by_view(model)["original"].refused == {"patches, more than 30000": 1}
    assert by_view(model)["original"].seen_size is None
    assert by_view(model)["downsample_0_5"].refused == {}
    table = check_pictures(views_of((7680, 4320)), [identity("openai/gpt-6-astra")], today=TODAY)
    assert "refused for some or all questions: original" in sentences(table)[0]
    tall = [shown("original", picture((100, 9000)))]
    assert by_view(check(tall, "anthropic/claude-opus-4-7"))["original"].refused == {"a side, more than 8000": 1}
    only_png = Rule(
        id="mine@1",
        models=("m",),
        algorithm=Fit(1000),
        source="https://example.org",
        date=TODAY,
        confidence="A",
        provider="vllm",
        limits=Limits(media_types=("image/png",)),
    )
    jpeg = [shown("original", picture((100, 90), n_bytes=10))]
    assert by_view(check(jpeg, "vllm/m", own_rules=[only_png]))["original"].refused == {
        "image/jpeg, which is not accepted": 1
    }


def test_a_tiff_leaves_as_png_and_is_not_refused():
    tiff = [shown("original", picture((100, 90), n_bytes=10, media_type="image/tiff"))]
    assert by_view(check(tiff, "anthropic/claude-opus-4-7"))["original"].refused == {}


def test_unknown_model_has_a_reason_and_no_numbers():
    model = check(views_of((7680, 4320)), "openai/gpt-9")
    assert (model.rule_id, model.evidence, model.n_distinct) == (None, "unknown", None)
    assert model.reason == "no rule is known for openai/gpt-9"
    assert by_view(model)["original"].sent_size == (7680, 4320)
    assert by_view(model)["original"].tokens is None


def test_a_rule_without_sizes_says_so_and_counts_no_distinct_pictures():
    table = check_pictures(views_of((800, 600)), [ModelIdentity("bedrock", "amazon.nova-pro-v1:0")], today=TODAY)
    (model,) = table.models
    assert (model.rule_id, model.is_known, model.n_distinct) == ("nova-1@1", False, None)
    assert "the sizes are not published" in model.reason
    assert "unknown (pictures are stretched" in sentences(table)[0]


def test_users_rule_and_old_rules_are_told():
    own = Rule(
        id="mine@1",
        models=("m",),
        algorithm=Fit(1000),
        source="https://example.org",
        date=datetime.date(2026, 1, 1),
        confidence="A",
        provider="vllm",
    )
    model = check(views_of((7680, 4320)), "vllm/m", own_rules=[own])
    assert model.rule_id == "mine@1"
    assert "333 days ago" in model.warnings[0]


def test_settings_that_decide_the_rule_are_recorded():
    assert check(views_of((100, 80)), "openai/gpt-4o", {"detail": "low", "top_k": 5}).settings == {"detail": "low"}


def test_second_picture_of_a_request_has_a_row_of_its_own_and_repeats_none():
    two = request(picture((100, 80)), picture((100, 80), cut=Box(0, 0, 9, 9)), view="original_plus_crop_3x")
    again = request(picture((100, 80)), repeat=1)
    assert [one.view for one in pictures_of([two, again])] == ["original_plus_crop_3x", "original_plus_crop_3x#2"]


def test_a_view_that_adds_a_crop_to_the_original_is_not_one_picture_with_it():
    crop = picture((100, 80), cut=Box(0, 0, 9, 9))
    alone, two = request(picture((100, 80))), request(picture((100, 80)), crop, view="original_plus_crop_3x")
    model = check(pictures_of([alone, two]), "anthropic/claude-sonnet-4-5")
    assert (model.groups, model.n_distinct) == ((), 3)
    assert by_view(model)["original"].same_as == {}


def test_demo_is_checked_for_four_families_without_reading_a_pixel(tmp_path):
    plan = plan_run(
        DemoKind().open(tmp_path, DemoOptions()),
        [parse_view(view) for view in DEMO_VIEWS],
        open_prompt(),
        model=ModelIdentity("openai", "gpt-4o"),
    )
    for path in tmp_path.glob("*.jpg"):
        path.unlink()
    table = check_pictures(pictures_of(plan.requests), today=TODAY)
    assert [model.model for model in table.models] == [model.spec for model in FOUR_FAMILIES]
    assert all(model.evidence == "documented" for model in table.models)
    assert {model.model: model.groups for model in table.models if model.groups} == {
        "anthropic/claude-sonnet-4-5": (("original", "downsample_0_5"),)
    }
    assert table.n_questions == 40
    told = sentences(table)
    assert told[0] == (
        "openai/gpt-5.4: every view is a picture of its own (documented rule openai-gpt5.4-high@1, 2026-11-30)"
    )
    assert "claude-sonnet-4-5: original and downsample_0_5 are one picture" in told[1]
