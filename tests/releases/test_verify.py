import hashlib
import json
import shutil
from io import BytesIO

import pytest
from PIL import Image
from releases.made import (
    CLEAN_QUESTIONS,
    SIZE,
    VIEW_IDS,
    make_release,
    open_source,
    picture,
    respell,
    settings,
    write_source,
)

from eyechart.errors import BenchmarkError
from eyechart.geometry import GeometryPolicy
from eyechart.releases.build import build_release
from eyechart.releases.findings import CODES
from eyechart.releases.verify import verify_release

CROP = "data/crop_3x/test/images/000001.png"
CROP_ROWS = "data/crop_3x/test/metadata.jsonl"
ORIGINAL = "data/original/test/images/000002.png"
ORIGINAL_ROWS = "data/original/test/metadata.jsonl"
JPEG = "data/original/test/images/000001.jpg"
MANIFEST = "metadata/image_manifest.json"


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return make_release(tmp_path_factory.mktemp("clean"), CLEAN_QUESTIONS)


@pytest.fixture
def release(clean, tmp_path):
    return shutil.copytree(clean, tmp_path / "release")


# --- ways to damage a release -----------------------------------------------------------------------------------------


def edit_json(name, change):
    def inject(root):
        content = json.loads((root / name).read_text(encoding="utf-8"))
        changed = change(content)
        (root / name).write_text(json.dumps(content if changed is None else changed), encoding="utf-8")

    return inject


def edit_rows(change, view="crop_3x"):
    def inject(root):
        path = root / "data" / view / "test" / "metadata.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        changed = change(rows)
        text = "\n".join(json.dumps(row) for row in (rows if changed is None else changed))
        path.write_text(text, encoding="utf-8")

    return inject


def edit_row(number=1, view="crop_3x", **fields):
    return edit_rows(lambda rows: rows[number].update(fields), view)


def edit_question(number=1, **fields):
    """Change a question everywhere, so that all files agree."""

    def inject(root):
        for view_id in VIEW_IDS:
            edit_row(number, view_id, **fields)(root)
        edit_json("dataset.json", lambda questions: questions[number].update(fields))(root)

    return inject


def edit_entry(name, **fields):
    def change(manifest):
        next(entry for entry in manifest if entry["path"] == name).update(fields)

    return edit_json(MANIFEST, change)


def write(name, content):
    def inject(root):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)

    return inject


def add_line(name, line):
    def inject(root):
        with (root / name).open("ab") as stream:
            stream.write(b"\n" + line + b"\n")

    return inject


def respelled(names, **fields):
    return lambda root: respell(root, names, **fields)


def delete(name):
    def inject(root):
        shutil.rmtree(root / name) if (root / name).is_dir() else (root / name).unlink()

    return inject


def truncate(name, share=0.6):
    return lambda root: (root / name).write_bytes(
        (root / name).read_bytes()[: int((root / name).stat().st_size * share)]
    )


def record(name):
    """Make the manifest agree with the file, so that only its content is wrong."""

    def inject(root):
        content = (root / name).read_bytes()
        width, height = Image.open(root / name).size
        sha256 = hashlib.sha256(content).hexdigest()
        edit_entry(name, sha256=sha256, bytes=len(content), width=width, height=height)(root)

    return inject


def redraw(name, draw):
    """Replace a picture by what ``draw`` makes of it, and record it."""

    def inject(root):
        image = draw(Image.open(root / name).convert("RGB"))
        image.save(root / name)
        record(name)(root)

    return inject


def encoded(image, file_format, **options):
    stream = BytesIO()
    image.save(stream, file_format, **options)
    return stream.getvalue()


def together(*injections):
    def inject(root):
        for injection in injections:
            injection(root)

    return inject


def with_pixel(image, at, colour):
    image.putpixel(at, colour)
    return image


NOISE_PNG = encoded(picture(99), "PNG")
ANIMATION = encoded(picture(1), "PNG", save_all=True, append_images=[picture(2)])
TARGET_ORIGINAL = "data/target_only_original/test/images/000001.png"

# id: (how injected, code, path, question id)
FAULTS = {
    # structure
    "declared config without rows": (delete("data/crop_3x"), "missing_metadata", CROP_ROWS, None),
    "folder that is no config": (
        lambda root: shutil.copytree(root / "data/crop_3x", root / "data/extra_view"),
        "undeclared_view",
        "data/extra_view",
        None,
    ),
    "view of no known family": (
        respelled({"crop_3x": "zoom3"}, view_family="zoom"),
        "unread_view",
        "data/zoom3",
        None,
    ),
    "manifest is no JSON": (write(MANIFEST, b"{"), "unreadable_json", MANIFEST, None),
    "dataset.json is no list": (write("dataset.json", b"7"), "unreadable_json", "dataset.json", None),
    "errata are no JSON": (write("metadata/errata.json", b"["), "unreadable_json", "metadata/errata.json", None),
    "no manifest": (delete(MANIFEST), "missing_manifest", MANIFEST, None),
    "no dataset.json": (delete("dataset.json"), "missing_dataset", "dataset.json", None),
    "build not finished": (write(".eyechart-build.jsonl", b""), "unfinished_build", ".eyechart-build.jsonl", None),
    "card names another config": (
        lambda root: (root / "README.md").write_text(
            (root / "README.md").read_text().replace("config_name: crop_3x", "config_name: crop_4x")
        ),
        "card_differs",
        "README.md",
        None,
    ),
    "summary counts otherwise": (
        edit_json("metadata/validation_summary.json", lambda summary: summary["configs"][0].update(rows=5)),
        "wrong_count",
        "metadata/validation_summary.json",
        None,
    ),
    "erratum about nobody": (
        edit_json("metadata/errata.json", lambda errata: errata.append({"ids": ["777777"]})),
        "unknown_erratum",
        "metadata/errata.json",
        "777777",
    ),
    "extra file": (
        write("data/crop_3x/test/images/extra.png", NOISE_PNG),
        "extra_file",
        "data/crop_3x/test/images/extra.png",
        None,
    ),
    "manifest names too much": (
        edit_json(
            MANIFEST, lambda manifest: manifest.append({**manifest[0], "path": "data/crop_3x/test/images/9.png"})
        ),
        "manifest_orphan",
        MANIFEST,
        None,
    ),
    # rows
    "row gone": (edit_rows(lambda rows: rows[:3]), "missing_id", CROP_ROWS, "000003"),
    "row of nobody": (
        edit_rows(lambda rows: [*rows, {**rows[1], "id": "000009", "base_sample_id": "000009"}]),
        "unknown_id",
        CROP_ROWS,
        "000009",
    ),
    "line is no JSON": (add_line(CROP_ROWS, b'{"id": "000'), "malformed_row", CROP_ROWS, None),
    "line is no object": (add_line(CROP_ROWS, b"[1]"), "malformed_row", CROP_ROWS, None),
    "line without id": (add_line(CROP_ROWS, b'{"question": "?"}'), "malformed_row", CROP_ROWS, None),
    "two rows show one file": (edit_row(2, file_name="images/000001.png"), "duplicate_file", CROP_ROWS, "000002"),
    "duplicate id": (edit_rows(lambda rows: [*rows, rows[1]]), "duplicate_id", CROP_ROWS, "000001"),
    "needed field gone": (edit_row(width=None), "missing_field", CROP_ROWS, "000001"),
    "view id of another view": (edit_row(view_id="crop_1x"), "wrong_view_id", CROP_ROWS, "000001"),
    "family of another view": (edit_row(view_family="downsample"), "wrong_view_family", CROP_ROWS, "000001"),
    "family as no other row has it": (edit_row(view_family="zoom"), "wrong_view_family", CROP_ROWS, "000001"),
    "id of another question": (edit_row(id="000009"), "id_differs", CROP_ROWS, "000001"),
    "answer text of another choice": (edit_row(answer_text="c"), "answer_mismatch", CROP_ROWS, "000001"),
    "answer text wrong everywhere": (edit_question(answer_text="c"), "answer_mismatch", "dataset.json", "000001"),
    "letter beyond the choices": (edit_question(answer="E"), "answer_beyond_choices", "dataset.json", "000001"),
    "letter beyond in one view": (edit_row(answer="E"), "answer_beyond_choices", CROP_ROWS, "000001"),
    "answer changed with its text": (edit_row(answer="C", answer_text="c"), "field_differs", CROP_ROWS, "000001"),
    "question changed in one view": (edit_row(question="Why?"), "field_differs", CROP_ROWS, "000001"),
    "question changed in dataset.json": (
        edit_json("dataset.json", lambda questions: questions[1].update(question="Why?")),
        "field_differs",
        "dataset.json",
        "000001",
    ),
    "accepted answers in one view alone": (edit_row(answers=["brown"]), "field_differs", CROP_ROWS, "000001"),
    "targets in one view alone": (edit_row(targets=[[1.0, 1.0, 2.0, 2.0]]), "field_differs", CROP_ROWS, "000001"),
    "source's id of another question": (edit_row(source_question_id="9"), "field_differs", CROP_ROWS, "000001"),
    "accepted answers in dataset.json alone": (
        edit_json("dataset.json", lambda questions: questions[1].update(answers=["brown"])),
        "field_differs",
        "dataset.json",
        "000001",
    ),
    "one choice": (edit_question(choices=["a"], answer="A", answer_text="a"), "bad_choices", "dataset.json", "000001"),
    "choice without text": (edit_question(choices=["a", "b", "", "d"]), "bad_choices", "dataset.json", "000001"),
    "choices as text": (edit_row(choices="a, b"), "bad_choices", CROP_ROWS, "000001"),
    "choices equal up to case": (
        edit_question(choices=["a", "b", "B", "d"]),
        "duplicate_choices",
        "dataset.json",
        "000001",
    ),
    "dataset.json names another image": (
        edit_json("dataset.json", lambda questions: questions[1].update(image=CROP)),
        "wrong_image_path",
        "dataset.json",
        "000001",
    ),
    "same question twice": (edit_question(3, choices=["a", "b"]), "duplicate_question", "dataset.json", "000003"),
    # the declared columns
    "text for a number": (edit_row(width="26"), "type_differs", CROP_ROWS, "000001"),
    "number for a text": (edit_row(task_type=7), "field_differs", CROP_ROWS, "000001"),
    "number for a text that only this view has": (edit_row(view_family=7), "type_differs", CROP_ROWS, "000001"),
    "whole numbers in a box": (
        edit_rows(lambda rows: rows[0].update(bbox_view=[int(edge) for edge in rows[0]["bbox_view"]])),
        "type_differs",
        CROP_ROWS,
        "000000",
    ),
    "key absent": (edit_rows(lambda rows: rows[1].pop("answers") and None), "keys_differ", CROP_ROWS, "000001"),
    "key that nobody declared": (edit_row(rating=3), "keys_differ", CROP_ROWS, "000001"),
    "keys in another order": (
        edit_rows(lambda rows: [rows[0], dict(reversed(rows[1].items())), *rows[2:]]),
        "keys_differ",
        CROP_ROWS,
        "000001",
    ),
    "columns not declared": (delete("metadata/features.json"), "features_differ", "metadata/features.json", None),
    "columns declared otherwise": (
        edit_json("metadata/features.json", lambda features: features["width"].update(dtype="string")),
        "features_differ",
        "metadata/features.json",
        None,
    ),
    # boxes
    "box outside": (
        edit_question(bbox_original=[100, 5, 120, 15], bbox_clipped=[100, 5, 120, 15]),
        "box_outside",
        "dataset.json",
        "000001",
    ),
    "box outside in one view": (edit_row(bbox_original=[100, 5, 120, 15]), "box_outside", CROP_ROWS, "000001"),
    "clipped box outside": (edit_question(bbox_clipped=[30.5, 5, 45, 99]), "box_outside", "dataset.json", "000001"),
    "box without area": (edit_question(bbox_original=[30, 5, 30, 15]), "bad_box", "dataset.json", "000001"),
    "box of three numbers": (edit_question(bbox_original=[30, 5, 45]), "bad_box", "dataset.json", "000001"),
    "clipped box is another": (
        edit_question(bbox_clipped=[30, 5, 40, 15]),
        "clipped_box_differs",
        "dataset.json",
        "000001",
    ),
    "box in the view is another": (edit_row(bbox_view=[0, 0, 9, 9]), "box_view_differs", CROP_ROWS, "000001"),
    "box in the view outside": (edit_row(bbox_view=[0, 0, 900, 9]), "box_outside", CROP_ROWS, "000001"),
    "box in the view without area": (edit_row(bbox_view=[9, 9, 9, 9]), "bad_box", CROP_ROWS, "000001"),
    "crop box outside": (edit_row(crop_box_original=[60, 1, 86, 20]), "box_outside", CROP_ROWS, "000001"),
    "crop box without area": (edit_row(crop_box_original=[6, 1, 6, 20]), "bad_box", CROP_ROWS, "000001"),
    "crop box of another size": (edit_row(crop_box_original=[20, 0, 60, 40]), "canvas_differs", CROP_ROWS, "000001"),
    "scale of another view": (
        edit_row(1, "downsample_0_5", downsample_linear_scale=0.25),
        "scale_differs",
        "data/downsample_0_5/test/metadata.jsonl",
        "000001",
    ),
    "size of another scale": (
        together(
            redraw("data/downsample_0_5/test/images/000001.png", lambda image: image.resize((16, 12))),
            edit_row(1, "downsample_0_5", width=16, height=12),
        ),
        "scale_differs",
        "data/downsample_0_5/test/metadata.jsonl",
        "000001",
    ),
    "multiplier of another view": (edit_row(crop_area_multiplier=6.0), "scale_differs", CROP_ROWS, "000001"),
    # files
    "path out of the release": (edit_row(file_name="../../../../x.png"), "unsafe_path", CROP_ROWS, "000001"),
    "missing image": (delete(CROP), "missing_image", CROP, "000001"),
    "no picture": (write(CROP, b"no picture at all"), "not_an_image", CROP, "000001"),
    "empty file": (write(CROP, b""), "not_an_image", CROP, "000001"),
    "truncated PNG": (truncate(CROP), "truncated_image", CROP, "000001"),
    "truncated JPEG": (
        truncate(JPEG),
        "truncated_image",
        JPEG,
        "000001",
    ),
    "animation": (together(write(CROP, ANIMATION), record(CROP)), "refused_image", CROP, "000001"),
    "CMYK without a profile": (
        write(JPEG, encoded(picture(2).convert("CMYK"), "JPEG")),
        "refused_image",
        JPEG,
        "000001",
    ),
    "JPEG named PNG": (
        lambda root: together(write(CROP, encoded(Image.open(root / CROP), "JPEG", quality=95)), record(CROP))(root),
        "wrong_format",
        CROP,
        "000001",
    ),
    "other bytes": (write(CROP, NOISE_PNG), "wrong_hash", CROP, "000001"),
    "wrong recorded hash": (edit_entry(CROP, sha256="0" * 64), "wrong_hash", CROP, "000001"),
    "wrong recorded length": (edit_entry(CROP, bytes=1), "wrong_bytes", CROP, "000001"),
    "wrong recorded size": (edit_entry(CROP, width=1), "manifest_differs", CROP, "000001"),
    "row says another size": (edit_row(width=9), "wrong_size", CROP, "000001"),
    "row of the original says another size": (edit_row(2, "original", width=9), "wrong_size", ORIGINAL, "000002"),
    "not in the manifest": (
        edit_json(MANIFEST, lambda manifest: [entry for entry in manifest if entry["path"] != CROP]),
        "not_in_manifest",
        CROP,
        "000001",
    ),
    "group of another picture": (
        edit_question(image_group_id="0" * 64),
        "wrong_group",
        JPEG,
        "000001",
    ),
    # pixels
    "one pixel differs": (
        redraw(CROP, lambda image: with_pixel(image, (3, 3), (1, 2, 3))),
        "pixels_differ",
        CROP,
        "000001",
    ),
    "one pixel is not white": (
        redraw(TARGET_ORIGINAL, lambda image: with_pixel(image, (0, 0), (255, 255, 254))),
        "not_white",
        TARGET_ORIGINAL,
        "000001",
    ),
    "downsample of another picture": (
        redraw("data/downsample_0_5/test/images/000001.png", lambda image: Image.new("RGB", image.size, "black")),
        "pixels_differ",
        "data/downsample_0_5/test/images/000001.png",
        "000001",
    ),
    "crop of another place": (
        edit_row(crop_box_original=[20, 0, 46, 19]),
        "crop_box_differs",
        CROP_ROWS,
        "000001",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_gives_exactly_its_own_code(release, name):
    inject, code, path, question_id = FAULTS[name]
    inject(release)
    report = verify_release(release, n_processes=1)
    assert [(finding.code, finding.path, finding.id) for finding in report.findings] == [(code, path, question_id)]


@pytest.fixture
def read_in_parts(monkeypatch):
    """Read every picture as one that is too large to decode at once is read."""
    monkeypatch.setattr("eyechart.releases.image_checks.needs_tiles", lambda size: size.n_px > 1)


# What is seen only by opening images.
IMAGE_CODES = {
    *("crop_box_differs", "manifest_differs", "not_an_image", "not_white", "pixels_differ", "refused_image"),
    *("truncated_image", "wrong_bytes", "wrong_format", "wrong_group", "wrong_hash", "wrong_size"),
}


@pytest.mark.parametrize("name", [name for name, (_, code, _, _) in FAULTS.items() if code in IMAGE_CODES])
@pytest.mark.usefixtures("read_in_parts")
def test_fault_of_a_picture_read_in_parts_gives_the_same_code(release, name):
    test_fault_gives_exactly_its_own_code(release, name)


@pytest.mark.usefixtures("read_in_parts")
def test_clean_release_of_large_pictures_has_no_finding(clean):
    assert verify_release(clean, n_processes=1).findings == ()


@pytest.mark.usefixtures("read_in_parts")
def test_what_cannot_be_compared_in_parts_is_a_warning_and_never_silent(tmp_path):
    (tmp_path / "source").mkdir()
    write_source(tmp_path / "source", CLEAN_QUESTIONS[:2])
    picture(0).convert("RGBA").save(tmp_path / "source/p0.png")
    build_release(open_source(tmp_path / "source"), tmp_path / "out", settings("original", "crop_3x"), n_processes=1)
    assert findings_of(tmp_path / "out") == [("warning", "too_large", "crop_3x", "000000")]


def test_small_views_of_an_original_read_in_parts_are_compared_with_it(release, monkeypatch):
    monkeypatch.setattr("eyechart.releases.image_checks.needs_tiles", lambda size: size.n_px >= SIZE[0] * SIZE[1])
    assert findings_of(release) == []
    redraw(CROP, lambda image: image.transpose(Image.Transpose.ROTATE_180))(release)
    assert findings_of(release) == [("error", "pixels_differ", "crop_3x", "000001")]


def test_clean_release_has_no_finding(clean):
    report = verify_release(clean, n_processes=1)
    assert report.findings == ()
    assert (report.n_questions, report.n_views, report.n_images) == (4, 9, 36)


def findings_of(root, **options):
    report = verify_release(root, n_processes=1, **options)
    return [(finding.level, finding.code, finding.view, finding.id) for finding in report.findings]


def test_every_code_of_the_table_is_documented_and_most_are_injected():
    injected = {code for _, code, _, _ in FAULTS.values()}
    assert injected <= set(CODES)
    # These have tests of their own.
    assert set(CODES) - injected == {
        *("box_crosses_border", "identity_broken", "not_aligned", "not_fetched", "not_loadable", "too_large"),
    }


def test_defects_that_the_release_declares_are_known_and_block_nothing(tmp_path):
    release = make_release(tmp_path)
    report = verify_release(release, n_processes=1)
    assert {(finding.level, finding.code, finding.id) for finding in report.findings} == {
        ("known", "box_crosses_border", "000002"),
        ("known", "duplicate_choices", "000002"),
    }
    assert report.errors == ()


@pytest.mark.parametrize("border", ["clip", "shift"])
@pytest.mark.parametrize("target_basis", ["clipped", "source"])
@pytest.mark.parametrize("box_rounding", ["outward", "nearest", "trunc"])
def test_boxes_across_the_border_are_no_error_whichever_policy_made_the_views(
    tmp_path, border, target_basis, box_rounding
):
    across = {**CLEAN_QUESTIONS[0], "box": [-3.5, 4.4, 17.2, 20.6]}
    far_side = {**CLEAN_QUESTIONS[1], "box": [50.3, 30.7, 67.5, 51.5]}
    policy = GeometryPolicy(border=border, target_basis=target_basis, box_rounding=box_rounding)
    release = make_release(tmp_path, (across, far_side), geometry=policy)
    assert {finding[:2] for finding in findings_of(release)} == {("known", "box_crosses_border")}


def test_twin_choices_that_nobody_declared_are_a_warning(tmp_path):
    release = make_release(tmp_path)
    edit_question(2, quality_notes=None)(release)
    (release / "metadata/errata.json").unlink()
    assert ("warning", "duplicate_choices", None, "000002") in findings_of(release)


def test_ids_that_are_numbers_are_named_as_six_digits(tmp_path):
    release = make_release(tmp_path)

    def number(rows):
        return [{**row, "id": int(row["id"]), "base_sample_id": int(row["base_sample_id"])} for row in rows]

    edit_json("dataset.json", number)(release)
    for view_id in VIEW_IDS:
        edit_rows(number, view_id)(release)
    edit_json("metadata/validation_summary.json", lambda summary: summary.pop("row_schema") and None)(release)
    assert findings_of(release) == [
        ("warning", "type_differs", None, None),
        ("warning", "type_differs", None, None),
        ("known", "box_crosses_border", None, "000002"),
        ("known", "duplicate_choices", None, "000002"),
    ]


def test_images_missing_from_the_mirror_are_known(tmp_path):
    questions = [{**CLEAN_QUESTIONS[0], "id": "000602"}, {**CLEAN_QUESTIONS[1], "id": "000075"}, CLEAN_QUESTIONS[2]]
    release = make_release(
        tmp_path, questions, views=("original", "crop_1_5x", "downsample_0_75"), encoding="like-original"
    )
    (release / "data/crop_1_5x/test/images/000602.png").unlink()
    (release / "data/downsample_0_75/test/images/000075.jpg").unlink()
    (release / "data/downsample_0_75/test/images/000602.png").unlink()
    assert findings_of(release) == [
        ("error", "missing_image", "downsample_0_75", "000602"),
        ("known", "missing_image", "crop_1_5x", "000602"),
        ("known", "missing_image", "downsample_0_75", "000075"),
    ]


def test_view_that_was_not_fetched_is_one_known_finding(release):
    shutil.rmtree(release / "data/crop_3x/test/images")
    assert findings_of(release) == [("known", "not_fetched", "crop_3x", None)]


def test_equal_views_are_compared_where_the_original_is_missing(release):
    delete(JPEG)(release)
    assert findings_of(release) == [("error", "missing_image", "original", "000001")]
    redraw("data/crop_1x/test/images/000001.png", lambda image: with_pixel(image, (0, 0), (1, 2, 3)))(release)
    assert findings_of(release)[1:] == [("error", "identity_broken", "target_only_1x", "000001")]


def test_lossy_views_are_compared_with_a_tolerance(tmp_path):
    release = make_release(tmp_path, CLEAN_QUESTIONS, encoding="like-original")
    assert findings_of(release) == []
    name = CROP.replace(".png", ".jpg")
    redraw(name, lambda image: Image.new("RGB", image.size, "black"))(release)
    assert findings_of(release) == [("error", "pixels_differ", "crop_3x", "000001")]


def test_release_of_views_with_unknown_ids_is_decoded_and_no_more(release):
    (release / "data/crop_3x").rename(release / "data/crop_0.25")
    for name in ("README.md", MANIFEST, "metadata/validation_summary.json", "data/crop_0.25/test/metadata.jsonl"):
        text = (release / name).read_text(encoding="utf-8")
        (release / name).write_text(text.replace("crop_3x", "crop_0.25"), encoding="utf-8")
    assert findings_of(release) == []


def test_two_faults_are_two_findings(release):
    together(delete(CROP), edit_row(2, "downsample_0_5", answer_text="c"))(release)
    assert {code for _, code, _, _ in findings_of(release)} == {"missing_image", "answer_mismatch"}


def test_processes_find_the_same(tmp_path):
    release = make_release(tmp_path)
    write(CROP, NOISE_PNG)(release)
    assert verify_release(release, n_processes=2) == verify_release(release, n_processes=1)


def test_progress_is_told_per_question(clean):
    told = []
    verify_release(clean, n_processes=1, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_folder_without_a_release_is_refused(tmp_path):
    with pytest.raises(BenchmarkError, match="holds no release"):
        verify_release(tmp_path)
