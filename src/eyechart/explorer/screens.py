"""The screens as HTML: one set of templates for the server and for the static site."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol
from urllib.parse import quote, urlencode

import msgspec
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from eyechart.benchmarks._published import published_benchmarks
from eyechart.errors import EyechartError
from eyechart.explorer.boards import BoardKey, Boards
from eyechart.explorer.filters import SORTS, Filter
from eyechart.explorer.links import Links
from eyechart.explorer.pages import clip, compare_page, contrasts_of_runs, grid_page, run_tabs
from eyechart.explorer.pair import PairFilter, pair_page, shown_pair
from eyechart.explorer.question import QuestionPage, ViewPane, question_page
from eyechart.explorer.study import ExploredRun, Study
from eyechart.explorer.tiles import TILE_PX
from eyechart.reports import board_table, printable, render_table
from eyechart.reports._sections import SEEN_HEADINGS, failure_rows, headline_facts, seen_rows
from eyechart.runs.grid_rows import region_ids
from eyechart.schema import JsonObject, Size

# Style attributes are the bars of the table; scripts are files only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'"
)
GLYPHS = {"right": "●", "wrong": "×", "unscored": "–", "missing": "·"}
WORDS = {"right": "right", "wrong": "wrong", "unscored": "not scored", "missing": "no answer"}
# Escaped once, since a matrix prints thousands of them.
_CELLS = {
    mark: (
        escape(mark),
        escape(word),
        Markup('<span aria-hidden="true">{}</span><span class="sr">{}</span>').format(GLYPHS[mark], word),
    )
    for mark, word in WORDS.items()
}
_SORT_WORDS = {
    "pattern": "most right first, by pattern",
    "id": "by id",
    "target": "smallest target first",
    "right": "most right first",
}


class PictureSources(Protocol):
    """Says where the pictures of a pane are found."""

    def source(self, number: int, pane: ViewPane, seen: Size | None) -> JsonObject | None:
        """Return what the reader's script needs to load a picture, None if it is not here."""
        ...

    def thumbnail(self, number: int, pane: ViewPane) -> str:
        """Return the address of a small picture, empty if it is not here."""
        ...

    def missing(self, number: int) -> str:
        """Return why pictures are not here, empty if they are."""
        ...


class Screens:
    """Prints the screens of a study.

    Args:
        study: The runs.
        links: Addresses of the screens.
        sources: Addresses of the pictures.
        note: A line for the list of runs.
    """

    def __init__(self, study: Study, links: Links, sources: PictureSources, note: str = "") -> None:
        self._study = study
        self._links = links
        self._sources = sources
        self._note = note
        self._templates = _environment()
        self.boards = Boards(study)

    def prepare(self, is_wanted: Callable[[], bool]) -> None:
        """Work out what first openings would wait for: templates, orders, own leaderboards, comparisons of runs.

        Args:
            is_wanted: Asked between steps of some tenths of a second; False ends it.
        """
        for step in self._steps():
            if not is_wanted():
                return
            with suppress(EyechartError):  # said where the page is opened
                step()

    def _steps(self) -> Iterator[Callable[[], object]]:
        """Yield what can be prepared, the likeliest first."""
        yield from (partial(self._templates.get_template, name) for name in self._templates.list_templates())
        for number in range(len(self._study.runs)):
            yield partial(self.grid, number, Filter())
        yield from (partial(self.boards.board, key) for key in self.boards.keys if self.boards.is_own(key))
        for first in range(len(self._study.runs)):
            for second in self._study.alike(first)[1:]:
                yield partial(contrasts_of_runs, self._study, first, second)

    def index(self) -> str:
        """Return the list of runs."""
        return self._print("index.html.jinja", screen="index", current=0, site_note=self._note)

    def run(self, number: int) -> str:
        """Return the *Run* screen."""
        run = self._study.run(number)
        summary = run.summary
        wrong = {}
        for column, condition in enumerate(run.table.conditions):
            address = self._links.grid(number, Filter(wrong=(condition,)).query())
            wrong[condition] = (int(run.is_wrong(column).sum()), address)
        for grid in summary.grids:  # one row each, whose questions are not wrong in all regions or in none
            n_wrong = sum(wrong[name][0] for name in region_ids(grid) if name in wrong)
            wrong[grid.name] = (n_wrong, self._links.grid(number, Filter().query()))
        return self._print(
            "run.html.jinja",
            screen="run",
            current=number,
            summary=summary,
            facts=headline_facts(summary),
            table=render_table(summary),
            failures=failure_rows(summary),
            seen_headings=SEEN_HEADINGS,
            seen_rows=seen_rows(summary),
            wrong=wrong,
        )

    def grid(self, number: int, wanted: Filter, page: int = 1, *, is_part: bool = False) -> str:
        """Return the *Grid* screen, or with ``is_part`` only what changes when the choice does."""
        run = self._study.run(number)
        return self._print(
            "grid_body.html.jinja" if is_part else "grid.html.jinja",
            screen="grid",
            current=number,
            grid=grid_page(self._study, number, wanted, self._links, page),
            columns=[(_panes(name, run.baselines[name]), escape(printable(name))) for name in run.table.conditions],
            cells=_CELLS,
            sorts=[(name, _SORT_WORDS[name]) for name in SORTS],
        )

    def question(self, number: int, question_id: str, wanted: Filter, *, page_name: str = "") -> str:
        """Return the *Question* screen; ``page_name`` is its file on a static site."""
        page = question_page(self._study, number, question_id, wanted, self._links)
        return self._print(
            "question.html.jinja",
            screen="question",
            current=number,
            page=page,
            no_pictures=self._sources.missing(number),
            pane_json=self._pane_json(number, page, page_name),
        )

    def compare(self, first: int, second: int) -> str:
        """Return the *Compare* screen."""
        page = compare_page(self._study, first, second, self._links)
        return self._print("compare.html.jinja", screen="compare", current=first, page=page)

    def leaderboard(self, key: BoardKey) -> str:
        """Return a board: published rows and the study's own runs."""
        number = next(at for at, run in enumerate(self._study.runs) if run.table.run.benchmark.name == key.benchmark)
        return self._print(
            "leaderboard.html.jinja",
            screen="leaderboard",
            current=number,
            key=key,
            benchmarks=list(dict.fromkeys(one.benchmark for one in self.boards.keys)),
            splits=list(dict.fromkeys(one.split for one in self.boards.keys if one.benchmark == key.benchmark)),
            rules=list(dict.fromkeys(one.rule for one in self.boards.keys if one.benchmark == key.benchmark)),
            table=board_table(self.boards.board(key)),
        )

    def pair(self, first: int, second: int, seed: int, wanted: PairFilter) -> str:
        """Return two models on random common questions."""
        page = pair_page(self._study, first, second, seed, wanted)
        query = urlencode(wanted.fields)
        return self._print(
            "pair.html.jinja",
            screen="pair",
            current=first,
            page=page,
            other_questions=self._links.pair(first, second, seed + 1, query),
            pictures={
                entry.id: (self._sources.thumbnail(first, entry.pane), self._sources.source(first, entry.pane, None))
                for entry in page.entries
                if entry.pane is not None and not self._sources.missing(first)
            },
            no_pictures=self._sources.missing(first),
            labels=pair_labels(self._study.run(first)),
            counted=_counted,
            tile_px=TILE_PX,
        )

    def site_grid(self, data: JsonObject) -> str:
        """Return the *Grid* screen of a static site: the reader's script draws and narrows the rows."""
        return self._print("site_grid.html.jinja", screen="grid", current=0, data_json=script_json(data))

    def site_pair(self, data: JsonObject) -> str:
        """Return two models on random questions, drawn by the reader's script."""
        return self._print("site_pair.html.jinja", screen="pair", current=0, data_json=script_json(data))

    def error(self, message: str, hint: str | None) -> str:
        """Return the page that says what is not here."""
        return self._print("error.html.jinja", screen="error", current=0, message=message, hint=hint or "")

    def _pane_json(self, number: int, page: QuestionPage, page_name: str) -> Markup:
        panes = []
        for pane in page.panes:
            seen = pane.seen_size
            panes.append(
                {
                    "key": pane.key,
                    "condition": pane.condition,
                    "width": pane.width,
                    "height": pane.height,
                    "origin": pane.origin,
                    "scale": pane.scale,
                    "target": pane.target,
                    "caption": pane.caption,
                    "sent": self._sources.source(number, pane, None),
                    "seen": None if seen is None else self._sources.source(number, pane, seen),
                    "missing": self._sources.missing(number),
                }
            )
        content = {"panes": panes, "defaults": page.default_panes, "tile": TILE_PX, "page": page_name}
        return script_json(content)

    def _print(self, template: str, *, current: int, **values: object) -> str:
        tabs = run_tabs(self._study, self._links)
        return self._templates.get_template(template).render(
            policy=POLICY,
            links=self._links,
            tabs=tabs,
            tab=tabs[current],
            board_address=self._links.leaderboard(*self.boards.keys[0]),
            pair_address=self._links.pair(*shown_pair(self._study), 0),
            current=current,
            glyphs=GLYPHS,
            words=WORDS,
            **values,
        )


def _panes(condition: str, baseline: str) -> Markup:
    """Return what stands behind # to open a question with two views, escaped."""
    return escape(f"panes={quote(condition)},{quote(baseline)}")


def pair_labels(run: ExploredRun) -> dict[str, str]:
    """Return how dataset and category are called: by the words of the benchmark."""
    is_known = run.table.run.benchmark.name in published_benchmarks()
    return {"dataset": "Dataset", "category": "Category"} if is_known else {"dataset": "Source", "category": "Task"}


def script_json(content: Mapping[str, object] | str) -> Markup:
    """Return JSON that may stand inside a script tag: no ``<`` that could end it.

    Example:
        >>> str(script_json({"a": "</script>"})) == '{"a":"' + chr(92) + 'u003c/script>"}'
        True
    """
    text = msgspec.json.encode(content).decode().replace("<", "\\u003c")
    return Markup(text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704 -- escaped above


def _counted(values: Sequence[tuple[str, int]]) -> list[tuple[str, str]]:
    """Return each value with the words of its option: itself and its count."""
    return [(value, f"{value} ({n})") for value, n in values]


def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader("eyechart.explorer", "templates"), PackageLoader("eyechart.reports", "templates")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    filters: dict[str, Callable[[str], Markup]] = {"breakable": _breakable, "multiline": _multiline}
    environment.filters.update(filters)
    environment.filters["zip"] = zip
    environment.globals["dict"] = dict
    environment.filters["clip"] = clip
    environment.filters["script_json"] = script_json
    return environment


def _breakable(text: str) -> Markup:
    return escape(printable(text)).replace("/", Markup("/<wbr>")).replace("_", Markup("_<wbr>"))


def _multiline(text: str) -> Markup:
    """Return escaped text that keeps its line breaks and nothing else that moves or hides what stands beside it."""
    return Markup("\n").join(escape(printable(line)) for line in text.splitlines())
