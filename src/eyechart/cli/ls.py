"""List what can be named on the command line."""

from eyechart import registry
from eyechart.cli._flags import Plugin, load_plugins
from eyechart.cli._output import Json, print_json, print_table
from eyechart.errors import UsageError
from eyechart.registry import unknown_name


def ls(kind: str = "", /, *, plugin: Plugin = (), json: Json = False) -> int:
    """List the members of every kind of extension, or of one kind.

    Args:
        kind: views, presets, benchmarks, models, prompts, scorers, figures or reports; all of them if left out.
        plugin: Python file that adds extensions; may be repeated.
        json: Print JSON instead of text.
    """
    load_plugins(plugin)
    listing = _listing()
    if kind and kind not in listing:
        raise _unknown_kind(kind, tuple(listing))
    chosen = {kind: listing[kind]} if kind else listing
    if json:
        print_json(chosen)
    else:
        print_table(["kind", "name", "what it is"], [[kind, *row] for kind, rows in chosen.items() for row in rows])
    return 0


def _listing() -> dict[str, list[tuple[str, str]]]:
    from eyechart.views import PRESET_NOTES, PRESETS, format_view

    listing = {
        f"{kind}s": [(name, _first_sentence(kind, name)) for name in registry.names(kind)] for kind in registry.KINDS
    }
    listing["presets"] = [
        (name, _preset_line([format_view(view) for view in views], PRESET_NOTES.get(name)))
        for name, views in PRESETS.items()
    ]
    return listing


def _preset_line(views: list[str], note: str | None) -> str:
    return f"{len(views)} views: {', '.join(views)}" + (f"; {note}" if note else "")


def _first_sentence(kind: str, name: str) -> str:
    member = registry.load(kind, name)
    return (member.__doc__ or "").strip().partition("\n")[0]


def _unknown_kind(kind: str, known: tuple[str, ...]) -> UsageError:
    return unknown_name("list", kind, known)
