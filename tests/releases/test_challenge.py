"""A challenge bundle: what a server reads, and an evaluation that scores as we do and refuses what is incomplete."""

import importlib.util
import io
import json
import subprocess
import sys
import zipfile
from datetime import UTC, datetime

import numpy as np
import pytest
import yaml
from PIL import Image

from eyechart.errors import BenchmarkError, UsageError
from eyechart.releases.challenge import ChallengeTerms, Phase, write_challenge
from eyechart.releases.evalai_scoring import evaluate
from eyechart.schema import ImageRef, Question, Size

DATASETS = (("x", "art"), ("y", "art"), ("z", "daily"))


def question(index, *, answer=None, named=True, n_choices=4):
    dataset, category = DATASETS[index % 3]
    return Question(
        id=str(index),
        benchmark="b",
        text=f"Secret {index}?",
        image=ImageRef(f"{index:064x}", Size(9, 9), "image/png"),
        image_group=str(index),
        choices=("one", "two", "three", "four")[:n_choices],
        answer="ABCD"[index % 4] if answer is None else answer,
        task=category if named else None,
        source=dataset if named else None,
    )


QUESTIONS = tuple(question(index) for index in range(60))
TERMS = ChallengeTerms(
    title='Tiny "eyes": <b>a test</b>', start=datetime(2026, 12, 1, tzinfo=UTC), end=datetime(2027, 12, 1, tzinfo=UTC)
)


def terms(**changes):
    return ChallengeTerms(**{name: getattr(TERMS, name) for name in ("title", "start", "end")} | changes)


@pytest.fixture
def bundle(tmp_path):
    phases = (Phase("dev", QUESTIONS[:12]), Phase("test", QUESTIONS, is_public=False))
    write_challenge(phases, terms(rule="macro_dataset"), tmp_path / "bundle")
    return tmp_path / "bundle"


def submit(folder, answers):
    path = folder / "submission.json"
    path.write_text(answers if isinstance(answers, str) else json.dumps(answers))
    return str(path)


def truth():
    return {one.id: one.answer for one in QUESTIONS}


class TestBundle:
    """What the server reads."""

    def test_configuration_is_yaml_whose_files_are_all_in_the_upload(self, bundle):
        config = yaml.safe_load((bundle / "challenge_config.yaml").read_text(encoding="utf-8"))
        with zipfile.ZipFile(bundle / "challenge.zip") as upload:
            members = set(upload.namelist())
        named = [config[key] for key in ("description", "evaluation_details", "terms_and_conditions", "image")]
        named += [config["submission_guidelines"], config["evaluation_script"], "challenge_config.yaml"]
        for phase in config["challenge_phases"]:
            named += [phase["description"], phase["test_annotation_file"]]
        assert set(named) <= members
        assert config["title"] == TERMS.title
        assert str(config["start_date"]).startswith("2026-12-01")

    def test_phases_splits_and_leaderboard_fit_together(self, bundle):
        config = yaml.safe_load((bundle / "challenge_config.yaml").read_text(encoding="utf-8"))
        schema = config["leaderboard"][0]["schema"]
        assert schema["default_order_by"] in schema["labels"] == ["art", "daily", "All", "Unparsed"]
        phases = {phase["id"]: phase for phase in config["challenge_phases"]}
        splits = {split["id"]: split for split in config["dataset_splits"]}
        for link in config["challenge_phase_splits"]:
            phase, split = phases[link["challenge_phase_id"]], splits[link["dataset_split_id"]]
            assert split["codename"] == f"{phase['codename']}_split"
            assert link["visibility"] == (3 if phase["leaderboard_public"] else 1)
        assert [phase["codename"] for phase in phases.values()] == ["dev", "test"]

    def test_right_answers_are_in_the_annotations_alone(self, bundle):
        for path in (bundle / "public").iterdir():
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            assert all(set(row) == {"id", "question", "choices", "image_sha256"} for row in rows)
        assert json.loads((bundle / "annotations" / "test.json").read_text())["answers"]["5"]["answer"] == "B"
        with zipfile.ZipFile(bundle / "challenge.zip") as upload:
            assert not [name for name in upload.namelist() if name.startswith("public/")]

    def test_pages_escape_what_the_host_writes(self, bundle):
        page = (bundle / "templates" / "description.html").read_text(encoding="utf-8")
        assert "<b>" not in page
        assert "&lt;b&gt;a test&lt;/b&gt;" in page

    def test_logo_is_a_picture(self, bundle):
        with Image.open(io.BytesIO((bundle / "logo.png").read_bytes())) as logo:
            assert logo.size == (200, 200)

    def test_same_questions_and_terms_give_the_same_bytes(self, tmp_path):
        for name in ("a", "b"):
            write_challenge([Phase("test", QUESTIONS)], TERMS, tmp_path / name)
        assert (tmp_path / "a" / "challenge.zip").read_bytes() == (tmp_path / "b" / "challenge.zip").read_bytes()

    def test_script_in_the_upload_runs_without_eyechart(self, bundle, tmp_path):
        home = tmp_path / "server"
        with zipfile.ZipFile(bundle / "challenge.zip") as upload:
            upload.extractall(home)
        with zipfile.ZipFile(home / "evaluation_script.zip") as script:
            script.extractall(home / "evaluation_script")
        submission = submit(tmp_path, truth())
        code = (
            "import sys, json; sys.path.insert(0, sys.argv[1]); import evaluation_script as e;"
            "print(json.dumps(e.evaluate(sys.argv[1] + '/annotations/test.json', sys.argv[2], 'test', extra=1)));"
            "assert not any(name.startswith(('eyechart', 'numpy')) for name in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-I", "-c", code, str(home), submission], check=True, capture_output=True, text=True
        )
        result = json.loads(done.stdout)["result"]
        assert result == [{"test_split": {"art": 100.0, "daily": 100.0, "All": 100.0, "Unparsed": 0.0}}]


class TestEvaluation:
    """What participants get."""

    def scored(self, bundle, answers, phase="test"):
        result = evaluate(str(bundle / "annotations" / f"{phase}.json"), submit(bundle.parent, answers), phase)
        return result["result"][0][f"{phase}_split"]

    def test_average_is_that_of_the_rule(self, bundle):
        wrong = {one.id: "D" for one in QUESTIONS if one.source == "z"}
        share = sum(one.answer == "D" for one in QUESTIONS if one.source == "z") / 20
        metrics = self.scored(bundle, truth() | wrong)
        assert metrics["art"] == 100.0
        assert metrics["daily"] == pytest.approx(100 * share)
        assert metrics["All"] == pytest.approx(100 * (2 + share) / 3, abs=1e-3)

    def test_random_answers_score_like_our_own_average(self, bundle):
        drawn = np.random.default_rng(0).integers(0, 4, len(QUESTIONS))
        given = {one.id: "ABCD"[letter] for one, letter in zip(QUESTIONS, drawn, strict=True)}
        by_dataset = [
            sum(given[one.id] == one.answer for one in QUESTIONS if one.source == name) / 20 for name in "xyz"
        ]
        assert self.scored(bundle, given)["All"] == pytest.approx(100 * sum(by_dataset) / 3, abs=1e-3)

    def test_lower_case_counts_and_marks_are_wrong_and_counted(self, bundle):
        given = truth() | {"0": "a", "1": "-", "2": "E", "3": ""}
        metrics = self.scored(bundle, given)
        assert metrics["Unparsed"] == 3.0
        assert metrics["All"] < 100.0

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda given: given.pop("7"), "1 ids are missing: 7"),
            (lambda given: given.update({"99": "A"}), "1 ids are unknown: 99"),
            (lambda given: given.update({"7": 3}), "answers must be texts: 7"),
            (lambda given: given.update({"7": None}), "answers must be texts: 7"),
        ],
    )
    def test_incomplete_or_odd_submissions_are_refused_by_name(self, bundle, change, message):
        given = truth()
        change(given)
        with pytest.raises(ValueError, match=message):
            self.scored(bundle, given)

    @pytest.mark.parametrize(
        ("text", "message"),
        [('{"0": "A", "0": "B"}', "id '0' stands twice"), ("[1]", "not a JSON object"), ("{", "is not JSON")],
    )
    def test_damaged_files_are_refused(self, bundle, text, message):
        with pytest.raises(ValueError, match=message):
            self.scored(bundle, text)

    def test_answers_of_another_phase_are_not_used(self, bundle):
        with pytest.raises(ValueError, match="the answers are of phase dev, the submission is of test"):
            evaluate(str(bundle / "annotations" / "dev.json"), submit(bundle.parent, truth()), "test")


class TestRefusals:
    """What cannot be hosted."""

    def write(self, tmp_path, *questions, **changes):
        write_challenge([Phase("test", questions)], terms(**changes), tmp_path / "out")

    def test_hidden_answers_cannot_be_hosted(self, tmp_path):
        hidden = Question(
            id="0", benchmark="b", text="?", image=QUESTIONS[0].image, image_group="0", choices=("a", "b"), answer=None
        )
        with pytest.raises(BenchmarkError, match="0 has no right letter among its 2 options"):
            self.write(tmp_path, hidden)

    def test_letter_beyond_the_options_cannot_be_hosted(self, tmp_path):
        with pytest.raises(BenchmarkError, match="no right letter among its 2 options"):
            self.write(tmp_path, question(3, n_choices=2))

    def test_id_that_stands_twice_is_refused(self, tmp_path):
        with pytest.raises(BenchmarkError, match="id 0 stands twice"):
            self.write(tmp_path, question(0), question(0))

    def test_rule_over_datasets_needs_their_names(self, tmp_path):
        with pytest.raises(BenchmarkError, match="0 names no dataset, which size_weighted needs"):
            self.write(tmp_path, question(0, named=False), rule="size_weighted")

    def test_empty_phase_is_refused(self, tmp_path):
        with pytest.raises(BenchmarkError, match="phase test has no question"):
            self.write(tmp_path)

    @pytest.mark.parametrize("names", [(), ("a", "a"), ("../a",)])
    def test_phases_need_distinct_plain_names(self, tmp_path, names):
        with pytest.raises(UsageError, match="phases"):
            write_challenge([Phase(name, QUESTIONS) for name in names], TERMS, tmp_path / "out")

    def test_end_before_start_is_refused(self, tmp_path):
        with pytest.raises(UsageError, match="the challenge ends"):
            self.write(tmp_path, *QUESTIONS, end=TERMS.start)

    def test_folder_with_files_is_left_alone(self, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine").touch()
        with pytest.raises(UsageError, match="is not empty"):
            self.write(tmp_path, *QUESTIONS)


def test_copied_script_is_the_tested_module(bundle):
    spec = importlib.util.spec_from_file_location("copied", bundle / "evaluation_script" / "main.py")
    copied = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copied)
    assert copied.evaluate.__doc__ == evaluate.__doc__
