"""A whole run: resumed without asking twice, checked at the start, estimated the same however it got there."""

import asyncio
import json
import resource
from datetime import UTC, datetime, timedelta

import msgspec
import numpy as np
import pytest

from eyechart.errors import AuthenticationError, StoreError, TransientModelError, UsageError
from eyechart.kinds import Reply
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.listening import Silent
from eyechart.runs.patience import Patience
from eyechart.runs.plan import PlanOptions
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.runs.store import RunStore
from eyechart.schema import ModelIdentity, Sampling
from eyechart.views import resolve_views

QUICK = LoopSettings(patience=Patience(first_wait_seconds=0.001, longest_wait_seconds=0.002, max_attempts=2))
VIEWS = "original,crop_3x,downsample_0_5"


class Told(Silent):
    def __init__(self):
        self.beginnings, self.checks = [], []

    def began(self, beginning):
        self.beginnings.append(beginning)

    def checked(self, answers):
        self.checks.append(answers)


@pytest.fixture
def run(make, tmp_path, tiny_letter):
    """A function that runs ``n`` questions into a folder of this test."""

    def start(model, n=6, *, out="run", views=VIEWS, listener=None, benchmark=None, **changes):
        changes.setdefault("loop", QUICK)
        changes.setdefault("where", Destination(out=tmp_path / out if out else None, runs=tmp_path / "runs"))
        return run_benchmark(
            benchmark or make.benchmark(make.question(index) for index in range(n)),
            model,
            resolve_views(views)[0],
            make.prompt(),
            options=RunOptions(scorer=tiny_letter, **changes),
            listener=listener,
        )

    return start


def estimates(outcome):
    """The estimates without when and where they were made."""
    stored = json.loads((outcome.store.folder / "estimates.json").read_bytes())
    for name in ("id", "created_at", "command"):
        del stored["run"][name]
    return stored


def test_a_run_asks_scores_and_estimates(make, run):
    model, listener = make.model(), Told()
    outcome = run(model, listener=listener)
    assert (outcome.exit_code, outcome.n_planned, outcome.n_asked, outcome.n_reused, outcome.n_missing) == (
        0,
        18,
        18,
        0,
        0,
    )
    assert [condition.n_correct for condition in outcome.summary.conditions] == [6, 6, 6]
    assert outcome.store.summary() == outcome.summary
    assert model.is_closed
    assert [beginning.n_planned for beginning in listener.beginnings] == [dict.fromkeys(VIEWS.split(","), 6)]


def test_the_same_command_asks_nothing_again(make, run):
    first = run(make.model())
    content = (first.store.folder / "estimates.json").read_bytes()
    model = make.model()
    again = run(model)
    assert model.asked == []
    assert (again.n_reused, again.exit_code) == (18, 0)
    assert (again.store.folder / "estimates.json").read_bytes() == content


def test_an_interrupted_run_ends_like_an_uninterrupted_one(make, run):
    whole = run(make.model(), out="whole")
    model = make.model()

    def stop_in_the_middle(ask):
        return AuthenticationError("revoked") if len(model.asked) > 7 else "A"

    model._script = stop_in_the_middle
    with pytest.raises(AuthenticationError):
        run(model, out="cut", loop=msgspec.structs.replace(QUICK, concurrency=1))
    resumed = make.model()
    listener = Told()
    finished = run(resumed, out="cut", listener=listener)
    assert len(resumed.asked) == 18 - 7
    assert listener.beginnings[0].is_resumed
    assert sum(listener.beginnings[0].n_settled.values()) == 7
    assert estimates(finished) == estimates(whole)


def test_missing_answers_are_asked_again_and_meanwhile_exit_with_3(make, run):
    error = TransientModelError("HTTP 503: overloaded")
    failing = make.model(script=lambda ask: error if ask.identity.view == "crop_3x" else "A")
    outcome = run(failing)
    assert (outcome.exit_code, outcome.n_missing) == (3, 6)
    crop = outcome.summary.conditions[1]
    assert (crop.n_missing, crop.accuracy_sum, crop.states) == (6, 0.0, {"transient": 6})
    assert [estimate.condition for estimate in outcome.summary.estimates] == ["original", "downsample_0_5"]
    assert [(f.state, f.cause, f.n) for f in outcome.summary.failures] == [("transient", "HTTP 503: overloaded", 6)]
    model = make.model()
    assert run(model).exit_code == 0
    assert len(model.asked) == 6


def test_final_errors_are_not_asked_again_and_leave_no_hole(make, run):
    from eyechart.errors import RefusedInputError

    refusing = make.model(script=lambda ask: RefusedInputError("HTTP 413") if ask.identity.view == "original" else "A")
    outcome = run(refusing)
    assert (outcome.exit_code, outcome.n_missing) == (0, 0)
    assert outcome.summary.conditions[0].states == {"refused_input": 6}
    model = make.model()
    run(model)
    assert model.asked == []


def test_without_out_the_unfinished_run_is_found_and_a_finished_one_is_left(make, run):
    failing = make.model(script=lambda ask: TransientModelError("HTTP 503"))
    first = run(failing, out=None)
    second = run(make.model(), out=None)
    assert second.store.folder == first.store.folder
    third = run(make.model(), out=None)
    assert third.store.folder != first.store.folder
    forced = run(make.model(), out=None, where=Destination(runs=first.store.folder.parent, is_new=True))
    assert forced.store.folder not in {first.store.folder, third.store.folder}


@pytest.mark.parametrize(
    "changes",
    [{"sampling": Sampling(seed=1)}, {"plan": PlanOptions(limit=3)}, {"plan": PlanOptions(repeats=2)}],
)
def test_a_changed_setting_is_never_mixed_into_a_folder(make, run, changes):
    run(make.model())
    model = make.model()
    with pytest.raises(StoreError, match="holds another run"):
        run(model, **changes)
    assert model.asked == []


def test_a_disk_that_fills_loses_nothing_and_the_same_command_goes_on(make, run, tmp_path):
    whole = run(make.model(script=lambda ask: Reply(text="A", reasoning="x" * 20_000)), out="whole")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(StoreError, match="cannot be written: File too large") as caught:
            run(make.model(script=lambda ask: Reply(text="A", reasoning="x" * 20_000)), out="full")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "what was answered is kept" in caught.value.hint
    n_kept = len(RunStore(tmp_path / "full").index().rows)
    assert n_kept == 4
    model = make.model(script=lambda ask: Reply(text="A", reasoning="x" * 20_000))
    assert estimates(run(model, out="full")) == estimates(whole)
    assert len(model.asked) == 18 - n_kept


# --- the first answers ----------------------------------------------------------------------------------------------


def test_useless_first_answers_stop_a_run_that_looks(make, run):
    model, listener = make.model(script=lambda ask: "The bird is red", reads="pixels"), Told()
    outcome = run(model, n=20, listener=listener, views="original,crop_1x,crop_3x,crop_6x")
    assert (len(model.asked), outcome.exit_code, outcome.n_missing) == (8, 3, 72)
    assert outcome.stop is not None
    assert "8 of the first 8 answers" in outcome.stop.reason
    assert [answer.response.text for answer in listener.checks[0]] == ["The bird is red"] * 8


def test_the_check_is_not_passed_by_starting_again_but_by_saying_so(make, run):
    useless = make.model(script=lambda ask: "The bird is red", reads="pixels")
    run(useless, n=20)
    again = make.model(script=lambda ask: "The bird is red", reads="pixels")
    outcome = run(again, n=20)
    assert (len(again.asked), outcome.exit_code) == (6, 3)
    assert "6 of the first 6 answers" in outcome.stop.reason
    outcome = run(make.model(script=lambda ask: "The bird is red", reads="pixels"), n=20, has_preflight=False)
    assert outcome.exit_code == 0


def test_good_first_answers_let_the_run_go_on(make, run):
    model, listener = make.model(reads="pixels"), Told()
    outcome = run(model, n=10, listener=listener)
    assert outcome.exit_code == 0
    assert len(model.asked) == 30
    assert len(listener.checks[0]) == 6
    assert not any(answer.is_bad for answer in listener.checks[0])


# --- whose weights --------------------------------------------------------------------------------------------------


def age_answers(outcome, hours):
    old = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    for path in (outcome.store.folder / "responses").glob("*.jsonl"):
        rows = [json.loads(line) | {"finished_at": old} for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(
    ("identity", "hours", "is_same_weights", "n_asked"),
    [
        (ModelIdentity("openai", "vlm"), 25, False, 18),
        (ModelIdentity("openai", "vlm"), 23, False, 0),
        (ModelIdentity("openai", "vlm"), 25, True, 0),
        (ModelIdentity("openai", "vlm", revision="2026-05-13"), 25, False, 0),
        (ModelIdentity("hf", "vlm", fingerprint="weights"), 25, False, 0),
    ],
)
def test_old_answers_of_a_served_model_are_not_reused(make, run, identity, hours, is_same_weights, n_asked):
    age_answers(run(make.model(script=lambda ask: "B", reads="pixels", identity=identity)), hours)
    model = make.model(script=lambda ask: "A", reads="pixels", identity=identity)
    outcome = run(model, is_same_weights=is_same_weights)
    assert len(model.asked) == n_asked
    n_correct = {condition.n_correct for condition in outcome.summary.conditions}
    assert n_correct == ({6} if n_asked else {0})


def test_a_stale_answer_that_could_not_be_replaced_is_missing(make, run):
    identity = ModelIdentity("openai", "vlm")
    age_answers(run(make.model(reads="pixels", identity=identity)), 25)
    down = make.model(script=lambda ask: TransientModelError("HTTP 503"), reads="pixels", identity=identity)
    outcome = run(down, has_preflight=False)
    assert (outcome.n_missing, outcome.exit_code) == (18, 3)


# --- models that read identity, gold, event loops -------------------------------------------------------------------


def test_gold_reaches_a_baseline_apart_from_any_request(make, run):
    class Oracle(make.model):
        def take_gold(self, gold):
            self._script = lambda ask: gold[ask.identity.request_id]

    questions = [make.question(index, answer="ABCD"[index % 4]) for index in range(6)]
    outcome = run(Oracle(), benchmark=make.benchmark(questions))
    assert [condition.n_correct for condition in outcome.summary.conditions] == [6, 6, 6]


def test_a_run_works_inside_a_running_event_loop(make, run):
    async def notebook_cell():
        return run(make.model())

    assert asyncio.run(notebook_cell()).exit_code == 0


def test_an_error_inside_a_running_event_loop_reaches_the_caller(make, run):
    async def notebook_cell():
        return run(make.model(script=lambda ask: AuthenticationError("wrong key")))

    with pytest.raises(AuthenticationError, match="wrong key"):
        asyncio.run(notebook_cell())


def test_a_prediction_of_what_is_seen_is_stored_before_anything_is_asked(make, run):
    from eyechart.kinds import ObservedPicture
    from eyechart.schema import Size

    class Shrinking(make.model):
        def predict_seen(self, sent):
            return ObservedPicture(seen_size=Size(min(200, sent.width), min(150, sent.height)), evidence="executed")

    outcome = run(Shrinking())
    seen = list(outcome.store.seen())
    assert {row.phase for row in seen} == {"planned"}
    by_name = {condition.condition: condition for condition in outcome.summary.conditions}
    assert by_name["original"].target_px_seen == pytest.approx(20)
    assert by_name["original"].seen_evidence == "executed"
    assert any("makes one picture of" in warning for warning in outcome.summary.warnings)


def test_a_server_that_counts_tokens_alone_leaves_sizes_unknown_and_tokens_reported(make, run):
    from eyechart.kinds import ObservedPicture, Reply

    told = (ObservedPicture(seen_size=None, evidence="reported", visual_tokens=85),)
    outcome = run(make.model(script=lambda ask: Reply(text="A", finish="stop", seen=told), reads="pixels"))
    for condition in outcome.summary.conditions:
        assert condition.target_px_seen is None
        assert (condition.seen_evidence, condition.tokens_evidence) == ("unknown", "reported")


# --- estimates ------------------------------------------------------------------------------------------------------


def noisy(make, seed, accuracy, gold="A"):
    """A model that is right with a given probability per view, independently."""
    rng = np.random.default_rng(seed)
    return make.model(script=lambda ask: gold if rng.random() < accuracy[ask.identity.view] else "B")


def test_a_crossover_is_named(make, run):
    model = noisy(make, 1, {"original": 0.3, "crop_3x": 0.95, "downsample_0_5": 0.95})
    findings = {finding.contrast[0]: finding for finding in run(model, n=60).summary.findings}
    assert findings["downsample_0_5"].code == "CROSSOVER"
    assert findings["crop_3x"].code == "HIGHER"
    assert "points above original" in findings["downsample_0_5"].text


def test_a_loss_is_said_with_its_numbers(make, run):
    outcome = run(noisy(make, 1, {"original": 0.95, "crop_3x": 0.95, "downsample_0_5": 0.3}), n=60)
    contrast = next(c for c in outcome.summary.contrasts if c.condition == "downsample_0_5")
    finding = next(f for f in outcome.summary.findings if f.contrast == ("downsample_0_5", "original"))
    assert finding.code == "LOWER"
    assert f"{abs(100 * contrast.value):.1f} points below original" in finding.text
    assert f"n = {contrast.n_questions} questions on {contrast.n_clusters} pictures" in finding.text


def test_few_questions_claim_nothing(make, run):
    outcome = run(noisy(make, 1, {"original": 0.0, "crop_3x": 1.0, "downsample_0_5": 1.0}), n=8)
    assert {finding.code for finding in outcome.summary.findings} == {"CANNOT_TELL"}
    assert all("cannot be told apart" in finding.text for finding in outcome.summary.findings)


def test_identical_pictures_are_negative_controls_outside_the_family(make, run):
    views = "original,crop_1x,target_only_1x,whiteground_1x,target_only_original"
    outcome = run(make.model(), n=40, views=views)
    controls = {(c.condition, c.baseline) for c in outcome.summary.contrasts if "SAME_INPUT" in c.warnings}
    assert controls == {("crop_1x", "target_only_1x"), ("whiteground_1x", "target_only_original")}
    assert len(outcome.summary.findings) == 4


def test_repeats_are_averaged_per_question(make, run):
    model = make.model(script=lambda ask: "A" if ask.identity.repeat == 0 else "B")
    outcome = run(model, plan=PlanOptions(repeats=2))
    assert {estimate.value for estimate in outcome.summary.estimates} == {0.5}
    assert {estimate.n_questions for estimate in outcome.summary.estimates} == {6}


def test_both_accuracies_differ_where_answers_are_missing(make, run):
    error = TransientModelError("HTTP 503")
    model = make.model(script=lambda ask: error if ask.identity.question_id in {"q000", "q001", "q002"} else "A")
    outcome = run(model, n=6)
    assert {condition.accuracy_sum for condition in outcome.summary.conditions} == {0.5}
    assert {estimate.value for estimate in outcome.summary.estimates} == {1.0}
    assert any("answers are missing" in warning for warning in outcome.summary.warnings)


def test_unreadable_answers_are_failures_by_cause_and_cannot_tell_is_not(make, run):
    texts = {"original": "A", "crop_3x": "a red bird", "downsample_0_5": "cannot tell"}
    outcome = run(make.model(script=lambda ask: texts[ask.identity.view]))
    assert [(f.state, f.cause, f.conditions) for f in outcome.summary.failures] == [
        ("answered", "no_option_letter", {"crop_3x": 6})
    ]
    assert outcome.summary.conditions[2].reasons == {"cannot_tell": 6}


def test_sizes_and_targets_are_medians_over_questions(make, run):
    outcome = run(make.model())
    by_name = {condition.condition: condition for condition in outcome.summary.conditions}
    assert by_name["original"].median_sent_size == (400, 300)
    assert by_name["downsample_0_5"].median_sent_px == 200 * 150
    assert by_name["original"].target_px_sent == 40
    assert by_name["downsample_0_5"].target_px_sent == 20
    assert by_name["crop_3x"].median_area_multiplier == pytest.approx(3, rel=0.05)
    assert by_name["original"].target_px_seen is None


def test_usage_is_summed_over_the_answers_that_count(make, run):
    from eyechart.schema import Usage

    outcome = run(make.model(script=lambda ask: Reply(text="A", usage=Usage(input_tokens=100, output_tokens=2))))
    assert outcome.summary.usage == Usage(input_tokens=1800, output_tokens=36)


def test_hidden_answers_give_no_accuracy_and_no_failure(make, run):
    questions = [make.question(index, answer=None) for index in range(3)]
    outcome = run(make.model(), benchmark=make.benchmark(questions))
    assert outcome.summary.estimates == ()
    assert {condition.accuracy_sum for condition in outcome.summary.conditions} == {None}
    assert outcome.exit_code == 0


@pytest.mark.parametrize(
    "n_seeds",
    [pytest.param(60, marks=pytest.mark.slow(seconds=8)), pytest.param(200, marks=pytest.mark.full)],
)
def test_null_data_gives_only_cannot_be_told_apart_in_95_percent_of_seeds(make, run, tmp_path, n_seeds):
    views = "original,crop_3x,crop_6x,downsample_0_5,downsample_0_25,whiteground_3x"
    accuracy = dict.fromkeys(views.split(","), 0.6)
    n_clean = 0
    for seed in range(n_seeds):
        summary = run(noisy(make, seed, accuracy), n=60, views=views, out=f"null-{seed}").summary
        n_clean += {finding.code for finding in summary.findings} == {"CANNOT_TELL"}
    assert n_clean >= {60: 53, 200: 190}[n_seeds]  # of 60, 95 % are fewer than 53 once in a hundred such tests


def test_letters_by_probability_are_refused_where_the_model_tells_none(make, run):
    model = make.model()
    with pytest.raises(UsageError, match="tells no token probabilities"):
        run(model, sampling=Sampling(score_mode="logprob"))
    assert model.asked == []
