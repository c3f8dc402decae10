"""The explorer as a local web application: its screens, tiles on demand, nothing that leaves this machine."""

import gc
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.resources import files
from pathlib import Path
from threading import Event, Lock, Thread

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from eyechart.errors import EyechartError, UsageError
from eyechart.explorer.filters import read_filter
from eyechart.explorer.gatekeeper import LOOPBACK, Gatekeeper
from eyechart.explorer.links import ServerLinks
from eyechart.explorer.numbers import read_number
from eyechart.explorer.pair import read_pair_filter
from eyechart.explorer.pictures import BenchmarkPictures
from eyechart.explorer.question import ViewPane
from eyechart.explorer.screens import POLICY, Screens
from eyechart.explorer.study import Study
from eyechart.explorer.tiles import TileCutter, tile_shape
from eyechart.schema import JsonObject, Picture, Size
from eyechart.schema import Request as AskedRequest

_ASSETS = {
    "explorer.css": ("eyechart.explorer", "static", "text/css"),
    "report.css": ("eyechart.reports", "templates", "text/css"),
    "grid.js": ("eyechart.explorer", "static", "text/javascript"),
    "site_grid.js": ("eyechart.explorer", "static", "text/javascript"),
    "board.css": ("eyechart.reports", "templates", "text/css"),
    "board.js": ("eyechart.reports", "templates", "text/javascript"),
    "pair.js": ("eyechart.explorer", "static", "text/javascript"),
    "site_pair.js": ("eyechart.explorer", "static", "text/javascript"),
    "question.js": ("eyechart.explorer", "static", "text/javascript"),
    "htmx.min.js": ("eyechart.explorer", "static", "text/javascript"),
    "openseadragon.min.js": ("eyechart.explorer", "static", "text/javascript"),
}
_SEEN = re.compile(r"(\d{1,6})x(\d{1,6})")
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_THUMBNAIL_PX = 480
PREPARING = "eyechart-preparing"
"""Name of the thread that works out what first openings would wait for."""
Page = Callable[[Request], str]


def read_asset(name: str) -> bytes | None:
    """Return a bundled script or style sheet, None if there is none of this name."""
    place = _ASSETS.get(name)
    if place is None:
        return None
    package, folder, _ = place
    return (files(package) / folder / name).read_bytes()


def asset_names() -> tuple[str, ...]:
    """Return the names of all bundled scripts and style sheets."""
    return tuple(_ASSETS)


class ServedPictures:
    """Cuts tiles from the pictures of a study's runs, as far as their benchmarks are at hand.

    Args:
        study: The runs.
        data: File or folder of the benchmark, where its run does not name one that is still there.
    """

    def __init__(self, study: Study, data: Path | None) -> None:
        self._links = ServerLinks()
        self._opened = tuple(BenchmarkPictures(run.recorded, data) for run in study.runs)
        self._cutters: dict[str, TileCutter] = {}
        self._lock = Lock()

    def missing(self, number: int) -> str:
        """Return why pictures are not here, empty if they are."""
        return self._opened[number].missing

    def source(self, number: int, pane: ViewPane, seen: Size | None) -> JsonObject | None:
        """Return what the reader's script needs to load tiles, None if the picture is not here."""
        if self.missing(number):
            return None
        shape = tile_shape(seen or pane.picture.size)
        return {
            "base": self._links.tiles(number, pane.request_id, pane.index, seen),
            "width": shape.size.width,
            "height": shape.size.height,
            "max": shape.max_level,
        }

    def thumbnail(self, number: int, pane: ViewPane) -> str:
        """Return the address of a small picture, empty if it is not here."""
        return "" if self.missing(number) else f"/thumbnail/{number}/{pane.request_id}/{pane.index}.png"

    def cutter(self, number: int) -> TileCutter:
        """Return what cuts the tiles of a run.

        Raises:
            UsageError: If its pictures are not here.
        """
        benchmark = self._opened[number].benchmark
        if benchmark is None:
            raise UsageError(self.missing(number))
        with self._lock:
            key = self._opened[number].key
            if key not in self._cutters:
                self._cutters[key] = TileCutter(benchmark)
            return self._cutters[key]

    def close(self) -> None:
        """Remove temporary files."""
        for cutter in self._cutters.values():
            cutter.close()


def build_server(
    study: Study, data: Path | None = None, *, host: str = LOOPBACK[0], token: str = "", is_prepared: bool = False
) -> Starlette:
    """Return the application; run it with uvicorn.

    Args:
        study: The runs.
        data: File or folder of the benchmark, where its run does not name one that is still there.
        host: The address or name that is listened on; under others it is not reached, so that no web page can read it.
        token: What the address of the first page has to end in; empty where only this machine can ask.
        is_prepared: Whether what first openings wait for is worked out beside, from the start of the server.
    """
    pictures = ServedPictures(study, data)
    screens = Screens(study, ServerLinks(), pictures)

    def index(request: Request) -> str:
        del request
        return screens.index()

    def run(request: Request) -> str:
        return screens.run(_number(request, "run"))

    def grid(request: Request) -> str:
        headers = request.headers
        is_part = headers.get("hx-request") == "true" and headers.get("hx-history-restore-request") != "true"
        wanted = read_filter(request.query_params.multi_items())
        return screens.grid(_number(request, "run"), wanted, _number(request, "page", 1), is_part=is_part)

    def question(request: Request) -> str:
        wanted = read_filter(request.query_params.multi_items())
        return screens.question(_number(request, "run"), request.query_params.get("id", ""), wanted)

    def compare(request: Request) -> str:
        first = _number(request, "first")
        return screens.compare(first, _number(request, "second", first))

    def pair(request: Request) -> str:
        wanted = read_pair_filter(request.query_params.multi_items())
        first, second = (_number(request, name) for name in ("first", "second"))
        return screens.pair(first, second, _number(request, "seed"), wanted)

    def leaderboard(request: Request) -> str:
        asked = (request.query_params.get(name, "") for name in ("benchmark", "split", "average"))
        return screens.leaderboard(screens.boards.find(*asked))

    async def tile(request: Request) -> Response:
        return await run_in_threadpool(_tile, study, pictures, request)

    async def thumbnail(request: Request) -> Response:
        return await run_in_threadpool(_thumbnail, study, pictures, request)

    pages: dict[str, Page] = {
        "/run": run, "/grid": grid, "/question": question, "/compare": compare, "/pair": pair,
        "/leaderboard": leaderboard,
    }  # fmt: skip
    routes = [
        Route("/", _page(index, screens) if len(study.runs) > 1 else _to_first),
        *(Route(path, _page(page, screens)) for path, page in pages.items()),
        Route("/static/{name}", _asset),
        Route("/tiles/{run}/{request_id}/{index}/{shown}/{level}/{column}_{row}.png", tile),
        Route("/thumbnail/{run}/{request_id}/{index}.png", thumbnail),
    ]

    return Starlette(
        routes=routes,
        exception_handlers={404: _not_found(screens)},
        middleware=[Middleware(Gatekeeper, token=token, host=host)],
        lifespan=_living(pictures, screens if is_prepared else None),
    )


def _living(
    pictures: ServedPictures, screens: Screens | None
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Return what prepares screens beside the server, and removes temporary files when it ends."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        is_ending = Event()
        # The runs never change: to look through their million objects for garbage would stop a page for half a second.
        gc.collect()
        gc.freeze()
        if screens is not None:
            wanted = (lambda: not is_ending.is_set(),)
            Thread(target=screens.prepare, args=wanted, name=PREPARING, daemon=True).start()
        yield
        is_ending.set()
        gc.unfreeze()
        pictures.close()

    return lifespan


def _page(page: Page, screens: Screens) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a screen; what is not there is said in words, with status 404."""

    async def answer(request: Request) -> Response:
        try:
            return HTMLResponse(await run_in_threadpool(page, request), headers=_HEADERS)
        except EyechartError as error:
            return HTMLResponse(screens.error(error.message, error.hint), status_code=404, headers=_HEADERS)

    return answer


def _not_found(screens: Screens) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return what answers an address that no screen has, in words and with the links of all screens."""

    async def answer(request: Request, error: Exception) -> Response:
        del error
        message = f"there is no page {request.url.path}"
        return HTMLResponse(screens.error(message, "follow a link above"), status_code=404, headers=_HEADERS)

    return answer


async def _to_first(request: Request) -> Response:
    del request
    return RedirectResponse("/run?run=0")


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    content = read_asset(name)
    if content is None:
        return Response(f"there is no file {name}", status_code=404, media_type="text/plain")
    return Response(content, media_type=_ASSETS[name][2], headers={"X-Content-Type-Options": "nosniff"})


def _number(request: Request, name: str, default: int = 0) -> int:
    return read_number(name, request.query_params.get(name) or str(default))


def _place(request: Request, name: str) -> int:
    return read_number(name, request.path_params[name])


def _picture(study: Study, request: Request) -> Picture:
    found: AskedRequest | None = study.run(_place(request, "run")).find(request.path_params["request_id"])
    index = _place(request, "index")
    if found is None or index >= len(found.pictures):
        raise UsageError("there is no such picture", hint="follow a link of the page")
    return found.pictures[index]


def _tile(study: Study, pictures: ServedPictures, request: Request) -> Response:
    try:
        picture, seen = _picture(study, request), _seen(request.path_params["shown"], study, request)
        level, column, row = (_place(request, name) for name in ("level", "column", "row"))
        content = pictures.cutter(_place(request, "run")).tile(picture, seen, level, column, row)
    except EyechartError as error:
        return Response(error.message, status_code=404, media_type="text/plain")
    # The address holds the request's hash, so its pixels never change.
    return Response(content, media_type="image/png", headers={"Cache-Control": "private, max-age=86400"})


def _thumbnail(study: Study, pictures: ServedPictures, request: Request) -> Response:
    try:
        picture = _picture(study, request)
        content = pictures.cutter(_place(request, "run")).thumbnail_png(picture, None, _THUMBNAIL_PX)
    except EyechartError as error:
        return Response(error.message, status_code=404, media_type="text/plain")
    return Response(content, media_type="image/png", headers={"Cache-Control": "private, max-age=86400"})


def _seen(text: str, study: Study, request: Request) -> Size | None:
    """Return the size a picture is shown at; only what a model saw is drawn, so that no address can fill the memory."""
    if text == "sent":
        return None
    match = _SEEN.fullmatch(text)
    size = None if match is None else Size(int(match.group(1)), int(match.group(2)))
    if size is None or size not in study.run(_place(request, "run")).seen_sizes:
        raise UsageError(f"no model saw a picture at {text}", hint="follow a link of the page")
    return size
