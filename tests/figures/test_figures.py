"""Laws that hold for every figure: nothing is cut off, numbers are said, nothing global changes."""

import re
import subprocess
import sys
import warnings
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import msgspec
import pytest
from matplotlib.figure import Figure
from summaries import CASES, demo_summary, make_summary, matched_summary, sum_summary

from eyechart import registry
from eyechart.errors import StoreError, UsageError
from eyechart.figures import (
    accuracies,
    format_contrast,
    format_estimate,
    main_contrasts,
    render_svg,
    save_figure,
)
from eyechart.figures._series import count_note
from eyechart.schema import HalfAccuracySize

FIGURES = (
    "acuity_curve", "eye_chart", "resolution_curve", "context_curve", "seen_curve", "view_forest", "view_matrix",
)  # fmt: skip
DRAWN = [(figure, case) for figure in FIGURES for case in CASES if case != "unanswered"]


def figure_kind(name):
    return registry.load("figure", name)()


def draw(name, summary, ax=None):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a planted Chinese letter is in no figure font
        return figure_kind(name).draw(summary, ax=ax)


def drawn_texts(figure):
    return [text for text in figure.findobj(mpl.text.Text) if text.get_visible() and text.get_text()]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize(("name", "case"), DRAWN)
def test_no_text_is_cut_off_at_the_width_of_a_column(name, case):
    figure = draw(name, CASES[case]()).figure
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    for text in drawn_texts(figure):
        box = text.get_window_extent()
        assert -0.5 <= box.x0 <= box.x1 <= width + 0.5, text.get_text()
        assert -0.5 <= box.y0 <= box.y1 <= height + 0.5, text.get_text()
    assert figure.get_figwidth() == pytest.approx(3.4)


def axis_labels(axis):
    return [label for label in axis.get_ticklabels() if label.get_text()]


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("case", ["demo", "sum"])
def test_labels_of_the_horizontal_axis_do_not_touch(name, case):
    figure = draw(name, CASES[case]()).figure
    figure.canvas.draw()
    axes = figure.axes[0]
    for axis in [axes.xaxis, *(child.xaxis for child in axes.child_axes)]:
        boxes = sorted((label.get_window_extent() for label in axis_labels(axis)), key=lambda box: box.x0)
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.parametrize("name", FIGURES)
def test_n_and_coverage_stand_on_the_figure(name):
    texts = " ".join(text.get_text() for text in drawn_texts(draw(name, sum_summary()).figure))
    assert re.search(r"n = [\d–]+ questions about [\d–]+ pictures, 95\s%", texts)


@pytest.mark.parametrize("name", ["acuity_curve", "resolution_curve", "context_curve", "seen_curve"])
def test_accuracy_axis_is_fixed_and_chance_is_written(name):
    axes = draw(name, demo_summary())
    assert axes.get_ylim() == (0.0, 1.0)
    assert "chance 25.0 %" in [text.get_text() for text in drawn_texts(axes.figure)]


def test_chance_is_written_at_the_left_where_it_would_cover_the_right_end():
    summary = demo_summary()
    low = [
        msgspec.structs.replace(estimate, value=0.28, low=0.2, high=0.4)
        if estimate.condition == "target_only_original"
        else estimate
        for estimate in summary.estimates
    ]
    for estimates, side in ((summary.estimates, "right"), (tuple(low), "left")):
        figure = draw("context_curve", msgspec.structs.replace(summary, estimates=estimates)).figure
        assert [text.get_ha() for text in drawn_texts(figure) if text.get_text().startswith("chance")] == [side]


def test_unknown_chance_is_not_drawn():
    texts = [text.get_text() for text in drawn_texts(draw("resolution_curve", CASES["unanimous"]()).figure)]
    assert not any("chance" in text for text in texts)


@pytest.mark.parametrize("name", FIGURES)
def test_run_without_scores_draws_nothing_and_says_nothing(name):
    assert draw(name, CASES["unanswered"]()) is None
    assert figure_kind(name).describe(CASES["unanswered"]()) == ""


@pytest.mark.parametrize(("name", "families"), [("resolution_curve", "downsample"), ("context_curve", "crop")])
def test_alternative_text_holds_every_number_drawn(name, families):
    summary = sum_summary()
    text = figure_kind(name).describe(summary)
    shown = [c.condition for c in summary.conditions if c.family in {families, "original"}]
    estimates = accuracies(summary)
    for condition in shown:
        if condition in estimates:
            assert f"{format_estimate(estimates[condition])}, n = {estimates[condition].n_questions}" in text
    assert "25.0 %" in text


def test_forest_names_every_contrast_once_sorted_by_gain():
    summary = sum_summary()
    axes = draw("view_forest", summary)
    names = [label.get_text() for label in axes.get_yticklabels()]
    contrasts = main_contrasts(summary)
    assert names == sorted(contrasts, key=lambda name: -contrasts[name].value)


def test_forest_marks_what_holds_by_shape_and_weight_as_well_as_colour():
    axes = draw("view_forest", demo_summary())
    bold = {label.get_text() for label in axes.get_yticklabels() if label.get_fontweight() == "bold"}
    assert bold == {"downsample_0_0625"}
    markers = {line.get_marker() for line in axes.get_lines()}
    assert {"s", "o"} <= markers


def figure_axes(name, summary):
    return [panel for panel in draw(name, summary).figure.axes if panel.get_label() != "<colorbar>"]


def test_differences_from_the_original_stand_below_the_accuracies_on_the_same_axis():
    summary = sum_summary()
    upper, lower = figure_axes("resolution_curve", summary)
    assert upper.get_xlim() == lower.get_xlim()
    contrasts = main_contrasts(summary)
    smaller = [c.condition for c in summary.conditions if c.family == "downsample" and c.condition in contrasts]
    markers = [line for line in lower.get_lines() if line.get_marker() in {"s", "o", "x"}]
    assert sorted(line.get_ydata()[0] for line in markers) == sorted(contrasts[one].value for one in smaller)
    filled = {line.get_ydata()[0] for line in markers if line.get_marker() == "s"}
    assert filled == {contrasts[one].value for one in smaller if contrasts[one].claimed}
    words = figure_kind("resolution_curve").describe(summary)
    assert all(f"{one}: {format_contrast(contrasts[one])}" in words for one in smaller)


def test_differences_are_drawn_alone_on_axes_of_an_author():
    axes = Figure().add_subplot()
    assert figure_kind("resolution_curve").draw_differences(demo_summary(), axes) is axes
    assert "difference from" in axes.get_ylabel()
    without = msgspec.structs.replace(demo_summary(), contrasts=())
    assert figure_kind("resolution_curve").draw_differences(without) is None
    assert len(figure_axes("resolution_curve", without)) == 1


def test_blocked_difference_is_named_and_not_drawn():
    summary = demo_summary()
    blocked = tuple(
        msgspec.structs.replace(one, blocked_by=("AA_NOISE",)) if one.condition == "downsample_0_5" else one
        for one in summary.contrasts
    )
    _, lower = figure_axes("resolution_curve", msgspec.structs.replace(summary, contrasts=blocked))
    assert 0.5 not in {x for line in lower.get_lines() for x in line.get_xdata() if line.get_marker() in "sox"}
    assert any("blocked: downsample_0_5" in text.get_text() for text in drawn_texts(lower.figure))


def test_every_level_of_a_matched_design_has_axes_of_its_own():
    panels = figure_axes("context_curve", matched_summary())
    assert [panel.get_xlabel().partition("\n")[2] for panel in panels] == ["in match_px_8", "in match_px_32"]
    assert {panel.get_ylim() for panel in panels} == {(0.0, 1.0)}


def covered(axes, colour):
    """Return (column, question) of every place where a path of this colour lies."""
    found = set()
    for patch in axes.patches:
        if mpl.colors.to_hex(patch.get_facecolor()) == colour:
            for place in range(0, len(patch.get_path().vertices), 5):
                (left, start), _, (right, end) = patch.get_path().vertices[place : place + 3]
                found |= {(round((left + right) / 2), question) for question in range(round(start), round(end))}
    return found


def test_matrix_shows_every_question_once_under_every_view():
    summary = sum_summary()
    axes = figure_axes("view_matrix", summary)[1]
    n_right = dict.fromkeys(summary.pattern_conditions, 0)
    right, wrong, unscored = (covered(axes, colour) for colour in ("#0b5fa5", "#d3d8de", "#ffffff"))
    assert len(right) + len(wrong) + len(unscored) == len(right | wrong | unscored) == 700 * 29
    for column, _ in right:
        n_right[summary.pattern_conditions[column]] += 1
    assert n_right == {one.condition: one.n_correct for one in summary.conditions}
    assert len(unscored) == sum(one.n_missing for one in summary.conditions)


def test_matrix_says_how_many_a_view_gains_and_loses():
    summary = demo_summary()
    words = figure_kind("view_matrix").describe(summary)
    best = max(main_contrasts(summary).values(), key=lambda one: one.gained)
    assert (
        f"Right in {best.condition} and wrong in original: {best.gained:g} of 40 questions; the reverse: {best.lost:g}"
        in words
    )


def test_matrix_of_more_views_than_can_be_read_says_how_many_it_leaves_out():
    names = tuple(f"crop_{1 + number}x" for number in range(40))
    figure = draw("view_matrix", make_summary(("original", *names))).figure
    assert len(figure.axes[1].get_xticklabels()) == 36
    assert any("5 more views are in the table" in text.get_text() for text in drawn_texts(figure))


def test_families_differ_by_marker_and_dashes_as_well_as_colour():
    lines = [line for line in draw("context_curve", sum_summary()).get_lines() if line.get_marker() in "os^"]
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines if len(line.get_xdata()) > 1}
    assert len({colour for colour, _, _ in looks}) == len({mark for _, mark, _ in looks}) == 3
    assert len({dashes for _, _, dashes in looks}) == 3


def test_scales_that_the_model_shrinks_further_are_shaded():
    legend = draw("resolution_curve", demo_summary()).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["shrunk further by the model"]


@pytest.mark.parametrize("name", FIGURES)
def test_given_axes_are_used_and_keep_the_style_of_the_author(name):
    with mpl.rc_context({"font.size": 21.0}):
        axes = Figure().add_subplot()
        assert draw(name, demo_summary(), axes) is axes
        assert axes.xaxis.label.get_fontsize() == 21.0


@pytest.mark.parametrize("name", FIGURES)
def test_anything_but_axes_is_refused(name):
    with pytest.raises(UsageError, match="cannot draw on list"):
        draw(name, demo_summary(), [])


def test_drawing_changes_no_setting_and_loads_no_pyplot():
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from summaries import demo_summary\n"
        "import matplotlib as mpl\n"
        "settings = lambda: {key: mpl.rcParams[key] for key in mpl.rcParams if key != 'backend'}\n"
        "before = settings()\n"
        "from eyechart import registry\n"
        "from eyechart.figures import render_svg\n"
        "for name in registry.names('figure'):\n"
        "    axes = registry.load('figure', name)().draw(demo_summary())\n"
        "    assert axes is None or render_svg(axes.figure)\n"
        "assert settings() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


def test_names_of_figures_are_known_without_matplotlib_or_numpy():
    code = "import sys, eyechart.registry as r; r.names('figure'); r.names('report')\n"
    code += "assert not {'numpy', 'matplotlib', 'jinja2'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_same_numbers_give_the_same_bytes(tmp_path):
    first, second = (
        [path.read_bytes() for path in save_figure(draw("context_curve", sum_summary()).figure, tmp_path / name, "f")]
        for name in ("a", "b")
    )
    assert first == second


def test_a_figure_keeps_its_layout_when_it_is_saved(tmp_path):
    """Authors restyle what was drawn and save it again."""
    figure = draw("context_curve", demo_summary()).figure
    engine, dpi = figure.get_layout_engine(), figure.dpi
    first = render_svg(figure)
    save_figure(figure, tmp_path, "f")
    assert (figure.get_layout_engine(), figure.dpi) == (engine, dpi)
    figure.axes[0].set_title("A title that takes room\non two lines")
    assert render_svg(figure) != first
    figure.canvas.draw()
    assert figure.axes[0].get_tightbbox().y1 <= figure.bbox.height + 0.5


@pytest.mark.parametrize("name", FIGURES)
def test_files_hold_no_date(name, tmp_path):
    pdf, svg, png = save_figure(draw(name, demo_summary()).figure, tmp_path, name)
    assert b"CreationDate" not in pdf.read_bytes()
    assert png.read_bytes().startswith(b"\x89PNG")
    assert svg.read_text(encoding="utf-8").endswith("</svg>\n")


def test_svg_holds_neither_date_nor_address():
    svg = render_svg(draw("seen_curve", demo_summary()).figure)
    assert "date" not in svg
    assert "matplotlib.org" not in svg


def test_figure_that_cannot_be_written_names_folder_and_reason(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot write figure f into .*file"):
        save_figure(draw("seen_curve", demo_summary()).figure, tmp_path / "file", "f")


def test_black_letters_are_as_many_as_targets_were_read():
    from matplotlib.patches import PathPatch

    axes = draw("eye_chart", demo_summary())
    letters = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
    heights = [round(patch.get_path().get_extents().height, 2) for patch in letters]
    rows = {height: [patch for patch, own in zip(letters, heights, strict=True) if own == height] for height in heights}
    shares = [
        sum(patch.get_facecolor()[3] > 0 for patch in rows[height]) / len(rows[height])
        for height in sorted(rows, reverse=True)
    ]
    bands = [band for band in demo_summary().half_accuracy_sizes[0].bands if band.px < 50]
    assert len(shares) == len(bands)
    for share, band in zip(shares, bands, strict=True):
        assert share == pytest.approx(max(0.0, band.corrected), abs=0.25)


def test_letters_are_to_one_scale_of_the_pixels_the_model_saw():
    from matplotlib.patches import PathPatch

    axes = draw("eye_chart", demo_summary())
    heights = {round(p.get_path().get_extents().height, 4) for p in axes.patches if isinstance(p, PathPatch)}
    bands = [band.px for band in demo_summary().half_accuracy_sizes[0].bands if band.px < 50]
    scale = max(heights) / bands[0]
    assert sorted(heights) == pytest.approx([size * scale for size in sorted(bands)], rel=0.01)


def test_eye_chart_says_what_is_not_reached_and_lists_tasks():
    texts = " ".join(text.get_text() for text in drawn_texts(draw("eye_chart", demo_summary()).figure))
    assert "Half-accuracy target size 9.3 px [8.1, 12]" in texts
    assert "Color: not reached" in texts
    assert "OCR: 12 px [below the smallest, 14]" in texts


def test_eye_chart_of_a_model_below_chance_shows_its_accuracy_and_names_the_correction():
    """It said "read, % −33.3 [−33.3, −33.3]": corrected for guessing, unlabelled, of no width."""
    summary = demo_summary()
    whole = summary.half_accuracy_sizes[0]
    wrong = tuple(
        msgspec.structs.replace(band, corrected=-1 / 3, low=-1 / 3, high=-0.2, fitted=-1 / 3)
        for band in whole.bands[:-1]
    )
    few = msgspec.structs.replace(whole.bands[-1], low=None, high=None)
    size = HalfAccuracySize(None, "not identified", "no slope", bands=(*wrong, few), n_questions=40, n_clusters=20)
    below = msgspec.structs.replace(summary, half_accuracy_sizes=(size,))
    words = figure_kind("eye_chart").describe(below)
    assert "0.0 [0.0, 10.0] % right, none read beyond guessing" in words
    assert "−33" not in words
    axes = draw("eye_chart", below)
    texts = [text.get_text() for text in axes.texts]
    assert "right, % [95 %]" in texts
    assert "0.0 [0.0, 10.0]" in texts
    assert any("[too few pictures]" in text for text in texts)
    assert any("corrected for guessing; bands hold different questions" in text for text in texts)
    assert not any("−33" in text for text in texts)


def test_figures_over_bands_of_size_say_that_bands_hold_different_questions():
    for name in ("seen_curve", "eye_chart"):
        texts = " ".join(text.get_text() for text in drawn_texts(draw(name, demo_summary()).figure))
        assert "bands hold different questions" in texts


def test_views_that_are_one_picture_are_joined_and_hollow_and_scales_are_labels():
    axes = draw("acuity_curve", demo_summary())
    hollow = [line for line in axes.get_lines() if line.get_markerfacecolor() == "white" and line.get_marker() == "D"]
    assert len(hollow) == 2
    assert any(line.get_linewidth() == 2.4 and len(line.get_xdata()) == 2 for line in axes.get_lines())
    labels = {text.get_text() for text in axes.texts}
    assert {"1, 1/2", "1/4", "1/16"} <= labels or {"1", "1/2", "1/4", "1/16"} <= labels


def test_range_of_questions_about_one_picture_says_picture():
    one, two = (msgspec.structs.replace(demo_summary().estimates[0], n_questions=n, n_clusters=1) for n in (30, 58))
    assert count_note([one, two]) == "n = 30–58 questions about 1 picture, 95\N{NO-BREAK SPACE}% intervals"


def test_without_sizes_there_is_neither_size_curve_nor_eye_chart():
    summary = demo_summary()
    unknown = msgspec.structs.replace(
        summary,
        half_accuracy_sizes=(),
        conditions=tuple(msgspec.structs.replace(one, target_px_seen=None) for one in summary.conditions),
    )
    assert draw("acuity_curve", unknown) is None
    assert draw("eye_chart", unknown) is None
