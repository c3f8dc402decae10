"""One typed schema for every config of a collection: the same keys and types, whatever the sources gave."""

import io
import json
import re
import shutil

import numpy as np
import pytest
from benchmarks.sources import hrbench_rows, write_parquet, write_vstar
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from PIL import Image
from releases.made import QUESTIONS, VIEW_IDS, as_built_before, make_release, open_source, settings, write_source

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.cli._app import run_app
from eyechart.releases.build import build_release
from eyechart.releases.conform import explain_release
from eyechart.releases.opening import open_as_promised
from eyechart.releases.row_schema import (
    FIELDS,
    features,
    foreign_schema,
    misfit,
    read_features,
    typed_row,
    yaml_features,
)
from eyechart.releases.verify import verify_release

SCALARS = st.one_of(
    st.text(max_size=4),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.none(),
)
FOREIGN = st.lists(st.dictionaries(st.sampled_from("abc"), SCALARS | st.lists(st.integers(), max_size=2)), max_size=6)


@examples(max_examples=60)
@given(FOREIGN)
def test_every_row_has_every_column_in_the_declared_type(rows):
    schema, _ = foreign_schema(rows)
    for row in rows:
        typed = json.loads(json.dumps(typed_row(schema, row)))
        assert list(typed) == [field.name for field in schema]
        assert all(misfit(field, typed[field.name]) is None for field in schema)
        assert all((typed[field.name] is None) == (row.get(field.name) is None) for field in schema)


@examples(max_examples=60)
@given(FOREIGN)
def test_no_value_is_changed_but_in_its_spelling_and_what_is_no_column_is_told(rows):
    schema, told = foreign_schema(rows)
    for row in rows:
        for name, typed in typed_row(schema, row).items():
            given_value = row.get(name)
            if isinstance(typed, str) and not isinstance(given_value, str):
                assert json.loads(typed) == given_value
            else:
                assert typed == given_value
    left_out = {name for row in rows for name, value in row.items() if value is not None} - {f.name for f in schema}
    assert all(any(f"field {name} stands in dataset.json only" in text for text in told) for name in left_out)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "int64"),
        ([1, None, 2.5], "float64"),
        ([True, False], "bool"),
        ([True, 1], "string"),
        ([1, "x"], "string"),
        ([2**70, 1], "string"),
        ([2**60 + 1, 0.5], "string"),
        ([float("nan"), 2], "int64"),
    ],
)
def test_foreign_field_has_one_type_over_the_collection(values, kind):
    (field,), _ = foreign_schema([{"n": value} for value in values])
    assert field.kind == kind


@pytest.mark.parametrize("name", ["crop_file_name", "file_names"])
def test_name_that_a_reader_takes_for_a_picture_is_no_column(name):
    assert foreign_schema([{name: "x.png"}])[0] == ()


def test_declared_features_are_read_back():
    schema = (*FIELDS, *foreign_schema([{"a": 1, "b c": "x", "d": 0.5, "e": True}])[0])
    assert read_features(json.loads(json.dumps(features(schema)))) == schema
    assert read_features([]) is None
    assert read_features({"a": {"_type": "ClassLabel"}}) is None


def test_header_of_the_card_declares_the_same_features():
    yaml = pytest.importorskip("yaml")
    datasets = pytest.importorskip("datasets")
    schema = (*FIELDS, *foreign_schema([{"b: c": "x", "Größe 😀": 1}])[0])
    read = yaml.safe_load("features:\n" + "\n".join(yaml_features(schema, "  ")))
    assert datasets.Features._from_yaml_list(read["features"]) == datasets.Features.from_dict(features(schema))


def rows_of(root, view_id):
    text = (root / "data" / view_id / "test" / "metadata.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_columns_of_a_newer_version_are_said_and_not_judged(tmp_path):
    root = make_release(tmp_path, QUESTIONS[:1], views=("original",))
    path = root / "metadata/validation_summary.json"
    path.write_text(path.read_text().replace('"row_schema": 1', '"row_schema": 2'))
    (finding,) = verify_release(root, n_processes=1).findings
    assert (finding.level, finding.code) == ("warning", "features_differ")
    assert "row_schema 2 is newer than 1" in finding.message


def test_rows_of_every_view_have_the_same_keys_and_boxes_with_a_point(tmp_path):
    rows = [dict(row) for row in QUESTIONS]
    rows[0] |= {"mixed": 1, "listed": [1], "rating": 4, "view_id": "mine"}
    rows[1] |= {"mixed": "one", "rating": 0.5}
    (tmp_path / "source").mkdir()
    write_source(tmp_path / "source", rows)
    out = tmp_path / "release"
    report = build_release(open_source(tmp_path / "source"), out, settings(), n_processes=1)
    assert [text.split(" ")[2] for text in report.fields] == ["view_id", "mixed", "listed"]
    keys = [*(field.name for field in FIELDS), "n_signs", "mixed", "rating"]
    for view_id in VIEW_IDS:
        for row in rows_of(out, view_id):
            assert list(row) == keys
            for name in ("bbox_original", "bbox_clipped", "bbox_view", "crop_box_original"):
                assert row[name] is None or all(isinstance(edge, float) for edge in row[name])
    assert [row["mixed"] for row in rows_of(out, "crop_3x")] == ["1", "one", None, None]
    assert [row["rating"] for row in rows_of(out, "crop_3x")] == [4.0, 0.5, None, None]
    assert json.loads((out / "dataset.json").read_text())[0]["listed"] == [1]


def smooth(seed, kind):
    """A picture without noise: noise of a few pixels is not what it was once it is made smaller."""
    rows, columns = np.mgrid[0:30, 0:40]
    stream = io.BytesIO()
    pixels = np.stack([rows * 4 + seed, columns * 3, rows + columns], axis=-1).astype(np.uint8)
    Image.fromarray(pixels).save(stream, kind)
    return stream.getvalue()


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A collection of V*, HR-Bench with whole numbers as its index, and a folder, in all 29 views."""
    folder = tmp_path_factory.mktemp("mixed")
    write_vstar(folder / "vstar")
    for number, path in enumerate(sorted((folder / "vstar").rglob("*.jpg"))):
        path.write_bytes(smooth(number, "JPEG"))
    rows = [{**row, "image": smooth(9, "PNG")} for row in hrbench_rows(1)]
    write_parquet(folder / "hr/hr_bench_4k.parquet", rows)
    lines = [json.dumps({"id": row["index"], "box": [3, 4, 20, 15]}) for row in rows]
    (folder / "boxes.jsonl").write_text("\n".join(lines))
    (folder / "mine").mkdir()
    write_source(folder / "mine", QUESTIONS[:2])
    (folder / "all.toml").write_text(
        '[[sources]]\nbenchmark = "vstar"\ndata = "vstar"\n'
        '[[sources]]\nbenchmark = "hrbench"\ndata = "hr"\nboxes = "boxes.jsonl"\n'
        '[[sources]]\nbenchmark = "folder"\ndata = "mine"\noptions = { box_format = "xyxy" }\n'
    )
    out = folder / "out"
    assert run_app(["build", str(folder / "all.toml"), "--out", str(out), "--jobs", "1"]) == 0
    return out


@pytest.mark.slow(seconds=15)
def test_collection_of_text_and_number_ids_opens_in_all_29_views(mixed):
    pytest.importorskip("datasets")
    assert {row["source_question_id"] for row in rows_of(mixed, "original")} >= {"0", "000000"}
    report = verify_release(mixed, n_processes=1, opens=True)
    assert report.n_views == 29
    assert [finding for finding in report.findings if finding.level != "known"] == []


@pytest.mark.slow(seconds=10)
def test_release_of_an_earlier_build_is_named_with_what_is_wrong(mixed, tmp_path, capsys):
    pytest.importorskip("datasets")
    root = shutil.copytree(mixed, tmp_path / "old")
    before = {question.id: question for question in SumKind().open(root, SumOptions()).questions()}
    as_built_before(root, number_ids=True)
    assert run_app(["verify", str(root), "--jobs", "1", "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert any("source_question_id" in one["message"] and one["level"] == "error" for one in findings)
    assert {one["code"] for one in findings if one["level"] == "error"} == {"not_loadable"}
    warned = {one["code"] for one in findings if one["level"] == "warning"}
    assert warned >= {"type_differs", "keys_differ"}
    # It is read as before, and nothing in it is rewritten.
    read = {question.id: question for question in SumKind().open(root, SumOptions()).questions()}
    assert [one.choices for one in read.values()] == [one.choices for one in before.values()]
    deviations = explain_release(root, n_pixel_questions=0).deviations
    assert {"source_question_id", "answers"} <= {one.field for one in deviations}


def test_rebuilding_an_old_collection_rewrites_rows_and_no_image(tmp_path):
    root = make_release(tmp_path)
    whole = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    as_built_before(root)
    stamps = {path: path.stat().st_mtime_ns for path in root.glob("data/*/test/images/*")}
    report = build_release(open_source(tmp_path / "source"), root, settings(), n_processes=1)
    assert report.n_written == 0
    assert {path: path.stat().st_mtime_ns for path in root.glob("data/*/test/images/*")} == stamps
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == whole


def test_views_of_an_old_release_that_cannot_be_joined_are_a_warning(tmp_path):
    pytest.importorskip("datasets")
    root = make_release(tmp_path, QUESTIONS[:1], views=("original", "downsample_0_5"))
    as_built_before(root)
    report = verify_release(root, n_processes=1, opens=True)
    assert {finding.code for finding in report.findings if finding.path == "README.md"} == {"not_aligned"}
    assert report.errors == ()


def test_view_that_does_not_load_is_an_error_with_the_first_line_of_the_library(tmp_path):
    pytest.importorskip("datasets")
    root = make_release(tmp_path, QUESTIONS[:2], views=("original", "crop_3x"))
    (root / "data/crop_3x/test/metadata.csv").write_text("file_name\nimages/000000.png\n")
    (failure, *_) = open_as_promised(root, ("original", "crop_3x"))
    assert (failure.view_id, failure.action) == ("crop_3x", 'load_dataset(…, "crop_3x")')
    assert "different extensions" in failure.reason
    assert open_as_promised(root, ()) == ()


def test_texts_that_a_reader_takes_for_times_are_named(tmp_path):
    pytest.importorskip("datasets")
    rows = [{**QUESTIONS[0], "choices": ["2020-01-01", "2021-01-01"]}]
    root = make_release(tmp_path, rows, views=("original",))
    reasons = {failure.reason for failure in open_as_promised(root, ("original",))}
    assert any(reason.startswith("column choices is read as List(Value('timestamp[s]'))") for reason in reasons)


def test_release_of_others_is_read_whatever_types_it_has(tmp_path):
    """SUM's types are not known: whole numbers or fractions, null or absent, choices as JSON text."""
    root = make_release(tmp_path)
    plain = list(SumKind().open(root, SumOptions()).questions())
    as_built_before(root)
    for path in [root / "dataset.json", *root.glob("data/*/test/metadata.jsonl")]:
        text = path.read_text(encoding="utf-8")
        rows = json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
        for row in rows:
            row |= {"choices": json.dumps(row["choices"]), "id": int(row["id"]), "targets": None, "answers": None}
        lines = json.dumps(rows) if path.suffix == ".json" else "\n".join(map(json.dumps, rows))
        path.write_text(lines, encoding="utf-8")
    read = list(SumKind().open(root, SumOptions()).questions())
    for before, after in zip(plain, read, strict=True):
        for field in ("id", "choices", "answer", "answers", "targets", "targets_clipped", "text", "task"):
            assert getattr(after, field) == getattr(before, field)
    assert verify_release(root, n_processes=1).errors == ()


def test_snippets_of_the_card_run_against_a_local_copy(tmp_path, monkeypatch, capsys):
    pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    root = make_release(tmp_path, views=("original", "downsample_0_5"))
    for name in ("README.md", "README_ZH.md"):
        snippets = re.findall(r"```python\n(.*?)```", (root / name).read_text(encoding="utf-8"), re.DOTALL)
        assert len(snippets) == 3
        for snippet in snippets:
            names = {}
            exec(snippet.replace("PATH_OR_REPOSITORY", str(root)), names)  # noqa: S102 -- the card's own
            if "both" in names:
                assert len(names["both"]) == 2 * len(QUESTIONS)
    assert "000000 What is it? (32, 24)" in capsys.readouterr().out
