"""Laws of protocols and judges: what is fixed stays fixed, replies are stored and asked once, unclear is not wrong."""

import json

import pytest
from benchmarks.sources import hrbench_rows, write_tsv, write_vstar
from servers.chat_server import ChatServer
from servers.faults import Script

from eyechart.cli._app import run_app
from eyechart.runs.store import RunStore

HRBENCH = ("run", "hrbench", "--data", "hr_bench_4k.tsv", "--views", "original", "--no-report", "--no-preflight")
OFFICIAL = ("--protocol", "hrbench@official", "--out", "kept")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    write_tsv(tmp_path / "hr_bench_4k.tsv", hrbench_rows())
    return tmp_path


def run_official(model="simulated/oracle", *more):
    return run_app([*HRBENCH, *OFFICIAL, "--model", model, *more])


def judge(server, *more):
    return run_app(["judge", "kept", "--model", "openai/judge", "--base-url", server.base_url, *more])


def verdicts(here, scorer="judge.yes_no@1"):
    return [(score.value, score.reason) for score in RunStore(here / "kept").scores(scorer)]


def proportions(here):
    summary = json.loads((here / "kept" / "estimates.json").read_bytes())
    return {one["name"]: (one["value"], one["n_questions"]) for one in summary["proportions"]}


def test_a_protocol_fixes_order_prompt_and_extraction_and_is_recorded(here):
    assert run_official() == 0
    run = RunStore(here / "kept").run
    assert (run.protocol, run.prompt_id, run.scorer) == (
        "hrbench@official",
        "vlmevalkit_mcq@1",
        "option_letter.strict@1",
    )
    assert run.benchmark.options["rows"] == "all"
    assert run.n_questions == 8


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--prompt", "letter_legacy"), "--prompt letter_legacy is not that of hrbench@official"),
        (("--scorer", "option_letter.lenient"), "fixes option_letter.strict@1"),
        (("--option", "rows=base"), "fixes all"),
        (("--protocol", "vstar@shuffled"), "is not for the benchmark hrbench"),
        (("--protocol", "hrbench@offcial"), "there is no protocol named"),
    ],
)
def test_what_contradicts_a_protocol_is_refused(here, more, message, capsys):
    flags = OFFICIAL if "--protocol" not in more else ()
    assert run_app([*HRBENCH, *flags, "--model", "simulated/oracle", *more]) == 2
    assert message in capsys.readouterr().err


def test_mean_over_rotations_and_all_rotations_right_are_told_apart(here, capsys):
    answers = [{"id": row["index"], "view": "original", "response": row["answer"]} for row in hrbench_rows()]
    answers[1]["response"] = "ABCD"["ABCD".index(answers[1]["response"]) - 1]
    (here / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    assert run_official("replay/answers.jsonl") == 0
    assert proportions(here)["mean over rotations"] == (0.875, 2)
    assert proportions(here)["all rotations right"] == (0.5, 2)
    assert "original: all rotations right 50.0 [too few pictures] %" in capsys.readouterr().err


def test_our_own_rotations_have_the_same_two_numbers(here):
    command = ["run", "hrbench", "--data", "hr_bench_4k.tsv", "--option", "rows=base", "--rotate-choices", "all"]
    more = ["--views", "original", "--no-report", "--model", "simulated/oracle", "--out", "own"]
    assert run_app([*command, *more]) == 0
    summary = json.loads((here / "own" / "estimates.json").read_bytes())
    found = {one["name"]: one["value"] for one in summary["proportions"]}
    assert (found["mean over rotations"], found["all rotations right"]) == (1.0, 1.0)


def test_the_judge_is_asked_once_for_every_answer_and_its_replies_are_stored(here):
    run_official()
    with ChatServer(answer="Yes") as server:
        assert judge(server) == 0
        assert len(server.received) == 8
        assert not any(received.pictures for received in server.received)
        assert judge(server) == 0
        assert len(server.received) == 8
    assert verdicts(here) == [(1.0, None)] * 8
    assert run_app(["score", "kept", "--scorer", "judge.yes_no"]) == 0
    stored = RunStore(here / "kept" / "judges" / "yes_no-openai-judge")
    assert {response.text for response in stored.responses()} == {"Yes"}
    asked = next(stored.requests())
    assert "The right answer is: A. sign 0" in asked.prompt
    score = next(RunStore(here / "kept").scores("judge.yes_no@1"))
    assert "judge: openai/judge" in score.diagnostics


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Yes.", (1.0, None)),
        ("**no**", (0.0, "judged_wrong")),
        ("Yes, because the sign says so", (None, "judge_unclear")),
        ("I cannot say Yes or No", (None, "judge_unclear")),
        ("", (None, "judge_missing")),
    ],
)
def test_only_a_plain_reply_is_a_verdict(here, reply, verdict):
    run_official()
    with ChatServer(answer=reply) as server:
        judge(server)
    assert verdicts(here) == [verdict] * 8


def test_a_judge_that_fails_leaves_answers_missing_and_is_asked_again(here):
    run_official()
    with ChatServer(answer="Yes", script=Script(share={"400-plain": 0.5})) as server:
        judge(server, "--concurrency", "1")
    values = [value for value, _ in verdicts(here)]
    assert set(values) <= {1.0, None}
    assert None in values


def test_the_rules_keep_what_they_settle_and_the_judge_gets_the_rest(here):
    write_vstar(here / "vstar")
    answers = {"0": "D", "1": "the red one, I am quite sure of it, as anybody can see in this picture", "2": "A"}
    rows = [{"id": name, "view": "original", "response": text} for name, text in answers.items()]
    (here / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ["run", "vstar", "--data", "vstar", "--protocol", "vstar@vlmevalkit", "--model", "replay/answers.jsonl"]
    assert run_app([*command, "--views", "original", "--out", "kept", "--no-report"]) == 0
    assert verdicts(here, "vlmevalkit_letter.compat@1") == [(1.0, None), (0.0, "no_option_letter"), (0.0, None)]
    with ChatServer(answer="D") as server:
        assert judge(server) == 0
        assert len(server.received) == 1
    assert verdicts(here, "judge.letter@1") == [(1.0, None), (1.0, None), (0.0, None)]


def test_a_judge_without_a_rule_or_without_having_been_asked_is_explained(here, capsys):
    assert run_app([*HRBENCH, "--model", "simulated/oracle", "--out", "kept"]) == 0
    assert run_app(["judge", "kept", "--model", "simulated/oracle"]) == 2
    assert "follows no protocol" in capsys.readouterr().err
    assert run_app(["score", "kept", "--scorer", "judge.letter"]) == 1
    assert "no judge was asked" in capsys.readouterr().err
    with ChatServer(answer="No") as server:
        assert judge(server, "--mode", "yes_no", "--judged", "not_right") == 0
        assert not server.received
    assert "left nothing to a judge" in capsys.readouterr().err


def test_verdicts_asked_for_under_a_bare_name_stay_those_of_the_only_version_there_was(here):
    answers = [{"id": row["index"], "view": "original", "response": "A</s> B"} for row in hrbench_rows()]
    (here / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    assert run_app([*HRBENCH, "--out", "kept", "--model", "replay/answers.jsonl", "--scorer", "option_letter"]) == 0
    with ChatServer(answer="No") as server:
        assert judge(server, "--mode", "yes_no", "--judged", "not_right") == 0

    def settled_by_rules():
        assert run_app(["score", "kept", "--scorer", "judge.yes_no"]) == 0
        scores = RunStore(here / "kept").scores("judge.yes_no@1")
        return {score.value for score in scores if not (score.rule or "").startswith("judge_")}

    assert settled_by_rules() == {1.0}  # version 2 reads A, so that only the others went to the judge
    file = next((here / "kept" / "judges").glob("*/run.json"))
    stored = file.read_text()
    assert '"option_letter.strict@2"' in stored
    file.write_text(stored.replace('"option_letter.strict@2"', '"option_letter"', 1))
    assert settled_by_rules() == {0.0}  # version 1 reads two letters and none
