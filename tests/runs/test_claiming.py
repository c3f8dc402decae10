"""One contrast has one adjusted p and one verdict wherever a report shows it."""

import pytest
from runs_made import SCORER, make_run, right_at

from eyechart.runs.cells import read_table
from eyechart.runs.summarise import estimate
from eyechart.stats.power import Design, detectable_difference

VIEWS = "original,crop_3x,whiteground_3x,target_only_3x,target_only_original,downsample_0_5"


@pytest.fixture(params=[0, 6])
def summary(request, make, tmp_path):
    """A report on 60 questions; with 6, as many answers of the crop are missing for good."""
    script = right_at({"crop_3x": 0.95, "downsample_0_5": 0.1}, default=0.5)
    store = make_run(make, tmp_path / "run", script, views=VIEWS)
    table = read_table(store, SCORER)
    if request.param:
        crop = table.conditions.index("crop_3x")
        for question in range(request.param):
            del table.cells[question, crop, 0]
    return estimate(table, SCORER, tuple(store.views()))


def test_a_pair_has_one_adjusted_p_and_one_verdict_everywhere(summary):
    parts = [one for part in summary.decompositions for one in (part.total, part.distraction, part.canvas)]
    shown = {}
    for one in (*summary.contrasts, *summary.effects, *parts):
        if one.p is not None:
            pair = frozenset((one.condition, one.baseline))
            shown.setdefault((pair, one.n_questions), set()).add((one.p_adjusted, one.claimed, one.secondary))
    assert all(len(records) == 1 for records in shown.values())
    assert any(len({one.name for one in (*summary.contrasts, *summary.effects)
                    if frozenset((one.condition, one.baseline)) == pair}) > 1 for pair, _ in shown)  # fmt: skip


def test_stars_stand_in_the_headline_family_alone_and_sentences_follow_them(summary):
    assert any(one.claimed for one in summary.contrasts)
    headline = {frozenset((one.condition, one.baseline)) for one in summary.contrasts if not one.secondary}
    for one in (*summary.contrasts, *summary.effects, *summary.group_effects):
        assert not (one.claimed and one.secondary)
        if one.claimed:
            assert frozenset((one.condition, one.baseline)) in headline
    said = {finding.contrast for finding in summary.findings if finding.code in {"HIGHER", "LOWER", "CROSSOVER"}}
    assert said == {(one.condition, one.baseline) for one in summary.contrasts if one.claimed}


def test_detectable_difference_uses_the_correction_of_the_star(summary):
    scores = [one for one in summary.contrasts if one.detectable is not None]
    n_tests = sum(one.p is not None and not one.secondary for one in summary.contrasts)
    assert n_tests > 1
    for one in scores:
        share = (one.gained + one.lost) / one.n_questions
        wanted = detectable_difference(one.n_questions, share, Design(n_comparisons=n_tests))
        assert one.detectable == pytest.approx(wanted, rel=0.02)
        assert one.detectable > detectable_difference(one.n_questions, share)
