"""Papers of a collection: cards in two languages, Croissant, legacy records and the checklist, all from the data."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from releases.made import QUESTIONS, make_release, open_source, settings, write_source

from eyechart.errors import UsageError
from eyechart.releases.build import build_release
from eyechart.releases.curation import curate

BIN = Path(sys.executable).parent
LISTED = "What is it? Select from the following choices.\n(A) a\n(B) b"
SOURCES = (
    {**QUESTIONS[0], "question": LISTED, "task": "Visual Prompting", "source": "ZoomBench"},
    {
        **QUESTIONS[1],
        "question": "What is it?\n(A) a\n(B) other",
        "task": "Fine-Grained Counting",
        "source": "HR-Bench",
    },
    {**QUESTIONS[2], "task": "OCR", "source": "V*Bench"},
    {**QUESTIONS[3], "task": "OCR", "source": "my photographs"},
)
MERGED = {"Visual Prompting": "Object Identification", "Fine-Grained Counting": "Object Identification"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    (folder / "source").mkdir()
    write_source(folder / "source", SOURCES)
    chosen = settings(tasks={**MERGED, "Nothing": "x"}, title="Mine", repository="ME/MINE", mirror="me/mine")
    report = build_release(open_source(folder / "source"), folder / "out", chosen, n_processes=1)
    return folder / "out", report


def text_of(root, name):
    return (root / name).read_text(encoding="utf-8")


def json_of(root, name):
    return json.loads(text_of(root, name))


def test_stem_is_split_and_the_source_text_stays(built):
    root, report = built
    first, second, *_ = json_of(root, "dataset.json")
    assert (first["question"], first["question_raw"]) == ("What is it?", LISTED)
    assert second["question"] == second["question_raw"]
    assert (report.stems.n_split, report.stems.not_split) == (1, ("000001",))
    assert json_of(root, "metadata/legacy/stem_split.json")["cut"] == {"000000": LISTED.removeprefix("What is it?")}


def test_merge_of_tasks_is_recorded(built):
    root, _ = built
    assert [row["task_type"] for row in json_of(root, "dataset.json")] == [*["Object Identification"] * 2, "OCR", "OCR"]
    legacy = json_of(root, "metadata/legacy/category_mapping.json")
    assert legacy["questions_before"] == {"Fine-Grained Counting": 1, "OCR": 2, "Visual Prompting": 1}
    assert legacy["questions_after"] == {"OCR": 2, "Object Identification": 2}
    assert legacy["renamed"][0] == {"id": "000000", "from": "Visual Prompting", "to": "Object Identification"}
    assert legacy["unused"] == ["Nothing"]


@pytest.mark.parametrize("name", ["README.md", "README_ZH.md"])
def test_card_counts_what_the_data_hold(built, name):
    root, _ = built
    card = text_of(root, name)
    for row in ("| Object Identification | 2 |", "| OCR | 2 |", "| my photographs | 1 |", "| ZoomBench | 1 |"):
        assert row in card
    assert "*Visual Prompting* → *Object Identification*" in card
    assert 'load_dataset("ME/MINE", "crop_1x", split="test")' in card
    assert "000000" in card
    for link in ("assets/composition.svg", "assets/example_crop_3x.png", "THIRD_PARTY_NOTICES.md"):
        assert link in card
        assert (root / link).is_file()
    assert "{{" not in card
    assert "{%" not in card


def test_notices_say_what_is_known_and_what_is_open(built):
    notices = text_of(built[0], "THIRD_PARTY_NOTICES.md")
    assert "https://github.com/penghao-wu/vstar" in notices
    assert "Apache-2.0" in notices
    assert notices.count("Terms not settled") == 3


def test_terms_that_the_builder_states_are_printed(tmp_path):
    root = make_release(tmp_path, notices={"mine": "My own photographs, CC0."})
    notices = text_of(root, "THIRD_PARTY_NOTICES.md")
    assert "My own photographs, CC0." in notices
    assert "not settled" not in notices
    assert "Not settled for" not in text_of(root, "README.md")


def test_checklist_names_what_is_open_and_the_exact_commands(built):
    root, report = built
    lines = "\n".join(report.checklist)
    for part in ("terms of HR-Bench", "terms of my photographs", "left whole: 000001", "the task Nothing"):
        assert part in lines
    assert f"hf upload ME/MINE {root} . --repo-type dataset" in lines
    assert f"ms-hub upload me/mine {root} --repo-type dataset" in lines
    assert "terms of ZoomBench" not in lines


@pytest.mark.parametrize("program", ["hf", "ms-hub"])
def test_upload_command_is_one_that_the_hub_client_takes(program):
    """Only the help is asked for: nothing is sent."""
    if not (BIN / program).is_file():
        pytest.skip(f"{program} is not installed")
    shown = subprocess.run([str(BIN / program), "upload", "--help"], capture_output=True, text=True, check=True)
    assert "--repo-type" in shown.stdout
    assert "--commit-message" in shown.stdout
    positions = [shown.stdout.lower().index(word) for word in ("repo_id", "local_path", "path_in_repo")]
    assert positions == sorted(positions)


def test_legacy_crop_boxes_are_those_of_the_rows(built):
    root, _ = built
    boxes = json_of(root, "metadata/legacy/crop_boxes.json")
    rows = [json.loads(line) for line in text_of(root, "data/crop_3x/test/metadata.jsonl").splitlines()]
    for row in rows:
        entry = boxes["crop_3x"][row["id"]]
        assert entry["crop_box_original"] == row["crop_box_original"]
        assert entry["effective_area_multiplier"] == row["crop_area_effective"]
    assert "original" not in boxes
    assert "downsample_0_5" not in boxes


def test_provenance_is_portable(built):
    root, _ = built
    sources = json_of(root, "metadata/legacy/sources.json")
    mapping = json_of(root, "metadata/path_mapping.json")
    assert {entry["image"] for entry in sources} == {entry["from"] for entry in mapping}
    assert all(entry["image"].startswith("upstream://folder/p") for entry in sources)
    for path in root.rglob("*"):
        if path.suffix in {".json", ".jsonl", ".md", ".py", ".svg"}:
            assert str(root.parent) not in path.read_text(encoding="utf-8")


def test_composition_is_text_that_a_reader_can_hear(built):
    root, _ = built
    drawing = ElementTree.fromstring(text_of(root, "assets/composition.svg"))  # noqa: S314 -- our own
    texts = [element.text for element in drawing.iter() if element.text]
    assert {"Object Identification", "OCR", "V*Bench", "2", "1"} <= set(texts)
    assert any(text.startswith("4 questions. Task: Object Identification 2, OCR 2") for text in texts)


def test_examples_show_one_question_in_one_view_of_each_family(built):
    root, _ = built
    names = sorted(path.name for path in (root / "assets").glob("*.png"))
    assert names == [f"example_{view}.png" for view in sorted(EXAMPLE_VIEWS)]
    for name in names:
        assert max(Image.open(root / "assets" / name).size) <= 280


EXAMPLE_VIEWS = ("original", "crop_3x", "whiteground_3x", "downsample_0_5", "target_only_3x")


def test_croissant_is_valid_and_its_records_load(built, monkeypatch):
    import mlcroissant

    root, _ = built
    monkeypatch.chdir(root)
    dataset = mlcroissant.Dataset(jsonld="croissant.json")
    issues = dataset.metadata.ctx.issues
    assert issues.errors == set()
    assert len(dataset.metadata.record_sets) == 9
    records = list(dataset.records(record_set="crop_3x"))
    rows = [json.loads(line) for line in text_of(root, "data/crop_3x/test/metadata.jsonl").splitlines()]
    # The library reads the lines with pandas, which takes digits for numbers.
    assert [int(record["crop_3x/id"]) for record in records] == [int(row["id"]) for row in rows]
    assert [record["crop_3x/task_type"].decode() for record in records] == [row["task_type"] for row in rows]
    assert [int(record["crop_3x/width"]) for record in records] == [row["width"] for row in rows]


def test_chain_of_task_names_is_refused():
    with pytest.raises(UsageError, match="which is mapped on"):
        curate([], {"a": "b", "b": "c"})
    assert curate([], {"a": "b", "b": "b"}).questions == ()
