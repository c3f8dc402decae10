import hashlib
import json

import pytest
from PIL import Image

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.errors import BenchmarkError, UsageError
from eyechart.kinds import Benchmark, BenchmarkKind
from eyechart.registry import load
from eyechart.schema import Box, Size

# The seven inner scales are unknown, so ids that eyechart would not write must be read like any other.
VIEWS = ("original", "crop_3x", "crop_0.25", "downsample_0_5")
IDS = ("000001", "000669")


def row_of(question_id, view_id, suffix="png"):
    crop = [10, 10, 40, 30] if view_id.startswith("crop") else None
    size = {"original": (80, 60), "downsample_0_5": (40, 30)}.get(view_id, (30, 20))
    return {
        "id": question_id,
        "base_sample_id": question_id,
        "file_name": f"images/{question_id}.{suffix}",
        "source_dataset": "HR-Bench",
        "source_question_id": 7,
        "question": "What colour?",
        "question_raw": "What colour? A. red",
        "choices": ["red", "Red", "Brown", "Black"],
        "answer": "C",
        "answer_text": "Brown",
        "task_type": "Color Attributes",
        "view_id": view_id,
        "view_family": view_id.split("_")[0],
        "width": size[0],
        "height": size[1],
        "bbox_original": [-2, 12, 30, 25],
        "bbox_clipped": [0, 12, 30, 25],
        "bbox_view": [0, 2, 20, 15],
        "crop_box_original": crop,
        "crop_area_multiplier": 3 if crop else None,
        "downsample_linear_scale": 0.5 if view_id == "downsample_0_5" else None,
        "quality_notes": "duplicate distractors" if question_id == "000669" else None,
        "house_field": {"kept": True},
    }


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


@pytest.fixture
def release(tmp_path):
    manifest = []
    for view_id in VIEWS:
        folder = tmp_path / "data" / view_id / "test"
        (folder / "images").mkdir(parents=True)
        rows = [row_of(question_id, view_id) for question_id in IDS]
        for number, row in enumerate(rows):
            path = folder / row["file_name"]
            Image.new("RGB", (row["width"], row["height"]), (number, 0, 0)).save(path)
            sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
            manifest.append(
                {
                    "path": path.relative_to(tmp_path).as_posix(),
                    "sha256": sha256,
                    "bytes": path.stat().st_size,
                    "width": row["width"],
                    "height": row["height"],
                }
            )
        for row in rows:
            original = next(entry for entry in manifest if entry["path"].endswith(f"original/test/{row['file_name']}"))
            row["image_group_id"] = original["sha256"]
        # Rows come in any order.
        (folder / "metadata.jsonl").write_text("\n".join(json.dumps(row) for row in reversed(rows)), encoding="utf-8")
    canonical = [
        {**row_of(question_id, "original"), "image": f"data/original/test/images/{question_id}.png"}
        for question_id in IDS
    ]
    write_json(tmp_path / "dataset.json", canonical)
    write_json(tmp_path / "metadata" / "image_manifest.json", manifest)
    write_json(tmp_path / "metadata" / "validation_summary.json", {"views": {"list": list(VIEWS)}, "n": 2})
    write_json(
        tmp_path / "metadata" / "errata.json",
        {"issues": [{"sample_id": 669, "description": "red and Red"}], "boxes": {"ids": ["000001"], "note": "outside"}},
    )
    return tmp_path


def open_release(root):
    return SumKind().open(root, SumOptions())


def edit_rows(root, view_id, change):
    path = root / "data" / view_id / "test" / "metadata.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("\n".join(json.dumps(row) for row in map(change, rows)), encoding="utf-8")


def test_sum_keeps_the_contracts_of_its_kind(release):
    assert load("benchmark", "sum") is SumKind
    assert isinstance(SumKind(), BenchmarkKind)
    assert isinstance(open_release(release), Benchmark)


def test_question_comes_from_the_release_with_notes_and_foreign_fields(release):
    first, second = open_release(release).questions()
    assert (first.id, first.answer, first.choices[2], first.task) == ("000001", "C", "Brown", "Color Attributes")
    assert (first.text, first.text_raw, first.source) == ("What colour?", "What colour? A. red", "HR-Bench")
    assert (first.targets, first.targets_clipped) == ((Box(-2, 12, 30, 25),), (Box(0, 12, 30, 25),))
    assert first.image.size == Size(80, 60)
    assert first.image_group == first.image.file_sha256
    assert first.extra == {"source_question_id": 7, "house_field": {"kept": True}}
    assert first.notes == ("errata: outside",)
    assert second.notes == ("duplicate distractors", "errata: red and Red")


def test_released_views_are_the_releases_own_configs_in_its_order(release):
    benchmark = open_release(release)
    assert benchmark.released_views() == VIEWS
    (release / "metadata" / "validation_summary.json").unlink()
    assert open_release(release).released_views() == ("original", "crop_0.25", "crop_3x", "downsample_0_5")
    (release / "README.md").write_text("---\nconfigs:\n- config_name: crop_3x\n- config_name: 'original'\n---\n")
    assert open_release(release).released_views() == ("crop_3x", "original", "crop_0.25", "downsample_0_5")


@pytest.mark.parametrize(
    "summary",
    [
        {"a": [{"config_name": name, "rows": 2} for name in VIEWS], "families": ["original", "crop"]},
        {"per_view": {name: {"rows": 2} for name in VIEWS}},
        [list(VIEWS)],
    ],
)
def test_configs_are_found_wherever_the_summary_keeps_them(release, summary):
    write_json(release / "metadata" / "validation_summary.json", summary)
    assert open_release(release).released_views() == VIEWS


def test_released_image_is_told_by_metadata_and_manifest(release):
    benchmark = open_release(release)
    question = next(benchmark.questions())
    crop = benchmark.released_image(question, "crop_3x")
    path = release / "data/crop_3x/test/images/000001.png"
    assert crop.image.file_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (crop.image.size, crop.image.media_type, crop.image.n_bytes) == ((30, 20), "image/png", path.stat().st_size)
    assert (crop.source_region, crop.target_in_view) == (Box(10, 10, 40, 30), Box(0, 2, 20, 15))
    assert crop.extra["crop_area_multiplier"] == 3
    assert benchmark.image_path(crop.image) == path
    assert benchmark.image_path(question.image) == release / "data/original/test/images/000001.png"


def test_released_view_of_an_earlier_run_is_found_without_asking_for_it_again(release):
    """A page that shows a run opens the release anew and knows only the hashes of what was sent."""
    asked = SumKind().open(release, SumOptions())
    sent = [asked.released_image(question, "crop_3x").image for question in asked.questions()]
    again = SumKind().open(release, SumOptions())
    for image in sent:
        assert hashlib.sha256(again.image_path(image).read_bytes()).hexdigest() == image.file_sha256


def test_no_pixel_and_no_byte_is_read_where_the_manifest_speaks(release):
    path = release / "data/crop_3x/test/images/000001.png"
    path.write_bytes(b"not a picture")
    benchmark = open_release(release)
    assert benchmark.released_image(next(benchmark.questions()), "crop_3x").image.size == (30, 20)


@pytest.mark.parametrize("shape", ["map", "nested", "hashes", "none"])
def test_manifest_shape_changes_nothing_that_is_read(release, shape):
    expected = list(open_release(release).questions())
    manifest = json.loads((release / "metadata/image_manifest.json").read_text())
    by_path = {entry.pop("path"): entry for entry in manifest}
    renamed = {path: {"byte_size": entry.pop("bytes"), **entry} for path, entry in by_path.items()}
    content = {"map": renamed, "nested": {"version": 1, "images": renamed}}.get(shape)
    if shape == "hashes":
        content = {path: entry["sha256"] for path, entry in by_path.items()}
    write_json(release / "metadata/image_manifest.json", content)
    if shape == "none":
        (release / "metadata/image_manifest.json").unlink()
    sizes_known = shape in {"map", "nested"}
    for question, other in zip(expected, open_release(release).questions(), strict=True):
        assert question.image.file_sha256 == other.image.file_sha256
        assert question.image.size == other.image.size
        assert (question == other) is sizes_known


@pytest.mark.parametrize("given", [669, "000669"])
def test_ids_may_be_numbers_or_padded_text(release, given):
    edit_rows(release, "crop_3x", lambda row: {**row, "id": given} if row["id"] == "000669" else row)
    edit_rows(release, "crop_3x", lambda row: {key: value for key, value in row.items() if key != "base_sample_id"})
    benchmark = open_release(release)
    question = list(benchmark.questions())[1]
    assert benchmark.released_image(question, "crop_3x").question_id == "000669"


def test_base_sample_id_wins_over_an_id_with_a_view_suffix(release):
    edit_rows(release, "crop_3x", lambda row: {**row, "id": f"{row['id']}-crop_3x"})
    benchmark = open_release(release)
    assert benchmark.released_image(next(benchmark.questions()), "crop_3x").question_id == "000001"


def test_release_without_dataset_json_or_metadata_is_read_from_its_rows(release):
    expected = {question.id: question.text for question in open_release(release).questions()}
    (release / "dataset.json").unlink()
    for path in (release / "metadata").iterdir():
        path.unlink()
    questions = list(open_release(release).questions())
    assert {question.id: question.text for question in questions} == expected
    assert questions[0].id == "000669"


def test_missing_mirror_image_is_missing_for_its_view_only(release):
    (release / "data/crop_3x/test/images/000001.png").unlink()
    benchmark = open_release(release)
    first, second = benchmark.questions()
    assert benchmark.released_image(first, "crop_3x") is None
    assert benchmark.released_image(second, "crop_3x") is not None
    assert benchmark.released_image(first, "downsample_0_5") is not None
    assert benchmark.missing == {"crop_3x": ("data/crop_3x/test/images/000001.png",)}
    assert benchmark.warnings == ("crop_3x: 1 of 2 images missing: data/crop_3x/test/images/000001.png",)


def test_view_that_was_not_fetched_is_a_warning_and_the_revision_stays(release):
    before = open_release(release).identity
    for path in sorted((release / "data/crop_3x").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    benchmark = open_release(release)
    assert "crop_3x: no rows on disk" in benchmark.warnings
    assert benchmark.released_image(next(benchmark.questions()), "crop_3x") is None
    assert benchmark.identity == before


def test_upstream_paths_are_never_resolved(release):
    edit_rows(release, "crop_3x", lambda row: {**row, "file_name": f"upstream://vstar/{row['id']}.png"})
    benchmark = open_release(release)
    assert benchmark.released_image(next(benchmark.questions()), "crop_3x") is None


def test_row_that_leaves_the_release_shows_nothing(release):
    edit_rows(release, "crop_3x", lambda row: {**row, "file_name": "../../../../secret.png"})
    benchmark = open_release(release)
    assert benchmark.released_image(next(benchmark.questions()), "crop_3x") is None


def test_duplicate_id_names_both_rows(release):
    edit_rows(release, "original", lambda row: {**row, "base_sample_id": "000001"})
    with pytest.raises(BenchmarkError, match=r"metadata\.jsonl:2: id '000001' stands already at .*:1"):
        list(open_release(release).questions())


def test_row_without_id_is_named(release):
    edit_rows(release, "original", lambda row: {"question": "?"})
    with pytest.raises(BenchmarkError, match=r"metadata\.jsonl:1: no id"):
        list(open_release(release).questions())


@pytest.mark.parametrize(
    ("content", "message"), [("7", "holds int, not a list"), ("[7]", "item 1: 7 is not a question")]
)
def test_dataset_json_of_another_shape_is_named(release, content, message):
    (release / "dataset.json").write_text(content)
    with pytest.raises(BenchmarkError, match=message):
        open_release(release)


def test_choices_by_letter_and_notes_as_list_are_read(release):
    canonical = json.loads((release / "dataset.json").read_text())
    canonical[0] |= {"choices": {"B": "blue", "A": "red"}, "quality_notes": ["one", {"two": 2}]}
    write_json(release / "dataset.json", {row.pop("id"): row for row in canonical})
    question = next(open_release(release).questions())
    assert (question.choices, question.notes[:2]) == (("red", "blue"), ("one", '{"two": 2}'))


def test_folder_without_a_release_is_refused(tmp_path):
    with pytest.raises(BenchmarkError, match="holds no release"):
        open_release(tmp_path)
    with pytest.raises(UsageError, match="needs the folder of a release, and none was named"):
        open_release(None)


def test_missing_original_is_named_when_its_bytes_are_asked_for(release):
    benchmark = open_release(release)
    question = next(benchmark.questions())
    (release / "data/original/test/images/000001.png").unlink()
    with pytest.raises(BenchmarkError, match="is not on disk"):
        benchmark.image_path(question.image)
    with pytest.raises(BenchmarkError, match="is in no row"):
        benchmark.image_path(question.image.__class__("0" * 64, Size(1, 1), "image/png"))


def test_row_without_file_name_is_named(release):
    (release / "dataset.json").unlink()
    edit_rows(release, "original", lambda row: {key: value for key, value in row.items() if key != "file_name"})
    with pytest.raises(BenchmarkError, match="no usable file_name"):
        list(open_release(release).questions())
