"""Comparisons pair what was asked alike and nothing else, and call a tie a tie."""

import msgspec
import numpy as np
import pytest
from runs_made import SCORER, make_side, right_at

from eyechart.errors import StatisticsError, UsageError
from eyechart.runs.compare import MEAN_OVER_VIEWS, DiffOptions, compare_runs, compare_views
from eyechart.runs.plan import PlanOptions
from eyechart.runs.summarise import estimate
from eyechart.schema import DecodePolicy, Sampling
from eyechart.stats.mcnemar import mcnemar


@pytest.fixture
def pair(make, tmp_path):
    """A function that makes two sides, the second with changes."""

    def build(first=0.8, second=0.8, **changes):
        one = make_side(make, tmp_path / "a", right_at({}, seed=1, default=first), name="a")
        other = make_side(make, tmp_path / "b", right_at({}, seed=2, default=second), name="b", **changes)
        return one, other

    return build


def test_the_difference_is_later_minus_earlier_with_mcnemar_p(pair):
    one, other = pair(0.9, 0.4)
    result = compare_runs((one, other), SCORER, DiffOptions(views=("original",)))
    (difference,) = result.differences
    scores = [side.table.scores()[0][:, 0] for side in (one, other)]
    contrast = difference.contrast
    assert (contrast.condition, contrast.baseline) == ("b", "a")
    assert contrast.value == pytest.approx(float((scores[1] - scores[0]).mean()))
    assert contrast.gained == int((scores[1] > scores[0]).sum())
    assert contrast.lost == int((scores[1] < scores[0]).sum())
    assert contrast.p == pytest.approx(float(mcnemar(contrast.gained, contrast.lost).mid), abs=1e-12)
    assert (result.n_questions, result.n_clusters) == (60, 60)


def test_exchanging_the_sides_changes_signs_only(pair):
    one, other = pair(0.7, 0.5)
    there = compare_runs((one, other), SCORER, DiffOptions())
    back = compare_runs((other, one), SCORER, DiffOptions())
    for first, second in zip(there.differences, back.differences, strict=True):
        assert first.contrast.value == pytest.approx(-second.contrast.value)
        assert first.contrast.low == pytest.approx(-second.contrast.high)
        assert first.contrast.p == pytest.approx(second.contrast.p)


def test_the_family_is_every_difference_shown(pair):
    result = compare_runs(pair(0.9, 0.5), SCORER, DiffOptions(correction="bonferroni"))
    assert [one.view for one in result.differences] == ["original", "crop_3x", MEAN_OVER_VIEWS]
    for one in result.differences:
        assert one.contrast.p_adjusted == pytest.approx(min(1.0, 3 * one.contrast.p))
        assert one.contrast.family == "bonferroni over 3 differences"


def test_two_views_of_one_run_are_paired_without_complaint_about_their_pictures(make, tmp_path):
    side = make_side(make, tmp_path / "a", right_at({"crop_3x": 0.95}, default=0.4))
    result = compare_views(side, SCORER, DiffOptions(views=("original", "crop_3x")))
    (difference,) = result.differences
    assert (difference.contrast.condition, difference.contrast.baseline) == ("crop_3x", "original")
    assert difference.contrast.value > 0.2
    assert result.rules == ()


def test_equivalence_needs_a_margin_wider_than_the_noise(pair):
    same = pair(1.0, 1.0)
    wide = compare_runs(same, SCORER, DiffOptions(views=("original",), margin=0.2)).differences[0].equivalence
    narrow = compare_runs(same, SCORER, DiffOptions(views=("original",), margin=0.001)).differences[0].equivalence
    assert wide.is_equivalent
    assert not narrow.is_equivalent
    assert wide.confidence == 0.9


@pytest.mark.parametrize(("limit", "is_below"), [(-0.02, True), (-0.9, False)])
def test_a_difference_lies_below_only_with_its_whole_interval(pair, limit, is_below):
    result = compare_runs(pair(0.95, 0.3), SCORER, DiffOptions(views=("original",)))
    assert result.lies_below(limit) is is_below


class OtherPrompt:
    """Another wording."""

    name, version = "plain", 2

    def render(self, question, choices):
        return f"Look. {question.text} {choices}"


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("DIFFERENT_PROMPTS", {"prompt": OtherPrompt()}),
        ("HETEROGENEOUS_SETTINGS", {"sampling": Sampling(temperature=1.0)}),
        ("HETEROGENEOUS_SETTINGS", {"plan": PlanOptions(decode=DecodePolicy(exif="apply"))}),
        ("SUBSET_MISMATCH", {"n": 50}),
    ],
)
def test_what_was_asked_otherwise_is_refused_unless_allowed_by_name(pair, code, changes):
    both = pair(**changes)
    with pytest.raises(StatisticsError, match=f"not compared: {code}") as refused:
        compare_runs(both, SCORER, DiffOptions())
    assert f"--allow {code}" in refused.value.hint
    result = compare_runs(both, SCORER, DiffOptions(allowed=(code,)))
    assert any(rule.code == code and f"allowed by --allow {code}" in rule.message for rule in result.rules)
    assert all(code in one.contrast.warnings for one in result.differences)


def test_one_id_with_another_question_is_not_paired(make, tmp_path):
    changed = [make.question(index) for index in range(60)]
    changed[3] = msgspec.structs.replace(changed[3], text="Another question?")
    one = make_side(make, tmp_path / "a", right_at({}), name="a")
    other = make_side(make, tmp_path / "b", right_at({}), name="b", questions=changed)
    result = compare_runs((one, other), SCORER, DiffOptions(allowed=("SUBSET_MISMATCH",)))
    assert result.n_questions == 59
    assert "q003" in result.rules[0].message


def test_runs_without_a_shared_question_or_view_are_refused(make, tmp_path):
    one = make_side(make, tmp_path / "a", right_at({}), name="a", n=5)
    others = [make.question(index) for index in range(10, 15)]
    other = make_side(make, tmp_path / "b", right_at({}), name="b", questions=others)
    with pytest.raises(StatisticsError, match="a and b share no question"):
        compare_runs((one, other), SCORER, DiffOptions())
    third = make_side(make, tmp_path / "c", right_at({}), name="c", n=5, views="crop_1x")
    with pytest.raises(StatisticsError, match="the runs share no view"):
        compare_runs((one, third), SCORER, DiffOptions())
    with pytest.raises(StatisticsError, match="not asked on every side: crop_1x"):
        compare_runs((one, other), SCORER, DiffOptions(views=("crop_1x",)))
    with pytest.raises(UsageError, match="1 views of one run are named"):
        compare_views(one, SCORER, DiffOptions(views=("original",)))
    with pytest.raises(StatisticsError, match="view 'crop_9x' was not asked"):
        compare_views(one, SCORER, DiffOptions(views=("original", "crop_9x")))


def test_answers_unreadable_on_one_side_are_said(make, tmp_path):
    def mumbling(ask):
        return "hm" if int(ask.identity.question_id[1:]) % 4 == 0 else right_at({})(ask)

    one = make_side(make, tmp_path / "a", right_at({}), name="a")
    other = make_side(make, tmp_path / "b", mumbling, name="b")
    result = compare_runs((one, other), SCORER, DiffOptions(views=("original",)))
    assert [rule.code for rule in result.rules] == ["UNREADABLE_BY_VIEW"]


def test_a_difference_made_of_unreadable_answers_is_blocked_unless_allowed_by_name(make, tmp_path):
    def mumbling(ask):
        return "hm" if int(ask.identity.question_id[1:]) % 4 == 0 else right_at({}, default=0.9)(ask)

    one = make_side(make, tmp_path / "a", right_at({}, default=0.9), name="a")
    other = make_side(make, tmp_path / "b", mumbling, name="b")
    options = DiffOptions(views=("original",))
    (difference,) = compare_runs((one, other), SCORER, options).differences
    assert difference.contrast.p < 0.05
    assert difference.changes == ("significance",)
    assert difference.contrast.blocked_by == ("UNREADABLE_BY_VIEW",)
    assert {contrast.subset for contrast in difference.readings} == {"readable only", "unreadable by chance"}
    allowed = msgspec.structs.replace(options, allowed=("UNREADABLE_BY_VIEW",))
    assert compare_runs((one, other), SCORER, allowed).differences[0].contrast.blocked_by == ()


def test_two_views_are_blocked_in_a_comparison_as_in_the_run_itself(make, tmp_path):
    def mumbling(ask):
        is_lost = ask.identity.condition == "crop_3x" and int(ask.identity.question_id[1:]) % 4 == 0
        return "hm" if is_lost else right_at({}, default=0.9)(ask)

    side = make_side(make, tmp_path / "a", mumbling)
    (shown,) = compare_views(side, SCORER, DiffOptions(views=("original", "crop_3x"))).differences
    (own,) = estimate(side.table, SCORER, ()).contrasts
    assert shown.contrast.blocked_by == own.blocked_by == ("UNREADABLE_BY_VIEW",)


def test_only_the_view_that_a_rule_concerns_is_marked(make, tmp_path):
    def mumbling(ask):
        is_lost = ask.identity.condition == "crop_3x" and int(ask.identity.question_id[1:]) % 4 == 0
        return "hm" if is_lost else right_at({})(ask)

    one = make_side(make, tmp_path / "a", right_at({}), name="a")
    other = make_side(make, tmp_path / "b", mumbling, name="b")
    marked = {one.view: one.contrast.warnings for one in compare_runs((one, other), SCORER, DiffOptions()).differences}
    assert marked == {
        "original": (),
        "crop_3x": ("UNREADABLE_BY_VIEW",),
        MEAN_OVER_VIEWS: ("UNREADABLE_BY_VIEW",),
    }


def test_ties_share_their_places_and_a_worse_model_has_its_own(make, tmp_path):
    rates = {"a": 0.85, "b": 0.85, "c": 0.2}
    sides = [
        make_side(make, tmp_path / name, right_at({}, seed=name, default=rate), name=name, n=120)
        for name, rate in rates.items()
    ]
    result = compare_runs(sides, SCORER, DiffOptions())
    places = {rank.label: (rank.best, rank.worst) for rank in result.ranks}
    assert places == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert result.family == "max-t step-down over 3 pairs on original"
    assert len(result.differences) == 3


def test_too_few_questions_give_every_place_and_no_p(make, tmp_path):
    sides = [
        make_side(make, tmp_path / name, right_at({}, default=rate), name=name, n=10)
        for name, rate in {"a": 1.0, "b": 0.0, "c": 0.0}.items()
    ]
    result = compare_runs(sides, SCORER, DiffOptions())
    assert {(rank.best, rank.worst) for rank in result.ranks} == {(1, 3)}
    assert all(one.contrast.p is None for one in result.differences)


def with_missing(side, is_missing):
    """The side without the answers to some questions, by their number."""
    cells = {key: cell for key, cell in side.table.cells.items() if not is_missing(key[0])}
    return type(side)(side.label, msgspec.structs.replace(side.table, cells=cells))


def test_a_run_that_ends_early_does_not_turn_the_places_round(make, tmp_path):
    """Places came from the 40 questions that all three answered, differences from those that each pair answered."""
    n = 160
    rules = {"a": lambda i: i < 38 or i >= 98, "b": lambda i: i >= 38, "c": lambda i: i % 2 == 0}
    sides = []
    for name, is_right in rules.items():

        def script(ask, is_right=is_right):
            return "A" if is_right(int(ask.identity.question_id.removeprefix("q"))) else "B"

        sides.append(make_side(make, tmp_path / name, script, name=name, n=n, views="original"))
    result = compare_runs([sides[0], sides[1], with_missing(sides[2], lambda i: i >= 40)], SCORER, DiffOptions())
    assert result.left_out == ("c",)
    assert {one.contrast.n_questions for one in result.differences} == {result.n_questions} == {n}
    assert [rank.accuracy.n_questions for rank in result.ranks] == [n, n]
    few = compare_runs([*sides[:2], with_missing(sides[2], lambda i: i % 20 == 0)], SCORER, DiffOptions())
    assert few.left_out == ()
    assert {one.contrast.n_questions for one in few.differences} == {few.n_questions} == {n - n // 20}


def test_one_model_stands_above_another_only_where_their_difference_is_claimed(make, tmp_path):
    rates = {"a": 0.9, "b": 0.75, "c": 0.55, "d": 0.5}
    sides = [
        make_side(make, tmp_path / name, right_at({}, seed=name, default=rate), name=name, n=100, views="original")
        for name, rate in rates.items()
    ]
    result = compare_runs(sides, SCORER, DiffOptions())
    place = {rank.label: rank for rank in result.ranks}
    n_above = dict.fromkeys(rates, 0)
    for one in result.differences:
        first, second = one.contrast.condition, one.contrast.baseline
        if one.contrast.p_adjusted <= 0.05:
            n_above[second if one.contrast.value > 0 else first] += 1
        assert one.contrast.p_adjusted >= one.contrast.p
    assert {name: rank.best for name, rank in place.items()} == {name: 1 + count for name, count in n_above.items()}


def test_null_models_are_called_different_no_more_often_than_promised(make, tmp_path):
    side = make_side(make, tmp_path / "a", right_at({}, seed="base"), name="a", views="original", n=60)
    rng = np.random.default_rng(0)
    claims = 0
    for _ in range(200):
        cells = {
            key: msgspec.structs.replace(
                cell, verdict=msgspec.structs.replace(cell.verdict, value=float(rng.random() < 0.8))
            )
            for key, cell in side.table.cells.items()
        }
        other = type(side)("b", msgspec.structs.replace(side.table, cells=cells))
        again = {
            key: msgspec.structs.replace(
                cell, verdict=msgspec.structs.replace(cell.verdict, value=float(rng.random() < 0.8))
            )
            for key, cell in side.table.cells.items()
        }
        first = type(side)("a", msgspec.structs.replace(side.table, cells=again))
        claims += compare_runs((first, other), SCORER, DiffOptions()).differences[0].contrast.p < 0.05
    assert claims <= 20
