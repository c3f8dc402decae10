"""Laws of what the terminal says of a summary."""

import msgspec
import pytest
from summaries import sum_summary

from eyechart.cli._results import show_summary
from eyechart.runs.findings import find
from eyechart.schema import ValidityRule


def test_smaller_picture_that_scored_higher_is_named_among_many_that_cannot_be_told_apart(capsys):
    summary = sum_summary()
    half = next(one for one in summary.contrasts if one.condition == "downsample_0_5")
    open_ones = [
        msgspec.structs.replace(one, value=0.01 if one == half else -0.01, claimed=False, standing="exploratory")
        for one in summary.contrasts
        if not one.secondary
    ]
    changed = msgspec.structs.replace(summary, contrasts=tuple(open_ones), findings=find(open_ones, summary.conditions))
    show_summary(changed)
    shown = capsys.readouterr().err
    assert "• downsample_0_5 shows the same scene with fewer pixels and scored higher here" in shown
    assert f"• {len(open_ones) - 1} views cannot be told apart from original" in shown


def test_what_needs_no_action_is_a_note_and_no_warning(capsys):
    shared = ValidityRule(code="SHARED_IMAGE", level="info", message="40 questions on 20 images")
    show_summary(msgspec.structs.replace(sum_summary(), rules=(shared,)))
    assert "note: SHARED_IMAGE: 40 questions on 20 images" in capsys.readouterr().err


def test_half_accuracy_size_is_said_for_all_questions_and_for_tasks_with_a_curve(capsys):
    show_summary(sum_summary())
    shown = capsys.readouterr().err
    assert "• Half-accuracy target size 9.3 px [8.1, 12] (sizes documented)." in shown
    assert "Half-accuracy target size for OCR" not in shown
    assert "cuity" not in shown.replace("accuracy", "")


@pytest.mark.parametrize(
    ("scorer", "advice", "not_said"),
    [
        ("option_letter.strict@1", "free answers are scored by --scorer vqa_soft", "under answer"),
        ("vqa_soft.corrected@1", "name no accepted answer; give one or a list under answer", "--scorer"),
    ],
)
def test_answers_without_a_score_are_said_with_what_helps(scorer, advice, not_said, capsys):
    """Who scores by vqa_soft already is not sent there again."""
    summary = sum_summary()
    first = msgspec.structs.replace(summary.conditions[0], n_scored=summary.conditions[0].n_answered - 3)
    others = [msgspec.structs.replace(one, n_scored=one.n_answered) for one in summary.conditions[1:]]
    show_summary(msgspec.structs.replace(summary, scorer=scorer, conditions=(first, *others)))
    said = next(line for line in capsys.readouterr().err.splitlines() if "have no score" in line)
    assert said.startswith("warning: 3 answers have no score")
    assert advice in said
    assert not_said not in said
