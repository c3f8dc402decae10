import json
import os
import zlib

import msgspec
import numpy as np
import pytest
from PIL import Image
from releases.made import SIZE, VIEW_IDS, make_release, open_source, settings, write_source

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.errors import BenchmarkError, GeometryError, ImageError, StoreError, UsageError
from eyechart.geometry import GeometryPolicy
from eyechart.releases.build import build_release
from eyechart.releases.journal import JOURNAL_NAME
from eyechart.releases.layout import BuildSettings
from eyechart.schema import Blank, NoImage, Original, OriginalPlusCrop
from eyechart.views import parse_view, plan_view


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    write_source(folder)
    return folder


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return make_release(tmp_path_factory.mktemp("built"))


def files_of(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def stamps_of(root):
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in root.rglob("*") if path.is_file()}


def rows_of(root, view_id):
    text = (root / "data" / view_id / "test" / "metadata.jsonl").read_text(encoding="utf-8")
    return {row["id"]: row for row in map(json.loads, text.splitlines())}


def pixels_of(root, view_id, question_id):
    path = root / "data" / view_id / "test" / rows_of(root, view_id)[question_id]["file_name"]
    return np.asarray(Image.open(path).convert("RGB"))


def test_layout_is_that_of_sum(release):
    names = files_of(release)
    assert {name for name in names if not name.startswith("data/")} == {
        "README.md",
        "README_ZH.md",
        "THIRD_PARTY_NOTICES.md",
        "assets/composition.svg",
        "assets/example_crop_3x.png",
        "assets/example_downsample_0_5.png",
        "assets/example_original.png",
        "assets/example_target_only_3x.png",
        "assets/example_whiteground_3x.png",
        "croissant.json",
        "dataset.json",
        "metadata/errata.json",
        "metadata/features.json",
        "metadata/image_manifest.json",
        "metadata/legacy/category_mapping.json",
        "metadata/legacy/crop_boxes.json",
        "metadata/legacy/pixel_rules.json",
        "metadata/legacy/sources.json",
        "metadata/legacy/stem_split.json",
        "metadata/path_mapping.json",
        "metadata/validation_summary.json",
        "scripts/evaluate.py",
        "scripts/prompts.py",
    }
    assert sum(name.startswith("data/") for name in names) == len(VIEW_IDS) * (4 + 1)


def test_what_was_built_reads_back_as_the_same_questions(source, tmp_path):
    before = list(open_source(source).questions())
    build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    benchmark = SumKind().open(tmp_path / "out", SumOptions())
    assert benchmark.released_views() == VIEW_IDS
    assert benchmark.warnings == ()
    for question, again in zip(before, benchmark.questions(), strict=True):
        # A manifest does not say whether a file holds plain values.
        image = msgspec.structs.replace(again.image, is_plain=question.image.is_plain)
        keep = {"benchmark": "folder", "notes": question.notes, "text_raw": None, "image": image}
        assert msgspec.structs.replace(again, **keep) == question


def test_released_geometry_is_the_planned_geometry(source, tmp_path):
    build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    benchmark = SumKind().open(tmp_path / "out", SumOptions())
    for question in benchmark.questions():
        for view_id in VIEW_IDS:
            (planned,) = plan_view(parse_view(view_id), question)
            shown = benchmark.released_image(question, view_id)
            assert shown.image.size == planned.geometry.size
            assert shown.target_in_view == pytest.approx(planned.target)


def test_originals_keep_their_bytes_and_built_views_are_png(source, tmp_path):
    build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    jpeg = tmp_path / "out/data/original/test/images/000001.jpg"
    assert jpeg.read_bytes() == (source / "p1.jpg").read_bytes()
    assert {path.suffix for path in (tmp_path / "out/data/crop_3x/test/images").iterdir()} == {".png"}


def test_like_original_keeps_the_container(source, tmp_path):
    build_release(open_source(source), tmp_path / "out", settings(encoding="like-original"), n_processes=1)
    names = sorted(path.name for path in (tmp_path / "out/data/crop_3x/test/images").iterdir())
    assert names == ["000000.png", "000001.jpg", "000002.png", "000003.png"]


@pytest.mark.parametrize("pair", [("crop_1x", "target_only_1x"), ("whiteground_1x", "target_only_original")])
def test_views_that_are_equal_by_definition_are_equal_in_pixels(release, pair):
    for question_id in rows_of(release, "original"):
        assert np.array_equal(*(pixels_of(release, view_id, question_id) for view_id in pair))


def test_every_file_is_its_own(release):
    inodes = [path.stat().st_nlink for path in release.rglob("*") if path.is_file()]
    assert set(inodes) == {1}


def test_crop_of_everything_is_the_original_and_counted_as_saturated(release):
    assert np.array_equal(pixels_of(release, "crop_1x", "000003"), pixels_of(release, "original", "000003"))
    summary = json.loads((release / "metadata/validation_summary.json").read_text())
    saturated = {config["config_name"]: config["saturated"] for config in summary["configs"]}
    assert (saturated["crop_3x"], saturated["original"]) == (1, 0)


def test_two_builds_give_the_same_bytes(source, tmp_path):
    for name, n_processes in (("a", 1), ("b", 2)):
        build_release(open_source(source), tmp_path / name, settings(), n_processes=n_processes)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


def test_second_build_with_nothing_changed_touches_no_file(source, tmp_path):
    first = build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    before = stamps_of(tmp_path / "out")
    second = build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    assert stamps_of(tmp_path / "out") == before
    assert (first.n_written, first.n_kept) == (36, 0)
    assert (second.n_written, second.n_kept) == (0, 36)


def test_interrupted_build_goes_on_without_redoing_finished_images(source, tmp_path):
    out = tmp_path / "out"

    def stop(n_done, n_all):
        if n_done > 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_release(open_source(source), out, settings(), n_processes=1, on_progress=stop)
    assert (out / JOURNAL_NAME).is_file()
    (out / JOURNAL_NAME).open("ab").write(b'\n{"path": "data/torn')
    leftover = out / "data/crop_3x/test/images/.000000.png.1234.part"
    leftover.parent.mkdir(parents=True, exist_ok=True)
    leftover.write_bytes(b"part of a file")
    before = stamps_of(out)
    report = build_release(open_source(source), out, settings(), n_processes=1)
    assert report.n_kept > 6
    finished = [path for path in before if path.name.startswith("0000")]
    assert sum(stamps_of(out)[path] == before[path] for path in finished) == report.n_kept
    build_release(open_source(source), tmp_path / "whole", settings(), n_processes=1)
    assert files_of(out) == files_of(tmp_path / "whole")


def test_changed_picture_remakes_its_views_only(source, tmp_path):
    build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    Image.new("RGB", SIZE, "green").save(source / "p2.png")
    report = build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    assert (report.n_written, report.n_kept) == (9, 27)


def test_file_of_another_length_is_made_again(source, tmp_path):
    build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    (tmp_path / "out/data/crop_3x/test/images/000000.png").write_bytes(b"cut")
    assert build_release(open_source(source), tmp_path / "out", settings(), n_processes=1).n_written == 1


def test_view_left_out_is_removed_with_its_rows(source, tmp_path):
    build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    report = build_release(open_source(source), tmp_path / "out", settings("original", "crop_2x"), n_processes=1)
    assert sorted(path.name for path in (tmp_path / "out/data").iterdir()) == ["crop_2x", "original"]
    assert report.n_removed == 32


def test_any_factor_can_be_built(source, tmp_path):
    views = ("original", "crop_2x", "downsample_0_33", "whiteground_2_25x", "blank")
    build_release(open_source(source), tmp_path / "out", settings(*views), n_processes=1)
    assert rows_of(tmp_path / "out", "downsample_0_33")["000000"]["width"] == 21
    assert rows_of(tmp_path / "out", "crop_2x")["000000"]["crop_area_multiplier"] == 2.0
    assert np.all(pixels_of(tmp_path / "out", "blank", "000000") == 255)


@pytest.mark.parametrize("encoding", ["png", "like-original"])
def test_what_drew_and_encoded_the_views_is_recorded(source, tmp_path, encoding):
    geometry = GeometryPolicy(border="shift", size_rounding="trunc")
    made = settings("original", "downsample_0_5", encoding=encoding, resampler="pillow-box@1", geometry=geometry)
    build_release(open_source(source), tmp_path / "out", made, n_processes=1)
    summary = json.loads((tmp_path / "out/metadata/validation_summary.json").read_text())
    assert summary["policies"]["geometry"] == msgspec.to_builtins(geometry)
    assert (summary["renderer"]["library"], summary["renderer"]["resampler"]) == ("Pillow", "pillow-box@1")
    assert summary["renderer"]["encoder"].startswith("png ")
    if encoding == "png":
        assert (summary["policies"]["jpeg"], summary["jpeg_encoder"]) == (None, None)
    else:
        assert summary["policies"]["jpeg"] == {"quality": 95, "subsampling": "4:4:4"}
        assert summary["jpeg_encoder"].startswith("jpeg quality=95 subsampling=4:4:4, libjpeg")


def test_defects_of_the_source_are_in_the_errata(release):
    errata = json.loads((release / "metadata/errata.json").read_text())
    assert {entry["code"]: entry["ids"] for entry in errata} == {
        "box_crosses_border": ["000002"],
        "choices_equal_up_to_case": ["000002"],
    }


def test_no_path_of_this_machine_is_written(release, tmp_path):
    for name, content in files_of(release).items():
        assert str(tmp_path.parent).encode() not in content, name


def test_datasets_library_loads_every_config(release, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    for view_id in VIEW_IDS:
        loaded = datasets.load_dataset(str(release), view_id, split="test", cache_dir=str(tmp_path / "cache"))
        rows = rows_of(release, view_id)
        assert len(loaded) == len(rows)
        for row in loaded:
            assert row["image"].size == (rows[row["id"]]["width"], rows[row["id"]]["height"])
            assert row["choices"] == rows[row["id"]]["choices"]
            assert row["view_id"] == view_id
    default = datasets.load_dataset(str(release), split="test", cache_dir=str(tmp_path / "cache"))
    assert default[0]["view_id"] == "original"


def test_datasets_library_does_not_load_a_rebuilt_release_from_its_cache(source, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()

    def texts():
        loaded = datasets.load_dataset(str(out), "crop_3x", split="test", cache_dir=str(tmp_path / "cache"))
        return set(loaded["question"])

    out = tmp_path / "release"
    build_release(open_source(source), out, settings("original", "crop_3x"), n_processes=1)
    before = texts()
    rows = [json.loads(line) for line in (source / "questions.jsonl").read_text().splitlines()]
    rows[0]["question"] = "What changed?"
    (source / "questions.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    build_release(open_source(source), out, settings("original", "crop_3x"), n_processes=1)
    assert "What changed?" not in before
    assert "What changed?" in texts()


def test_question_id_that_is_no_file_name_still_gets_a_file(source, tmp_path):
    rows = [json.loads(line) for line in (source / "questions.jsonl").read_text().splitlines()]
    rows[0]["id"] = "../../escape"
    (source / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    build_release(open_source(source), tmp_path / "out", settings("original"), n_processes=1)
    assert rows_of(tmp_path / "out", "original")["../../escape"]["file_name"].startswith("images/q-")
    assert not (tmp_path / "escape.png").exists()


# --- faults -----------------------------------------------------------------------------------------------------------


def test_questions_whose_files_would_collide_are_refused(source, tmp_path):
    rows = [json.loads(line) for line in (source / "questions.jsonl").read_text().splitlines()]
    rows[0]["id"], rows[3]["id"] = "Q", "q"
    (source / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(UsageError, match="questions 'Q' and 'q' would both be written"):
        build_release(open_source(source), tmp_path / "out", settings("original"), n_processes=1)


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ((Blank(),), "needs the view original"),
        ((Original(), NoImage()), "view no_image is not one picture"),
        ((Original(), OriginalPlusCrop(2.0)), "view original_plus_crop_2x is not one picture"),
    ],
)
def test_views_that_no_release_can_hold_are_refused(source, tmp_path, views, message):
    with pytest.raises(UsageError, match=message):
        build_release(open_source(source), tmp_path / "out", BuildSettings(views=views), n_processes=1)
    assert not (tmp_path / "out").exists()


def test_question_without_a_box_is_named_before_anything_is_written(source, tmp_path):
    rows = [json.loads(line) for line in (source / "questions.jsonl").read_text().splitlines()]
    rows[1]["box"] = None
    (source / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(GeometryError, match="folder/000001 in view crop_1x: there is no target box"):
        build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    assert not (tmp_path / "out").exists()


def test_folder_with_other_content_is_refused(source, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/precious.txt").write_text("mine")
    with pytest.raises(StoreError, match="is not empty and holds no release"):
        build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    (tmp_path / "out/metadata").mkdir()
    (tmp_path / "out/metadata/image_manifest.json").write_text('[{"path": "x"}]')
    with pytest.raises(StoreError, match="not written by eyechart build"):
        build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)


def damaged(content):
    """A PNG in which only decoding finds the damage: its chunks and their checksums are whole, its pixels are not."""
    at = content.index(b"IDAT")
    n_bytes = int.from_bytes(content[at - 4 : at], "big")
    data = b"IDAT" + content[at + 4 : at + 4 + n_bytes // 2] + bytes(n_bytes - n_bytes // 2)
    return content[:at] + data + zlib.crc32(data).to_bytes(4, "big") + content[at + 8 + n_bytes :]


def test_damaged_original_is_named_and_the_others_are_finished(source, tmp_path):
    whole = (source / "p2.png").read_bytes()
    (source / "p2.png").write_bytes(damaged(whole))
    with pytest.raises(ImageError, match="folder/000002") as caught:
        build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    assert "the other pictures are finished" in caught.value.hint
    (source / "p2.png").write_bytes(whole)
    assert build_release(open_source(source), tmp_path / "out", settings(), n_processes=1).n_written == 9


def test_several_damaged_originals_are_counted(source, tmp_path):
    for name in ("p0.png", "p2.png"):
        (source / name).write_bytes(damaged((source / name).read_bytes()))
    with pytest.raises(ImageError, match=r"\(and 1 more\)"):
        build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)


def test_original_that_changes_while_it_is_copied_is_refused(source, tmp_path):
    benchmark = open_source(source)
    Image.new("RGB", SIZE).save(source / "p0.png")
    with pytest.raises(BenchmarkError, match="changed while it was being read"):
        build_release(benchmark, tmp_path / "out", settings(), n_processes=1)


def test_original_that_vanished_is_named(source, tmp_path):
    benchmark = open_source(source)
    (source / "p0.png").unlink()
    with pytest.raises((ImageError, StoreError), match=r"p0\.png"):
        build_release(benchmark, tmp_path / "out", settings(), n_processes=1)


def test_benchmark_without_questions_is_refused(source, tmp_path):
    benchmark = open_source(source)
    benchmark._questions = ()
    with pytest.raises(BenchmarkError, match="has no question"):
        build_release(benchmark, tmp_path / "out", settings(), n_processes=1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_unwritable_place_is_named(source, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(StoreError, match="cannot write"):
        build_release(open_source(source), tmp_path / "locked" / "out", settings(), n_processes=1)


def test_file_in_the_place_of_the_folder_is_named(source, tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(StoreError, match="cannot write") as caught:
        build_release(open_source(source), tmp_path / "out", settings(), n_processes=1)
    assert caught.value.hint == "check that the folder exists and can be written"
