"""Laws of the registry: one file or one entry point adds a member, and a wrong name is met with a suggestion."""

import pytest

from eyechart import registry
from eyechart.errors import EyechartError, UsageError


@pytest.mark.parametrize("kind", registry.KINDS)
def test_every_member_of_a_kind_loads_or_says_what_to_install(kind):
    for name in registry.names(kind):
        assert isinstance(registry.load(kind, name), type), name


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(UsageError, match="no view named 'crpo'") as caught:
        registry.load("view", "crpo")
    assert caught.value.hint == "did you mean crop?"


def test_unknown_kind_is_refused():
    with pytest.raises(UsageError, match="no kind of extension named 'views'"):
        registry.names("views")


def test_plugin_file_adds_a_member(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_plugins", {kind: {} for kind in registry.KINDS})
    plugin = tmp_path / "mine.py"
    plugin.write_text('class Mine:\n    pass\n\nEYECHART = {"prompt": {"mine": Mine}}\n')
    assert registry.load_plugin(plugin) == (("prompt", "mine"),)
    assert "mine" in registry.names("prompt")
    assert registry.load("prompt", "mine").__name__ == "Mine"


def test_absent_plugin_is_refused(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        registry.load_plugin(tmp_path / "absent.py")


def test_plugin_without_members_is_refused(tmp_path):
    (tmp_path / "empty.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match="names no members"):
        registry.load_plugin(tmp_path / "empty.py")


def test_plugin_of_another_suffix_is_refused(tmp_path):
    (tmp_path / "plugin.txt").write_text("x = 1\n")
    with pytest.raises(UsageError, match="is not a Python file"):
        registry.load_plugin(tmp_path / "plugin.txt")


@pytest.mark.parametrize("text", ["import absent_library_xyz", "x = (", "raise ValueError('oops')"])
def test_plugin_that_fails_when_it_runs_is_refused_with_its_cause(tmp_path, text):
    (tmp_path / "broken.py").write_text(text)
    with pytest.raises(UsageError, match=r"broken\.py cannot be loaded: (ModuleNotFoundError|SyntaxError|ValueError):"):
        registry.load_plugin(tmp_path / "broken.py")


def test_error_of_a_plugin_that_is_ours_stays_as_it_is(tmp_path):
    (tmp_path / "picky.py").write_text(
        "from eyechart.errors import EyechartError\nraise EyechartError('needs a key')\n"
    )
    with pytest.raises(EyechartError, match=r"^needs a key$"):
        registry.load_plugin(tmp_path / "picky.py")


def test_plugin_of_an_unknown_kind_is_refused(tmp_path):
    (tmp_path / "odd.py").write_text('EYECHART = {"viwe": {"x": int}}\n')
    with pytest.raises(UsageError, match="no kind of extension named 'viwe'"):
        registry.load_plugin(tmp_path / "odd.py")


def test_module_must_name_one_public_object():
    with pytest.raises(EyechartError, match="exactly one object in __all__"):
        registry._public_object(registry, "view registry")
