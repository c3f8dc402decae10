"""Charts show the numbers of the figures they stand for, on fixed scales, and hold no text that could run."""

import gzip
import json
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from grid_summaries import category_summary, grid_summary
from summaries import CASES, HOSTILE, demo_summary, hostile_summary

from eyechart import registry
from eyechart.figures import accuracies, format_estimate, main_contrasts
from eyechart.reports._charts import _BUILT, charts_of
from eyechart.reports._printable import printable

SUMMARIES = {
    name: cache(make)
    for name, make in {**CASES, "grids": lambda: grid_summary(1, 3, 5), "categories": category_summary}.items()
}
PAIRS = [(case, name) for case in SUMMARIES for name in _BUILT]


def walk(value, key=""):
    """Every key with its plain value, at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from walk(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner, key)
    else:
        yield key, value


def rows_of(chart):
    return chart["data"]["values"]


@pytest.mark.parametrize(("case", "name"), PAIRS)
class TestEveryChart:
    """Laws for every figure of every summary."""

    def test_chart_exists_where_the_figure_does(self, case, name):
        summary = SUMMARIES[case]()
        assert bool(charts_of(summary, name)) == bool(registry.load("figure", name)().describe(summary))

    def test_every_value_is_in_the_words_of_the_figure(self, case, name):
        summary = SUMMARIES[case]()
        words = printable(registry.load("figure", name)().describe(summary))
        rows = [row for chart in charts_of(summary, name) for row in rows_of(chart)]
        for row in rows:
            assert row["said"].removesuffix(" %") in words
            assert "n" not in row or f"n = {row['n']}" in words
        # and nothing that the figure says in words is left out
        if name not in {"context_curve", "manhattan_curve"}:
            assert len(rows) == words.count("n = ")

    def test_row_says_its_own_numbers(self, case, name):
        for chart in charts_of(SUMMARIES[case](), name):
            for row in rows_of(chart):
                if row.get("low") is None and row["value"] is not None:
                    assert "too few pictures" in row["said"]
                elif row["value"] is not None:
                    said = [float(word.strip("[],+%").replace("−", "-")) for word in row["said"].split()[:3]]
                    assert said == pytest.approx([row["value"], row["low"], row["high"]], abs=0.0501)

    def test_scale_of_accuracy_is_fixed(self, case, name):
        for chart in charts_of(SUMMARIES[case](), name):
            for layer in chart["layer"]:
                for channel in layer["encoding"].values():
                    if isinstance(channel, dict) and channel.get("field") == "value" and name != "view_forest":
                        assert channel["scale"]["domain"] == [0, 100]

    def test_chart_names_no_address_and_is_plain_json(self, case, name):
        for chart in charts_of(SUMMARIES[case](), name):
            assert json.loads(json.dumps(chart, allow_nan=False)) == chart
            assert not {key for key, _ in walk(chart)} & {"url", "href", "src"}
            assert "://" not in json.dumps(chart)

    def test_every_mark_is_a_row_or_drawn_once(self, case, name):
        for chart in charts_of(SUMMARIES[case](), name):
            fields = set(rows_of(chart)[0])
            for layer in chart["layer"]:
                used = {value for key, value in walk(layer["encoding"]) if key == "field"}
                own = layer.get("data", {"values": [dict.fromkeys(fields)]})["values"]
                assert used <= set(own[0])
                assert used or len(own) == 1


def test_numbers_are_those_of_the_estimates():
    summary = demo_summary()
    found = accuracies(summary)
    [chart] = charts_of(summary, "resolution_curve")
    for row in rows_of(chart):
        assert row["value"] == pytest.approx(100 * found[row["view"]].value, abs=0.005)
        assert row["said"] == f"{format_estimate(found[row['view']])} %"
    [forest] = charts_of(summary, "view_forest")
    contrasts = main_contrasts(summary)
    for row in rows_of(forest):
        assert row["low"] == pytest.approx(100 * contrasts[row["view"]].low, abs=0.005)
        assert row["n"] == contrasts[row["view"]].n_questions


def test_texts_from_outside_never_stand_in_expressions():
    for name in _BUILT:
        for chart in charts_of(hostile_summary(), name):
            for key, value in walk({**chart, "data": None}):
                if key in {"labelExpr", "test", "filter", "expr", "signal", "calculate"}:
                    assert "script" not in value
                    assert printable(HOSTILE) not in value


def test_charts_keep_to_the_schema_of_vega_lite():
    jsonschema = pytest.importorskip("jsonschema")
    packed = Path(__file__).with_name("vega-lite-6.5.0.schema.json.gz").read_bytes()
    validator = jsonschema.Draft7Validator(json.loads(gzip.decompress(packed)))
    for case, name in product(("demo", "grids", "categories"), _BUILT):
        for chart in charts_of(SUMMARIES[case](), name):
            assert not list(validator.iter_errors(chart))[:1], (case, name)


def test_axes_say_what_the_lines_of_the_original_and_hollow_regions_mean():
    original = accuracies(demo_summary())["original"]
    (context,) = charts_of(demo_summary(), "context_curve")
    said = [value for key, value in walk(context) if key == "title"]
    assert f"dash-dotted with band: original {100 * original.value:.1f} %" in said
    for chart in charts_of(grid_summary(3, 5), "region_heatmap"):
        assert "hollow: cannot be told from the mean of all regions" in [value for key, value in walk(chart)]
