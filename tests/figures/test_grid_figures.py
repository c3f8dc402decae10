"""Figures of needle grids, categories and picture sizes: one scale, n on the figure, nothing cut off."""

import warnings

import matplotlib as mpl
import msgspec
import numpy as np
import pytest
from grid_summaries import category_summary, grid_summary, make_grid
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from summaries import demo_summary

from eyechart import registry
from eyechart.errors import UsageError
from eyechart.figures import format_estimate, render_svg
from eyechart.reports import write_all
from eyechart.schema import PictureGroup

CASES = {
    "region_heatmap": lambda: grid_summary(1, 3, 5),
    "manhattan_curve": lambda: grid_summary(3, 5),
    "size_curve": lambda: grid_summary(1, 3, 5),
    "category_bars": category_summary,
    "category_radar": category_summary,
    "source_rings": category_summary,
    "picture_sizes": category_summary,
}


def draw(name, summary, axes=None):
    return registry.load("figure", name)().draw(summary, axes)


def texts_of(figure):
    return [text for text in figure.findobj(mpl.text.Text) if text.get_visible() and text.get_text()]


@pytest.mark.parametrize("name", CASES)
class TestEveryFigure:
    """Laws for all of them."""

    def test_no_text_is_cut_off_at_the_width_of_a_column(self, name):
        figure = draw(name, CASES[name]()).figure
        figure.canvas.draw()
        width, height = figure.canvas.get_width_height()
        for text in texts_of(figure):
            box = text.get_window_extent()
            assert -1 <= box.x0 <= box.x1 <= width + 1, text.get_text()
            assert -1 <= box.y0 <= box.y1 <= height + 1, text.get_text()
        assert figure.get_figwidth() == pytest.approx(3.4)

    def test_n_stands_on_the_figure_and_in_its_words(self, name):
        assert any("n = " in text.get_text() for text in texts_of(draw(name, CASES[name]()).figure))
        words = registry.load("figure", name)().describe(CASES[name]())
        assert "n = " in words or "questions" in words

    def test_nothing_to_draw_is_nothing_drawn_and_nothing_said(self, name):
        empty = msgspec.structs.replace(demo_summary(), grids=(), pictures=(), breakdowns=())
        assert draw(name, empty) is None
        assert registry.load("figure", name)().describe(empty) == ""

    def test_given_axes_are_used(self, name):
        with mpl.rc_context({"font.size": 21.0}):
            axes = Figure().add_subplot()
            assert draw(name, CASES[name](), axes) is axes
            assert axes.xaxis.label.get_fontsize() == 21.0

    def test_anything_but_axes_is_refused(self, name):
        with pytest.raises(UsageError, match="cannot draw on list"):
            draw(name, CASES[name](), [])

    def test_same_numbers_give_the_same_bytes(self, name):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            first, second = (render_svg(draw(name, CASES[name]()).figure) for _ in range(2))
        assert first == second


def test_region_maps_share_one_scale_from_0_to_100():
    figure = draw("region_heatmap", grid_summary(3, 5)).figure
    bars = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
    assert len(bars) == 2
    assert all([label.get_text() for label in bar.get_yticklabels()] == ["0", "50", "100"] for bar in bars)
    assert all(bar.get_ylim() == (0.0, 1.0) for bar in bars)


def test_regions_that_cannot_be_told_from_the_mean_are_hollow():
    axes = draw("region_heatmap", grid_summary(3))
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    cells = make_grid(3).cells
    assert [patch.get_facecolor()[3] > 0 for patch in patches] == [cell.is_apart for cell in cells]
    assert all(patch.get_edgecolor()[3] > 0 for patch in patches)


def test_region_without_a_score_is_crossed_out_and_not_zero():
    grid = make_grid(3)
    cells = (msgspec.structs.replace(grid.cells[0], estimate=None), *grid.cells[1:])
    summary = msgspec.structs.replace(grid_summary(3), grids=(msgspec.structs.replace(grid, cells=cells),))
    axes = draw("region_heatmap", summary)
    assert axes.patches[0].get_hatch()
    assert "row 0 column 0: not scored" in registry.load("figure", "region_heatmap")().describe(summary)


def test_numbers_of_every_region_and_distance_are_in_words():
    summary = grid_summary(3)
    words = registry.load("figure", "region_heatmap")().describe(summary)
    assert all(format_estimate(cell.estimate) in words for cell in summary.grids[0].cells)
    curve = registry.load("figure", "manhattan_curve")().describe(summary)
    assert all(format_estimate(point.estimate) in curve for point in summary.grids[0].curve)
    assert "without positional effect 50.0 to 80.0" in curve


def test_curve_has_the_band_of_no_effect_and_the_regions_per_distance():
    axes = draw("manhattan_curve", grid_summary(3))
    assert len(axes.collections) >= 1
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0\n(1)"]


def test_sizes_are_marked_as_in_hrscene_up_to_a_gigapixel():
    axes = draw("picture_sizes", category_summary())
    assert axes.get_xlim()[1] == 1e9
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1k", "2k", "3k", "4k", "8k", "16k"]
    assert np.allclose(axes.get_xticks(), [1e6, 4e6, 9e6, 1.6e7, 6.4e7, 2.56e8])
    assert axes.get_yticklabels()[0].get_text() == "PANDA, 300"


def test_every_category_has_its_own_chance():
    axes = draw("category_bars", category_summary())
    chance = [line for line in axes.get_lines() if set(line.get_xdata()) == {0.2}]
    assert len(chance) == 8


@pytest.mark.parametrize("name", CASES)
def test_no_figure_holds_an_embedded_picture_that_a_page_would_have_to_load(name):
    assert "<image" not in render_svg(draw(name, CASES[name]()).figure)


def test_categories_are_parted_by_dark_edges_through_both_rings():
    axes = draw("source_rings", category_summary())
    edges = [line for line in axes.get_lines() if line.get_color() == "#1f2328"]
    assert len(edges) == 8
    for line in edges:
        inside, outside = np.hypot(line.get_xdata(), line.get_ydata())
        assert inside <= 0.3 + 1e-9
        assert outside >= 1.0


def test_datasets_too_small_for_a_name_are_counted():
    summary = category_summary()
    small = PictureGroup("tiny", "urban", 3, 3, (1e6,) * 5, 1e6)
    axes = draw("source_rings", msgspec.structs.replace(summary, pictures=(*summary.pictures, small)))
    texts = " ".join(text.get_text() for text in texts_of(axes.figure))
    assert "1 dataset of less than 1.8 % of the questions not named" in texts
    assert "tiny" not in texts
    plain = " ".join(text.get_text() for text in texts_of(draw("source_rings", summary).figure))
    assert "not named" not in plain


LONG_NAMES = ("Urban planning and inspection", "Medical diagnosis", "Remote sensing", "Paper", "Internationalisation")


def long_name_summary():
    """Categories with long names, whose datasets have the same names."""
    summary = category_summary()
    pictures = tuple(
        PictureGroup(f"set{at}", name, 10, 10, (1e6, 2e6, 3e6, 4e6, 5e6), 3e6) for name in LONG_NAMES for at in range(2)
    )
    breakdowns = tuple(
        msgspec.structs.replace(summary.breakdowns[at], subset=f"task: {name}") for at, name in enumerate(LONG_NAMES)
    )
    return msgspec.structs.replace(summary, pictures=pictures, breakdowns=breakdowns)


@pytest.mark.parametrize("name", ["source_rings", "category_radar"])
def test_long_names_of_categories_do_not_run_into_each_other(name):
    figure = draw(name, long_name_summary()).figure
    figure.canvas.draw()
    starts = tuple(long.split()[0][:8] for long in LONG_NAMES)
    boxes = [text.get_window_extent() for text in texts_of(figure) if text.get_text().startswith(starts)]
    boxes += [legend.get_window_extent() for legend in figure.findobj(mpl.legend.Legend)]
    assert len(boxes) >= len(LONG_NAMES)
    assert not [1 for at, box in enumerate(boxes) for other in boxes[:at] if box.overlaps(other)]


def test_datasets_in_several_categories_are_named_with_them():
    names = [label.get_text() for label in draw("picture_sizes", long_name_summary()).get_yticklabels()]
    assert len(set(names)) == 10
    assert "set0 · Paper, 10" in names
    rings = " ".join(text.get_text() for text in texts_of(draw("source_rings", long_name_summary()).figure))
    assert "n = 100 questions of 2 datasets in 5 categories" in rings
    assert "set1 · Remote sensing: n = 10" in registry.load("figure", "picture_sizes")().describe(long_name_summary())


def test_largest_grid_is_drawn_on_axes_of_an_author():
    axes = Figure().add_subplot()
    draw("region_heatmap", grid_summary(1, 3, 5), axes)
    assert axes.get_xlabel() == "column of grid_white_5x5"


def test_report_of_a_grid_run_holds_its_figures(tmp_path):
    paths = [str(path.relative_to(tmp_path)) for path in write_all(grid_summary(1, 2), tmp_path)]
    for stem in ("region_heatmap", "manhattan_curve", "size_curve"):
        assert {f"figures/{stem}.{suffix}" for suffix in ("pdf", "svg", "png")} <= set(paths)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="figure-region_heatmap"' in page
