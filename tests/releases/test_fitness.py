"""A collection with errors is not asked, unless the user allows it; then every report says so."""

import json

import pytest
from releases.made import CLEAN_QUESTIONS, QUESTIONS, make_release

import eyechart
from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.cli._app import run_app
from eyechart.errors import BenchmarkError
from eyechart.releases.findings import found
from eyechart.releases.fitness import check_fitness, describe_faults, faults_of

IDS = ("000000", "000001", "000002", "000003")
CROP = "data/crop_3x/test/images/000001.png"


@pytest.fixture
def release(tmp_path):
    return make_release(tmp_path, CLEAN_QUESTIONS)


def codes(root, ids=IDS, views=("original", "crop_3x"), **more):
    return [fault.code for fault in faults_of(root, ids, views, **more)]


def edit_row(root, view="crop_3x", number=1, **fields):
    path = root / "data" / view / "test" / "metadata.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[number].update(fields)
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def test_sound_release_and_declared_defects_are_fit(release, tmp_path):
    assert codes(release) == []
    (tmp_path / "declared").mkdir()
    assert codes(make_release(tmp_path / "declared", QUESTIONS)) == []


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda root: (root / CROP).unlink(), "missing_image"),
        (lambda root: (root / CROP).write_bytes(b"x"), "wrong_bytes"),
        (lambda root: (root / CROP).write_bytes(b"x" * (root / CROP).stat().st_size), "not_an_image"),
        (lambda root: edit_row(root, width=7), "wrong_size"),
        (lambda root: edit_row(root, answer_text="c"), "answer_mismatch"),
        (lambda root: edit_row(root, bbox_view=[0, 0, 9, 9]), "box_view_differs"),
        (lambda root: (root / "metadata/image_manifest.json").write_text("{"), "unreadable_json"),
    ],
)
def test_fault_is_found_without_decoding(release, damage, code):
    damage(release)
    assert codes(release) == [code]


def test_only_what_is_asked_counts(release):
    edit_row(release, answer_text="c")
    (release / "data/downsample_0_5/test/images/000000.png").unlink()
    assert codes(release, views=("original", "crop_1x")) == []
    assert codes(release, ids=("000000",), views=("original", "crop_3x")) == []
    assert codes(release, views=("downsample_0_5",)) == ["missing_image"]


def test_images_on_a_host_are_not_looked_for_on_disk(release):
    (release / CROP).unlink()
    assert codes(release, has_images=False) == []


def test_refusal_names_the_first_fault_and_what_to_do(release):
    (release / CROP).unlink()
    message = r"has 1 error; the first is missing_image at .*000001\.png, question"
    with pytest.raises(BenchmarkError, match=message) as raised:
        check_fitness(release, IDS, ("crop_3x",), has_images=True, allows_faults=False)
    assert "--allow-faults" in raised.value.hint
    allowed = check_fitness(release, IDS, ("crop_3x",), has_images=True, allows_faults=True)
    assert allowed == ("1 × missing_image (000001)",)


def test_many_faults_of_one_kind_are_one_phrase():
    faults = [found("wrong_bytes", "x", id=f"{number}") for number in range(9)] + [found("unreadable_json", "y")]
    assert describe_faults(faults) == ("9 × wrong_bytes (0, 1, 2, …)", "1 × unreadable_json")


def test_run_refuses_and_allows_with_a_note_in_every_report(release, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (release / CROP).unlink()
    arguments = ["run", "sum", "--data", str(release), "--model", "simulated/oracle", "--out", "kept"]
    arguments += ["--views", "original,crop_3x"]
    assert run_app(arguments) == 1
    assert "the first is missing_image" in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()
    assert run_app([*arguments, "--allow-faults"]) in (0, 3)
    note = "Asked with --allow-faults of a collection that has errors: 1 × missing_image (000001)"
    assert note in capsys.readouterr().err
    for name in ("report.html", "table.md", "table.tex"):
        text = (tmp_path / "kept" / name).read_text(encoding="utf-8")
        assert "allow-faults" in text
        assert "000001" in text
    run = json.loads((tmp_path / "kept" / "run.json").read_text())
    assert run["allowed_faults"] == ["1 × missing_image (000001)"]
    for again in (["score", "kept"], ["diff", "kept", "--views", "original,crop_3x"]):
        assert run_app(again) == 0
        shown = capsys.readouterr()
        assert "1 × missing_image (000001)" in shown.out + shown.err, again
    assert run_app(["export", "site", "kept", "--out", "site"]) == 0
    assert "allow-faults" in (tmp_path / "site" / "run-0.html").read_text(encoding="utf-8")


def test_run_that_leaves_the_fault_out_is_not_refused(release, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (release / CROP).unlink()
    arguments = ["run", "sum", "--data", str(release), "--model", "simulated/oracle", "--out", "kept", "--no-report"]
    assert run_app([*arguments, "--views", "original,crop_1x"]) == 0
    assert SumKind().open(release, SumOptions()).root == release


def test_python_refuses_and_allows_like_the_command_line(release, tmp_path):
    (release / CROP).unlink()
    collection = eyechart.benchmark("sum", data=release)
    asked = {"model": "simulated/oracle", "views": "original,crop_3x", "out": tmp_path / "run"}
    with pytest.raises(BenchmarkError, match="missing_image"):
        eyechart.run(collection, **asked)
    result = eyechart.run(collection, **asked, allow_faults=True)
    assert result.summary.run.allowed_faults == ("1 × missing_image (000001)",)
