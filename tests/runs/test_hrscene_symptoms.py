"""What went wrong with the published code, each fault a test named for its symptom."""

import json

import numpy as np
import pytest
from needles_made import write_needles

import eyechart
from eyechart.cli._app import run_app
from eyechart.errors import StoreError, UsageError
from eyechart.opening import open_benchmark
from eyechart.runs.folders import Destination
from eyechart.runs.plan import PlanOptions, plan_run
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.runs.store import RunStore, open_store
from eyechart.schema import ModelIdentity
from eyechart.views import resolve_views


class Reader:
    """Knows a needle by its colour, wherever it lies."""

    name = "reader"

    def answer(self, prompt, pictures):
        pixels = np.asarray(pictures[0])
        rows, columns = np.nonzero((pixels != 255).any(axis=2))
        return str(255 - int(pixels[rows[0], columns[0], 1]))


@pytest.fixture
def needles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_needles(tmp_path / "needles", n=6)
    return tmp_path / "needles"


def run_grid(needles, *, grid=2, model=None, **changes):
    bench = eyechart.benchmark("whitebackground", grid=grid, needles=str(needles))
    return eyechart.run(bench, model=model or Reader(), **changes)


def test_white_background_cannot_be_evaluated_at_all(needles):
    grid = run_grid(needles).regions().grids[0]
    assert grid.perf.value == 1.0
    assert grid.n_bases == 6


def test_1x1_fails_when_the_map_is_drawn(needles, tmp_path):
    run = run_grid(needles, grid=1)
    assert run.regions().grids[0].perf.value == 1.0
    assert run.report(tmp_path / "report.html").is_file()


def test_base_id_with_an_underscore_breaks_the_map(needles):
    run = run_grid(needles)
    assert {question.id for question in RunStore(run.folder).questions()} == {f"coco_{index}" for index in range(6)}
    assert [cell.n_scored for cell in run.regions().grids[0].cells] == [6, 6, 6, 6]


def test_region_outside_the_grid_is_dropped_silently():
    with pytest.raises(UsageError, match="grid_white_3x3_r3_c0"):
        resolve_views("grid_white_3x3_r3_c0")


def test_number_of_samples_counts_more_than_there_are(needles):
    run = run_grid(needles, limit=500)
    assert run.summary.n_questions == 6
    assert len(list(RunStore(run.folder).requests())) == 6 * 4


def test_limit_counts_base_samples_with_all_their_regions(needles):
    run = run_grid(needles, limit=2)
    assert (run.summary.n_questions, run.regions().grids[0].n_bases) == (2, 2)
    assert len(list(RunStore(run.folder).requests())) == 2 * 4


def test_results_of_one_task_are_saved_under_the_name_of_another(needles):
    assert "whitebackground" in run_grid(needles).folder.name
    assert "complexgrid" not in run_grid(needles).folder.name


@pytest.mark.parametrize("returned", [None, ["yes"], 7])
def test_answer_that_is_no_text_ends_the_whole_run(needles, returned):
    class Odd:
        def answer(self, prompt, pictures):
            return returned if (np.asarray(pictures[0])[-1, -1] != 255).any() else "0"

    run = run_grid(needles, model=Odd())
    assert [cell.n_scored for cell in run.regions().grids[0].cells] == [6, 6, 6, 0]
    assert run.summary.failures[0].state == "bad_request"


def test_two_runs_of_the_same_second_share_their_files(needles):
    bench = open_benchmark("whitebackground", None, {"needles": str(needles), "grid": 1})
    stores = [
        run_benchmark(
            bench,
            eyechart.model("simulated/chance"),
            resolve_views("grid_white_1x1_r0_c0")[0],
            _prompt(),
            options=RunOptions(where=Destination(is_new=True)),
        ).store
        for _ in range(2)
    ]
    assert stores[0].folder != stores[1].folder
    assert all(len(list(store.responses())) == 6 for store in stores)


def _prompt():
    from eyechart.opening import open_prompt

    return open_prompt("hrscene_clean")


@pytest.mark.parametrize("changed", ["model", "grid", "prompt", "benchmark"])
def test_answers_of_another_model_task_grid_or_prompt_are_mixed_in(needles, tmp_path, changed):
    def plan(model="a", grid=2, prompt="hrscene_clean", name="whitebackground"):
        from eyechart.opening import open_prompt

        bench = open_benchmark(name, None, {"needles": str(needles), "grid": grid})
        return plan_run(
            bench,
            resolve_views(",".join(bench.defaults.views))[0],
            open_prompt(prompt),
            model=ModelIdentity("m", model, fingerprint=model),
            options=PlanOptions(),
        )

    run_grid(needles, out=tmp_path / "run")
    others = {
        "model": plan(model="b"),
        "grid": plan(grid=3),
        "prompt": plan(prompt="letter_normalized"),
        "benchmark": plan(name="complexgrid"),
    }
    with pytest.raises(StoreError, match="holds another run, with other"):
        open_store(tmp_path / "run", others[changed])


def test_half_written_last_line_loses_the_run(needles, tmp_path):
    whole = run_grid(needles, out=tmp_path / "whole")
    run_grid(needles, out=tmp_path / "cut")
    answers = next((tmp_path / "cut" / "responses").glob("*.jsonl"))
    lines = answers.read_bytes().splitlines(keepends=True)
    answers.write_bytes(b"".join(lines[:-3]) + lines[-3][: len(lines[-3]) // 2])
    again = run_grid(needles, out=tmp_path / "cut")
    assert again.n_missing == 0
    assert again.regions().grids == whole.regions().grids


def test_scoring_twice_writes_every_row_twice(needles):
    run = run_grid(needles)
    file = next((run.folder / "scores").glob("*.jsonl"))
    before = file.read_bytes()
    assert run_app(["score", str(run.folder)]) == 0
    assert file.read_bytes() == before
    assert len(before.splitlines()) == 24


def test_unknown_metric_fails_as_a_text_that_cannot_be_called(needles, capsys):
    run = run_grid(needles)
    assert run_app(["score", str(run.folder), "--scorer", "x"]) == 2
    assert "there is no scorer named 'x'" in capsys.readouterr().err


def test_published_metrics_are_never_computed(needles, tmp_path, capsys):
    run = run_grid(needles, grid=(1, 3))
    assert run_app(["score", str(run.folder), "--json"]) == 0
    grid = json.loads(capsys.readouterr().out)["grids"][1]
    for name in ("perf", "size", "region", "region_std", "region_map_gap", "region_rarefied"):
        assert grid[name]["n_questions"] == 6, name
        assert grid[name]["low"] is None, name  # six pictures are too few for an interval
        assert grid[name]["high"] is None, name
    assert len(grid["curve"]) == 5
    assert grid["noise_floor"] == 0.0


def test_maps_of_two_models_cannot_be_compared_because_their_scales_differ(needles):
    class Blind:
        def answer(self, prompt, pictures):
            return "nothing"

    from eyechart.figures.region_heatmap import RegionHeatmap

    for model in (Reader(), Blind()):
        figure = RegionHeatmap().draw(run_grid(needles, model=model).summary).figure
        bar = next(axes for axes in figure.axes if axes.get_label() == "<colorbar>")
        assert bar.get_ylim() == (0.0, 1.0)
