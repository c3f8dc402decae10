"""Laws of V*Bench: the source's order is never shown, boxes stay as many as they are, and nothing depends on others."""

import json
from collections import Counter

import pytest
from benchmarks.sources import write_vstar

from eyechart.benchmarks.vstar import VStarKind, VStarOptions, shuffled_order
from eyechart.contracts.benchmark import check_benchmark
from eyechart.errors import BenchmarkError, UsageError
from eyechart.schema import Box

RIGHT = {"sa_10": "rubber", "sa_2": "red", "sa_7": "left (of it)"}


@pytest.fixture
def folder(tmp_path):
    # A folder with a dot in its name, on which the official loader fails.
    return write_vstar(tmp_path / "v1.0" / "vstar")


def questions_of(folder, **options):
    return {question.id: question for question in VStarKind().open(folder, VStarOptions(**options)).questions()}


def right_text(question):
    return question.choices["ABCD".index(question.answer)]


def test_vstar_keeps_the_contract_of_a_benchmark(folder):
    check_benchmark(VStarKind().open(folder, VStarOptions()))


@pytest.mark.parametrize("seed", range(6))
def test_the_right_option_stays_right_wherever_the_seed_puts_it(folder, seed):
    questions = questions_of(folder, seed=seed)
    assert {name.split("-")[1]: right_text(question) for name, question in questions.items()} == RIGHT


def test_the_right_option_is_spread_over_all_places():
    first = Counter(shuffled_order(4, f"direct_attributes/sa_{number}/?", 0).index(0) for number in range(400))
    assert min(first.values()) > 70


def test_a_question_keeps_its_order_whichever_others_are_asked(folder):
    alone = questions_of(folder, category="relative_position")
    assert alone["relative_position-sa_7"] == questions_of(folder)["relative_position-sa_7"]
    assert len(alone) == 1


def test_several_boxes_stay_several_and_are_read_as_xywh(folder):
    questions = questions_of(folder)
    assert questions["direct_attributes-sa_10"].targets == (Box(3, 5, 11, 11),)
    assert questions["relative_position-sa_7"].targets == (Box(3, 5, 11, 11), Box(13, 5, 21, 11))
    assert questions["relative_position-sa_7"].target_policy == "union"
    assert questions_of(folder, target_policy="first")["relative_position-sa_7"].target_policy == "first"


def test_the_published_order_is_that_of_the_list(folder):
    questions = questions_of(folder, order="published")
    assert questions["0"].choices == ("leather", "kevlar", "cotton", "rubber")
    assert questions["0"].answer == "D"
    assert questions["0"].text == "What is the material of the glove?"
    assert questions["2"].choices == ("right", "left (of it)")
    assert questions["2"].targets == (Box(3, 5, 11, 11), Box(13, 5, 21, 11))
    assert questions["2"].text_raw.endswith("directly.")


def test_the_list_alone_is_enough_for_questions_without_boxes(folder):
    for annotation in folder.rglob("sa_*.json"):
        annotation.unlink()
    benchmark = VStarKind().open(folder, VStarOptions())
    questions = {question.id: question for question in benchmark.questions()}
    assert {right_text(question) for question in questions.values()} == set(RIGHT.values())
    assert not any(question.targets or question.text_raw for question in questions.values())
    assert "without --boxes FILE" in benchmark.warnings[0]
    direct = VStarKind().open(folder / "test_questions.jsonl", VStarOptions(order="published"))
    assert [question.answer for question in direct.questions()] == ["D", "D", "B"]


def test_provenance_and_the_attribute_asked_for_are_kept(folder):
    question = questions_of(folder)["direct_attributes-sa_10"]
    assert (question.source, question.task) == ("VStarBench", "direct_attributes")
    assert question.extra == {
        "source_question_id": "direct_attributes-sa_10",
        "source_image_id": "direct_attributes/sa_10.jpg",
        "target_objects": "thing",
        "attribute": "material",
    }


def test_seed_and_order_are_recorded_and_where_boxes_lie_is_not(folder):
    options = VStarKind().open(folder, VStarOptions(seed=3)).identity.options
    assert (options["seed"], options["order"]) == (3, "shuffled")
    assert "boxes" not in options
    revisions = {VStarKind().open(folder, VStarOptions(seed=seed)).identity.revision for seed in range(8)}
    assert len(revisions) > 1


def damage(folder, **changes):
    path = folder / "direct_attributes/sa_2.json"
    annotation = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in {**annotation, **changes}.items() if value is not None}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question": None}, "no question"),
        ({"options": None}, "no options"),
        ({"bbox": [[1, 2, 3]]}, "not four finite numbers"),
        ({"bbox": [[500, 2, 3, 4]]}, "lies outside the 40×30 picture"),
    ],
)
def test_a_damaged_annotation_is_named_with_its_file(folder, changes, message):
    damage(folder, **changes)
    with pytest.raises(BenchmarkError, match=message) as caught:
        questions_of(folder)
    assert "sa_2.json" in caught.value.message


def test_what_is_no_vstar_is_refused(tmp_path):
    with pytest.raises(UsageError, match="needs data"):
        VStarKind().open(tmp_path / "absent", VStarOptions())
    with pytest.raises(BenchmarkError, match="holds neither pictures"):
        VStarKind().open(tmp_path, VStarOptions())
    with pytest.raises(UsageError, match="has no test_questions"):
        VStarKind().open(write_vstar(tmp_path, has_list=False), VStarOptions(order="published"))
    (tmp_path / "test_questions.jsonl").write_text(
        '{"image": "direct_attributes/sa_2.jpg", "text": "What?", "label": "A"}'
    )
    with pytest.raises(BenchmarkError, match="no options"):
        VStarKind().open(tmp_path, VStarOptions(order="published"))
