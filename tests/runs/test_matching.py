"""Laws of matched designs: what is held constant is constant, and what cannot be is left out with its reason."""

import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs_made import right_at

from eyechart.errors import UsageError
from eyechart.kinds import ObservedPicture
from eyechart.runs.cells import read_table
from eyechart.runs.folders import Destination
from eyechart.runs.foresight import Foresight, fit_for
from eyechart.runs.matching import gauge_for, parse_match
from eyechart.runs.plan import PlanOptions
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.runs.summarise import estimate
from eyechart.schema import Box, ModelIdentity, Size
from eyechart.seen.ledger import planned_ledger
from eyechart.seen.rules import look_up
from eyechart.views import resolve_views

CLAUDE = ModelIdentity("anthropic", "claude-sonnet-4-5")
GPT = ModelIdentity("openai", "gpt-5.4", settings={"detail": "high"})
GEMINI = ModelIdentity("google", "gemini-3-pro-preview", settings={"media_resolution": "high"})
VIEWS = "original,crop_3x,crop_12x,whiteground_3x,target_only_3x"


def question(make, index, size, target):
    made = make.question(index)
    image = msgspec.structs.replace(made.image, size=Size(*size))
    return msgspec.structs.replace(made, image=image, targets=(Box(*target),), targets_clipped=(Box(*target),))


def matched(make, questions, identity, match, views=VIEWS, transport="native@1"):
    ahead = Foresight(identity.spec, None, look_up(identity))
    return make.plan(
        benchmark=make.benchmark(questions),
        views=views,
        model=identity,
        options=PlanOptions(match=parse_match(match).id, transport=transport),
        fit=fit_for(transport, ahead),
        gauge=gauge_for(ahead),
    )


def seen_px(plan, identity):
    """Question → condition → shorter side of the target as the ledger says, apart from the matcher."""
    requests = {request.id: request for request in plan.requests}
    found = {}
    for row in planned_ledger(plan.requests, look_up(identity)):
        request = requests[row.request_id]
        found.setdefault(request.question_id, {})[request.condition] = min(row.target_px)
    return found


@settings(max_examples=30, deadline=None)
@given(
    size=st.tuples(st.integers(900, 9000), st.integers(900, 7000)),
    side=st.integers(40, 400),
    aspect=st.floats(0.5, 4),
    which=st.sampled_from([CLAUDE, GPT, GEMINI]),
    transport=st.sampled_from(["native@1", "fit@1"]),
)
def test_the_target_is_seen_at_one_size_under_every_view_or_the_question_is_left_out(
    make_once, size, side, aspect, which, transport
):
    target = (50, 60, 50 + side * aspect, 60 + side)
    if target[2] > size[0] or target[3] > size[1]:
        return
    try:
        plan = matched(make_once, [question(make_once, 0, size, target)], which, "target-px", transport=transport)
    except UsageError as error:
        if "no question can be matched" not in error.message:
            raise
        return
    (sizes,) = seen_px(plan, which).values()
    assert set(sizes) == set(plan.views)
    assert max(sizes.values()) / min(sizes.values()) < math.exp(2 * 0.03)
    assert plan.matching.unmatched == ()


@pytest.mark.parametrize("identity", [CLAUDE, GPT], ids=lambda one: one.name)
def test_levels_hold_for_every_question_and_context_varies(make, identity):
    questions = [question(make, i, (7680, 4320), (100, 100, 500 + 9 * i, 400 + 7 * i)) for i in range(12)]
    plan = matched(make, questions, identity, "target-px=8,32", "original,crop_3x")
    assert plan.views == ("match_px_8", "match_px_32", "match_px_8_crop_3x", "match_px_32_crop_3x")
    for sizes in seen_px(plan, identity).values():
        assert sizes["match_px_8"] == pytest.approx(8, rel=0.03)
        assert sizes["match_px_8_crop_3x"] == pytest.approx(8, rel=0.03)
        assert sizes["match_px_32"] == pytest.approx(32, rel=0.03)
    sent = {(r.condition, r.question_id): r.pictures[0].size.n_px for r in plan.requests}
    assert len(plan.questions) >= 8  # the rest has crops of a few pixels, whose sides round to other scales
    for one in plan.questions:
        assert sent["match_px_32", one.id] > 50 * sent["match_px_32_crop_3x", one.id]


def test_the_reverse_holds_context_and_varies_pixels(make):
    questions = [question(make, i, (3000, 2000), (100, 100, 300, 260)) for i in range(3)]
    plan = matched(make, questions, CLAUDE, "target-px=8,16,64", "crop_3x")
    assert plan.views == ("match_px_8_crop_3x", "match_px_16_crop_3x", "match_px_64_crop_3x")
    assert {request.view for request in plan.requests} == {"crop_3x"}
    cuts = {request.pictures[0].recipe.geometry.kept for request in plan.requests}
    assert len(cuts) == 1


def test_tokens_on_the_target_are_constant(make):
    questions = [question(make, i, (3000, 2000), (100, 100, 400 + 30 * i, 300)) for i in range(6)]
    plan = matched(make, questions, GPT, "tokens=4", "original,crop_3x,crop_12x")
    assert {one.condition for one in plan.matching.conditions} == set(plan.views)
    for one in plan.matching.conditions:
        assert 4 * 0.94 <= one.smallest <= one.largest <= 4 * 1.06
        assert one.largest_error <= 0.062


def test_questions_that_cannot_be_matched_are_listed_with_view_and_reason_and_not_asked(make):
    questions = [
        question(make, 0, (7680, 4320), (100, 100, 500, 300)),
        question(make, 1, (7680, 4320), (100, 100, 130, 120)),
        question(make, 2, (7680, 4320), (100, 100, 190, 150)),
    ]
    plan = matched(make, questions, CLAUDE, "target-px=32", "original,crop_3x")
    assert [one.id for one in plan.questions] == [questions[0].id]
    assert {request.question_id for request in plan.requests} == {questions[0].id}
    reasons = {one.question_id: (one.view, one.reason) for one in plan.matching.unmatched}
    assert reasons[questions[1].id] == ("original", "the target has only 20 px, not 32")
    assert reasons[questions[2].id] == ("original", "the model makes 9.48 px of 32")


def test_a_design_that_matches_nothing_is_refused_with_a_reason(make):
    with pytest.raises(UsageError, match=r"no question can be matched by target-px=500; .* in original"):
        matched(make, [question(make, 0, (900, 700), (10, 10, 60, 50))], CLAUDE, "target-px=500")


def test_views_with_a_scale_of_their_own_are_refused(make):
    for view in ("downsample_0_5", "original_plus_crop_3x"):
        with pytest.raises(UsageError, match=f"view {view} cannot be matched"):
            matched(make, [make.question(0)], CLAUDE, "target-px", view)


def test_a_design_without_a_view_of_the_target_is_refused(make):
    with pytest.raises(UsageError, match="no view shows a target to match"):
        matched(make, [make.question(0)], CLAUDE, "target-px", "blank,no_image")


def test_views_that_show_nothing_are_asked_beside_a_matched_design(make):
    questions = [question(make, 0, (3000, 2000), (100, 100, 300, 260))]
    plan = matched(make, questions, CLAUDE, "target-px=16", "original,crop_3x,no_image,blank")
    assert plan.views == ("match_px_16", "match_px_16_crop_3x", "no_image", "blank")
    pictures = {request.condition: request.pictures for request in plan.requests}
    assert pictures["no_image"] == ()
    assert pictures["blank"][0].recipe.geometry.kept is None
    assert [one.condition for one in plan.matching.conditions] == ["match_px_16", "match_px_16_crop_3x"]


@pytest.mark.parametrize("text", ["", "px", "target-px=", "target-px=0", "tokens=-1", "target-px=8,8", "tokens=nan"])
def test_a_text_that_is_no_design_is_refused(text):
    with pytest.raises(UsageError, match="is not a matched design"):
        parse_match(text)


def test_a_model_whose_grid_is_not_known_cannot_be_matched(make):
    with pytest.raises(UsageError, match=r"targets of vllm/m cannot be matched: no rule is known for vllm/m"):
        matched(make, [make.question(0)], ModelIdentity("vllm", "m"), "target-px")
    with pytest.raises(UsageError, match="nothing tells what the model will see"):
        make.plan(1, options=PlanOptions(match="target-px"))


def test_another_design_is_another_plan(make):
    questions = [question(make, 0, (3000, 2000), (100, 100, 300, 260))]
    plans = {matched(make, questions, CLAUDE, match, "original").plan_id for match in ("target-px=8", "target-px=16")}
    assert len(plans) == 2


def test_a_run_of_a_matched_design_is_grouped_by_its_conditions(make, tmp_path):
    class Shrinking(make.model):
        def predict_seen(self, sent):
            return ObservedPicture(seen_size=Size(min(200, sent.width), min(150, sent.height)), evidence="executed")

    outcome = run_benchmark(
        make.benchmark([make.question(index) for index in range(6)]),
        Shrinking(right_at({"match_px_10": 1.0}, default=0.0)),
        resolve_views("original,crop_3x")[0],
        make.prompt(),
        options=RunOptions(
            scorer="tiny_letter",
            plan=PlanOptions(match="target-px=10"),
            where=Destination(out=tmp_path / "run"),
        ),
    )
    table = read_table(outcome.store, outcome.summary.scorer)
    assert table.conditions == ("match_px_10", "match_px_10_crop_3x")
    assert table.view_of == {"match_px_10": "original", "match_px_10_crop_3x": "crop_3x"}
    by_name = {one.condition: one for one in outcome.summary.conditions}
    assert by_name["match_px_10"].target_px_seen == pytest.approx(10, rel=0.03)
    assert by_name["match_px_10"].family == "original"
    assert outcome.summary.run.matching.design == "target-px=10"
    values = {one.condition: one.value for one in outcome.summary.estimates}
    assert values == {"match_px_10": 1.0, "match_px_10_crop_3x": 0.0}
    assert estimate(table, outcome.summary.scorer, ()).effects == ()


def test_each_level_of_a_matched_design_has_its_own_baseline_and_one_family_holds_all(make, tmp_path):
    class Shrinking(make.model):
        def predict_seen(self, sent):
            return ObservedPicture(seen_size=Size(min(200, sent.width), min(150, sent.height)), evidence="executed")

    # The crop always wins 1 - 0 = 1 at 8 px and nothing at 16 px, where the whole picture is read as well.
    accuracy = {"match_px_8": 0.0, "match_px_16": 1.0, "match_px_8_crop_3x": 1.0, "match_px_16_crop_3x": 1.0}
    outcome = run_benchmark(
        make.benchmark([make.question(index) for index in range(40)]),
        Shrinking(right_at(accuracy, default=0.0)),
        resolve_views("original,crop_3x")[0],
        make.prompt(),
        options=RunOptions(
            scorer="tiny_letter",
            plan=PlanOptions(match="target-px=8,16"),
            where=Destination(out=tmp_path / "run"),
        ),
    )
    found = {(one.condition, one.baseline): one for one in outcome.summary.contrasts}
    assert {pair: one.value for pair, one in found.items()} == {
        ("match_px_16", "match_px_8"): 1.0,
        ("match_px_8_crop_3x", "match_px_8"): 1.0,
        ("match_px_16_crop_3x", "match_px_16"): 0.0,
    }
    assert {one.family for one in found.values()} == {"3 contrasts shown"}
