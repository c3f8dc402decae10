"""Addresses of the screens: on the local server, and as files of a static site."""

import re
from typing import Protocol
from urllib.parse import quote, urlencode

import msgspec

from eyechart.schema import Size

N_PER_PAGE = 100
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
"""What the name of a file may not hold."""


class Links(Protocol):
    """Where each screen and picture is found."""

    @property
    def is_static(self) -> bool:
        """Whether pages are files."""
        ...

    def asset(self, name: str) -> str:
        """Return the address of a bundled script or style sheet."""
        ...

    def run(self, number: int) -> str:
        """Return the address of the *Run* screen."""
        ...

    def grid(self, number: int, query: str = "", page: int = 1) -> str:
        """Return the address of the *Grid* screen; ``query`` is that of a ``Filter``."""
        ...

    def question(self, number: int, question_id: str, query: str = "") -> str:
        """Return the address of the *Question* screen."""
        ...

    def compare(self, first: int, second: int) -> str:
        """Return the address of the *Compare* screen."""
        ...

    def pair(self, first: int, second: int, seed: int, query: str = "") -> str:
        """Return the address of the screen that shows two models on random questions; ``query`` narrows the choice."""
        ...

    def leaderboard(self, benchmark: str, split: str, rule: str) -> str:
        """Return the address of a board; split and rule are empty where the benchmark has but one."""
        ...


class ServerLinks(msgspec.Struct, frozen=True):
    """Addresses on the local server: each state is a query."""

    is_static: bool = False

    def asset(self, name: str) -> str:
        """Return the address of a bundled script or style sheet."""
        return f"/static/{name}"

    def run(self, number: int) -> str:
        """Return the address of the *Run* screen."""
        return f"/run?run={number}"

    def grid(self, number: int, query: str = "", page: int = 1) -> str:
        """Return the address of the *Grid* screen.

        Example:
            >>> ServerLinks().grid(0, "wrong=original", 2)
            '/grid?run=0&wrong=original&page=2'
        """
        parts = [f"run={number}", query, f"page={page}" if page > 1 else ""]
        return "/grid?" + "&".join(part for part in parts if part)

    def question(self, number: int, question_id: str, query: str = "") -> str:
        """Return the address of the *Question* screen."""
        own = urlencode({"run": number, "id": question_id})
        return f"/question?{own}&{query}" if query else f"/question?{own}"

    def compare(self, first: int, second: int) -> str:
        """Return the address of the *Compare* screen."""
        return f"/compare?first={first}&second={second}"

    def pair(self, first: int, second: int, seed: int, query: str = "") -> str:
        """Return the address of the screen that shows two models on random questions.

        Example:
            >>> ServerLinks().pair(0, 1, 7, "second_mark=wrong")
            '/pair?first=0&second=1&seed=7&second_mark=wrong'
        """
        return "/pair?" + _pair_state(first, second, seed, query)

    def leaderboard(self, benchmark: str, split: str, rule: str) -> str:
        """Return the address of a board."""
        state = {"benchmark": benchmark, "split": split, "average": rule}
        return "/leaderboard?" + urlencode({name: value for name, value in state.items() if value})

    def tiles(self, number: int, request_id: str, index: int, seen: Size | None) -> str:
        """Return the start of the addresses of a picture's tiles; level, column and row follow."""
        shown = "sent" if seen is None else f"{seen.width}x{seen.height}"
        return f"/tiles/{number}/{request_id}/{index}/{shown}"


class SiteLinks(msgspec.Struct, frozen=True):
    """Addresses of files, relative to the page that holds them.

    Args:
        root: From the page to the site's folder: empty, or ``../``.
        pages: Question id → name of its file, per run.
    """

    root: str
    pages: tuple[dict[str, str], ...]
    is_static: bool = True

    def asset(self, name: str) -> str:
        """Return the address of a bundled script or style sheet."""
        return f"{self.root}static/{name}"

    def run(self, number: int) -> str:
        """Return the address of the *Run* screen."""
        return f"{self.root}run-{number}.html"

    def grid(self, number: int, query: str = "", page: int = 1) -> str:
        """Return the address of the *Grid* screen: one file, so that the state stands behind ``#``."""
        del page  # all questions stand on one page
        own = f"run={number}"
        return f"{self.root}grid.html#{own}&{query}" if query else f"{self.root}grid.html#{own}"

    def question(self, number: int, question_id: str, query: str = "") -> str:
        """Return the address of the *Question* screen."""
        del query  # the reader's script carries it along
        return f"{self.root}questions/{quote(self.pages[number][question_id])}"

    def compare(self, first: int, second: int) -> str:
        """Return the address of the *Compare* screen."""
        return f"{self.root}compare-{first}-{second}.html"

    def pair(self, first: int, second: int, seed: int, query: str = "") -> str:
        """Return the address of the screen that shows two models on random questions."""
        return f"{self.root}pair.html#{_pair_state(first, second, seed, query)}"

    def leaderboard(self, benchmark: str, split: str, rule: str) -> str:
        """Return the address of a board: a file each, so that it is read without a script."""
        return f"{self.root}{board_file(benchmark, split, rule)}"


def _pair_state(first: int, second: int, seed: int, query: str) -> str:
    own = f"first={first}&second={second}&seed={seed}"
    return f"{own}&{query}" if query else own


def board_file(benchmark: str, split: str, rule: str) -> str:
    """Return the file of a board on a static site.

    Example:
        >>> board_file("hrscene", "test", "micro")
        'leaderboard-hrscene-test-micro.html'
    """
    parts = [UNSAFE.sub("-", part) for part in (benchmark, split, rule) if part]
    return f"leaderboard-{'-'.join(parts)}.html"
