"""What is seen: scales along the chain, per axis, relative to the original."""

import pytest

from eyechart.kinds import ObservedPicture
from eyechart.runs.sight import observed_seen, planned_seen
from eyechart.runs.sights import read_sights
from eyechart.schema import Box, ModelIdentity, Size
from eyechart.seen.ledger import planned_ledger
from eyechart.seen.rules import look_up


def seen_at(plan, view, size):
    request = next(request for request in plan.requests if request.view == view)
    told = ObservedPicture(seen_size=size, evidence="executed", rule_id="r")
    return next(iter(observed_seen(request, (told,), ((None, None),))))


@pytest.mark.parametrize(
    ("view", "size", "presented", "information", "target"),
    [
        # the question's picture is 400×300 with a 50×40 target
        ("original", Size(400, 300), (1.0, 1.0), (1.0, 1.0), (50.0, 40.0)),
        ("original", Size(200, 150), (0.5, 0.5), (0.5, 0.5), (25.0, 20.0)),
        ("original", Size(200, 300), (0.5, 1.0), (0.5, 1.0), (25.0, 40.0)),
        ("downsample_0_5", Size(200, 150), (0.5, 0.5), (0.5, 0.5), (25.0, 20.0)),
        # enlarged by the model: presented larger, but no detail comes back
        ("downsample_0_5", Size(400, 300), (1.0, 1.0), (0.5, 0.5), (25.0, 20.0)),
        ("original", Size(800, 600), (2.0, 2.0), (1.0, 1.0), (50.0, 40.0)),
    ],
)
def test_scales_multiply_along_the_chain_and_detail_never_returns(make, view, size, presented, information, target):
    row = seen_at(make.plan(1), view, size)
    assert row.presented_scale == pytest.approx(presented)
    assert row.information_scale == pytest.approx(information)
    assert row.target_px == pytest.approx(target)
    assert row.anisotropy == pytest.approx(presented[0] / presented[1])


def test_a_model_that_says_nothing_leaves_sizes_unknown_with_a_reason(make):
    request = make.plan(1).requests[0]
    row = next(iter(observed_seen(request, (), ((1234, "image/png"),))))
    assert (row.evidence, row.seen_size, row.target_px) == ("unknown", None, None)
    assert (row.sent_bytes, row.sent_media_type, row.phase) == (1234, "image/png", "observed")
    assert row.reason


def test_planned_sight_covers_every_picture_the_model_can_predict(make):
    plan = make.plan(2)
    calls = []

    def predict(size):
        calls.append(size)
        return None if size.width < 200 else ObservedPicture(seen_size=Size(200, 150), evidence="executed")

    rows = list(planned_seen(plan.requests, predict))
    assert {row.phase for row in rows} == {"planned"}
    assert len(rows) == 4  # crop_3x is smaller than 200 px, so nothing is known of it
    assert len(calls) == len(set(calls))
    assert list(planned_seen(plan.requests, None)) == []


ALWAYS = ("source_size", "sent_size", "sent_media_type", "evidence", "recipe_key")
WHERE_SEEN = (
    *("seen_size", "visual_tokens", "information_scale", "presented_scale", "target_px", "target_tokens"),
    *("tokens_on_target", "lost_area", "anisotropy", "rule_id", "configuration_sha256"),
)


def missing(row, names):
    return [name for name in names if getattr(row, name) is None]


def test_plan_by_a_rule_fills_every_field(make):
    lookup = look_up(ModelIdentity("anthropic", "claude-sonnet-4-5"))
    for row in planned_ledger(make.plan(3).requests, lookup):
        assert missing(row, (*ALWAYS, *WHERE_SEEN, "rule_date")) == []
        assert (row.phase, row.evidence, row.reason) == ("planned", "documented", None)


def test_plan_knows_the_bytes_of_a_file_that_leaves_as_it_is_and_of_no_other(make):
    lookup = look_up(ModelIdentity("anthropic", "claude-sonnet-4-5"))
    plan = make.plan(1)
    rows = {row.request_id: row for row in planned_ledger(plan.requests, lookup)}
    by_view = {request.view: (request, rows[request.id]) for request in plan.requests}
    request, original = by_view["original"]
    image = request.pictures[0].image
    assert (original.sent_bytes, original.sent_media_type) == (image.n_bytes, image.media_type)
    assert by_view["downsample_0_5"][1].sent_bytes is None
    assert by_view["downsample_0_5"][1].sent_media_type == "image/png"


def test_what_was_executed_fills_every_field_again_with_the_bytes_that_left(make):
    request = next(request for request in make.plan(1).requests if request.view == "original")
    told = ObservedPicture(
        seen_size=Size(300, 300),
        evidence="executed",
        visual_tokens=100,
        n_tiles=1,
        rule_id="Processor@1",
        configuration_sha256="c" * 64,
        stages=(Size(400, 300),),
        kept=Box(50, 0, 350, 300),
        cell_px=30,
    )
    (row,) = observed_seen(request, (told,), ((4321, "image/jpeg"),))
    assert missing(row, (*ALWAYS, *WHERE_SEEN)) == []
    assert (row.phase, row.evidence, row.sent_bytes, row.n_tiles) == ("observed", "executed", 4321, 1)
    assert row.lost_area == pytest.approx(0.25)
    assert row.presented_scale == (1.0, 1.0)


def test_target_in_the_part_that_is_cut_off_has_no_size_and_a_reason(make):
    request = next(request for request in make.plan(1).requests if request.view == "original")
    cut = ObservedPicture(
        seen_size=Size(20, 300), evidence="executed", stages=(Size(400, 300),), kept=Box(380, 0, 400, 300)
    )
    (row,) = observed_seen(request, (cut,), ((None, None),))
    assert row.target_px is None
    assert row.reason == "the target lies in the part that is cut off"


def test_reply_that_counts_tokens_alone_says_so(make):
    request = next(request for request in make.plan(1).requests if request.view == "original")
    told = ObservedPicture(seen_size=None, evidence="reported", visual_tokens=85)
    (row,) = observed_seen(request, (told,), ((1234, "image/png"),))
    assert (row.visual_tokens, row.seen_size, row.evidence) == (85, None, "reported")
    assert row.reason == "the reply tells tokens, but no size"


def test_tokens_alone_are_no_evidence_of_a_size(make):
    request = next(request for request in make.plan(1).requests if request.view == "original")
    told = ObservedPicture(seen_size=None, evidence="reported", visual_tokens=85)
    sight = read_sights(observed_seen(request, (told,), ((1234, "image/png"),)))[request.id]
    assert (sight.seen_size, sight.evidence, sight.tokens_evidence) == (None, "unknown", "reported")


def test_a_planned_size_keeps_its_own_evidence_beside_reported_tokens(make):
    request = next(request for request in make.plan(1).requests if request.view == "original")
    planned = planned_seen([request], lambda sent: ObservedPicture(seen_size=sent, evidence="documented"))
    told = ObservedPicture(seen_size=None, evidence="reported", visual_tokens=85)
    sight = read_sights([*planned, *observed_seen(request, (told,), ((1234, "image/png"),))])[request.id]
    assert (sight.seen_size, sight.evidence, sight.tokens_evidence) == (Size(400, 300), "documented", "reported")
