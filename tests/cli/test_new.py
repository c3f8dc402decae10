"""A started extension works as it is, by plug-in and by entry point of another package's wheel."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from eyechart import registry
from eyechart.cli._app import run_app


def test_every_started_extension_passes_its_own_test(tmp_path):
    for kind in registry.KINDS:
        assert run_app(["new", kind, f"my_{kind}", "--out", str(tmp_path)]) == 0
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-rA",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert finished.returncode == 0, finished.stdout
    for kind in registry.KINDS:
        assert f"PASSED test_my_{kind}.py::" in finished.stdout, finished.stdout


@pytest.mark.parametrize("kind", registry.KINDS)
def test_started_extension_is_a_plugin(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_plugins", {kind: {} for kind in registry.KINDS})
    run_app(["new", kind, "mine", "--out", str(tmp_path)])
    assert registry.load_plugin(tmp_path / "mine.py") == ((kind, "mine"),)


def made_wheel(folder: Path) -> Path:
    """Write a wheel of another package that offers one member of each kind."""
    wheel = folder / "someones_eyechart-1.0-py3-none-any.whl"
    groups = []
    with zipfile.ZipFile(wheel, "w") as archive:
        for kind in registry.KINDS:
            run_app(["new", kind, f"their_{kind}", "--out", str(folder)])
            archive.write(folder / f"their_{kind}.py", f"someones_eyechart/their_{kind}.py")
            source = (folder / f"their_{kind}.py").read_text()
            (class_name,) = [line.split('"')[1] for line in source.splitlines() if line.startswith("__all__")]
            groups.append(f"[eyechart.{kind}]\ntheir_{kind} = someones_eyechart.their_{kind}:{class_name}\n")
        archive.writestr("someones_eyechart/__init__.py", "")
        about = "someones_eyechart-1.0.dist-info"
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: someones-eyechart\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/entry_points.txt", "\n".join(groups))
        archive.writestr(f"{about}/RECORD", "")
    return wheel


def test_wheel_of_others_adds_one_of_each_kind(tmp_path):
    target = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*install, str(made_wheel(tmp_path))], check=True, capture_output=True)
    script = (
        "from eyechart import registry\n"
        "for kind in registry.KINDS:\n"
        "    assert 'their_' + kind in registry.names(kind), kind\n"
        "    assert registry.load(kind, 'their_' + kind).__module__.startswith('someones_eyechart'), kind\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": str(target)})


@pytest.mark.parametrize("name", ["Rotate", "1st", "class", "a-b", "_x"])
def test_name_that_is_no_lower_case_identifier_is_refused(name, capsys):
    assert run_app(["new", "view", name]) == 2
    assert "not a lower-case Python name" in capsys.readouterr().err


def test_existing_file_is_never_overwritten(tmp_path, capsys):
    (tmp_path / "mine.py").write_text("precious")
    assert run_app(["new", "view", "mine", "--out", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "mine.py").read_text() == "precious"


def test_unwritable_folder_is_an_error_with_a_hint(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run_app(["new", "view", "mine", "--out", str(tmp_path / "file" / "sub")]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_written_files_are_told_as_json(tmp_path, capsys):
    assert run_app(["new", "view", "mine", "--out", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"files": [str(tmp_path / "mine.py"), str(tmp_path / "test_mine.py")]}


def test_plugin_is_listed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(registry, "_plugins", {kind: {} for kind in registry.KINDS})
    run_app(["new", "view", "mine", "--out", str(tmp_path)])
    assert run_app(["ls", "views", "--plugin", str(tmp_path / "mine.py"), "--json"]) == 0
    assert "mine" in {name for name, _ in json.loads(capsys.readouterr().out)["views"]}
