"""Laws of the screens: every count opens its questions, and nothing from outside is markup."""

from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from eyechart.errors import UsageError
from eyechart.explorer.filters import Filter, choose, read_filter
from eyechart.explorer.links import ServerLinks
from eyechart.explorer.pages import compare_page, grid_page, neighbours
from eyechart.explorer.question import question_page
from eyechart.explorer.study import Study, read_study

LINKS = ServerLinks()


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 1), (0, 1), (1, 0)])
def test_every_count_of_a_comparison_opens_its_questions(study, first, second):
    page = compare_page(study, first, second, LINKS)
    assert page.rows
    for row in page.rows:
        counts = (row.both_right, row.gained, row.lost, row.both_wrong)
        assert sum(n for n, _ in counts) + row.unscored == 6
        for n, address in counts:
            assert len(choose(study, first, read_filter(parse_qsl(urlsplit(address).query)))) == n


def test_comparison_of_a_run_shows_the_numbers_of_its_report(study):
    contrast = next(one for one in study.run(0).summary.contrasts if one.condition == "crop_3x")
    row = next(row for row in compare_page(study, 0, 0, LINKS).rows if row.label.startswith("crop_3x"))
    assert (row.gained[0], row.lost[0]) == (contrast.gained, contrast.lost)
    assert f"{100 * contrast.value:.1f}" in row.difference


def test_runs_without_a_common_question_are_not_compared(study, tmp_path_factory, explored_folders):
    other = Study([study.run(0), _renamed(read_study(explored_folders[:1]).run(0))])
    with pytest.raises(UsageError, match="share no question"):
        compare_page(other, 0, 1, LINKS)


def _renamed(run):
    questions = tuple(msgspec.structs.replace(one, content="other") for one in run.table.questions)
    run.table = msgspec.structs.replace(run.table, questions=questions)
    return run


def test_matrix_marks_agree_with_the_scores(study):
    page = grid_page(study, 0, Filter(sort="id"), LINKS)
    first = page.rows[0]
    assert (first.id, first.marks) == ("q/0 é", ("right",) * 4)
    assert page.shares[page.conditions.index("original")] == "2/5"
    assert page.rows[5].marks[0] == "unscored"
    assert page.shortcuts[0] == ("right in crop_3x, wrong in original", "right=crop_3x&wrong=original&sort=id", 3)


def test_page_beyond_the_last_is_the_last(study):
    assert grid_page(study, 0, Filter(), LINKS, page=99).page == 1


def test_neighbours_follow_the_choice(study):
    ids = [row.id for row in grid_page(study, 0, Filter(sort="id"), LINKS).rows]
    assert neighbours(study, 0, Filter(sort="id"), ids[2]) == (3, 6, ids[1], ids[3])
    assert neighbours(study, 0, Filter(sort="id"), "elsewhere") == (0, 6, None, ids[0])


def test_lit_span_is_the_letter_that_counts(study):
    page = question_page(study, 0, "q/1 é", Filter(), LINKS)
    answer = next(one for one in page.answers if one.condition == "crop_3x" and one.number == 0)
    assert (answer.lit, answer.letter, answer.mark, answer.gold) == ("B", "B", "right", "B")
    assert answer.before.endswith("The answer is ")
    assert answer.after == "."


def test_view_is_placed_in_the_original(study):
    """origin + px / scale of the target in every view is the target in the original."""
    page = question_page(study, 0, "q/1 é", Filter(), LINKS)
    assert {pane.condition for pane in page.panes} == {"original", "crop_3x", "whiteground_3x", "downsample_0_5"}
    for pane in page.panes:
        x0 = pane.origin[0] + pane.target[0] / pane.scale[0]
        y1 = pane.origin[1] + pane.target[3] / pane.scale[1]
        assert (x0, y1) == pytest.approx((300, 216))


def test_missing_answer_is_missing_and_not_wrong(study):
    page = question_page(study, 0, "q/5 é", Filter(), LINKS)
    marks = {name: mark for name, mark, _ in page.history[0].marks}
    assert marks["original"] in {"missing", "unscored"}
    assert marks["crop_3x"] == "right"


def test_question_of_no_run_is_refused(study):
    with pytest.raises(UsageError, match="never asked nowhere"):
        question_page(study, 0, "nowhere", Filter(), LINKS)


def test_no_run_is_refused():
    with pytest.raises(UsageError, match="no run was named"):
        read_study([])
