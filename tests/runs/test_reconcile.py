"""What replies say of pictures against what was planned: agreement is quiet, a contradiction drops the plan."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import hidden_rules
from runs_made import question_file
from servers.chat_server import ChatServer

from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model, open_prompt
from eyechart.runs.cells import Cell, Ending, read_table
from eyechart.runs.folders import Destination
from eyechart.runs.reconcile import reconcile, without_contradicted
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.runs.sights import Sight, read_sights
from eyechart.schema import ResponseState, Seen, Size, Usage
from eyechart.views import resolve_views

SMALL = Size(10, 10)


def cell(planned, *, image=None, given=None, prompt="p", evidence="documented", seen=SMALL, expected=None):
    usage = Usage(input_tokens=given, image_tokens=image)
    return Cell(
        recipes=("key",),
        sight=Sight(evidence, seen, 5.0, (1.0, 1.0), planned_size=expected, planned_tokens=planned),
        ending=Ending(ResponseState.ANSWERED, usage=usage),
        prompt_sha256=prompt,
    )


def places(*cells):
    """Return cells of one question under as many conditions."""
    return {(0, condition, 0): one for condition, one in enumerate(cells)}


@given(extra=st.integers(0, 64), planned=st.lists(st.integers(1, 5000), min_size=2, max_size=6))
def test_tokens_that_exceed_the_plan_by_one_constant_are_markers(extra, planned):
    found = reconcile(places(*(cell(count, image=count + extra) for count in planned)))
    assert (found.n_compared, found.extra_tokens, found.mismatches) == (len(planned), extra, ())


def test_one_reply_that_differs_is_told_with_both_numbers():
    found = reconcile(places(cell(100, image=102), cell(400, image=402), cell(4784, image=2954)))
    (mismatch,) = found.mismatches
    assert (mismatch.key, mismatch.planned, mismatch.reported) == ((0, 2, 0), 4784, 2954)


def test_other_tokens_everywhere_are_no_markers():
    found = reconcile(places(cell(100, image=700), cell(400, image=1000)))
    assert len(found.mismatches) == 2


@given(text=st.integers(0, 3000), planned=st.lists(st.integers(1, 5000), min_size=2, max_size=6, unique=True))
def test_whole_input_agrees_where_the_views_of_a_question_differ_as_planned(text, planned):
    found = reconcile(places(*(cell(count, given=count + text) for count in planned)))
    assert (found.n_compared, found.mismatches) == (len(planned), ())


def test_whole_input_shows_the_view_that_cost_less_than_planned():
    found = reconcile(places(cell(100, given=150), cell(400, given=450), cell(4784, given=3000)))
    assert [(one.planned, one.reported) for one in found.mismatches] == [(4834, 3000)]


def test_whole_input_of_equal_views_proves_nothing():
    assert reconcile(places(cell(256, given=300), cell(256, given=300))).n_compared == 0


def test_other_prompts_have_other_texts():
    found = reconcile(places(cell(100, given=150), cell(200, given=250), cell(100, given=190, prompt="q")))
    assert found.mismatches == ()


def test_size_that_was_executed_wins_over_the_planned_one_and_is_told():
    cells = places(cell(None, evidence="executed", seen=Size(336, 336), expected=Size(672, 672)))
    found = reconcile(cells)
    assert [(one.planned, one.reported) for one in found.mismatches] == [(Size(672, 672), Size(336, 336))]
    assert without_contradicted(cells, found)[0, 0, 0].sight.seen_size == Size(336, 336)


def test_sight_keeps_the_planned_size_only_where_the_model_executed_another():
    def row(phase, evidence, size):
        return Seen(
            request_id="r",
            picture_index=0,
            phase=phase,
            evidence=evidence,
            source_size=Size(900, 900),
            sent_size=Size(900, 900),
            seen_size=size,
            visual_tokens=64,
        )

    plan = row("planned", "documented", Size(672, 672))
    assert read_sights([plan, row("observed", "executed", Size(336, 336))])["r"].planned_size == Size(672, 672)
    assert read_sights([plan, row("observed", "executed", Size(672, 672))])["r"].planned_size is None
    assert read_sights([plan, row("observed", "unknown", None)])["r"].planned_size is None
    assert read_sights([plan])["r"].planned_tokens == 64


def run(folder, tokens_of, *, apart=True, spec="openai/gpt-5.4-mini"):
    (folder / "data").mkdir()
    questions = question_file(folder / "data", n=3, size=(3000, 2000))
    benchmark = FolderKind().open(questions, FolderOptions(box_format="xyxy"))
    with ChatServer(answer=hidden_rules.counting(tokens_of, apart=apart)) as server:
        return run_benchmark(
            benchmark,
            open_model(spec, ModelOptions(base_url=server.base_url)),
            resolve_views("original,downsample_0_5,downsample_0_25")[0],
            open_prompt(),
            options=RunOptions(where=Destination(out=folder / "run"), has_preflight=False),
        )


def about_contradictions(outcome):
    return [warning for warning in outcome.summary.warnings if "contradict what was expected" in warning]


@pytest.mark.parametrize("apart", [True, False], ids=["image tokens", "whole input"])
def test_run_whose_replies_agree_with_the_rule_says_nothing_of_it(tmp_path, apart):
    outcome = run(tmp_path, hidden_rules.patches_of_32, apart=apart)
    assert about_contradictions(outcome) == []
    table = read_table(outcome.store, outcome.summary.scorer)
    assert table.reconciliation.n_compared == 9
    assert {one.sight.evidence for one in table.cells.values()} == {"documented"}


def shrunk_to_1000(width, height):
    """Count like the model behind a client that shrinks pictures to 1000 px."""
    shrink = min(1, 1000 / max(width, height))
    return hidden_rules.patches_of_32(round(width * shrink), round(height * shrink))


@pytest.mark.parametrize("apart", [True, False], ids=["image tokens", "whole input"])
def test_run_behind_a_client_that_resizes_is_warned_of_and_its_sizes_are_not_used(tmp_path, apart):
    outcome = run(tmp_path, shrunk_to_1000, apart=apart)
    (warning,) = about_contradictions(outcome)
    assert "of 9 replies contradict what was expected to be seen (question q0 under original:" in warning
    table = read_table(outcome.store, outcome.summary.scorer)
    wrong = {mismatch.key[1] for mismatch in table.reconciliation.mismatches}
    assert table.conditions.index("original") in wrong
    assert all(table.cells[one.key].sight.evidence == "unknown" for one in table.reconciliation.mismatches)
