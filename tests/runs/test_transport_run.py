"""A run of a hosted model under a transport policy: what arrives at the server is what the ledger says was sent."""

import json

import pytest
from PIL import Image
from servers.chat_server import ChatServer
from servers.dialects import Answer

from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model, open_prompt
from eyechart.runs.folders import Destination
from eyechart.runs.listening import Silent
from eyechart.runs.plan import PlanOptions
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.schema import ModelIdentity, Size
from eyechart.seen.rules import rule_for
from eyechart.seen.transport import parse_transport
from eyechart.views import resolve_views

N = 2
RULE = rule_for(ModelIdentity("openai", "gpt-4o", settings={"detail": "high"}))


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """A function that runs gpt-4o behind a local server; returns the outcome and what the server received."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    rows = []
    for index in range(N):
        Image.new("RGB", (2400, 1800), (index, 90, 60)).save(tmp_path / f"{index}.png")
        row = {"id": f"q{index}", "image": f"{index}.png", "question": "?", "choices": ["x", "y"], "answer": "A"}
        rows.append(json.dumps({**row, "box": [100, 100, 400, 300]}))
    (tmp_path / "questions.jsonl").write_text("\n".join(rows))

    def run(transport, views="original,downsample_0_5,downsample_0_25", listener=None):
        received = []

        def answer(request):
            received.extend((one.image.size, one.image.format) for one in request.pictures)
            tokens = sum(RULE.apply(Size(*one.image.size)).tokens for one in request.pictures)
            return Answer(text="A", input_tokens=tokens + 20, image_tokens=tokens)

        with ChatServer(answer=answer) as server:
            outcome = run_benchmark(
                FolderKind().open(tmp_path / "questions.jsonl", FolderOptions(box_format="xyxy")),
                open_model("openai/gpt-4o", ModelOptions(base_url=server.base_url, settings={"detail": "high"})),
                resolve_views(views)[0],
                open_prompt(),
                options=RunOptions(
                    plan=PlanOptions(transport=parse_transport(transport).id),
                    where=Destination(out=tmp_path / transport),
                    has_preflight=listener is not None,
                ),
                listener=listener or Silent(),
            )
        return outcome, received

    return run


def test_under_fit_what_arrives_is_what_is_seen(ask):
    outcome, received = ask("fit")
    sizes = {"original": (1024, 768), "downsample_0_5": (1024, 768), "downsample_0_25": (600, 450)}
    assert sorted(received) == sorted([(size, "PNG") for size in sizes.values()] * N)
    planned = [row for row in outcome.store.seen() if row.phase == "planned"]
    assert len(planned) == 3 * N
    assert all(row.sent_size == row.seen_size and row.evidence == "documented" for row in planned)
    observed = [row for row in outcome.store.seen() if row.phase == "observed"]
    assert all(row.sent_bytes and row.sent_media_type == "image/png" for row in observed)
    assert outcome.store.run.transport == "fit@1"
    transports = {picture.recipe.transport for request in outcome.store.requests() for picture in request.pictures}
    assert transports == {"fit@1"}


def test_first_answers_show_the_size_that_is_planned_where_no_reply_tells_one(ask):
    class Watching(Silent):
        def checked(self, answers):
            shown.update((one.request.view, one.seen_size, one.is_planned_size) for one in answers)

    shown = set()
    ask("native", listener=Watching())
    assert ("original", (1024, 768), True) in shown


def test_natively_views_arrive_as_they_are_and_the_ledger_tells_what_is_left(ask):
    outcome, received = ask("native")
    assert {size for size, _ in received} == {(2400, 1800), (1200, 900), (600, 450)}
    seen = {row.seen_size for row in outcome.store.seen() if row.phase == "planned"}
    assert seen == {(1024, 768), (600, 450)}
    close = {(one.condition, one.baseline) for one in outcome.summary.close_views}
    assert close == {("downsample_0_5", "original")}


def test_jpeg95_and_budget_arrive_as_named(ask):
    _, received = ask("budget(0,120000)+jpeg95", views="original,downsample_0_25")
    assert {kind for _, kind in received} == {"JPEG"}
    assert all(110_000 < width * height <= 120_000 for (width, height), _ in received)
