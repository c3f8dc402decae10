import numpy as np
import pytest

from eyechart.errors import StatisticsError
from eyechart.schema import Crop, Downsample, Original, TargetOnly, Whiteground
from eyechart.stats.codes import Code
from eyechart.stats.conditions import ScoreTable
from eyechart.stats.estimands import NEGATIVE_CONTROL, estimate_named, name_pairs

RATIOS = {"1x": 1.0, "1_5x": 1.5, "3x": 3.0, "6x": 6.0, "12x": 12.0, "18x": 18.0}
SUM = {
    "original": Original(),
    **{f"crop_{name}": Crop(ratio) for name, ratio in RATIOS.items()},
    **{f"whiteground_{name}": Whiteground(ratio) for name, ratio in RATIOS.items()},
    **{f"downsample_0_{digits}": Downsample(float(f"0.{digits}")) for digits in ("75", "5", "0625")},
    "target_only_original": TargetOnly(None),
    **{f"target_only_{name}": TargetOnly(RATIOS[name]) for name in ("1x", "3x", "6x", "18x")},
}


def _pairs(name, views=SUM):
    return [pair.pair for pair in name_pairs(views) if pair.name == name]


def test_every_effect_of_sum_is_named():
    counts = {name: len(_pairs(name)) for name in dict.fromkeys(pair.name for pair in name_pairs(SUM))}
    assert counts == {
        "context curve": 5,
        "canvas effect": 6,
        "distraction effect": 6,
        "in-crop context at original canvas": 5,
        "in-crop context at crop canvas": 3,
        "canvas effect without context": 4,
        "resolution loss": 3,
        NEGATIVE_CONTROL: 2,
    }


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("context curve", ("crop_3x", "crop_1x")),
        ("canvas effect", ("crop_3x", "whiteground_3x")),
        ("distraction effect", ("whiteground_3x", "original")),
        ("in-crop context at original canvas", ("whiteground_3x", "target_only_original")),
        ("in-crop context at crop canvas", ("crop_3x", "target_only_3x")),
        ("canvas effect without context", ("target_only_3x", "target_only_original")),
        ("resolution loss", ("downsample_0_5", "original")),
        (NEGATIVE_CONTROL, ("crop_1x", "target_only_1x")),
        (NEGATIVE_CONTROL, ("whiteground_1x", "target_only_original")),
    ],
)
def test_effects_are_the_differences_of_the_specification(name, pair):
    assert pair in _pairs(name)


def test_order_of_the_views_changes_nothing():
    assert name_pairs(dict(reversed(SUM.items()))) == name_pairs(SUM)


def test_effect_without_its_baseline_is_not_named():
    assert name_pairs({"crop_3x": Crop(3.0), "downsample_0_5": Downsample(0.5)}) == ()


def _table(values, views):
    images = [f"i{index}" for index in range(len(values))]
    return ScoreTable(values, np.full(values.shape, True), images, tuple(views))


def test_each_effect_is_its_own_family_and_controls_are_never_corrected():
    values = np.random.default_rng(0).integers(0, 2, (60, len(SUM))).astype(float)
    effects = estimate_named(_table(values, SUM), SUM)
    assert {c.family for c in effects if c.name == "canvas effect"} == {"canvas effect, 6 contrasts"}
    for contrast in effects:
        if contrast.name == NEGATIVE_CONTROL:
            assert contrast.p_adjusted is None
            assert Code.SAME_INPUT in contrast.warnings
        else:
            assert contrast.p_adjusted >= contrast.p


def test_unknown_condition_is_refused():
    with pytest.raises(StatisticsError, match="no condition 'crop_3x'"):
        estimate_named(_table(np.ones((3, 1)), ["original"]), {"crop_3x": Crop(3.0), "crop_1x": Crop(1.0)})
