"""``eyechart probe`` from the command line."""

import json

from runs import hidden_rules
from servers.chat_server import ChatServer

from eyechart.cli._app import run_app


def arguments(server, *more):
    return ["probe", "--model", "vllm/unheard-of", "--base-url", server.base_url, "--max-side", "2048", *more]


def test_probe_shows_the_readings_says_what_they_prove_and_writes_a_rule(tmp_path, capsys):
    with ChatServer(answer=hidden_rules.counting(hidden_rules.patches_of_28)) as server:
        assert run_app(arguments(server, "--out", str(tmp_path / "rule.toml"))) == 0
    shown, told = capsys.readouterr()
    assert "1024×1024    1371" in shown
    assert "longest edge (patch_px 28, max_edge_px 1568, max_tokens" in told
    assert "where tokens stop growing, a bound is proven" in " ".join(told.split())
    assert 'obtained = "probed"' in (tmp_path / "rule.toml").read_text()


def test_probe_as_json_holds_every_reading(tmp_path, capsys):
    with ChatServer(answer=hidden_rules.counting(hidden_rules.unheard_of)) as server:
        assert run_app(arguments(server, "--out", str(tmp_path / "rule.toml"), "--json")) == 0
    probed = json.loads(capsys.readouterr().out)
    assert probed["explanation"] is None
    assert {"sent": [64, 64], "tokens": 130} in probed["readings"]
    assert not (tmp_path / "rule.toml").exists()


def test_ladder_too_short_to_show_steps_is_refused(capsys):
    assert run_app(["probe", "--model", "vllm/any", "--max-side", "100"]) == 2
    assert "--max-side 100" in capsys.readouterr().err
