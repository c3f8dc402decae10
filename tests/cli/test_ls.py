"""Laws of ``eyechart ls``."""

import json

from eyechart import registry
from eyechart.cli._app import run_app


def test_json_lists_every_member(capsys):
    assert run_app(["ls", "--json"]) == 0
    listing = json.loads(capsys.readouterr().out)
    for kind in registry.KINDS:
        assert [name for name, _ in listing[f"{kind}s"]] == list(registry.names(kind))


def test_presets_name_their_views(capsys):
    assert run_app(["ls", "presets", "--json"]) == 0
    presets = dict(json.loads(capsys.readouterr().out)["presets"])
    assert presets["sum29-candidate-a"].startswith("29 views: original, crop_1x")
    assert presets["core8"].endswith("; detects 5.4 points on SUM's 700 questions, 14.1 on 100")


def test_text_is_plain_when_stdout_is_no_terminal(capsys):
    run_app(["ls", "views"])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "whiteground" in shown
