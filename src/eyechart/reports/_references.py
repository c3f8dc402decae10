"""What a report rests on that others made: benchmark, sources of the questions, ways of estimating."""

from eyechart.benchmarks._cited import OWN, benchmark_keys, bibtex, method_keys, source_keys
from eyechart.benchmarks._hrscene.sets import set_named
from eyechart.figures import MISSING, format_count
from eyechart.releases.source_terms import known_terms
from eyechart.reports._statistics import used_methods
from eyechart.reports._table import Row, Table, name_columns
from eyechart.schema import Summary

_UNKNOWN = "unknown here: cite where it comes from"


def bibtex_of(summary: Summary) -> str:
    """Return BibTeX of the benchmark, the sources of its questions, the statistics used, and eyechart, in this order.

    What a collection of the user's own rests on is not known and not invented.
    """
    return f"{bibtex(_keys(summary), summary.run.benchmark.revision)}\n"


def count_references(summary: Summary) -> int:
    """Return how many entries ``bibtex_of`` gives."""
    return len(_keys(summary))


def _keys(summary: Summary) -> tuple[str, ...]:
    keys = [*benchmark_keys(summary.run.benchmark.name)]
    for name in sources_of(summary):
        keys += source_keys(name)
    keys += [*method_keys(used_methods(summary)), OWN]
    return tuple(dict.fromkeys(keys))


def sources_of(summary: Summary) -> dict[str, tuple[int, int]]:
    """Return source → questions and pictures of it; the benchmark itself where its questions name no source."""
    found: dict[str, tuple[int, int]] = {}
    for group in summary.pictures:
        if group.category is None and not source_keys(group.source):
            continue  # a task, or all questions together
        n_questions, n_pictures = found.get(group.source, (0, 0))
        found[group.source] = (n_questions + group.n_questions, n_pictures + group.n_pictures)
    return found or {summary.run.benchmark.name: (summary.n_questions, summary.n_clusters)}


def sources_table(summary: Summary) -> Table:
    """Return the sources of the questions with n, terms as their own pages state them, and what to cite."""
    columns = name_columns("source", "terms of questions and pictures", "cite", "questions", "pictures", words=3)
    rows = [
        Row(
            name,
            "",
            (
                name,
                _terms(name),
                ", ".join(source_keys(name) or benchmark_keys(name)) or _UNKNOWN,
                format_count(n_questions),
                format_count(n_pictures),
            ),
        )
        for name, (n_questions, n_pictures) in sources_of(summary).items()
    ]
    notes = (
        "Terms are what public pages said, with the date of reading where it is given; they are not legal advice.",
        "A picture that several tasks of one source share is counted once for each of them.",
    )
    return Table("Where the questions come from.", columns, tuple(rows), notes)


def _terms(name: str) -> str:
    terms = known_terms(name)
    if terms is not None:
        return f"{terms.found} {terms.url.removeprefix('https://')}"
    dataset = set_named(name)
    if dataset is not None:
        return f"{dataset.licence}. Origin: {dataset.origin}."
    own = {"demo": "CC0-1.0 photograph; signs drawn at run time", "drawn at run time": "made by eyechart, Apache-2.0"}
    return own.get(name, MISSING)
