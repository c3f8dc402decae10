"""Laws of ``eyechart ls``."""

import json
import re

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
    assert "`" not in shown


def test_facts_of_hrscene_are_shown_with_their_sources(capsys):
    assert run_app(["ls", "benchmarks", "hrscene"]) == 0
    shown = capsys.readouterr()
    assert "7,073" in shown.out
    assert "35503×26627" in shown.out
    assert "tab7.png" in shown.err


def test_facts_of_hrscene_are_given_as_json(capsys):
    assert run_app(["ls", "benchmarks", "hrscene", "--json"]) == 0
    statistics, overview, origins = json.loads(capsys.readouterr().out)
    assert [table["name"] for table in (statistics, overview, origins)] == ["key-statistics", "overview", "origins"]
    assert len(overview["rows"]) == len(origins["rows"]) == 25
    assert ["samples", "7,073"] in statistics["rows"]
    assert all(len(row) == len(overview["columns"]) for row in overview["rows"])


def test_facts_of_hrscene_are_tables_for_a_paper(capsys):
    assert run_app(["ls", "benchmarks", "hrscene", "--format", "markdown"]) == 0
    lines = capsys.readouterr().out.split("\n")
    (grass,) = [line for line in lines if line.startswith("| Grass | research |")]
    assert grass.startswith("| Grass | research | 300 | 30 | 36 | 234 | 4224×3168 |")
    assert run_app(["ls", "benchmarks", "hrscene", "--format", "latex"]) == 0
    latex = capsys.readouterr().out
    assert latex.count("\\begin{tabular}") == len(re.findall(r"\\end\{table\*?\}", latex)) == 3
    assert "\\label{tab:overview}" in latex
    assert "VStar\\_Bench" in latex


def test_facts_that_do_not_exist_are_told(capsys):
    assert run_app(["ls", "benchmarks", "folder"]) == 2
    assert "folder has no table of facts" in capsys.readouterr().err
    assert run_app(["ls", "models", "openai"]) == 2
    assert "facts are known of benchmarks" in capsys.readouterr().err
    assert run_app(["ls", "benchmarks", "hrscne"]) == 2
    assert "did you mean hrscene?" in capsys.readouterr().err


def test_bibtex_of_a_benchmark_and_of_its_datasets_is_printed(capsys):
    assert run_app(["ls", "benchmarks", "hrscene", "--format", "bibtex"]) == 0
    shown = capsys.readouterr()
    keys = re.findall(r"^@[a-z]+\{([a-z0-9]+),$", shown.out, re.MULTILINE)
    assert keys[0] == "zhang2025hrscene"
    assert len(keys) == len(set(keys)) > 15
    assert "wang2020panda" in keys
    assert shown.out.count("{") == shown.out.count("}")
    assert "@REVISION@" not in shown.out


def test_what_to_cite_is_not_invented(capsys):
    assert run_app(["ls", "benchmarks", "folder", "--format", "bibtex"]) == 2
    assert "what to cite for folder is not known here" in capsys.readouterr().err
