"""Laws of ``check`` and ``run`` together: as many requests are promised as are sent, and both refuse the same."""

import json
from pathlib import Path

import openpyxl
import pytest
from PIL import Image
from servers.chat_server import ChatServer

from eyechart.cli._app import run_app

CHOICES = {"question": "Which colour?", "choices": ["red", "blue"], "answer": "A"}
FREE = {"question": "What is written?", "answer": "EXIT"}
BOX = {"box": [10, 10, 30, 24]}
TARGETS = ("--option", "box_format=xyxy", "--views", "original,crop_3x,whiteground_3x")


NO_FOLDER = "--out left out"


def of_choices(*texts):
    return {**CHOICES, "choices": list(texts)}


def rows_of(*rows):
    return [{"id": f"q{number}", "image": f"{number % 3}.png", **row} for number, row in enumerate(rows)]


# What is asked: rows, and flags of check and run.
ASKED = {
    "choices": ([CHOICES] * 3, ()),
    "one row": ([CHOICES], ()),
    "free answers": ([FREE] * 3, ()),
    "boxes": ([{**CHOICES, **BOX}] * 3, TARGETS),
    "boxes in some rows": ([{**CHOICES, **BOX}, {**CHOICES, **BOX}], TARGETS),
    "several boxes": ([{**CHOICES, "box": [[10, 10, 30, 24], [40, 30, 50, 40]]}] * 2, TARGETS),
    "no picture and a white one": ([CHOICES] * 2, ("--views", "original,no_image,blank")),
    "without the picture alone": ([CHOICES] * 2, ("--views", "no_image")),
    "blind": ([CHOICES] * 2, ("--blind",)),
    "repeats": ([CHOICES] * 2, ("--repeat", "3")),
    "two orders": ([CHOICES, of_choices("red", "blue", "grey")], ("--rotate-choices", "2")),
    "all orders": (
        [CHOICES, of_choices("red", "blue", "grey"), of_choices("red", "Both A and C", "blue")],
        ("--rotate-choices", "all", "--blind", "--repeat", "2"),
    ),
    "orders of free answers": ([FREE] * 2, ("--rotate-choices", "all")),
    "a limit": ([CHOICES] * 5, ("--limit", "2", "--seed", "3")),
    "one of two shards": ([CHOICES] * 5, ("--shard", "1/2")),
    "the other shard": ([CHOICES] * 5, ("--shard", "2/2", "--rotate-choices", "2")),
    "pixels on the target": (
        [{**CHOICES, **BOX}] * 2,
        (*TARGETS, "--match", "target-px=6,12", "--model", "openai/gpt-4o"),
    ),
    "a picture that is gone": ([CHOICES, {**CHOICES, "image": "gone.png"}], ("--blind",)),
    "a picture of no bytes": ([CHOICES, {**CHOICES, "image": "empty.png"}], ()),
    "a picture cut in two": ([CHOICES, {**CHOICES, "image": "cut.jpg"}], ("--repeat", "2")),
    "a picture that is a page": ([CHOICES, {**CHOICES, "image": "page.png"}], ()),
    "rows of several pictures": (
        [CHOICES, {**CHOICES, "image": ["0.png", "1.png"]}],
        ("--option", "pictures=skip"),
    ),
    "rows of one kind": ([CHOICES, FREE, FREE], ("--option", "keep=free")),
    "hidden answers": ([CHOICES, {**CHOICES, "answer": None}], ("--allow-hidden",)),
    "another prompt and scorer": ([CHOICES] * 2, ("--prompt", "letter_legacy", "--scorer", "option_letter.lenient")),
    "a body of my own": ([CHOICES] * 2, ("--extra-body", "body.json", "--temperature", "not-sent")),
    "smaller pictures": ([CHOICES] * 2, ("--transport", "budget(100,400)")),
}
# What none of them asks: rows, and flags.
REFUSED = {
    "scorer": ([CHOICES], ("--scorer", "nobody")),
    "scorer of letters for free answers": ([FREE], ("--scorer", "option_letter")),
    "mode of a scorer": ([CHOICES], ("--scorer", "option_letter.loose")),
    "prompt": ([CHOICES], ("--prompt", "nobody")),
    "prompt in a file": ([CHOICES], ("--prompt", "gone.txt")),
    "prompt of a release": ([CHOICES], ("--prompt", "release:mine")),
    "plan": ([CHOICES], ("--plan", "gone.toml")),
    "plan that is none": ([CHOICES], ("--plan", "body.json")),
    "body": ([CHOICES], ("--extra-body", "gone.json")),
    "body that is none": ([CHOICES], ("--extra-body", "page.png")),
    "body that a flag says": ([CHOICES], ("--extra-body", "named.json")),
    "settings in a file": ([CHOICES], ("--model-config", "gone.toml")),
    "cost": ([CHOICES], ("--max-cost", "0")),
    "cost without a price": ([CHOICES], ("--max-cost", "1")),
    "price": ([CHOICES], ("--price", "dear")),
    "requests": ([CHOICES], ("--max-requests", "0")),
    "requests in flight": ([CHOICES], ("--concurrency", "0")),
    "requests a minute": ([CHOICES], ("--rpm", "0")),
    "temperature": ([CHOICES], ("--temperature", "-1")),
    "top_p": ([CHOICES], ("--top-p", "2")),
    "tokens": ([CHOICES], ("--max-tokens", "0")),
    "wait": ([CHOICES], ("--timeout", "0")),
    "probabilities": ([CHOICES], ("--score-mode", "logprob", "--model", "simulated/chance")),
    "batches": ([CHOICES], ("--batch", "--model", "simulated/chance")),
    "repeats": ([CHOICES], ("--repeat", "0")),
    "orders": ([CHOICES], ("--rotate-choices", "none")),
    "options as": ([CHOICES], ("--options-as", "gone.jsonl")),
    "options of other questions": ([CHOICES], ("--options-as", "other.jsonl")),
    "protocol": ([CHOICES], ("--protocol", "nobody")),
    "protocol of another benchmark": ([CHOICES], ("--protocol", "hrbench@official")),
    "shard": ([CHOICES], ("--shard", "3/2")),
    "shard without a folder": ([CHOICES], ("--shard", "1/2", NO_FOLDER)),
    "folder": ([CHOICES], ("--out", "body.json")),
    "folder of other files": ([CHOICES], ("--out", "mine")),
    "states": ([CHOICES], ("--ask-again", "nobody")),
    "targets": ([CHOICES], ("--views", "original,crop_3x")),
    "no picture at all": ([{**CHOICES, "image": "gone.png"}] * 2, ()),
    "no right answer": ([{**CHOICES, "answer": None}], ()),
    "both kinds": ([CHOICES, FREE], ()),
    "two right answers": ([{**CHOICES, "answer": ["A", "B"]}], ()),
}


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """A function that writes a file and gives it to ``check`` or ``run``, of the server's model unless one is named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    for number in range(3):
        Image.new("RGB", (60, 44 + number), "red").save(f"{number}.png")
    Image.effect_noise((64, 64), 90).save("whole.jpg")
    whole = (tmp_path / "whole.jpg").read_bytes()
    (tmp_path / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "page.png").write_text("<!doctype html><title>Not found</title>")
    (tmp_path / "body.json").write_text('{"mm_processor_kwargs": {}}')
    (tmp_path / "named.json").write_text('{"temperature": 1}')
    (tmp_path / "other.jsonl").write_text('{"id": "q0", "choices": ["green", "grey"]}')
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("precious")

    def ask(command, name, flags, base_url="http://127.0.0.1:9/v1"):
        line = [command, "folder", "--data", name]
        line += ["--base-url", base_url] if "simulated/chance" not in flags else []
        line += [] if "--model" in flags else ["--model", "openai/eye"]
        line += [] if "--views" in flags else ["--views", "original,downsample_0_5"]
        line += [] if {"--out", NO_FOLDER} & set(flags) else ["--out", "kept"]
        line += ["--no-report"] if command == "run" else []
        return run_app([*line, *(flag for flag in flags if flag != NO_FOLDER)])

    return ask


def write(name, rows):
    """Write rows as the suffix says."""
    if name.endswith(".jsonl"):
        text = "\n".join(json.dumps(row) for row in rows)
    elif name.endswith(".json"):
        text = json.dumps({"questions": rows})
    elif name.endswith(".xlsx"):
        book = openpyxl.Workbook()
        for row in ([*rows[0]], *([_cell(cell) for cell in row.values()] for row in rows)):
            book.active.append(row)
        return book.save(name)
    else:
        lines = [[*rows[0]], *([_cell(cell) for cell in row.values()] for row in rows)]
        text = "\n".join(";".join(map(str, line)) for line in lines)
    Path(name).write_text(text)
    return None


def _cell(cell):
    return "|".join(cell) if isinstance(cell, list) and isinstance(cell[0], str) else str(cell)


def promised(capsys):
    (model,) = json.loads(capsys.readouterr().out)["models"]
    return model["cost"]["n_calls"]


@pytest.mark.parametrize("name", ASKED)
def test_run_sends_as_many_requests_as_check_promises(name, ask, capsys):
    rows, flags = ASKED[name]
    write("q.jsonl", rows_of(*rows))
    assert ask("check", "q.jsonl", (*flags, "--json")) == 0
    n = promised(capsys)
    with ChatServer() as server:
        assert ask("run", "q.jsonl", (*flags, "--no-preflight"), server.base_url) in {0, 3}
    assert len(server.received) == n > 0


@pytest.mark.parametrize("suffix", ["json", "csv", "xlsx"])
def test_the_file_s_form_changes_nothing_of_what_is_asked(suffix, ask, capsys):
    write(f"q.{suffix}", rows_of({**CHOICES, **BOX}, {**of_choices("red", "blue", "grey"), **BOX}))
    flags = (*TARGETS, "--rotate-choices", "all")
    assert ask("check", f"q.{suffix}", (*flags, "--json")) == 0
    n = promised(capsys)
    with ChatServer() as server:
        assert ask("run", f"q.{suffix}", flags, server.base_url) == 0
    assert len(server.received) == n == 3 * (2 + 3)


def refusal(code, capsys):
    lines = capsys.readouterr().err.splitlines()
    return code, [line for line in lines if line.startswith(("error: ", "hint: ", "  "))]


@pytest.mark.parametrize("name", REFUSED)
def test_check_and_run_refuse_the_same_in_the_same_words_and_ask_nothing(name, ask, capsys):
    rows, flags = REFUSED[name]
    write("q.jsonl", rows_of(*rows))
    with ChatServer() as server:
        checked = refusal(ask("check", "q.jsonl", flags, server.base_url), capsys)
        asked = refusal(ask("run", "q.jsonl", flags, server.base_url), capsys)
    assert checked == asked
    assert checked[0] in {1, 2}
    assert checked[1]
    assert not server.received


def test_folder_that_holds_another_run_is_refused_by_check_too(ask, capsys):
    write("q.jsonl", rows_of(CHOICES, CHOICES))
    with ChatServer() as server:
        assert ask("run", "q.jsonl", (), server.base_url) == 0
        assert ask("check", "q.jsonl", (), server.base_url) == 0
        capsys.readouterr()
        for flags in (("--repeat", "2"), ("--prompt", "letter_legacy"), ("--views", "original"), ("--limit", "1")):
            checked = refusal(ask("check", "q.jsonl", flags, server.base_url), capsys)
            assert checked == refusal(ask("run", "q.jsonl", flags, server.base_url), capsys)
            assert "kept holds another run" in checked[1][0]
    assert len(server.received) == 4


def test_check_says_where_a_bound_ends_the_run(ask, capsys):
    write("q.jsonl", rows_of(*[CHOICES] * 4))
    assert ask("check", "q.jsonl", ("--max-requests", "5", "--max-cost", "0.0001", "--price", "2,10")) == 0
    told = capsys.readouterr().err
    assert "--max-requests ends a start after 5 of 8 calls" in told
    with ChatServer() as server:
        assert ask("run", "q.jsonl", ("--max-requests", "5"), server.base_url) == 3
    assert len(server.received) == 5


def test_the_line_that_check_proposes_carries_the_flags_it_was_given(ask, capsys):
    write("q.jsonl", rows_of(CHOICES))
    flags = (
        "--scorer",
        "option_letter.lenient",
        "--rotate-choices",
        "2",
        "--temperature",
        "not-sent",
        "--no-preflight",
    )
    assert ask("check", "q.jsonl", (*flags, "--timeout", "5m", "--extra-body", "body.json", "--blind")) == 0
    line = next(line for line in capsys.readouterr().err.splitlines() if line.startswith("to ask: "))
    for flag in (*(" ".join(pair) for pair in (flags[:2], flags[2:4], flags[4:6])), "--no-preflight", "--blind"):
        assert flag in line
    assert "--timeout 300" not in line  # the default, however it is written
    assert "--extra-body body.json" in line


def large_from(monkeypatch, n_px):
    """Call pictures large that have more pixels."""
    for module in ("images.giga", "images.decode"):
        monkeypatch.setattr(f"eyechart.{module}.MAX_DECODED_PIXELS", n_px)
    monkeypatch.setattr("eyechart.runs.large_pictures.MAX_HELD_PIXELS", n_px // 2)


@pytest.mark.parametrize(
    ("flags", "n_sent"),
    [
        (("--views", "original,crop_3x,whiteground_3x", "--resampler", "vips-lanczos3@1"), 3 + 2 * 2),
        (("--views", "original,downsample_0_5", "--resampler", "vips-lanczos3@1"), 2 + 2),
        (("--views", "whiteground_3x", "--transport", "native+jpeg95"), 1),
    ],
)
def test_pictures_that_are_too_large_are_told_by_both_and_not_promised(ask, capsys, monkeypatch, flags, n_sent):
    pytest.importorskip("pyvips")
    large_from(monkeypatch, 5000)
    for name in ("big.jpg", "big.png"):
        Image.effect_noise((100, 80), 90).convert("RGB").save(name)
    rows = rows_of({**CHOICES, **BOX}, {**CHOICES, **BOX, "image": "big.jpg"}, {**CHOICES, **BOX, "image": "big.png"})
    write("q.jsonl", rows)
    flags = ("--option", "box_format=xyxy", *flags)
    assert ask("check", "q.jsonl", (*flags, "--json")) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["models"][0]["cost"]["n_calls"] == n_sent
    told = [line for line in shown.err.splitlines() if "not sent" in line or "pixels: more than" in line]
    assert len(told) == 2
    assert "2 of " in told[0]
    with ChatServer() as server:
        ask("run", "q.jsonl", flags, server.base_url)
    assert len(server.received) == n_sent
    assert "\n".join(told) in capsys.readouterr().err


def test_resampler_that_cannot_read_a_large_picture_is_refused_before_anything_is_asked(ask, capsys, monkeypatch):
    """The run ended at that picture, after the answers before it were paid."""
    pytest.importorskip("pyvips")
    large_from(monkeypatch, 5000)
    Image.effect_noise((100, 80), 90).convert("RGB").save("big.jpg")
    write("q.jsonl", rows_of(CHOICES, CHOICES, {**CHOICES, "image": "big.jpg"}))
    with ChatServer() as server:
        checked = refusal(ask("check", "q.jsonl", (), server.base_url), capsys)
        assert checked == refusal(ask("run", "q.jsonl", (), server.base_url), capsys)
    assert checked[0] == 2
    assert "question q2: 8,000 pixels are too many for the resampler" in checked[1][0]
    assert not server.received
    assert not Path("kept").exists()
    assert ask("check", "q.jsonl", ("--views", "original", "--model", "openai/gpt-4o")) == 0
    line = next(line for line in capsys.readouterr().err.splitlines() if line.startswith("to ask: "))
    assert "--resampler vips-lanczos3-preshrink@1" in line
    assert line.endswith("--transport fit")


def test_second_run_of_the_same_says_where_the_first_one_is(ask, capsys):
    write("q.jsonl", rows_of(CHOICES))
    with ChatServer() as server:
        for n_sent in (2, 4):
            assert ask("run", "q.jsonl", (NO_FOLDER,), server.base_url) == 0
            assert len(server.received) == n_sent
    told = [line for line in capsys.readouterr().err.splitlines() if "was asked before" in line]
    assert len(told) == 1
    assert "--out runs/" in told[0]
