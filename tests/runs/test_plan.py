"""Laws of planning: whole questions, every view, ids that change with all that decides an answer."""

import itertools
from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import BenchmarkError, GeometryError, UsageError
from eyechart.geometry import GeometryPolicy
from eyechart.runs.plan import (
    MISSING_RELEASE,
    PlanOptions,
    choose_questions,
    plan_id_of,
    shown_answer,
    upright,
)
from eyechart.schema import (
    Box,
    DecodePolicy,
    ImageRef,
    ModelIdentity,
    Sampling,
    Size,
    ViewImage,
    request_id,
)

VIEWS = "original,crop_3x,downsample_0_5"


def test_every_question_is_asked_under_every_view_without_reading_a_pixel(make):
    plan = make.plan(5, VIEWS)
    asked = Counter((request.question_id, request.view) for request in plan.requests)
    assert set(asked.values()) == {1}
    assert len(asked) == 15 == len(plan.view_images)
    assert all(request.id == request_id(request) for request in plan.requests)
    assert plan.plan_id == plan_id_of(request.id for request in plan.requests)


def test_same_arguments_give_the_same_plan(make):
    assert make.plan(3) == make.plan(3)


def test_plan_id_does_not_depend_on_the_order_of_views(make):
    one, other = make.plan(3, "original,crop_3x"), make.plan(3, "crop_3x,original")
    assert one.plan_id == other.plan_id


@pytest.mark.parametrize(
    "changes",
    [
        {"model": ModelIdentity("scripted", "other", fingerprint="f1")},
        {"model": ModelIdentity("scripted", "tiny", fingerprint="f2")},
        {"model": ModelIdentity("scripted", "tiny", fingerprint="f1", settings={"detail": "low"})},
        {"sampling": Sampling(temperature=1.0)},
        {"sampling": Sampling(seed=7)},
        {"options": PlanOptions(resampler="other@1")},
        {"options": PlanOptions(transport="budget@1(1,2)")},
        {"options": PlanOptions(decode=DecodePolicy(exif="apply"))},
        {"options": PlanOptions(repeats=2)},
        {"options": PlanOptions(limit=2, seed=1)},
    ],
)
def test_anything_that_decides_an_answer_changes_the_plan(make, changes):
    assert make.plan(3, **changes).plan_id != make.plan(3).plan_id


def test_another_prompt_or_picture_changes_every_id(make):
    class LoudPrompt(make.prompt):
        def render(self, question, choices):
            return super().render(question, choices).upper()

    ids = {request.id for request in make.plan(3).requests}
    assert ids.isdisjoint(request.id for request in make.plan(3, prompt=LoudPrompt()).requests)
    repainted = make.benchmark(make.question(index, picture=f"repainted {index}") for index in range(3))
    assert ids.isdisjoint(request.id for request in make.plan(benchmark=repainted).requests)


def test_resampler_leaves_the_keys_of_views_alone_that_resample_nothing(make):
    one, other = make.plan(2), make.plan(2, options=PlanOptions(resampler="other@1"))
    changed = {a.view for a, b in zip(one.view_images, other.view_images, strict=True) if a.recipe_key != b.recipe_key}
    assert changed == {"downsample_0_5"}


@given(n=st.integers(1, 60), limit=st.integers(1, 80), seed=st.integers(0, 5))
def test_limit_takes_that_many_whole_questions_in_their_order(n, limit, seed):
    questions = tuple(range(n))
    chosen = choose_questions(questions, limit, seed)
    assert len(chosen) == min(n, limit)
    assert list(chosen) == sorted(set(chosen))
    assert chosen == choose_questions(questions, limit, seed)


def test_limit_keeps_all_views_and_does_not_take_the_first_questions(make):
    plan = make.plan(50, VIEWS, options=PlanOptions(limit=10, seed=3))
    assert len(plan.questions) == 10
    assert len(plan.requests) == 30
    assert [question.id for question in plan.questions] != [f"q{index:03d}" for index in range(10)]


def test_views_of_a_picture_are_asked_together(make):
    questions = [make.question(index, picture=f"p{index % 3}") for index in range(9)]
    pictures = [
        request.pictures[0].image.file_sha256 for request in make.plan(benchmark=make.benchmark(questions)).requests
    ]
    changes = sum(before != after for before, after in itertools.pairwise(pictures))
    assert changes == len(set(pictures)) - 1


def test_no_view_is_always_asked_first(make):
    plan = make.plan(6, VIEWS)
    first = Counter(plan.requests[start].view for start in range(0, 18, 3))
    assert set(first.values()) == {2}


def test_repeats_differ_in_their_id_alone(make):
    plan = make.plan(1, "original", options=PlanOptions(repeats=3))
    assert [request.repeat for request in plan.requests] == [0, 1, 2]
    assert len({request.id for request in plan.requests}) == 3


def test_released_file_is_planned_as_it_stands_and_a_missing_one_is_kept_apart(make):
    questions = [make.question(0), make.question(1)]
    image = ImageRef("c" * 64, Size(70, 50), "image/jpeg", n_bytes=99)
    released = {
        ("q000", "crop_3x"): ViewImage(question_id="q000", view="crop_3x", image=image, target_in_view=Box(1, 2, 3, 4)),
        ("q001", "crop_3x"): None,
    }
    plan = make.plan(views="original,crop_3x", benchmark=make.benchmark(questions, released))
    request = next(request for request in plan.requests if request.view == "crop_3x")
    assert (request.pictures[0].image, request.pictures[0].size) == (image, Size(70, 50))
    assert request.pictures[0].target == Box(1, 2, 3, 4)
    assert [(gap.question_id, gap.view) for gap in plan.missing] == [("q001", "crop_3x")]
    assert len(plan.requests) == 3
    gap = next(row for row in plan.view_images if MISSING_RELEASE in row.notes)
    assert (gap.question_id, gap.view) == ("q001", "crop_3x")


def test_exif_apply_turns_size_and_boxes_together(make):
    question = make.question(0)
    turned = msgspec.structs.replace(
        question, image=msgspec.structs.replace(question.image, exif_orientation=6), targets=(Box(0, 0, 40, 20),)
    )
    standing = upright(turned, DecodePolicy(exif="apply"))
    assert standing.image.size == Size(300, 400)
    assert standing.targets == (Box(280, 0, 300, 40),)
    assert upright(turned, DecodePolicy()) is turned
    plan = make.plan(
        benchmark=make.benchmark([turned]), views="original", options=PlanOptions(decode=DecodePolicy(exif="apply"))
    )
    assert plan.requests[0].pictures[0].size == Size(300, 400)
    assert plan.requests[0].pictures[0].image.size == Size(400, 300)


def test_a_question_that_cannot_be_shown_is_an_error_before_anything_is_asked(make):
    blind = make.question(1, targets=(), targets_clipped=())
    with pytest.raises(GeometryError, match="tiny/q001 in view crop_3x"):
        make.plan(benchmark=make.benchmark([make.question(0), blind]))


def test_geometry_policy_reaches_the_recipes(make):
    border = make.question(0, targets=(Box(0, 0, 60, 40),), targets_clipped=(Box(0, 0, 60, 40),))
    one = make.plan(benchmark=make.benchmark([border]), views="crop_3x")
    other = make.plan(
        benchmark=make.benchmark([border]),
        views="crop_3x",
        options=PlanOptions(geometry_policy=GeometryPolicy(border="shift")),
    )
    assert one.view_images[0].image.size != other.view_images[0].image.size


def test_shown_answer_follows_the_choice_order(make):
    plan = make.plan(1, "original")
    turned = msgspec.structs.replace(plan.requests[0], choice_order=(3, 2, 1, 0))
    assert shown_answer(plan.questions[0], turned) == "D"
    assert shown_answer(msgspec.structs.replace(plan.questions[0], answer=None), turned) is None


@pytest.mark.parametrize(
    ("options", "text"), [(PlanOptions(limit=0), "limit 0"), (PlanOptions(repeats=0), "0 repeats")]
)
def test_counts_below_one_are_refused(make, options, text):
    with pytest.raises(UsageError, match=text):
        make.plan(2, options=options)


def test_a_plan_without_views_or_questions_is_refused(make):
    with pytest.raises(BenchmarkError, match="tiny holds no question"):
        make.plan(0)
    from eyechart.runs.plan import plan_run

    with pytest.raises(UsageError, match="no view was named"):
        plan_run(make.benchmark([make.question(0)]), (), make.prompt(), model=ModelIdentity("a", "b"))


def test_repeated_question_ids_are_refused(make):
    with pytest.raises(BenchmarkError, match=r"tiny/q000 in view \w+ is asked twice"):
        make.plan(benchmark=make.benchmark([make.question(0), make.question(0)]))


def test_rotated_choices_are_asked_in_every_order_and_scored_by_content(make):
    plan = make.plan(2, "original", options=PlanOptions(rotations=26))
    orders = [request.choice_order for request in plan.requests if request.question_id == "q000"]
    assert orders == [(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)]
    for request in plan.requests:
        question = plan.questions[int(request.question_id[1:])]
        assert request.choices == tuple(question.choices[index] for index in request.choice_order)
        shown = shown_answer(question, request)
        assert request.choices[ord(shown) - ord("A")] == question.choices[0]
        assert f"{shown}. {question.choices[0]}" in request.prompt


def test_one_order_plans_what_was_planned_before(make):
    assert make.plan(2, options=PlanOptions(rotations=1)).plan_id == make.plan(2).plan_id


def test_no_order_is_refused(make):
    with pytest.raises(UsageError, match="0 orders of the choices ask nothing"):
        make.plan(1, options=PlanOptions(rotations=0))


def test_released_views_know_the_original_they_were_cut_from(make):
    from datetime import date

    from eyechart.runs.checking import check_benchmark
    from eyechart.views import resolve_views

    large = [
        msgspec.structs.replace(
            make.question(index),
            image=ImageRef(f"{index:064x}", Size(7680, 4320), "image/jpeg", n_bytes=10**6),
            targets=(Box(100, 100, 500, 300),),
            targets_clipped=(Box(100, 100, 500, 300),),
        )
        for index in range(2)
    ]
    released = {
        (one.id, "downsample_0_5"): ViewImage(
            question_id=one.id,
            view="downsample_0_5",
            image=ImageRef(f"{number:063x}f", Size(3840, 2160), "image/png", n_bytes=10**6),
            target_in_view=Box(50, 50, 250, 150),
        )
        for number, one in enumerate(large)
    }
    benchmark = make.benchmark(large, released=released)
    claude = ModelIdentity("anthropic", "claude-sonnet-4-5")
    views = resolve_views("original,downsample_0_5,crop_3x")[0]
    (model,) = check_benchmark(benchmark, views, [claude], today=date(2026, 11, 30)).models
    assert model.groups == (("original", "downsample_0_5"),)
    sizes = {view.view: view.target_px[1] for view in model.views}
    assert sizes["downsample_0_5"] == pytest.approx(sizes["original"], rel=0.001)
    picture = next(r for r in make.plan(benchmark=benchmark, views="downsample_0_5").requests).pictures[0]
    assert picture.release.size == (7680, 4320)
    assert picture.release.geometry.resized == (3840, 2160)
