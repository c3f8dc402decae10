"""Names to extensions: a module of a room, an entry point of another package, or a plug-in file; loaded when asked."""

import difflib
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import sys
from functools import cache
from pathlib import Path

from eyechart.errors import EyechartError, UsageError

KINDS: dict[str, str] = {
    "view": "eyechart.views",
    "benchmark": "eyechart.benchmarks",
    "model": "eyechart.models",
    "prompt": "eyechart.prompts",
    "scorer": "eyechart.scorers",
    "figure": "eyechart.figures",
    "report": "eyechart.reports",
}
"""Kind of extension → package whose public modules are its built-in members."""

_plugins: dict[str, dict[str, object]] = {kind: {} for kind in KINDS}


def names(kind: str) -> tuple[str, ...]:
    """Return the names of all members of a kind, sorted, without importing any.

    Raises:
        UsageError: If there is no such kind.

    Example:
        >>> "crop" in names("view")
        True
    """
    _check_kind(kind)
    return tuple(sorted({*_built_in(kind), *_entry_points(kind), *_plugins[kind]}))


def load(kind: str, name: str) -> object:
    """Return a member: the one object its module names in ``__all__``, or what its entry point names.

    Args:
        kind: One of ``KINDS``.
        name: Name of the member; for built-in ones the name of its module.

    Raises:
        UsageError: If there is no such member; the hint names the nearest.
        EyechartError: If the module does not keep the contract of one public name.

    Example:
        >>> load("view", "crop").__name__
        'CropKind'
    """
    _check_kind(kind)
    if name in _plugins[kind]:
        return _plugins[kind][name]
    if name in _built_in(kind):
        return _public_object(importlib.import_module(f"{KINDS[kind]}.{name}"), f"{kind} {name}")
    if name in _entry_points(kind):
        return _entry_points(kind)[name].load()
    raise unknown_name(kind, name, names(kind))


def load_plugin(path: Path) -> tuple[tuple[str, str], ...]:
    """Run a plug-in file and register what it offers.

    A plug-in names its members in a module-level ``EYECHART = {"view": {"rotate": RotateKind}}``.

    Returns:
        The (kind, name) pairs that were added.

    Raises:
        UsageError: If the file does not exist, fails when it runs, names no members, or names an unknown kind.
    """
    if not path.is_file():
        raise UsageError(f"plug-in {path} does not exist", hint="give --plugin the path of a Python file")
    spec = importlib.util.spec_from_file_location(f"eyechart_plugin_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"plug-in {path} is not a Python file", hint="give --plugin a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except EyechartError:
        raise
    except Exception as error:  # anything can be wrong in another's file
        raise UsageError(
            f"plug-in {path} cannot be loaded: {type(error).__name__}: {error}", hint="run it with python to see where"
        ) from error
    members = getattr(module, "EYECHART", None)
    if not isinstance(members, dict) or not members:
        raise UsageError(
            f"plug-in {path} names no members", hint='end the file with EYECHART = {"view": {"name": YourClass}}'
        )
    added = []
    for kind, by_name in members.items():
        _check_kind(kind)
        for name, member in by_name.items():
            _plugins[kind][name] = member
            added.append((kind, name))
    return tuple(added)


def unknown_name(what: str, name: str, known: tuple[str, ...]) -> UsageError:
    """Return the error for a name that does not exist, with the nearest one as the hint.

    Example:
        >>> unknown_name("view", "crp", ("crop", "grid")).hint
        'did you mean crop?'
    """
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else f"one of: {', '.join(known)}"
    return UsageError(f"there is no {what} named {name!r}", hint=hint)


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise unknown_name("kind of extension", kind, tuple(KINDS))


@cache
def _built_in(kind: str) -> frozenset[str]:
    package = importlib.import_module(KINDS[kind])
    return frozenset(
        module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")
    )


@cache
def _entry_points(kind: str) -> dict[str, importlib.metadata.EntryPoint]:
    return {entry.name: entry for entry in importlib.metadata.entry_points(group=f"eyechart.{kind}")}


def _public_object(module: object, what: str) -> object:
    public: tuple[str, ...] = tuple(getattr(module, "__all__", ()))
    if len(public) != 1:
        raise EyechartError(
            f"{what}: its module must name exactly one object in __all__, it names {len(public)}",
            hint='write __all__ = ["YourClass"]',
        )
    return getattr(module, public[0])
