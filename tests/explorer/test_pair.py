"""Laws of two models side by side: the draw is the seed's, a filter never reshuffles, and every mark is the score's."""

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from eyechart.errors import UsageError
from eyechart.explorer.filters import MARKS, verdict_codes
from eyechart.explorer.pair import PairFilter, draw_order, pair_page, read_pair_filter
from eyechart.explorer.server import build_server
from eyechart.explorer.study import read_study

ids = st.lists(st.text(max_size=8), unique=True, max_size=20)


@given(st.integers(0, 2**40), ids, st.sets(st.integers(0, 19)))
def test_a_part_of_the_questions_keeps_the_order_of_the_whole(seed, names, kept):
    part = [name for at, name in enumerate(names) if at in kept]
    assert draw_order(seed, part) == [name for name in draw_order(seed, names) if name in set(part)]


def test_every_order_of_four_comes_about_as_often_for_many_seeds():
    counts = Counter(tuple(draw_order(seed, ["q1", "q2", "q3", "q4"])) for seed in range(4800))
    assert set(counts) == set(permutations(["q1", "q2", "q3", "q4"]))
    chi_square = sum((n - 200) ** 2 / 200 for n in counts.values())
    assert chi_square < 49.7  # 0.999 quantile for 23 degrees of freedom


@pytest.mark.parametrize("first", ["", "right", "wrong", "unscored"])
@pytest.mark.parametrize("second", ["", "right", "wrong", "unscored"])
@pytest.mark.parametrize("differ", ["", "yes"])
def test_shown_are_the_questions_with_these_verdicts(study, first, second, differ):
    page = pair_page(study, 0, 1, 1, PairFilter(first_mark=first, second_mark=second, differ=differ))
    column = {number: verdict_codes(study.run(number))[:, 0] for number in (0, 1)}
    fitting = [
        at
        for at in range(6)
        if first in {"", MARKS[column[0][at]]}
        and second in {"", MARKS[column[1][at]]}
        and (not differ or column[0][at] != column[1][at])
    ]
    assert page.n_fitting == len(fitting)
    assert {entry.id for entry in page.entries} <= {study.run(0).table.questions[at].id for at in fitting}
    assert len(page.entries) == min(5, len(fitting))


def test_each_entry_has_both_answers_and_its_picture_under_the_view(study):
    page = pair_page(study, 0, 1, 0, PairFilter(view="crop_3x", category="OCR"))
    assert {entry.id for entry in page.entries} == {"q/0 é", "q/2 é", "q/4 é"}
    assert dict(page.categories) == {"OCR": 3, "colour": 3}
    for entry in page.entries:
        assert [answer.number for answer in entry.answers] == [0, 1]
        assert {answer.condition for answer in entry.answers} == {"crop_3x"}
        assert entry.pane.condition == "crop_3x"


def test_one_run_beside_itself_is_shown_once(study):
    page = pair_page(study, 1, 1, 0, PairFilter())
    assert all(len(entry.answers) == 1 for entry in page.entries)


@pytest.mark.parametrize("state", [{"view": "nowhere"}])
def test_view_that_was_not_asked_is_refused(study, state):
    with pytest.raises(UsageError, match="was not asked in both runs"):
        pair_page(study, 0, 1, 0, PairFilter(**state))


def test_verdict_that_is_none_is_refused():
    with pytest.raises(UsageError, match="first_mark=good is not a verdict"):
        read_pair_filter([("first_mark", "good")])


@pytest.fixture(scope="module")
def scene(own_words):
    """Answers of HRScene's explorer in our own words."""
    return read_study(own_words)


def test_datasets_of_hrscene_have_their_categories(scene):
    page = pair_page(scene, 0, 3, 0, PairFilter())
    assert sum(n for _, n in page.datasets) == page.n_common
    assert {name for name, _ in page.categories} <= {
        "daily", "urban", "paper", "art", "remote", "sub-img", "medical", "research",
    }  # fmt: skip
    dataset = page.datasets[0][0]
    chosen = pair_page(scene, 0, 3, 0, PairFilter(dataset=dataset))
    assert chosen.n_fitting == page.datasets[0][1]
    assert {entry.dataset for entry in chosen.entries} == {dataset}


def test_address_of_every_state_is_kept_by_the_page(scene):
    with TestClient(build_server(scene), base_url="http://127.0.0.1") as client:
        text = client.get("/pair?first=0&second=3&seed=4&second_mark=right").text
        assert "/pair?first=0&amp;second=3&amp;seed=5&amp;second_mark=right" in text
        assert "drawn with seed 4" in text
        assert "The picture is not part of this run." in text
        assert client.get("/pair?first=0&second=3&seed=x").status_code == 404
        assert client.get("/pair?first=0&second=3&view=nowhere").status_code == 404
