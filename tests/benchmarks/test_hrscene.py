"""HRScene's real-world part: every form of a copy, hidden answers, and datasets only where they are known."""

import json
import zlib

import pytest
from hrscene_made import QUESTION, make_rows, picture, write_parquet
from PIL import Image

import eyechart
from eyechart.benchmarks._hrscene.options import split_options
from eyechart.benchmarks._hrscene.sets import CATEGORIES, facts, set_named
from eyechart.benchmarks.hrscene import NO_MAP
from eyechart.contracts import check_benchmark
from eyechart.errors import BenchmarkError, UsageError
from eyechart.images.decode import decode
from eyechart.runs.store import RunStore
from eyechart.schema import Size


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def copy(tmp_path):
    """A copy of the hub with all three splits of the combined config, answers of the test split hidden."""
    folder = tmp_path / "hub"
    for split, n, answer in (("validation", 4, "B"), ("testmini", 5, "A"), ("test", 6, "None")):
        rows = make_rows(n, answer=answer)
        write_parquet(folder / "realworld_combined" / f"{split}-00000-of-00001.parquet", rows, row_group_size=2)
    return folder


def questions_of(data, **options):
    return list(eyechart.benchmark("hrscene", data, **options).questions())


# --- facts -----------------------------------------------------------------------------------------------------------


def test_the_25_sets_add_up_to_the_published_totals():
    known = facts()
    assert len({one.name for one in known.sets}) == 25
    assert sum(one.n_samples for one in known.sets) == known.totals.samples == 750 + 1000 + 5323
    assert sum(one.n_samples for one in known.sets if one.is_reannotated) == known.totals.reannotated == 2005
    assert sum(one.is_reannotated for one in known.sets) == 8
    assert {one.category for one in known.sets} == set(CATEGORIES)
    by_category = {name: sum(one.n_samples for one in known.sets if one.category == name) for name in CATEGORIES}
    assert list(by_category.values()) == [1229, 1200, 1198, 903, 873, 750, 533, 387]


def test_known_splits_add_up_to_their_set():
    known = [one for one in facts().sets if one.splits is not None]
    assert {one.name for one in known} == {"Galaxy", "Grass", "LungHist700", "VQA-RAD"}
    assert all(sum(one.splits) == one.n_samples for one in known)


def test_the_largest_picture_is_pandas():
    largest = max(facts().sets, key=lambda one: one.largest.n_px)
    assert (largest.name, largest.largest) == ("PANDA", Size(35503, 26627))
    assert largest.largest.n_px == 945_338_381


# --- questions taken apart --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "stem", "choices"),
    [
        ("Which?\n(A) red\n(B) blue", "Which?", ("red", "blue")),
        ("Which?\n(A) red\n(B) \n(C) blue\n", "Which?", ("red", "", "blue")),
        ("Which?\n(A)\n(B)\n", "Which?", ("", "")),
        ("Which?\n(A) red (dark)\n(B) (A) and (C)\n(C) none", "Which?", ("red (dark)", "(A) and (C)", "none")),
        ("Compare (A) and (B).\n(A) x\n(B) y", "Compare (A) and (B).", ("x", "y")),
        (
            "Steps:\n(A) cut\n(B) dry\nWhich is next?\n(A) glue\n(B) paint",
            "Steps:\n(A) cut\n(B) dry\nWhich is next?",
            ("glue", "paint"),
        ),
        ("Which?\r\n(A) red\r\n(B) blue", "Which?", ("red", "blue")),
        ("Which?\n(A) over\ntwo lines\n(B) one", "Which?", ("over\ntwo lines", "one")),
        ("Which?\n" + "\n".join(f"({letter}) {letter}" for letter in "ABCDEFGHIJ"), "Which?", tuple("ABCDEFGHIJ")),
        ("Only one\n(A) red", "Only one\n(A) red", ()),
        ("Gap\n(A) red\n(C) blue", "Gap\n(A) red\n(C) blue", ()),
        ("In line (A) red (B) blue", "In line (A) red (B) blue", ()),
        ("No options", "No options", ()),
    ],
)
def test_a_question_is_split_into_its_stem_and_options(text, stem, choices):
    assert split_options(text) == (stem, choices)


# --- forms of a copy --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("split", "n", "answer"), [("validation", 4, "B"), ("testmini", 5, "A"), ("test", 6, None)])
def test_a_split_is_read_from_parquet(split, n, answer, copy):
    questions = questions_of(copy, split=split)
    assert [question.id for question in questions] == [str(index) for index in range(n)]
    assert {question.answer for question in questions} == {answer}
    first = questions[0]
    assert (first.text, first.choices) == ("What is moving?", ("the car", "the tree", "nothing", "the sky"))
    assert (first.text_raw, first.extra) == (QUESTION, {"split": split})


def test_a_copy_keeps_the_contract_of_a_benchmark(copy):
    check_benchmark(eyechart.benchmark("hrscene", copy), n_files=5)


def test_pictures_come_out_of_parquet_in_any_order_and_as_often_as_wanted(copy):
    benchmark = eyechart.benchmark("hrscene", copy, split="test")
    questions = list(benchmark.questions())
    for index in [5, 0, 3, 3, 1, 4, 2, 5, 0]:
        assert benchmark.image_path(questions[index].image).read_bytes() == picture(index)


def test_more_pictures_than_are_kept_come_out_too(tmp_path):
    write_parquet(tmp_path / "hub" / "testmini-00000-of-00001.parquet", make_rows(100), row_group_size=40)
    benchmark = eyechart.benchmark("hrscene", tmp_path / "hub")
    questions = list(benchmark.questions())
    for index in [*range(100), 0, 99, 50]:
        assert benchmark.image_path(questions[index].image).read_bytes() == picture(index)
    kept = benchmark.image_path(questions[0].image).parent
    assert len(list(kept.iterdir())) <= 64


def test_the_second_opening_reads_no_picture(copy, tmp_path):
    first = questions_of(copy)
    assert list((tmp_path / "home" / ".cache" / "eyechart").glob("parquet-*.json"))
    file = copy / "realworld_combined" / "testmini-00000-of-00001.parquet"
    content = file.read_bytes()
    file.write_bytes(content[:4] + bytes(200) + content[204:])
    assert questions_of(copy) == first
    with pytest.raises(BenchmarkError, match="damaged"):
        eyechart.benchmark("hrscene", file).image_path(first[0].image)


def test_a_damaged_cache_is_listed_anew(copy, tmp_path):
    first = questions_of(copy)
    for file in (tmp_path / "home" / ".cache" / "eyechart").iterdir():
        file.write_text("{")
    assert questions_of(copy) == first


def test_one_parquet_file_is_enough(copy):
    file = copy / "realworld_combined" / "testmini-00000-of-00001.parquet"
    assert len(questions_of(file)) == 5


def test_the_config_of_one_dataset_names_its_category(tmp_path):
    rows = make_rows(3, size=(1200, 1100))
    write_parquet(tmp_path / "hub" / "ArtBench" / "validation-00000-of-00001.parquet", rows)
    questions = questions_of(tmp_path / "hub", split="validation", config="ArtBench")
    assert {(question.source, question.task) for question in questions} == {("ArtBench", "art")}


def test_the_combined_config_is_read_where_there_are_others_too(copy):
    write_parquet(copy / "ArtBench" / "testmini-00000-of-00001.parquet", make_rows(3, start=50))
    assert len(questions_of(copy)) == 5
    with pytest.raises(BenchmarkError, match="no config CAD"):
        questions_of(copy, config="CAD")


def test_a_folder_with_a_question_file_is_read(tmp_path):
    for index in range(2):
        (tmp_path / f"{index}.jpg").write_bytes(picture(index))
    rows = [
        {"id": 0, "image": "0.jpg", "question": QUESTION, "answer": "D", "hint": "look up"},
        {"id": 1, "file_name": "1.jpg", "question": QUESTION, "answer": "the tree"},
        {"id": 2, "image": "1.jpg", "question": QUESTION, "answer": "A", "split": "validation"},
    ]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    questions = questions_of(tmp_path)
    assert [question.answer for question in questions] == ["D", "B"]
    assert questions[0].extra == {"hint": "look up", "split": "testmini"}
    check_benchmark(eyechart.benchmark("hrscene", tmp_path))


@pytest.mark.parametrize("mode", ["RGBA", "P", "LA", "I;16"])
def test_every_pixel_form_becomes_a_picture_a_model_can_be_sent(mode, tmp_path):
    rows = make_rows(1)
    rows[0]["image"]["bytes"] = (
        picture(3, kind="PNG", mode="I;16") if mode == "I;16" else picture(3, kind="PNG", mode=mode)
    )
    write_parquet(tmp_path / "hub" / "testmini-0.parquet", rows)
    benchmark = eyechart.benchmark("hrscene", tmp_path / "hub")
    (question,) = benchmark.questions()
    assert decode(benchmark.image_path(question.image)).pixels.shape == (30, 40, 3)


# --- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", ["None", None, "", "null", " none "])
def test_hidden_answers_are_recognised_by_value_in_any_split(hidden, tmp_path):
    write_parquet(tmp_path / "hub" / "validation-0.parquet", [*make_rows(1), *make_rows(1, answer=hidden, start=1)])
    benchmark = eyechart.benchmark("hrscene", tmp_path / "hub", split="validation")
    assert [question.answer for question in benchmark.questions()] == ["B", None]
    assert any("1 of 2 questions are hidden" in warning for warning in benchmark.warnings)


@pytest.mark.parametrize(("written", "letter"), [("B", "B"), ("(B)", "B"), ("b", "B"), ("B.", "B"), ("the tree", "B")])
def test_a_right_answer_is_read_as_letter_or_as_text(written, letter, tmp_path):
    write_parquet(tmp_path / "hub" / "testmini-0.parquet", make_rows(1, answer=written))
    assert questions_of(tmp_path / "hub")[0].answer == letter


def test_an_answer_beyond_the_options_is_noted_and_not_scored(tmp_path):
    write_parquet(tmp_path / "hub" / "testmini-0.parquet", make_rows(1, answer="E"))
    benchmark = eyechart.benchmark("hrscene", tmp_path / "hub")
    (question,) = benchmark.questions()
    assert (question.answer, question.notes) == (None, ("the answer 'E' is no option",))
    assert any("the answer is no option (0)" in warning for warning in benchmark.warnings)


# --- datasets --------------------------------------------------------------------------------------------------------


def test_without_a_map_there_is_no_category_and_it_says_why(copy):
    benchmark = eyechart.benchmark("hrscene", copy)
    assert {(question.task, question.source) for question in benchmark.questions()} == {(None, None)}
    assert NO_MAP in benchmark.warnings


def write_map(path, names):
    path.write_text("id,dataset\n" + "".join(f"{key},{name}\n" for key, name in names.items()))
    return str(path)


@pytest.fixture
def grass(tmp_path):
    """Five pictures of the one size that Grass has."""
    folder = tmp_path / "grass"
    write_parquet(folder / "testmini-0.parquet", make_rows(5, size=(4224, 3168)))
    return folder


def test_a_map_names_dataset_and_category(grass, tmp_path):
    names = write_map(tmp_path / "map.csv", dict.fromkeys(range(5), "Grass"))
    benchmark = eyechart.benchmark("hrscene", grass, datasets=names)
    assert {(question.source, question.task) for question in benchmark.questions()} == {("Grass", "research")}
    assert NO_MAP not in benchmark.warnings
    assert benchmark.identity.revision != eyechart.benchmark("hrscene", grass).identity.revision


def test_a_map_may_be_json(grass, tmp_path):
    (tmp_path / "map.json").write_text(json.dumps({str(index): "Grass" for index in range(5)}))
    assert questions_of(grass, datasets=str(tmp_path / "map.json"))[4].source == "Grass"


def test_pictures_of_another_size_than_all_of_a_dataset_contradict_the_map(grass, tmp_path):
    names = write_map(tmp_path / "map.csv", {**dict.fromkeys(range(4), "Grass"), 4: "HRIQ"})
    with pytest.raises(BenchmarkError, match="calls 4 HRIQ, whose pictures are 2880×2160; it is 4224×3168"):
        questions_of(grass, datasets=names)


def test_pictures_beyond_the_published_extremes_are_told(grass, tmp_path):
    names = write_map(tmp_path / "map.csv", dict.fromkeys(range(5), "VQA-RAD"))
    warnings = eyechart.benchmark("hrscene", grass, datasets=names).warnings
    assert any("VQA-RAD: 5 of 5 pictures lie beyond its published extremes: 0 (4224×3168)" in text for text in warnings)
    assert any("VQA-RAD: 5 of 5 questions have not 3 options" in text for text in warnings)


@pytest.mark.parametrize(
    ("names", "error", "match"),
    [
        ({0: "Grass"}, BenchmarkError, "4 of 5 samples have no dataset: 1, 2, 3, …"),
        (dict.fromkeys(range(5), "Gras"), UsageError, "no HRScene dataset at .* named 'Gras'"),
    ],
)
def test_an_incomplete_or_misspelt_map_is_refused(names, error, match, grass, tmp_path):
    with pytest.raises(error, match=match):
        questions_of(grass, datasets=write_map(tmp_path / "map.csv", names))


def test_a_map_with_an_id_twice_or_too_many_samples_is_refused(tmp_path):
    (tmp_path / "twice.csv").write_text("id,dataset\n0,Grass\n0,Galaxy\n")
    write_parquet(tmp_path / "hub" / "testmini-0.parquet", make_rows(90, size=(1435, 732)))
    with pytest.raises(BenchmarkError, match="id '0' stands twice"):
        questions_of(tmp_path / "hub", datasets=str(tmp_path / "twice.csv"))
    many = write_map(tmp_path / "many.csv", dict.fromkeys(range(90), "Galaxy"))
    with pytest.raises(BenchmarkError, match="gives Galaxy 90 samples, it has 87 in all"):
        questions_of(tmp_path / "hub", datasets=many)


def test_a_map_that_contradicts_the_rows_is_refused(tmp_path):
    rows = [{**row, "dataset": "Grass"} for row in make_rows(1, size=(4224, 3168))]
    write_parquet(tmp_path / "hub" / "testmini-0.parquet", rows)
    assert questions_of(tmp_path / "hub")[0].source == "Grass"
    with pytest.raises(BenchmarkError, match="the map calls 0 CAD, its row Grass"):
        questions_of(tmp_path / "hub", datasets=write_map(tmp_path / "map.csv", {0: "CAD"}))


# --- what breaks the contract ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"id": None}, "no value in column 'id'"),
        ({"question": " "}, "no value in column 'question'"),
        ({"image": {"bytes": b"no picture", "path": None}}, "row 1"),
        ({"image": {"bytes": None, "path": "no.jpg"}}, "it has 0 bytes"),
        ({"dataset": "Unknown"}, "has no dataset 'Unknown'"),
    ],
)
def test_a_row_that_breaks_the_contract_is_named(change, match, tmp_path):
    write_parquet(tmp_path / "hub" / "testmini-0.parquet", [{**make_rows(1)[0], **change}])
    with pytest.raises(BenchmarkError, match=match):
        questions_of(tmp_path / "hub")


def test_an_id_twice_is_refused(tmp_path):
    write_parquet(tmp_path / "hub" / "testmini-0.parquet", [*make_rows(1), *make_rows(1)])
    with pytest.raises(BenchmarkError, match="id '0' is also that of"):
        questions_of(tmp_path / "hub")


def test_missing_data_splits_and_columns_are_told(copy, tmp_path):
    with pytest.raises(UsageError, match="hrscene needs data") as error:
        eyechart.benchmark("hrscene")
    assert "fetch hrscene" in error.value.hint
    write_parquet(tmp_path / "one" / "validation-0.parquet", make_rows(1))
    with pytest.raises(BenchmarkError, match="no file of split test"):
        questions_of(tmp_path / "one", split="test")
    write_parquet(tmp_path / "two" / "testmini-0.parquet", [{"id": 1, "question": QUESTION, "answer": "A"}])
    with pytest.raises(BenchmarkError, match="has no column 'image'"):
        questions_of(tmp_path / "two")
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "testmini-0.parquet").write_bytes(b"PAR1 damaged PAR1")
    with pytest.raises(BenchmarkError, match="not parquet"):
        questions_of(tmp_path / "three")


# --- runs ------------------------------------------------------------------------------------------------------------


def test_a_run_asks_the_original_with_the_benchmarks_own_prompt_and_scorer(copy, tmp_path):
    run = eyechart.run(eyechart.benchmark("hrscene", copy), model="simulated/oracle", out=tmp_path / "run")
    store = RunStore(run.folder)
    assert (run.summary.scorer, store.run.prompt_id, store.run.views) == (
        "hrscene_letter.corrected@2",
        "hrscene_clean@1",
        ("original",),
    )
    assert run.summary.conditions[0].accuracy_sum == 1.0


def test_no_accuracy_is_given_of_hidden_answers(copy, tmp_path):
    run = eyechart.run(
        eyechart.benchmark("hrscene", copy, split="test"), model="simulated/oracle", out=tmp_path / "run"
    )
    assert run.summary.conditions[0].accuracy_sum is None
    assert run.summary.estimates == ()


def test_a_picture_of_945_megapixels_is_listed_from_its_header(tmp_path):
    huge = Image.new("1", (8, 8))
    stream = tmp_path / "huge.png"
    huge.save(stream)
    content = bytearray(stream.read_bytes())
    # A PNG header that says 35503 × 26627, with the pixels of 8 × 8: whatever tries to decode it fails.
    content[16:24] = (35503).to_bytes(4, "big") + (26627).to_bytes(4, "big")
    content[29:33] = zlib.crc32(bytes(content[12:29])).to_bytes(4, "big")
    rows = make_rows(1)
    rows[0]["image"]["bytes"] = bytes(content)
    write_parquet(tmp_path / "hub" / "testmini-0.parquet", rows)
    (question,) = questions_of(tmp_path / "hub")
    assert question.image.size == Size(35503, 26627)
    assert set_named("PANDA").largest == question.image.size
