"""Scores of given predictions on the terminal: accuracies, then what another kit made of the same answers."""

from typing import TYPE_CHECKING

from eyechart.cli._output import print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyechart.releases.evaluate import PredictionCell, PredictionReport
    from eyechart.releases.given import Given
    from eyechart.releases.given_order import OtherOrder
    from eyechart.releases.rescore import Rescoring
    from eyechart.schema import Estimate

_MOST_UNMATCHED = 5
_MOST_TEXT = 60
# The reasons of an answer from which no letter can be read; those with a column of their own are left out.
_OWN_COLUMN = frozenset({"beyond_range", "refusal", "refusal_like", "content_filter"})
_REFUSALS = ("refusal", "refusal_like", "content_filter")


def show_other_order(given: "Given", order: "OtherOrder") -> None:
    """Print what holds of answers that were given under another order of the options: accuracy by text alone."""
    from eyechart.figures import format_estimate

    _show_files(given)
    one = order.accuracy_by_text
    if one is not None:
        print_table(
            [">n", ">mismatched", ">accuracy by text, % [95 %]"],
            [[str(one.n_questions), str(order.n_mismatched), format_estimate(one)]],
            title="Questions whose answers copy the text of an option, read by that text and not by the letter, all "
            "views together.",
        )


def show_given(
    given: "Given",
    report: "PredictionReport",
    compared: "Sequence[Rescoring]",
    *,
    n_changed: int,
    order: "OtherOrder | None" = None,
) -> None:
    """Print everything about given predictions; tables on stdout, what to know about the files on stderr."""
    _show_files(given)
    if order is not None:
        say(f"warning: {order.code}: {order.message} (allowed by --allow {order.code})")
    overall = [cell for cell in report.cells if cell.subset is None]
    _show_cells(
        overall,
        f"{len(report.question_ids)} questions, scored by {report.scorer}. Accuracy counts absent and unreadable "
        "answers as wrong (SUM); micro: every question counts the same."
        + (f" By letter, despite {order.code}." if order is not None else ""),
    )
    _show_contrasts(report)
    _show_macro(report)
    for field in ("source", "task"):
        cells = [cell for cell in report.cells if (cell.subset or "").startswith(f"{field}=")]
        if cells:
            _show_cells(cells, f"\nBy {field}.", group=field)
    for rescoring in compared:
        _show_rescoring(rescoring, n_changed)


def _show_files(given: "Given") -> None:
    for file in given.files:
        form = f" ({file.kit})" if file.kit else ""
        say(f"{file.name}{form}: {file.n_predictions} predictions")
    for row in given.unmatched[:_MOST_UNMATCHED]:
        say(f"warning: {row.place} is not used: {row.reason}")
    if len(given.unmatched) > _MOST_UNMATCHED:
        say(f"warning: {len(given.unmatched)} rows are not used in all; --json names each")
    if given.n_repeated:
        say(
            f"warning: {given.n_repeated} rows repeat a question and view; the first answer that is not an error counts"
        )
    if given.other_answers:
        shown = ", ".join(given.other_answers[:_MOST_UNMATCHED])
        say(f"warning: the file has another right answer for {len(given.other_answers)} questions: {shown}")


def _show_cells(cells: "Sequence[PredictionCell]", title: str, group: str | None = None) -> None:
    from eyechart.figures import format_estimate

    # A family has several answers to a question, and what is counted are answers.
    has_family = any(cell.n_asked > cell.n_questions for cell in cells)
    headings = ["view", *([group] if group else []), ">n", *([">asked"] if has_family else []), ">correct"]
    headings += [">accuracy, % [95 %]", ">of answered, % [95 %]"]
    headings += [">absent", ">unreadable", ">beyond range", ">refused"]
    rows = []
    for cell in cells:
        subset = [(cell.subset or "").partition("=")[2]] if group else []
        n_unreadable = sum(n for reason, n in cell.reasons.items() if reason not in _OWN_COLUMN)
        answered = cell.accuracy_answered
        same = answered is not None and not cell.n_absent
        rows.append(
            [
                cell.view,
                *subset,
                str(cell.n_questions),
                *([str(cell.n_asked)] if has_family else []),
                f"{cell.n_correct:g}",
                format_estimate(cell.accuracy_sum),
                "the same" if same else _answered(answered),
                str(cell.n_absent),
                str(n_unreadable),
                str(cell.reasons.get("beyond_range", 0)),
                str(sum(cell.reasons.get(reason, 0) for reason in _REFUSALS)),
            ]
        )
    print_table(headings, rows, title=title)


def _answered(accuracy: "Estimate | None") -> str:
    """Return an accuracy with its own n, which is not that of the row."""
    from eyechart.figures import format_estimate

    return "none answered" if accuracy is None else f"{format_estimate(accuracy)}, n = {accuracy.n_questions}"


def _show_contrasts(report: "PredictionReport") -> None:
    from eyechart.figures import format_contrast, format_p

    rows = [
        [
            one.condition,
            str(one.n_questions),
            format_contrast(one),
            format_p(one.p_adjusted if one.p_adjusted is not None else one.p),
            str(one.gained),
            str(one.lost),
        ]
        for one in report.contrasts
    ]
    if rows:
        print_table(
            ["view", ">n", ">difference from original, points [95 %]", ">p", ">gained", ">lost"],
            rows,
            title="\nPaired, on the same questions answered in both views; p is Holm-corrected.",
        )


def _show_macro(report: "PredictionReport") -> None:
    from eyechart.figures import format_estimate

    rows = [
        [one.condition, one.name.removeprefix("macro_accuracy_over_"), format_estimate(one), str(one.n_questions)]
        for one in report.macro
    ]
    if rows:
        print_table(
            ["view", "over", ">mean of accuracies, % [95 %]", ">n"],
            rows,
            title="\nMacro: every source, or every task, counts the same.",
        )


def _show_rescoring(one: "Rescoring", n_changed: int) -> None:
    from eyechart.figures import format_contrast, format_estimate

    up = sum((item.ours or 0.0) > item.theirs for item in one.changed)
    print_table(
        ["view", ">n", ">theirs, % [95 %]", ">ours, % [95 %]", ">ours − theirs, points [95 %]", ">gained", ">lost"],
        [
            [
                one.view,
                str(one.n_rows),
                format_estimate(one.theirs),
                format_estimate(one.ours),
                format_contrast(one.difference),
                str(up),
                str(len(one.changed) - up),
            ]
        ],
        title="\nTheir stored scores beside ours on the same answers.",
    )
    if one.n_failures:
        right = "" if one.ours_answered is None else f"; of the answered {_answered(one.ours_answered)}, are right"
        say(f"{one.n_failures} of {one.n_rows} rows hold no answer: wrong in theirs, missing in ours{right}")
    for note, n in one.notes.items():
        say(f"{n} × {note}")
    if one.changed:
        print_table(
            ["id", "view", ">theirs", ">ours", "right", "they read", "we read", "why", "response"],
            [
                [
                    item.question_id,
                    item.view,
                    f"{item.theirs:g}",
                    "missing" if item.ours is None else f"{item.ours:g}",
                    item.gold or "",
                    item.their_answer or "",
                    item.our_answer or "none",
                    item.why,
                    _shorten(item.text),
                ]
                for item in one.changed[:n_changed]
            ],
            title=f"\n{len(one.changed)} item{'s' if len(one.changed) > 1 else ''} changed"
            + (f", the first {n_changed}:" if len(one.changed) > n_changed else ":"),
        )


def _shorten(text: str | None) -> str:
    line = " ".join((text or "").split())
    return line if len(line) <= _MOST_TEXT else f"{line[: _MOST_TEXT // 2 - 1]} … {line[-_MOST_TEXT // 2 + 2 :]}"
