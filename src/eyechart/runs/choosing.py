"""What a run is asked and read with where the user leaves it open: the benchmark's own views, prompt and scorer."""

from collections.abc import Sequence
from typing import NamedTuple

from eyechart.errors import UsageError
from eyechart.kinds import AskDefaults, Benchmark, SaysHowToAsk, Scorer
from eyechart.opening import DEFAULT_PROMPT, DEFAULT_SCORER, open_scorer, versions_of
from eyechart.runs.store import ESTIMATES_FILE, RunStore
from eyechart.schema import View
from eyechart.views import parse_view, resolve_views

DEFAULT_VIEWS = "sum29"


class ChosenViews(NamedTuple):
    """Views to ask under, the preset they came from, and the released ones that no family of views reads."""

    views: tuple[View, ...]
    preset: str | None
    unknown: tuple[str, ...] = ()


def defaults_of(benchmark: Benchmark) -> AskDefaults:
    """Return how a benchmark is asked where nothing else is named; without views of its own they are empty."""
    if isinstance(benchmark, SaysHowToAsk):
        return benchmark.defaults
    return AskDefaults(views=(), prompt=DEFAULT_PROMPT, scorer=DEFAULT_SCORER)


def choose_views(benchmark: Benchmark, text: str | None) -> ChosenViews:
    """Return the views that a text names, or the benchmark's own where there is none.

    A release is asked under the views it holds, also where ``sum29`` is named; its own ids may be named too.

    Raises:
        UsageError: If a name is neither a view nor a preset, or a view is named twice.
    """
    own = defaults_of(benchmark).views
    if text is None and own:
        return ChosenViews(tuple(parse_view(view_id) for view_id in own), None)
    text = DEFAULT_VIEWS if text is None else text
    released = benchmark.released_views()
    if text != DEFAULT_VIEWS or not released:
        names: dict[str, str] = getattr(benchmark, "read_as", {})
        text = ",".join(names.get(part.strip(), part) for part in text.split(","))
        return ChosenViews(*resolve_views(text))
    absent: tuple[str, ...] = getattr(benchmark, "unread_views", ())
    views, unknown = [], []
    for view_id in released:
        if view_id in absent:
            continue
        try:
            views.append(parse_view(view_id))
        except UsageError:
            unknown.append(view_id)
    return ChosenViews(tuple(views), "release", tuple(unknown))


def newest_scorer(store: RunStore, text: str | None) -> tuple[Scorer, str]:
    """Return the scorer that a text names, or the one that the run was asked with, and its mode.

    Without a version in its name it is the newest, whatever the run is scored by so far.

    Raises:
        UsageError: If there is no such scorer, mode or version.
    """
    return open_scorer(text or store.run.scorer or DEFAULT_SCORER)


def choose_scorer(stores: RunStore | Sequence[RunStore], text: str | None) -> tuple[Scorer, str]:
    """Return the scorer that a text names, or the one that the runs were asked with, and its mode.

    A name in a text means its newest version. Where no text names a scorer, runs are read in the version by which they
    are scored, so that their numbers stay; where they are scored by different versions, all are read by the newest.

    Args:
        stores: The run, or the runs that are read together; the first says what it was asked with.
        text: Name of a scorer, None if it is left open.

    Raises:
        UsageError: If there is no such scorer, mode or version.
    """
    runs = [stores] if isinstance(stores, RunStore) else stores
    scorer, mode = newest_scorer(runs[0], text)
    if text is not None or "@" in (runs[0].run.scorer or ""):
        return scorer, mode
    versions = {stored_version(store, scorer, mode) for store in runs} - {None}
    if len(versions) != 1:
        return scorer, mode
    return open_scorer(f"{scorer.name}.{mode}@{versions.pop()}")


def stored_version(store: RunStore, scorer: Scorer, mode: str) -> int | None:
    """Return the version of a scorer by which a run is scored; None if by none that there is.

    Of several it is that of the run's estimates, which is the one that scored last, else the newest.
    """
    stored = store.scorer_ids()
    ids = {f"{scorer.name}.{mode}@{version}": version for version in versions_of(scorer)}
    known = [ids[scorer_id] for scorer_id in ids if scorer_id in stored]
    if len(known) > 1 and (store.folder / ESTIMATES_FILE).is_file():
        return ids.get(store.summary().scorer, known[-1])
    return known[-1] if known else None
