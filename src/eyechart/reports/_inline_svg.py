"""Figures as parts of a page: inline SVG that follows the page's colours and tells screen readers its numbers."""

import html
import re

from eyechart.figures._style import ACCENT, CONTEXT_STYLES, GRID, INK, MUTED
from eyechart.reports._figures import DrawnFigure
from eyechart.reports._printable import printable
from eyechart.schema import Value

# Colour of the figure → name of the page's colour; the page sets them for light and for dark.
_PAGE_COLOURS = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--rule",
    ACCENT: "--accent",
    CONTEXT_STYLES["whiteground"].colour: "--whiteground",
    CONTEXT_STYLES["target_only"].colour: "--target-only",
    "#ffffff": "--paper",
}
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_NAMED = re.compile(r'\bid="([^"]+)"')
_REFERENCE = re.compile(r'xlink:href="#([^"]+)"|url\(#([^)]+)\)')
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_STYLE = re.compile(r"<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)
_NOT_ID = re.compile(r"[^A-Za-z0-9_-]")
_OPENING = re.compile(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>')


class PageFigure(Value, frozen=True):
    """A figure on the page: ``svg`` and ``charts``, Vega-Lite as JSON, are markup, safe to insert as they are."""

    name: str
    title: str
    svg: str
    charts: tuple[str, ...] = ()


def inline_figure(drawn: DrawnFigure, charts: tuple[str, ...] = ()) -> PageFigure:
    """Turn a drawn figure into markup for the inside of a page.

    Ids are prefixed with the figure's name, so that several figures can stand on one page. Comments, the global style
    and namespaces are dropped; colours become the page's variables; title and description are read out.

    Args:
        drawn: The figure.
        charts: What shows the same interactively, as markup.
    """
    prefix = _NOT_ID.sub("-", drawn.name)
    markup = _STYLE.sub("", _COMMENT.sub("", drawn.svg))
    markup = markup[markup.index("<svg") :]
    markup = _NAMED.sub(lambda match: f'id="{prefix}-{match.group(1)}"', markup)
    markup = _REFERENCE.sub(lambda match: _prefixed(match, prefix), markup)
    markup = _COLOUR.sub(lambda match: _page_colour(match.group()), markup)
    markup = _OPENING.sub(lambda match: _opening(match.group(1), prefix, drawn), markup, count=1)
    return PageFigure(prefix, drawn.title, re.sub(r"\s*\n\s*", " ", markup).strip(), charts)


def words_of_figure(drawn: DrawnFigure, charts: tuple[str, ...] = ()) -> PageFigure:
    """Return what a figure says on a page, without its curves: for pages that are compared and not shown."""
    prefix = _NOT_ID.sub("-", drawn.name)
    return PageFigure(prefix, drawn.title, f"{_opening('0 0 1 1', prefix, drawn)}</svg>", charts)


def _prefixed(match: re.Match[str], prefix: str) -> str:
    """Return a reference with the figure's prefix."""
    reference, address = match.groups()
    return f'href="#{prefix}-{reference}"' if reference else f"url(#{prefix}-{address})"


def _page_colour(colour: str) -> str:
    """Return the page's variable for a colour, the colour itself where the page has none."""
    return f"var({_PAGE_COLOURS[colour]})" if colour in _PAGE_COLOURS else colour


def _opening(view_box: str, prefix: str, drawn: DrawnFigure) -> str:
    """Return the opening tag with title and description for screen readers."""
    return (
        f'<svg viewBox="{view_box}" role="img" aria-labelledby="{prefix}-title {prefix}-desc">'
        f'<title id="{prefix}-title">{html.escape(printable(drawn.title))}</title>'
        f'<desc id="{prefix}-desc">{html.escape(printable(drawn.description))}</desc>'
    )
