"""List what can be named on the command line."""

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from eyechart import registry
from eyechart.cli._flags import Plugin, load_plugins
from eyechart.cli._output import Json, print_json, print_table, print_text, say
from eyechart.errors import UsageError
from eyechart.registry import unknown_name

if TYPE_CHECKING:
    from eyechart.kinds import FactTable


Form = Literal["text", "markdown", "latex", "bibtex"]
_NO_RUN = "the one you used"


def ls(
    kind: str = "",
    name: str = "",
    /,
    *,
    form: Annotated[
        Form, Parameter(name="--format", help="Form of a benchmark's tables; bibtex: what it asks to cite.")
    ] = "text",
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """List the members of every kind of extension, or of one kind, or what is known of one benchmark.

    Args:
        kind: views, presets, benchmarks, models, prompts, scorers, figures, reports, protocols (run --protocol) or
            collections (fetch); all of them if left out.
        name: A benchmark whose facts are shown, such as hrscene.
    """
    load_plugins(plugin)
    if name:
        return _show_facts(kind, name, form, json=json)
    listing = _listing()
    if kind and kind not in listing:
        raise _unknown_kind(kind, tuple(listing))
    chosen = {kind: listing[kind]} if kind else listing
    if json:
        print_json(chosen)
    else:
        print_table(["kind", "name", "what it is"], [[kind, *row] for kind, rows in chosen.items() for row in rows])
    return 0


def _show_facts(kind: str, name: str, form: Form, *, json: bool) -> int:
    from eyechart.kinds import TellsFacts
    from eyechart.reports import render_facts

    if kind != "benchmarks":
        raise UsageError(f"facts are known of benchmarks, not of {kind}", hint=f"eyechart ls benchmarks {name}")
    member = registry.load("benchmark", name)
    opened = member() if isinstance(member, type) else member
    if form == "bibtex":
        return _show_references(name, opened.fact_tables() if isinstance(opened, TellsFacts) else (), json=json)
    if not isinstance(opened, TellsFacts):
        raise UsageError(f"{name} has no table of facts", hint="eyechart ls benchmarks hrscene has three")
    tables = opened.fact_tables()
    if json:
        print_json(tables)
    elif form == "text":
        for table in tables:
            columns = [f"{'>' if column.is_number else ''}{column.heading}" for column in table.columns]
            print_table(columns, [list(row) for row in table.rows], title=f"\n{table.title}")
            for note in table.notes:
                say(note)
    else:
        print_text(render_facts(tables, form))
    return 0


def _show_references(name: str, tables: "tuple[FactTable, ...]", *, json: bool) -> int:
    """Print BibTeX of a benchmark and of the datasets that its tables name."""
    from eyechart.benchmarks._cited import benchmark_keys, bibtex, references, source_keys

    datasets = [row[0] for table in tables if table.name == "origins" for row in table.rows]
    keys = tuple(dict.fromkeys([*benchmark_keys(name), *(key for one in datasets for key in source_keys(one))]))
    if not keys:
        raise UsageError(f"what to cite for {name} is not known here", hint="cite where its questions come from")
    if json:
        print_json({key: references()[key] for key in keys})
    else:
        print_text(f"{bibtex(keys, _NO_RUN)}\n")
    unknown = [one for one in datasets if not source_keys(one)]
    if unknown:
        say(f"not known here, cite where they come from: {', '.join(unknown)}")
    say("the report of a run adds the sources of its questions, its statistics and eyechart")
    return 0


def _listing() -> dict[str, list[tuple[str, str]]]:
    from eyechart.hub.collections import COLLECTIONS
    from eyechart.runs.protocols import PROTOCOLS
    from eyechart.views import PRESET_NOTES, PRESETS, format_view

    listing = {
        f"{kind}s": [(name, _first_sentence(kind, name)) for name in registry.names(kind)] for kind in registry.KINDS
    }
    listing["presets"] = [
        (name, _preset_line([format_view(view) for view in views], PRESET_NOTES.get(name)))
        for name, views in PRESETS.items()
    ]
    listing["protocols"] = [(protocol.name, protocol.about) for protocol in PROTOCOLS.values()]
    listing["collections"] = [(one.name, one.about) for one in COLLECTIONS.values()]
    return listing


def _preset_line(views: list[str], note: str | None) -> str:
    return f"{len(views)} views: {', '.join(views)}" + (f"; {note}" if note else "")


def _first_sentence(kind: str, name: str) -> str:
    member = registry.load(kind, name)
    return (member.__doc__ or "").strip().partition("\n")[0].replace("`", "")


def _unknown_kind(kind: str, known: tuple[str, ...]) -> UsageError:
    return unknown_name("list", kind, known)
