"""Laws of the commands that run, score, report, build and verify: data to stdout, exit codes, nothing asked twice."""

import json

import pytest
from PIL import Image
from servers.chat_server import ChatServer

from eyechart.cli._app import run_app
from eyechart.cli._durations import parse_seconds
from eyechart.errors import UsageError

VIEWS = "original,crop_1x,crop_3x,downsample_0_5,whiteground_1x,target_only_1x"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three questions about three pictures, as the current folder."""
    monkeypatch.chdir(tmp_path)
    rows = []
    for index in range(3):
        Image.new("RGB", (200 + index, 150), (index * 60, 90, 120)).save(tmp_path / f"{index}.png")
        rows.append(
            {
                "id": f"q{index}",
                "image": f"{index}.png",
                "question": "Which?",
                "choices": ["x", "y"],
                "answer": "A",
                "box": [10, 10, 50, 40],
            }
        )
    (tmp_path / "questions.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return tmp_path


def arguments(command: str, *more: str) -> list[str]:
    return [command, "folder", "--data", "questions.jsonl", "--option", "box_format=xyxy", *more]


def run(*more: str, report: str = "--no-report") -> int:
    return run_app(arguments("run", "--model", "simulated/oracle", "--views", VIEWS, "--out", "kept", report, *more))


def test_run_prints_a_table_and_writes_the_report(folder, capsys):
    assert run(report="--report") == 0
    shown = capsys.readouterr()
    assert shown.out.count("100.0 [") == 6
    assert "5 views cannot be told apart from original" in shown.err
    assert (folder / "kept" / "report.html").stat().st_size > 10_000


def test_json_is_the_stored_summary(folder, capsys):
    assert run("--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((folder / "kept" / "estimates.json").read_bytes())


def test_final_errors_are_counted_by_check_and_asked_again_by_run(folder, capsys):
    """Only --new asked them again, and paid for everything."""
    bad = {"error": {"message": "odd", "code": "odd"}}
    good = {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}
    said = iter([(400, bad), (422, bad), *[(200, good)] * 20])
    with ChatServer(say=lambda received: next(said)) as server:
        asked = ["--model", "openai/local-vlm", "--base-url", server.base_url, "--views", VIEWS, "--no-report"]
        assert run_app(arguments("run", *asked, "--out", "kept", "--no-preflight", "--concurrency", "1")) == 3
        assert "2 of 18 requests have no answer for good" in (shown := capsys.readouterr().err)
        assert "--ask-again STATE asks them again" in shown
        counted = arguments("check", "--views", VIEWS, "--out", "kept", "--ask-again", "bad_request,filtered")
        assert run_app(counted) == 0
        told = "--ask-again bad_request,filtered asks 2 requests again (2 bad_request, 0 content_filter)"
        assert told in capsys.readouterr().err
        assert run_app([*counted, "--json"]) == 0
        again = json.loads(capsys.readouterr().out)["ask_again"]
        assert (again["n"], again["states"]) == (2, {"bad_request": 2, "content_filter": 0})
        assert run_app(arguments("run", *asked, "--out", "kept", "--ask-again", "bad_request")) == 0
        assert "2 requests that ended in an error are asked again" in capsys.readouterr().err
        assert len(server.received) == 20
    assert run_app(arguments("run", *asked, "--ask-again", "odd")) == 2
    assert "bad_request, empty_reply, filtered, refused_input, unreadable_image" in capsys.readouterr().err
    assert run_app(arguments("check", "--ask-again", "filtered")) == 2
    assert "--out RUN" in capsys.readouterr().err


def test_run_folder_holds_no_picture_again(folder, monkeypatch):
    """A log with every picture of every sample is terabytes for a collection of large pictures."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ChatServer(answer="A") as server:
        asked = ["--model", "openai/local-vlm", "--base-url", server.base_url, "--views", VIEWS, "--out", "kept"]
        assert run_app(arguments("run", *asked, "--no-report", "--no-preflight")) == 0
        assert all(one.encoded for got in server.received for one in got.pictures)
    for path in (folder / "kept").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        for mark in (b"\x89PNG", b"\xff\xd8\xff", b"iVBORw0KGgo", b"/9j/", b"base64"):
            assert mark not in content, path


def test_second_run_asks_nothing(folder, capsys):
    run()
    before = (folder / "kept" / "estimates.json").read_bytes()
    assert run() == 0
    assert "18 of 18 answers are there" in capsys.readouterr().err
    assert (folder / "kept" / "estimates.json").read_bytes() == before


def test_other_settings_never_mix_into_a_run(folder, capsys):
    run()
    assert run("--temperature", "0.5") == 1
    assert "error:" in capsys.readouterr().err


def test_score_and_report_ask_no_model(folder, capsys):
    run()
    assert run_app(["score", "kept", "--scorer", "option_letter.lenient"]) == 0
    assert (folder / "kept" / "scores" / "option_letter.lenient@2.jsonl").exists()
    capsys.readouterr()
    assert run_app(["report", "kept", "--out", "paper", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert "paper/table.tex" in files
    assert all((folder / file).exists() for file in files)


def test_build_then_verify_finds_nothing_and_then_the_damage(folder, capsys):
    assert run_app(arguments("build", "--out", "release", "--views", VIEWS)) == 0
    assert run_app(["verify", "release", "--no-open"]) == 0
    assert "18 images: 0 errors, 0 warnings, 0 known" in capsys.readouterr().err
    damaged = folder / "release" / "data" / "crop_3x" / "test" / "images" / "q0.png"
    damaged.write_bytes(damaged.read_bytes() + b"x")
    assert run_app(["verify", "release", "--json", "--no-open"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["code"], finding["id"], finding["view"]) == ("wrong_hash", "q0", "crop_3x")


def test_built_release_runs_under_its_own_views(folder, capsys):
    run_app(arguments("build", "--out", "release", "--views", VIEWS))
    capsys.readouterr()
    assert (
        run_app(
            ["run", "sum", "--data", "release", "--model", "simulated/oracle", "--out", "sum", "--json", "--no-report"]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["run"]["views"] == VIEWS.split(",")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--max-tokens", "2.5"], "--max-tokens 2.5 is not a whole number"),
        (["--temperature", "hot"], "'hot' is not a number"),
        (["--timeout", "soon"], "'soon' is not a duration"),
        (["--extra-body", "absent.json"], "absent.json cannot be read"),
        (["--set", "acuracy=1"], "setting of simulated/oracle named 'acuracy'"),
        (["--concurrency", "0"], "concurrency 0 asks nothing"),
        (["--timeout", "0"], "a timeout of 0 s waits for no answer"),
        (["--max-tokens", "0"], "answers of 0 tokens say nothing"),
        (["--temperature", "-1"], "temperature -1 is below 0"),
        (["--temperature", "nan"], "temperature nan is below 0 or no number"),
        (["--top-p", "2"], "top_p 2 is not a share of the probability"),
        (["--limit", "0"], "limit 0 asks no question"),
        (["--repeat", "0"], "give --repeat a whole number from 1"),
    ],
)
def test_wrong_flag_exits_2_and_asks_nothing(more, message, folder, capsys):
    assert run(*more) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "kept").exists()


def test_empty_views_are_refused_and_not_all_views(folder, capsys):
    """A variable that is not set must not ask 29 views."""
    assert run_app(arguments("run", "--model", "simulated/oracle", "--views", "", "--out", "kept")) == 2
    assert "no view was named" in capsys.readouterr().err
    assert not (folder / "kept").exists()


def test_extra_body_that_is_no_object_is_refused(folder, capsys):
    (folder / "body.json").write_text("[1]")
    assert run("--extra-body", "body.json") == 2
    assert "is not a JSON object" in capsys.readouterr().err


def test_not_sent_is_recorded_as_not_sent(folder):
    run("--temperature", "not-sent", "--max-tokens", "not-sent")
    sampling = json.loads((folder / "kept" / "run.json").read_bytes())["sampling"]
    assert sampling["temperature"] is None
    assert sampling["max_tokens"] is None


def test_duration_without_unit_is_in_seconds():
    assert parse_seconds("90") == parse_seconds("1.5m") == 90
    with pytest.raises(UsageError, match="is not a duration"):
        parse_seconds("-3")


def test_limits_are_checked_before_any_server_is_looked_for(folder, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    more = ["--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1", "--limit", "0"]
    assert run_app(arguments("run", "--views", "original", *more)) == 2
    assert "limit 0 asks no question" in capsys.readouterr().err


def test_exif_orientation_cannot_be_built_and_is_not_ignored_silently(folder, capsys):
    assert run_app(arguments("build", "--out", "release", "--exif", "apply")) == 2
    assert "--exif apply cannot be built" in capsys.readouterr().err
    assert not (folder / "release").exists()


def test_anonymous_report_holds_neither_login_nor_host(folder, monkeypatch, capsys):
    monkeypatch.setattr("getpass.getuser", lambda: "alicexyz")
    monkeypatch.setattr("socket.gethostname", lambda: "gpu17.acmelab.example")
    (folder / "answers.jsonl").write_text('{"id": "q0", "view": "original", "error": "alicexyz on gpu17 gave up"}\n')
    ask = ["run", "--model", "replay/answers.jsonl", "--views", "original", "--out", "kept", "--no-report"]
    run_app([ask[0], "folder", "--data", "questions.jsonl", "--option", "box_format=xyxy", *ask[1:]])
    assert run_app(["report", "kept", "--out", "open"]) == 0
    assert run_app(["report", "kept", "--out", "closed", "--anonymous"]) == 0
    assert "alicexyz on gpu17" in (folder / "open" / "report.html").read_text()
    shown = (folder / "closed" / "report.html").read_text()
    assert not [name for name in ("alicexyz", "gpu17", "acmelab") if name in shown]


def test_answers_without_a_known_right_option_are_counted_and_explained(folder, capsys):
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    hidden = [{**row, "answer": None} for row in rows]
    (folder / "questions.jsonl").write_text("\n".join(json.dumps(row) for row in hidden))
    assert run("--allow-hidden") == 0
    assert "18 answers have no score" in capsys.readouterr().err


def test_table_of_few_columns_does_not_fold_its_caption(folder, capsys):
    run_app(arguments("run", "--model", "simulated/oracle", "--views", "original", "--no-report"))
    assert capsys.readouterr().out.splitlines()[0].endswith("Chance is 50.0 %.")


def test_missing_column_is_named_by_the_flag_that_declares_it(folder, capsys):
    (folder / "questions.jsonl").write_text('{"foto": "0.png", "question": "?"}\n')
    assert run() == 1
    assert "--option image_column=NAME" in capsys.readouterr().err


def test_the_timeout_reaches_the_sdk_too():
    from eyechart.cli._flags import ModelFlags

    assert ModelFlags().options(900.0).timeout_seconds == 900.0


def test_answers_in_a_file_that_nothing_asks_for_are_said(folder, capsys):
    rows = [{"id": "q0", "view": view, "response": "A"} for view in ("original", "orignal")]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run_app(arguments("run", "--views", "original", "--model", "replay/answers.jsonl", "--out", "kept", "--no-report"))
    said = capsys.readouterr().err
    assert "1 of 2 answers in answers.jsonl belong to nothing that is asked" in said
    assert "the first is that of question q0 in view orignal" in said


def test_rows_that_a_file_of_answers_lacks_are_missing_and_exit_3(folder, capsys):
    (folder / "answers.jsonl").write_text(json.dumps({"id": "q0", "view": "original", "response": "A"}))
    more = ["--views", "original", "--model", "replay/answers.jsonl", "--out", "kept", "--no-report"]
    for _ in range(2):
        assert run_app(arguments("run", *more)) == 3
        assert "requests have no answer for good" in capsys.readouterr().err
