"""A new SUM from V*Bench, ZoomBench and HR-Bench together, as a recipe names them."""

import json

import pytest
from benchmarks.sources import hrbench_rows, write_parquet, write_tsv, write_vstar, zoombench_rows

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.cli._app import run_app
from eyechart.releases.verify import verify_release

VIEWS = ("original", "crop_1x", "crop_3x", "whiteground_3x", "downsample_0_5", "target_only_1x")
RECIPE = """
title = "Three sources"
repository = "ME/THREE"

[tasks]
material = "Material Attributes"
color = "Color Attributes"
single = "OCR"
"Fine-Grained Counting" = "Object Identification"

[[sources]]
name = "VStarBench"
benchmark = "vstar"
data = "vstar_bench"
options = { category = "direct_attributes" }
task_field = "attribute"

[[sources]]
name = "ZoomBench"
benchmark = "zoombench"
data = "ZoomBench"
select = "zoombench_ids.txt"

[[sources]]
name = "HR-Bench"
benchmark = "hrbench"
data = "hr_bench_8k.tsv"
options = { rows = "base", category = "single" }
boxes = "my_boxes.jsonl"
"""


def build_twice(folder):
    """Write the three sources in miniature, and build the same collection into two folders."""
    write_vstar(folder / "vstar_bench")
    write_parquet(folder / "ZoomBench/test.parquet", zoombench_rows(), ("image", "crop_image"))
    write_tsv(folder / "hr_bench_8k.tsv", hrbench_rows())
    (folder / "zoombench_ids.txt").write_text("z1\nz0\n")
    (folder / "my_boxes.jsonl").write_text('{"id": "0", "box": [3, 4, 10, 12]}\n')
    (folder / "recipe.toml").write_text(RECIPE)
    for name in ("one", "two"):
        arguments = ["build", str(folder / "recipe.toml"), "--out", str(folder / name), "--views", ",".join(VIEWS)]
        assert run_app([*arguments, "--jobs", "1"]) == 0
    return folder / "one", folder / "two"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build_twice(tmp_path_factory.mktemp("sources"))


def test_three_sources_make_one_collection_in_the_order_of_the_recipe(built):
    rows = json.loads((built[0] / "dataset.json").read_text())
    assert [(row["id"], row["source_dataset"], row["source_question_id"], row["task_type"]) for row in rows] == [
        ("000000", "VStarBench", "direct_attributes-sa_10", "Material Attributes"),
        ("000001", "VStarBench", "direct_attributes-sa_2", "Color Attributes"),
        ("000002", "ZoomBench", "z1", "OCR"),
        ("000003", "ZoomBench", "z0", "Object Identification"),
        ("000004", "HR-Bench", "0", "OCR"),
    ]
    answers = [row["choices"]["ABCD".index(row["answer"])] for row in rows]
    assert answers == ["rubber", "red", "入口", "1 (one)", "sign 0"]
    assert [row["question"] for row in rows[2:4]] == ["Which word is on the door?", "How many lamps are there?"]


def test_release_records_the_seed_and_options_of_each_source(built):
    built_from = json.loads((built[0] / "metadata/validation_summary.json").read_text())["built_from"]
    vstar, zoombench, hrbench = built_from["options"]["sources"]
    assert (vstar["name"], vstar["options"]["order"], vstar["options"]["seed"]) == ("VStarBench", "shuffled", 0)
    assert (zoombench["benchmark"], zoombench["n_selected"]) == ("zoombench", 2)
    assert (hrbench["options"]["rows"], hrbench["n_selected"]) == ("base", None)
    assert len({source["revision"] for source in (vstar, zoombench, hrbench)}) == 3


def test_collection_of_three_sources_is_clean(built):
    report = verify_release(built[0], n_processes=1)
    assert report.findings == ()
    assert (report.n_questions, report.n_views, report.n_images) == (5, len(VIEWS), 5 * len(VIEWS))
    assert len(list(SumKind().open(built[0], SumOptions()).questions())) == 5


def test_three_sources_give_the_same_bytes_on_two_runs(built):
    one, two = ({path.relative_to(root): path for path in root.rglob("*") if path.is_file()} for root in built)
    assert one.keys() == two.keys()
    assert len(one) > 5 * len(VIEWS)
    for name, path in one.items():
        assert path.read_bytes() == two[name].read_bytes(), name


def test_datasets_library_loads_a_collection_of_three_sources(built, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    loaded = datasets.load_dataset(str(built[0]), "crop_3x", split="test", cache_dir=str(tmp_path / "cache"))
    assert [row["id"] for row in loaded] == [f"{number:06d}" for number in range(5)]
    assert set(loaded["source_dataset"]) == {"VStarBench", "ZoomBench", "HR-Bench"}
    assert all(row["image"].size == (row["width"], row["height"]) for row in loaded)
