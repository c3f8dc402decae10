"""The pages on which a person answers questions, or corrects them and their boxes; nothing leaves this machine."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.resources import files
from threading import Lock
from typing import TypeVar

import jinja2
import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from eyechart.errors import EyechartError, UsageError
from eyechart.explorer.annotating import Annotation, Given
from eyechart.explorer.editing import Editing
from eyechart.explorer.edits import Edit
from eyechart.explorer.gatekeeper import Gatekeeper
from eyechart.explorer.numbers import read_number
from eyechart.explorer.screens import POLICY
from eyechart.explorer.server import read_asset
from eyechart.explorer.tiles import TILE_PX, TileCutter, tile_shape
from eyechart.kinds import Benchmark
from eyechart.schema import NOT_JSON, JsonObject, Picture

_OWN_ASSETS = frozenset({"annotate.css", "annotate.js", "edit.js"})
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
# Without zoom a picture is no larger than a large screen, and the browser shrinks it to its own.
_UNZOOMED_PX = 2400
_MOST_BYTES = 1 << 20
Sent = TypeVar("Sent", bound=msgspec.Struct)
Work = Callable[[Request, bytes], JsonObject]


def build_annotator(annotation: Annotation, *, zoom: bool) -> Starlette:
    """Return the application on which a person answers; run it with uvicorn.

    Args:
        annotation: The person's run.
        zoom: Whether pictures may be enlarged.
    """
    lock = Lock()

    def state(request: Request, body: bytes) -> JsonObject:
        del request, body
        position = annotation.position
        told: JsonObject = {"n_done": annotation.progress.n_done, "n_all": annotation.progress.n_all}
        if position is None:
            return {**told, "position": None}
        asked = annotation.request(position)
        pictures = [_shape(picture, f"{position}/{index}") for index, picture in enumerate(asked.pictures)]
        return {
            **told,
            "position": position,
            "question": annotation.text(position),
            "choices": list(asked.choices),
            "pictures": pictures,
        }

    def answer(request: Request, body: bytes) -> JsonObject:
        with lock:
            annotation.answer(_decoded(body, Given))
            return state(request, b"")

    def later(request: Request, body: bytes) -> JsonObject:
        with lock:
            annotation.put_off(_decoded(body, _Position).position)
            return state(request, b"")

    def picture(request: Request) -> Picture:
        asked = annotation.request(_place(request, "place"))
        return _at(asked.pictures, _place(request, "index"))

    page = _template("annotate.html.jinja").render(policy=POLICY, zoom=zoom)
    work = {"/state": state, "/answer": answer, "/later": later}
    return _application(page, work, annotation.benchmark, picture, zoom=zoom)


def build_editor(editing: Editing, *, only_boxes: bool) -> Starlette:
    """Return the application on which a person corrects questions and draws boxes; run it with uvicorn.

    Args:
        editing: The questions and where changes go.
        only_boxes: Whether boxes alone may be changed.
    """
    lock = Lock()

    def state(request: Request, body: bytes) -> JsonObject:
        del body
        number = read_number("number", request.query_params.get("number") or "0")
        return {**editing.shown(number), "picture": _shape(editing.picture(number), f"{number}/0")}

    def edit(request: Request, body: bytes) -> JsonObject:
        given = _decoded(body, Edit)
        if only_boxes and any(value is not None for value in (given.text, given.choices, given.answer)):
            raise UsageError("only boxes may be changed here", hint="eyechart annotate BENCH --edit")
        with lock:
            editing.save(given)
        return state(request, b"")

    def picture(request: Request) -> Picture:
        return editing.picture(_place(request, "place"))

    page = _template("edit.html.jinja").render(policy=POLICY, only_boxes=only_boxes)
    return _application(page, {"/state": state, "/edit": edit}, editing.benchmark, picture, zoom=True)


def _place(request: Request, name: str) -> int:
    return read_number(name, request.path_params[name])


class _Position(msgspec.Struct, frozen=True):
    position: int


def _application(
    page: str,
    work: Mapping[str, Work],
    benchmark: Benchmark,
    picture: Callable[[Request], Picture],
    *,
    zoom: bool,
) -> Starlette:
    cutter = TileCutter(benchmark)

    async def show(request: Request) -> Response:
        del request
        return HTMLResponse(page, headers=_HEADERS)

    async def tile(request: Request) -> Response:
        def draw() -> bytes:
            level, column, row = (_place(request, name) for name in ("level", "column", "row"))
            return cutter.tile(picture(request), None, level, column, row)

        return await _png(draw)

    async def whole(request: Request) -> Response:
        return await _png(lambda: cutter.thumbnail_png(picture(request), None, _UNZOOMED_PX))

    routes: list[BaseRoute] = [
        Route("/", show),
        *(Route(path, _json(one), methods=["GET" if path == "/state" else "POST"]) for path, one in work.items()),
        Route("/static/{name}", _asset),
        Route("/picture/{place}/{index}.png", whole),
    ]
    if zoom:
        routes.append(Route("/tiles/{place}/{index}/{level}/{column}_{row}.png", tile))
    return Starlette(
        routes=routes,
        middleware=[Middleware(Gatekeeper)],
        lifespan=_closing(cutter),
    )


def _json(work: Work) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a piece of work; a form of another site cannot send JSON, so only this page can change."""

    async def endpoint(request: Request) -> Response:
        body = b""
        if request.method == "POST":
            if request.headers.get("content-type", "").partition(";")[0] != "application/json":
                return _told({"error": "send JSON", "hint": ""}, 415)
            async for part in request.stream():  # whatever its header says, or does not say, of its length
                body += part
                if len(body) > _MOST_BYTES:
                    return _told({"error": "this is too long", "hint": ""}, 413)
        try:
            return _told(await run_in_threadpool(work, request, body), 200)
        except EyechartError as error:
            return _told({"error": error.message, "hint": error.hint}, 400)

    return endpoint


def _told(value: JsonObject, status: int) -> Response:
    return Response(msgspec.json.encode(value), status, headers=_HEADERS, media_type="application/json")


async def _png(draw: Callable[[], bytes]) -> Response:
    try:
        content = await run_in_threadpool(draw)
    except EyechartError as error:
        return Response(error.message, 404, media_type="text/plain", headers=_HEADERS)
    return Response(content, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    own = files("eyechart.explorer") / "static" / name
    content = own.read_bytes() if name in _OWN_ASSETS else read_asset(name)
    if content is None:
        return Response(f"there is no file {name}", status_code=404, media_type="text/plain")
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return Response(content, media_type=kind, headers={"X-Content-Type-Options": "nosniff"})


def _closing(cutter: TileCutter) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        cutter.close()

    return lifespan


def _shape(picture: Picture, place: str) -> JsonObject:
    shape = tile_shape(picture.size)
    return {
        "width": shape.size.width,
        "height": shape.size.height,
        "max": shape.max_level,
        "tile": TILE_PX,
        "base": f"/tiles/{place}",
        "whole": f"/picture/{place}.png",
    }


def _at(pictures: Sequence[Picture], index: int) -> Picture:
    if index >= len(pictures):
        raise UsageError(f"there is no picture {index}", hint="reload the page")
    return pictures[index]


def _decoded(body: bytes, kind: type[Sent]) -> Sent:
    try:
        return msgspec.json.decode(body, type=kind)
    except NOT_JSON as error:
        raise UsageError(f"the page sent something else ({error})", hint="reload the page") from error


def _template(name: str) -> jinja2.Template:
    loader = jinja2.PackageLoader("eyechart.explorer", "templates")
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined).get_template(name)
