"""What is seen: scales along the chain, per axis, relative to the original."""

import pytest

from eyechart.kinds import ObservedPicture
from eyechart.runs.sight import observed_seen, planned_seen
from eyechart.schema import Size


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
