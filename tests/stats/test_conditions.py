import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.schema import Contrast, Estimate, decode_record, encode_record
from eyechart.stats.codes import Code
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition, contrasts_against, contrasts_between
from eyechart.stats.corrections import holm


def _table(values, *, images=None, present=None, names=None, **options):
    values = np.asarray(values, dtype=float)
    return ScoreTable(
        values=values,
        present=np.full(values.shape, True) if present is None else present,
        image_groups=images or [f"image {index}" for index in range(len(values))],
        conditions=names or tuple(f"view {index}" for index in range(values.shape[1])),
        **options,
    )


def _random(n, n_conditions, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (n, n_conditions)).astype(float)


def test_records_equal_the_reference(paired, reference, expected):
    table = _table(paired.values, images=paired.images, names=tuple(paired.views), chance=paired.chance, scorer="s@1")
    first = accuracy_by_condition(table)[0]
    assert [first.low, first.high] == pytest.approx(reference["expected_wilson_kg"]["A"]["wilson_kg"], abs=0.01)
    assert (first.n_questions, first.n_clusters, first.scorer) == (60, 44, "s@1")
    assert first.chance == pytest.approx(paired.chance.mean())
    contrasts = contrasts_against(table, "A")
    assert [c.condition for c in contrasts] == ["B", "C", "D"]
    rows = expected["d1_contrasts"][:3]
    raw = [row["signflip_cluster_midp"] for row in rows]
    assert [c.p for c in contrasts] == pytest.approx(raw, abs=1e-12)
    assert [c.p_adjusted for c in contrasts] == pytest.approx(holm(np.array(raw)), abs=1e-12)
    assert {c.correction for c in contrasts} == {"holm"}
    assert {c.family for c in contrasts} == {"3 contrasts shown"}


@given(st.integers(0, 45), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_every_table_gives_records_that_survive_storage(n, per_image, seed):
    rng = np.random.default_rng(seed)
    table = _table(
        rng.choice([0.0, 1 / 3, 1.0], (n, 3)),
        images=[f"i{index // per_image}" for index in range(n)],
        present=rng.random((n, 3)) < rng.random(3),
        chance=np.full(n, 0.25),
    )
    for estimate in accuracy_by_condition(table):
        assert decode_record(encode_record(estimate), Estimate, "here") == estimate
        if estimate.interval is not None:
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    for contrast in contrasts_against(table, "view 0"):
        assert decode_record(encode_record(contrast), Contrast, "here") == contrast
        assert contrast.interval is None or contrast.low < contrast.high
        assert (contrast.p is None) == (Code.TINY_GROUP in contrast.warnings)
        assert (contrast.p is None) == (contrast.n_questions < 30 or contrast.interval is None)


def test_neither_row_nor_view_order_changes_a_number():
    values = _random(60, 4)
    rows, columns = np.random.default_rng(1).permutation(60), [2, 0, 3, 1]
    images = [f"i{index // 2}" for index in range(60)]
    names = tuple("abcd")
    shuffled = _table(
        values[rows][:, columns],
        images=[images[row] for row in rows],
        names=tuple(names[column] for column in columns),
    )
    straight = {c.condition: c for c in contrasts_against(_table(values, images=images, names=names), "a")}
    for contrast in contrasts_against(shuffled, "a"):
        other = straight[contrast.condition]
        for field in ("value", "low", "high", "p", "p_adjusted"):
            assert getattr(contrast, field) == pytest.approx(getattr(other, field), abs=1e-12)


def test_missing_is_kept_apart_from_wrong():
    values = np.array([[1.0], [np.nan], [0.0], [1.0]])
    (estimate,) = accuracy_by_condition(_table(values, present=~np.isnan(values)))
    assert (estimate.value, estimate.n_questions, estimate.n_missing) == (pytest.approx(2 / 3), 3, 1)


def test_chance_is_that_of_the_scored_questions():
    present = np.array([[True], [False], [True]])
    (estimate,) = accuracy_by_condition(_table(np.ones((3, 1)), present=present, chance=np.array([0.25, 1.0, 0.5])))
    assert estimate.chance == 0.375


def test_condition_without_a_score_is_left_out():
    present = np.array([[True, False]] * 3)
    table = _table(np.ones((3, 2)), present=present)
    assert [e.condition for e in accuracy_by_condition(table)] == ["view 0"]
    assert contrasts_against(table, "view 0") == ()


@pytest.mark.parametrize("n", [1, 2, 9, 29])
def test_few_questions_give_no_p(n):
    table = _table(_random(n, 2))
    (contrast,) = contrasts_against(table, "view 0")
    assert (contrast.p, contrast.p_adjusted, contrast.p_method, contrast.correction) == (None, None, None, None)
    assert contrast.warnings == (Code.TINY_GROUP,)
    assert accuracy_by_condition(table)[0].warnings == (Code.TINY_GROUP,)


@pytest.mark.parametrize(
    ("images", "is_enough"),
    [
        ([f"i{index % 10}" for index in range(200)], True),
        ([f"i{index % 9}" for index in range(200)], False),
        (["one"] * 50, False),
        # one picture holds 60 of 200 questions, the others one each: 10.7 effective pictures; with 66, 9.0
        (["big"] * 60 + [f"i{index}" for index in range(140)], True),
        (["big"] * 66 + [f"i{index}" for index in range(134)], False),
    ],
)
def test_below_ten_effective_pictures_there_is_neither_interval_nor_p(images, is_enough):
    table = _table(_random(len(images), 2), images=images)
    estimate, (contrast,) = accuracy_by_condition(table)[0], contrasts_against(table, "view 0")
    assert (estimate.interval is not None) == (contrast.interval is not None) == is_enough
    assert (contrast.p is not None) == is_enough
    assert (Code.TINY_GROUP in estimate.warnings) == (Code.TINY_GROUP in contrast.warnings) == (not is_enough)
    assert b'"low":null' in encode_record(estimate) or is_enough


def test_negative_control_is_marked_and_never_corrected():
    values = _random(40, 3)
    values[:, 1] = values[:, 0]
    contrasts = contrasts_against(_table(values), "view 0", negative_controls=[("view 0", "view 1")])
    control, effect = contrasts
    assert (control.value, control.p, control.p_adjusted) == (0.0, 1.0, None)
    assert control.warnings == (Code.SAME_INPUT,)
    assert control.family == "negative controls, not corrected"
    assert effect.p_adjusted == effect.p
    assert effect.family == "1 contrasts shown"


def test_negative_control_with_an_effect_raises_the_alarm():
    values = np.stack([np.zeros(40), np.r_[np.ones(12), np.zeros(28)]], axis=1)
    (control,) = contrasts_against(_table(values), "view 0", negative_controls=[("view 1", "view 0")])
    assert control.warnings == (Code.SAME_INPUT, Code.AA_NOISE)


def test_named_family_and_correction_are_recorded():
    (contrast,) = contrasts_against(
        _table(_random(40, 2)), "view 0", correction="benjamini-hochberg", family="exploratory"
    )
    assert (contrast.correction, contrast.family) == ("benjamini-hochberg", "exploratory")


def test_confidence_is_recorded_and_obeyed():
    wide = contrasts_against(_table(_random(40, 2)), "view 0", confidence=0.99)[0]
    narrow = contrasts_against(_table(_random(40, 2)), "view 0", confidence=0.9)[0]
    assert wide.low < narrow.low
    assert wide.confidence == 0.99


def test_fractional_scores_have_an_exact_p():
    values = np.random.default_rng(0).choice([0.0, 1 / 3, 2 / 3, 1.0], (60, 2))
    assert contrasts_against(_table(values), "view 0")[0].p_method == "cluster sign-flip mid-p, exact"


def test_scores_without_a_common_denominator_say_that_flips_were_sampled():
    values = np.random.default_rng(0).random((60, 2))
    (contrast,) = contrasts_against(_table(values), "view 0")
    assert contrast.p_method == "cluster sign-flip mid-p, 4999 Monte-Carlo flips"


def test_pairs_may_be_named_freely():
    values = _random(40, 3)
    contrasts = contrasts_between(_table(values), [("view 2", "view 1"), ("view 1", "view 2")])
    assert contrasts[0].value == -contrasts[1].value
    assert contrasts[0].p == contrasts[1].p


def test_unknown_condition_is_refused():
    with pytest.raises(StatisticsError, match="no condition 'crop_3x' among view 0, view 1"):
        contrasts_against(_table(_random(3, 2)), "crop_3x")


def test_table_with_other_number_of_labels_is_refused():
    with pytest.raises(StatisticsError, match="for 2 labels and 1 conditions"):
        _table(np.zeros((3, 1)), images=["a", "b"])


def test_repeated_condition_is_refused():
    with pytest.raises(StatisticsError, match="conditions repeat: a, a"):
        _table(np.zeros((3, 2)), names=("a", "a"))


@pytest.mark.parametrize("chance", [np.array([0.25]), np.array([0.25, 0.25, 1.5]), np.full(3, np.nan)])
def test_guess_rates_must_belong_to_the_questions(chance):
    with pytest.raises(StatisticsError, match="for 3 questions, or outside 0–1"):
        _table(np.zeros((3, 1)), chance=chance)


def test_null_data_rarely_gives_a_finding():
    """On data without any effect at most 1 seed in 20 may show an adjusted p below 0.05."""
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        difficulty = rng.random(120)[:, None]
        table = _table((rng.random((120, 6)) < difficulty).astype(float), images=[f"i{k // 2}" for k in range(120)])
        found += any(c.p_adjusted < 0.05 for c in contrasts_against(table, "view 0"))
    assert found <= 10 + 7  # 2 standard errors above 5 %


def test_table_records_are_frozen():
    with pytest.raises(AttributeError):
        _table(_random(3, 1)).scorer = "x"
    assert isinstance(_table(_random(3, 1)), msgspec.Struct)


def test_the_alarm_about_same_pictures_is_corrected_over_all_such_pairs():
    values = np.zeros((60, 40))
    values[:9, 1] = 1.0  # mid-p 0.003: an alarm among one pair, none among twenty
    table = _table(values)
    pairs = [(f"view {2 * index}", f"view {2 * index + 1}") for index in range(20)]
    (alone,) = contrasts_between(table, pairs[:1], negative_controls=pairs)
    among = contrasts_between(table, pairs, negative_controls=pairs)
    assert Code.AA_NOISE in alone.warnings
    assert not any(Code.AA_NOISE in one.warnings for one in among)


def test_a_clear_p_between_same_pictures_says_nothing_below_a_point():
    values = np.zeros((2000, 2))
    values[:15, 1] = 1.0
    (control,) = contrasts_against(_table(values), "view 0", negative_controls=[("view 0", "view 1")])
    assert control.p < 0.001
    assert control.warnings == (Code.SAME_INPUT,)
