"""In every benchmark a picture that cannot be read is named with its fault, and the questions about others stay."""

import base64
import json

import pytest
from benchmarks.sources import hrbench_rows, picture, write_parquet, write_tsv, write_vstar, zoombench_rows
from edited_questions import cut_in_half
from hrscene_made import make_rows
from hrscene_made import write_parquet as write_hrscene
from needles_made import write_needles, write_rows

import eyechart
from eyechart.contracts.benchmark import check_benchmark
from eyechart.errors import BenchmarkError
from eyechart.runs.unreadable import refuse_unreadable

EMBEDDING = "def embed(picture):\n    return picture.mean(axis=(0, 1))\n"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def faults(benchmark):
    check_benchmark(benchmark)
    return {question.id: question.image.fault for question in benchmark.questions() if question.image.fault}


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (base64.b64encode(b"no picture" * 9).decode(), "column image: not a picture that can be read"),
        ("not base64" * 10, "column image: no base64"),
        ("999", "999: there is no such file"),
        ("x" * 300 + ".png", "a file name may have 255 bytes and no more"),
    ],
    ids=["no picture", "no base64", "no row", "a long name"],
)
def test_a_cell_of_hrbench_that_holds_no_picture_costs_one_question(tmp_path, cell, message):
    rows = hrbench_rows()
    rows[5]["image"] = cell
    table = write_tsv(tmp_path / "hr_bench_4k.tsv", rows)
    found = faults(eyechart.benchmark("hrbench", table))
    assert list(found) == ["5"]
    assert message in found["5"]
    assert len(found["5"]) < 300
    assert str(tmp_path) not in found["5"]


def test_a_file_beside_a_table_is_read_once_it_is_there(tmp_path):
    rows = hrbench_rows()
    rows[5]["image"] = "late.png"
    table = write_tsv(tmp_path / "hr_bench_4k.tsv", rows)
    assert list(faults(eyechart.benchmark("hrbench", table))) == ["5"]
    (tmp_path / "late.png").write_bytes(picture(7))
    assert faults(eyechart.benchmark("hrbench", table)) == {}


def test_a_table_without_any_picture_is_refused(tmp_path):
    rows = [{**row, "image": "gone.png"} for row in hrbench_rows()]
    table = write_tsv(tmp_path / "hr_bench_4k.tsv", rows)
    with pytest.raises(BenchmarkError, match="none of 8 pictures can be read"):
        eyechart.benchmark("hrbench", table)


def test_a_picture_of_zoombench_costs_its_question(tmp_path):
    rows = zoombench_rows()
    rows[0]["image"] = b"no picture"
    write_parquet(tmp_path / "data" / "test.parquet", rows, ("image", "crop_image"))
    assert list(faults(eyechart.benchmark("zoombench", tmp_path))) == ["z0"]


def test_a_picture_of_vstar_costs_its_question(tmp_path):
    folder = write_vstar(tmp_path / "vstar")
    name = next(folder.rglob("sa_10.*g"))
    name.write_bytes(b"")
    found = faults(eyechart.benchmark("vstar", folder))
    assert list(found) == ["direct_attributes-sa_10"]
    assert found["direct_attributes-sa_10"].endswith(f"{name.name}: not a picture that can be read (it has 0 bytes)")


@pytest.mark.parametrize("cell", [{"bytes": b"no picture", "path": None}, {"bytes": None, "path": "no.jpg"}])
def test_a_picture_of_hrscene_costs_its_question(tmp_path, cell):
    rows = make_rows(3)
    rows[1]["image"] = cell
    write_hrscene(tmp_path / "hub" / "testmini-0.parquet", rows)
    for _ in range(2):  # the second time from the list that was kept
        assert list(faults(eyechart.benchmark("hrscene", tmp_path / "hub"))) == [str(rows[1]["id"])]


@pytest.mark.parametrize("name", ["whitebackground", "complexgrid"])
def test_a_needle_that_cannot_be_read_costs_its_own_question_and_surrounds_no_other(tmp_path, name):
    rows = write_needles(tmp_path, 7)
    write_rows(tmp_path, rows)
    (tmp_path / rows[2]["image"]).write_bytes(b"no picture")
    benchmark = eyechart.benchmark(name, needles=str(tmp_path), grid=2)
    assert len(faults(benchmark)) == 1
    assert not any(image.fault for question in benchmark.questions() for image in question.distractors)
    with pytest.raises(BenchmarkError, match="the pictures of 1 question cannot be read"):
        refuse_unreadable(benchmark.questions())


def test_similar_distractors_are_chosen_among_pictures_that_can_be_decoded(tmp_path):
    rows = write_needles(tmp_path, 9)
    cut_in_half(tmp_path / rows[2]["image"])
    (tmp_path / "mine.py").write_text(EMBEDDING)
    spec = f"{tmp_path / 'mine.py'}:embed"
    benchmark = eyechart.benchmark("complexgrid", needles=str(tmp_path), grid=2, choice="similar", embedding=spec)
    cut = [question.image.file_sha256 for question in benchmark.questions()][2]
    assert all(cut not in {image.file_sha256 for image in one.distractors} for one in benchmark.questions())


def test_a_question_of_a_release_names_the_file_that_cannot_be_read(tmp_path):
    rows = [{"id": f"q{number}", "image": f"p{number}.png", "question": "?"} for number in range(3)]
    for number in range(2):
        (tmp_path / f"p{number}.png").write_bytes(picture(number))
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    benchmark = eyechart.benchmark("folder", tmp_path, allow_hidden=True)
    assert faults(benchmark) == {"q2": "p2.png: there is no such file"}
    with pytest.raises(BenchmarkError, match=r"1 × there is no such file: p2.png \(question q2\)"):
        refuse_unreadable(benchmark.questions())
