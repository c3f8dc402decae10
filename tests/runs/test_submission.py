"""A submission holds exactly the ids of its split, once each, and no right answer."""

import json

import msgspec
import pytest

from eyechart.errors import UsageError
from eyechart.opening import open_scorer
from eyechart.runs.folders import Destination, Origin, find_or_create
from eyechart.runs.submission import check_ids, read_ids, read_submission, write_submission
from eyechart.schema import BenchmarkIdentity, Response, ResponseState

SCORER, MODE = open_scorer("hrscene_letter")


@pytest.fixture
def store_of(make, tmp_path):
    """Build a run of ``n`` questions whose answers are given by ``text_of(index)``; None leaves one open."""

    def build(n, text_of, *, split="test", name="hrscene", limit=None, views="original", answer=None):
        benchmark = make.benchmark(make.question(index, answer=answer) for index in range(n))
        benchmark.identity = BenchmarkIdentity(name, "r1", {"split": split})
        plan = make.plan(benchmark=benchmark, views=views)
        plan = msgspec.structs.replace(plan, options=msgspec.structs.replace(plan.options, limit=limit))
        import datetime

        origin = Origin(now=datetime.datetime.now(datetime.UTC), versions={}, command=())
        store, _ = find_or_create(plan, Destination(out=tmp_path / "run"), origin, ())
        writer = store.open_writer("w")
        for index, request in enumerate(plan.requests):
            text = text_of(index)
            if text is not None:
                writer.append(Response(request_id=request.id, state=ResponseState.ANSWERED, text=text))
        writer.close()
        return store

    return build


def read(store, **changes):
    return read_submission(store, SCORER, MODE, **changes)


def test_every_id_of_the_split_stands_once_with_its_letter(store_of, tmp_path):
    store = store_of(5323, lambda index: f"<ans>{'ABCD'[index % 4]}</ans>")
    submission = read(store)
    write_submission(submission, tmp_path / "submission.json")
    pairs = json.loads((tmp_path / "submission.json").read_text(), object_pairs_hook=list)
    assert len(pairs) == 5323
    assert {name for name, _ in pairs} == {question.id for question in store.questions()}
    assert all(letter in "ABCD" for _, letter in pairs)


def test_second_time_gives_the_same_bytes(store_of, tmp_path):
    store = store_of(40, lambda index: "ABCD"[index % 4], split="x")
    for name in ("a.json", "b.json"):
        write_submission(read(store), tmp_path / name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_right_answers_are_not_in_the_file(store_of, tmp_path):
    store = store_of(30, lambda index: "B", split="x", answer="C")
    write_submission(read(store), tmp_path / "s.json")
    assert "C" not in (tmp_path / "s.json").read_text()


class TestUnparsed:
    """Answers without a readable letter are a decision of the user."""

    def text_of(self, index):
        return "I cannot say" if index == 3 else "Z" if index == 5 else "A"

    def test_without_a_choice_they_are_refused_by_name(self, store_of):
        with pytest.raises(UsageError, match=r"from 2 of 12 answers \(q003, q005\)") as caught:
            read(store_of(12, self.text_of, split="x"))
        assert "--unparsed" in caught.value.hint

    def test_a_chosen_text_stands_for_them(self, store_of):
        submission = read(store_of(12, self.text_of, split="x"), unparsed="-")
        assert submission.answers["q003"] == submission.answers["q005"] == "-"
        assert submission.unparsed == ("q003", "q005")
        assert sum(letter == "A" for letter in submission.answers.values()) == 10

    def test_raw_writes_the_response_as_the_published_code_does(self, store_of):
        assert read(store_of(12, self.text_of, split="x"), unparsed="raw").answers["q003"] == "I cannot say"


def test_missing_answers_are_refused_by_name(store_of):
    with pytest.raises(UsageError, match=r"1 questions of run .* have no answer: q007"):
        read(store_of(12, lambda index: None if index == 7 else "A", split="x"))


def test_part_of_a_split_is_refused(store_of):
    with pytest.raises(UsageError, match="asked 12 questions, split test of hrscene has 5323"):
        read(store_of(12, lambda index: "A"))


def test_limited_run_is_refused(store_of):
    with pytest.raises(UsageError, match="chosen by --limit 12"):
        read(store_of(12, lambda index: "A", split="x", limit=12))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["q000", "q001", "q002", "q003"], r"1 ids of the split are not in the run: q003"),
        (["q000", "q001"], r"1 ids of the run are not in the split: q002"),
        (["q000", "q001", "q002", "q002"], r"1 ids stand twice in the split: q002"),
    ],
)
def test_missing_extra_and_duplicate_ids_are_refused(store_of, ids, message):
    with pytest.raises(UsageError, match=message):
        read(store_of(3, lambda index: "A"), ids=ids)


def test_id_answered_twice_is_refused():
    with pytest.raises(UsageError, match="1 ids are answered twice: 1"):
        check_ids(["0", "1"], ["0", "1", "1"])


def test_run_of_crops_alone_is_refused(store_of):
    with pytest.raises(UsageError, match="has no view original"):
        read(store_of(3, lambda index: "A", split="x", views="crop_1x,crop_3x"))


def test_whole_picture_is_taken_from_a_run_of_many_views(store_of):
    answers = iter("AB" * 10)
    store = store_of(3, lambda index: next(answers), split="x", views="original,crop_3x")
    original = {request.question_id for request in store.requests() if request.condition == "original"}
    assert set(read(store).answers) == original


@pytest.mark.parametrize("text", ["0\n1\n\n2\n", "[0, 1, 2]", '["0", "1", "2"]'])
def test_ids_are_read_as_lines_or_as_a_list(tmp_path, text):
    (tmp_path / "ids").write_text(text)
    assert read_ids(tmp_path / "ids") == ("0", "1", "2")


@pytest.mark.parametrize(
    ("text", "message"), [("", "holds no id"), ("[1,", "not a JSON list"), (None, "cannot read ids")]
)
def test_ids_that_cannot_be_read_are_refused(tmp_path, text, message):
    if text is not None:
        (tmp_path / "ids").write_text(text)
    with pytest.raises(UsageError, match=message):
        read_ids(tmp_path / "ids")
