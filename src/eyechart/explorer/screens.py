"""The screens as HTML: one set of templates for the server and for the static site."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Protocol

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from eyechart.explorer.filters import SORTS, Filter
from eyechart.explorer.links import Links
from eyechart.explorer.pages import clip, compare_page, grid_page, run_tabs
from eyechart.explorer.question import Answer, Choice, QuestionPage, ViewPane, pair_answers, question_page
from eyechart.explorer.study import Study
from eyechart.explorer.tiles import TILE_PX
from eyechart.reports import printable, render_table
from eyechart.reports._sections import SEEN_HEADINGS, failure_rows, headline_facts, seen_rows
from eyechart.schema import JsonObject, Size

# Style attributes are the bars of the table; scripts are files only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'"
)
GLYPHS = {"right": "●", "wrong": "×", "unscored": "–", "missing": "·"}
WORDS = {"right": "right", "wrong": "wrong", "unscored": "not scored", "missing": "no answer"}
_SORT_WORDS = {
    "pattern": "most right first, like patterns together",
    "id": "by id",
    "target": "smallest target first",
    "right": "most right first",
}
N_RANDOM = 5


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


class PairEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One question with the answers of two models."""

    id: str
    text: str
    address: str
    choices: tuple[Choice, ...]
    answers: tuple[Answer, ...]
    thumbnail: str


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
        return self._print(
            "grid_body.html.jinja" if is_part else "grid.html.jinja",
            screen="grid",
            current=number,
            grid=grid_page(self._study, number, wanted, self._links, page),
            baseline=self._study.run(number).baseline,
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

    def pair(self, first: int, second: int, seed: int) -> str:
        """Return two models on random common questions, under the first condition that both were asked."""
        entries, n_common, condition = self._pair_entries(first, second, seed)
        return self._print(
            "pair.html.jinja",
            screen="pair",
            current=first,
            first=first,
            second=second,
            seed=seed,
            entries=entries,
            n_common=n_common,
            condition=condition,
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

    def _pair_entries(self, first: int, second: int, seed: int) -> tuple[list[PairEntry], int, str]:
        common, condition = pair_answers(self._study, first, second)
        drawn = Random(seed).sample(common, min(N_RANDOM, len(common)))  # noqa: S311 -- a choice to look at, no secret
        entries = []
        for question_id in drawn:
            page = question_page(self._study, first, question_id, Filter(), self._links)
            pane = next((pane for pane in page.panes if pane.condition == condition), None)
            entries.append(
                PairEntry(
                    id=question_id,
                    text=page.question.text,
                    address=self._links.question(first, question_id),
                    choices=page.choices,
                    answers=tuple(
                        answer
                        for number in (first, second)
                        for answer in page.answers
                        if answer.number == number and answer.condition == condition and answer.slot == 0
                    ),
                    thumbnail="" if pane is None else self._sources.thumbnail(first, pane),
                )
            )
        return entries, len(common), condition

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
            current=current,
            glyphs=GLYPHS,
            words=WORDS,
            **values,
        )


def script_json(content: Mapping[str, object]) -> Markup:
    """Return JSON that may stand inside a script tag: no ``<`` that could end it.

    Example:
        >>> str(script_json({"a": "</script>"})) == '{"a":"' + chr(92) + 'u003c/script>"}'
        True
    """
    text = msgspec.json.encode(content).decode().replace("<", "\\u003c")
    return Markup(text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704 -- escaped above


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("eyechart.explorer", "templates"),
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
    return environment


def _breakable(text: str) -> Markup:
    return escape(printable(text)).replace("_", Markup("_<wbr>"))


def _multiline(text: str) -> Markup:
    """Return escaped text that keeps its line breaks and nothing else that moves or hides what stands beside it."""
    return Markup("\n").join(escape(printable(line)) for line in text.splitlines())
