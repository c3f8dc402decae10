"""What a collection's content may hide, on the terminal: each list with what it is worth."""

from typing import TYPE_CHECKING

from eyechart.cli._output import print_table, say

if TYPE_CHECKING:
    from eyechart.releases.content import ContentReport


def show_content(report: "ContentReport") -> None:
    """Print suspect labels, questions solved blind and near-duplicates; tables on stdout."""
    from eyechart.releases.content import MIN_MODELS

    if len(report.models) < MIN_MODELS:
        say(f"suspect labels need runs of {MIN_MODELS} models or more (--run), {len(report.models)} given")
    elif report.suspect_labels:
        print_table(
            ["id", "recorded", "all models say", ">models", ">least share of answers"],
            [
                [one.question_id, one.recorded, one.agreed, str(one.n_models), f"{100 * one.share:.0f} %"]
                for one in report.suspect_labels
            ],
            title=f"\n{len(report.suspect_labels)} of {report.n_questions} labels that all of "
            f"{len(report.models)} models contradict alike. Models share mistakes: look at the pictures.",
        )
    else:
        say(f"suspect labels: none of {report.n_questions} is contradicted by all of {len(report.models)} models alike")
    _show_blind(report)
    if report.near_duplicates:
        print_table(
            ["id", "looks like", "sources", ">correlation"],
            [
                [pair.first, pair.second, ", ".join(pair.sources), f"{pair.correlation:.4f}"]
                for pair in report.near_duplicates
            ],
            title=f"\n{len(report.near_duplicates)} pairs of pictures in different groups that look alike.",
        )
    else:
        say("near-duplicates: none among pictures of different groups (crops and turned copies are not looked for)")


def _show_blind(report: "ContentReport") -> None:
    if not report.n_blind:
        say("questions solvable without the picture need a run with --blind (--run)")
        return
    expected = f"{report.blind_expected:.1f} of {report.n_blind} expected by guessing"
    if not report.solved_blind:
        say(f"solvable without the picture: none ({expected})")
        return
    print_table(
        ["id", ">answers without the picture", ">chance that guessing does it"],
        [[one.question_id, str(one.n_answers), f"{one.by_guessing:.3g}"] for one in report.solved_blind],
        title=f"\n{len(report.solved_blind)} of {report.n_blind} questions answered right without the picture by every "
        f"model every time; {expected}.",
    )
