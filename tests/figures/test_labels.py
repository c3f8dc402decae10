"""Labels and legends stand where nothing is drawn."""

import re

import msgspec
import pytest
from matplotlib.figure import Figure
from summaries import CASES, demo_summary

from eyechart import registry
from eyechart.figures._labels import Label, write_labels


def draw(name, summary):
    return registry.load("figure", name)().draw(summary)


def test_label_moves_to_another_side_where_a_marker_is_in_its_way():
    sides = []
    for markers in ([], [(0.54, 0.46)]):
        axes = Figure(figsize=(3, 3)).add_subplot()
        write_labels(axes, [Label(0.5, 0.5, "1/2")], [(0.5, 0.5), *markers])
        sides.append((axes.texts[0].get_ha(), axes.texts[0].get_va()))
    assert sides == [("left", "top"), ("right", "bottom")]


@pytest.mark.parametrize("corner", [(0.0, 0.0), (1.0, 0.0)])
def test_label_stays_inside_the_axes(corner):
    axes = Figure(figsize=(3, 3)).add_subplot()
    write_labels(axes, [Label(*corner, "1/16")], [corner])
    axes.figure.canvas.draw()
    frame, box = axes.get_window_extent(), axes.texts[0].get_window_extent()
    assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
    assert frame.y0 <= box.y0


@pytest.mark.parametrize("case", ["demo", "sum", "single_question"])
def test_scales_cover_no_marker_of_another_view(case):
    axes = draw("acuity_curve", CASES[case]())
    axes.figure.canvas.draw()
    scales = [text for text in axes.texts if re.fullmatch(r"[\d./, …]+", text.get_text())]
    markers = [line.get_xydata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 1]
    places = axes.transData.transform(markers)
    assert scales
    for text in scales:
        box = text.get_window_extent()
        assert not [place for place in places if box.contains(*place)]
    boxes = [text.get_window_extent() for text in scales]
    assert not [1 for at, box in enumerate(boxes) for other in boxes[:at] if box.overlaps(other)]


@pytest.mark.parametrize("case", ["demo", "sum", "single_question"])
def test_legend_of_the_acuity_curve_covers_nothing_drawn(case):
    axes = draw("acuity_curve", CASES[case]())
    axes.figure.canvas.draw()
    assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1 - 1


def test_legend_of_the_resolution_curve_makes_way_for_low_accuracies():
    summary = demo_summary()
    low = tuple(msgspec.structs.replace(one, value=0.05, low=0.01, high=0.1) for one in summary.estimates)
    for estimates in (summary.estimates, low):
        axes = draw("resolution_curve", msgspec.structs.replace(summary, estimates=estimates))
        axes.figure.canvas.draw()
        box = axes.get_legend().get_window_extent()
        (curve,) = [line for line in axes.get_lines() if line.get_marker() == "o" and len(line.get_xdata()) > 1]
        assert not [place for place in axes.transData.transform(curve.get_xydata()) if box.contains(*place)]
