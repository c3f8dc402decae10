"""Importing eyechart touches no network, file or environment, and loads nothing heavy."""

import subprocess
import sys

AUDIT = """
import sys, sysconfig, os
heavy = {"numpy", "scipy", "matplotlib", "openai", "pyvips", "PIL", "starlette", "jinja2"}
allowed = tuple({os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), SOURCE)})
faults = []

def hook(event, arguments):
    if event.startswith("socket."):
        faults.append((event, str(arguments)))
    if event == "open":
        path = arguments[0]
        if isinstance(path, str) and not os.path.realpath(path).startswith(allowed):
            faults.append((event, path))

class Watched(type(os.environ)):
    def __getitem__(self, key):
        frame = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") in ("os", "_collections_abc"):
            frame = frame.f_back
        if frame is not None and frame.f_globals.get("__name__", "").startswith("eyechart"):
            faults.append(("environ", key))
        return super().__getitem__(key)

os.environ.__class__ = Watched
sys.addaudithook(hook)
import eyechart
{more}
loaded = heavy & set(sys.modules)
assert not faults, faults
assert not loaded, loaded
"""


def audited_import(more: str) -> None:
    from pathlib import Path

    import eyechart

    source = str(Path(eyechart.__file__).resolve().parent)
    script = AUDIT.replace("SOURCE", repr(source)).replace("{more}", more)
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


def test_import_touches_no_network_file_or_environment():
    audited_import("")


def test_command_line_starts_without_heavy_libraries():
    audited_import("from eyechart.cli._app import build_app; build_app()")


def test_at_most_twelve_public_names():
    import eyechart

    assert len(eyechart.__all__) <= 12
