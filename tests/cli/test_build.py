"""Laws of ``build`` on the command line: a flag that could change nothing is refused, not ignored."""

import pytest
from releases.made import write_source

from eyechart.cli._app import run_app


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--transport", "fit"), ("--match", "target-px"), ("--rules", "mine.toml"), ("--exif", "apply")],
)
def test_what_decides_how_a_run_sends_a_view_is_refused_by_build(tmp_path, capsys, flag, value):
    write_source(tmp_path)
    out = tmp_path / "out"
    command = ["build", "folder", "--data", str(tmp_path), "--option", "box_format=xyxy", "--out", str(out)]
    assert run_app([*command, flag, value]) == 2
    shown = capsys.readouterr().err
    assert f"error: {flag}" in shown
    assert "hint: " in shown
    assert not out.exists()
