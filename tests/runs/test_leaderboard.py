"""Boards: published rows as published, own runs with intervals and places, and nothing printed that is not known."""

import msgspec
import numpy as np
import pytest
from summaries import make_run

from eyechart.benchmarks._published import read_published
from eyechart.errors import UsageError
from eyechart.runs.board import OVERALL, size_group
from eyechart.runs.cells import AskedQuestion, Cell, RunTable, Verdict
from eyechart.runs.leaderboard import build_board
from eyechart.runs.own_rows import OwnRun
from eyechart.schema import BenchmarkIdentity

PUBLISHED = read_published("hrscene")


def own_run(name, rate, *, seed=0, split="testmini", has_map=True, answer="A", benchmark="hrscene", n=20, missing=0):
    """A run of ``n`` questions of every dataset with about this share right."""
    rng = np.random.default_rng(seed)
    sources = [known.name for known in PUBLISHED.datasets for _ in range(n)]
    questions = tuple(
        AskedQuestion(
            id=f"q{index}", image_group=f"im{index}", n_choices=4, answer=answer, source=source if has_map else None
        )
        for index, source in enumerate(sources)
    )
    cells = {
        (index, 0, 0): Cell(verdict=None if index < missing else Verdict(float(rng.random() < rate), "A"))
        for index in range(len(questions))
    }
    options = {} if split is None else {"split": split}
    run = make_run(("original",), benchmark=BenchmarkIdentity(benchmark, "r", options), n_questions=len(questions))
    table = RunTable(
        run=run, questions=questions, conditions=("original",), view_of={"original": "original"}, cells=cells
    )
    return OwnRun(name, table, "2026-11-30")


def row_of(board, name):
    return next(row for row in board.rows if row.name == name)


class TestPublished:
    """The rows that everybody knows."""

    def test_board_ranks_the_published_overall_scores(self):
        board = build_board(PUBLISHED, "test")
        assert [(row.rank, row.name) for row in board.rows[:2]] == [
            (1, "Qwen2-VL-72B-Instruct"),
            (2, "Gemini-2.0-Flash"),
        ]
        assert row_of(board, "Claude-3.5-Sonnet").cells["paper"].percent == 78.85
        assert board.rows[27].name == "InternVL2-1B"

    def test_equal_scores_share_a_rank(self):
        board = build_board(PUBLISHED, "test")
        assert row_of(board, "InternVL2-2B").rank == row_of(board, "LLaVA-NeXT-13B").rank == 23

    def test_mean_row_leaves_people_and_guessing_out(self):
        cells = row_of(build_board(PUBLISHED, "test"), "mean of the 28 published models").cells
        order = ("art", "daily", "medical", "paper", "remote", "research", "sub-img", "urban", OVERALL)
        found = [cells[key].percent for key in order]
        expected = [61.54, 53.18, 36.635, 58.17, 41.75, 36.08, 60.60, 37.84, 49.68]
        assert found == pytest.approx(expected, abs=0.006)

    def test_people_are_averaged_by_the_rule_of_the_board(self):
        assert row_of(build_board(PUBLISHED, "test"), "Human").cells[OVERALL].percent == pytest.approx(68.71, abs=0.005)
        plain = build_board(PUBLISHED, "test", "macro_category")
        assert row_of(plain, "Human").cells[OVERALL].percent == pytest.approx(64.715)

    def test_references_and_means_have_no_rank(self):
        board = build_board(PUBLISHED, "testmini")
        assert all(row.rank is None for row in board.rows if row.kind in {"mean", "reference"})

    def test_rule_that_needs_datasets_leaves_published_rows_without_an_overall_score_and_says_so(self):
        board = build_board(PUBLISHED, "test", "micro")
        assert all(OVERALL not in row.cells for row in board.rows)
        assert any("no overall score by micro" in note for note in board.notes)

    def test_source_and_date_stand_with_every_row(self):
        board = build_board(PUBLISHED, "test")
        assert all(row.source and row.date for row in board.rows if row.kind in {"published", "reference"})
        assert any("2025-04-25" in note and "https://" in note for note in board.notes)

    def test_unknown_split_is_refused(self):
        with pytest.raises(UsageError, match="nothing is published about split 'dev'"):
            build_board(PUBLISHED, "dev")

    def test_unknown_benchmark_is_refused(self):
        with pytest.raises(UsageError, match="no published results of 'other' are known"):
            read_published("other")


class TestOwnRuns:
    """Runs beside the published rows."""

    def test_own_row_has_intervals_and_n_and_stands_at_its_score(self):
        board = build_board(PUBLISHED, "testmini", own=[own_run("mine", 0.6)])
        row = row_of(board, "mine")
        assert row.kind == "own"
        assert row.date == "2026-11-30"
        cell = row.cells[OVERALL]
        assert cell.low < cell.percent < cell.high
        assert cell.n_questions == 500
        better = sum(other.cells[OVERALL].percent > cell.percent for other in board.rows if other.kind == "published")
        assert row.rank == better + 1

    def test_own_category_is_weighted_by_whole_datasets(self):
        run = own_run("mine", 0.6)
        values = np.array([cell.value for _, cell in sorted(run.table.cells.items())])
        labels = np.array([question.source for question in run.table.questions])
        means = {known.name: values[labels == known.name].mean() for known in PUBLISHED.datasets}
        research = [known for known in PUBLISHED.datasets if known.category == "research"]
        expected = sum(known.n * means[known.name] for known in research) / sum(known.n for known in research)
        row = row_of(build_board(PUBLISHED, "testmini", own=[run]), "mine")
        assert row.cells["research"].percent == pytest.approx(100 * expected)

    def test_places_are_sets_where_runs_cannot_be_told_apart(self):
        own = [own_run("good", 0.9, seed=1), own_run("a", 0.6, seed=2), own_run("b", 0.6, seed=3)]
        board = build_board(PUBLISHED, "testmini", own=own)
        assert (row_of(board, "good").best, row_of(board, "good").worst) == (1, 1)
        assert (row_of(board, "a").best, row_of(board, "a").worst) == (2, 3)
        assert all(row.best is None for row in board.rows if row.kind == "published")
        assert any("together with 95 %" in note for note in board.notes)

    def test_run_without_a_map_to_datasets_has_no_category_score_and_says_why(self):
        board = build_board(PUBLISHED, "testmini", own=[own_run("mine", 0.6, has_map=False)])
        assert row_of(board, "mine").cells == {}
        assert row_of(board, "mine").rank is None
        assert any("give a map from id to dataset" in note for note in board.notes)
        plain = build_board(PUBLISHED, "testmini", "micro", own=[own_run("mine", 0.6, has_map=False)])
        assert set(row_of(plain, "mine").cells) == {OVERALL}

    def test_missing_answers_are_left_out_and_counted(self):
        board = build_board(PUBLISHED, "testmini", own=[own_run("mine", 0.6, missing=25)])
        assert row_of(board, "mine").cells[OVERALL].n_questions == 475
        assert any("25 of 500 answers are missing" in note for note in board.notes)
        assert any("1 datasets have no score" in note for note in board.notes)

    def test_hidden_answers_give_no_accuracy_but_the_way_to_one(self):
        with pytest.raises(UsageError, match="hidden, so it has no accuracy") as caught:
            build_board(PUBLISHED, "test", own=[own_run("mine", 0.6, split="test", answer=None)])
        assert "export evalai" in caught.value.hint

    @pytest.mark.parametrize(
        ("changes", "message"), [({"split": "test"}, "asked split test"), ({"benchmark": "sum"}, "asked sum")]
    )
    def test_run_of_another_split_or_benchmark_is_refused(self, changes, message):
        with pytest.raises(UsageError, match=message):
            build_board(PUBLISHED, "testmini", own=[own_run("mine", 0.6, **changes)])

    def test_run_without_whole_pictures_is_refused(self):
        run = own_run("mine", 0.6)
        table = msgspec.structs.replace(run.table, conditions=("crop_1x", "crop_3x"))
        with pytest.raises(UsageError, match="has no view original"):
            build_board(PUBLISHED, "testmini", own=[OwnRun("mine", table, "")])

    def test_split_without_published_rows_shows_own_runs_alone(self):
        board = build_board(PUBLISHED, "validation", own=[own_run("mine", 0.6, split="validation")])
        assert [row.name for row in board.rows] == ["mine"]


def test_models_are_grouped_by_size_and_access():
    assert size_group("open", 9.99) == "open, under 10B"
    assert size_group("open", 10.7) == "open, 10B to 50B"
    assert size_group("open", 72.7) == "open, 50B and more"
    assert size_group("closed", None) == "closed"
    assert size_group(None, None) == "size unknown"
