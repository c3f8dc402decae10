"""A local Hugging Face hub: any repositories and files, the endpoints that huggingface_hub uses, and faults on purpose.

In a test::

    repository = HubRepository.of_folder("RL-MIND/SUM", release)
    with HubServer(repository, faults=[HubFault("*/000001.png", "cut")]) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        ...  # look at hub.log, hub.downloaded

Spoken, as huggingface_hub 2.4 asks: ``/api/<kind>/<repo>[/revision/<rev>]``, ``…/tree/<rev>/<path>`` (in pages),
``…/paths-info/<rev>`` (POST), ``[/<kind>]/<repo>/resolve/<rev>/<path>`` with Range. Large files are redirected to
another path with ``X-Linked-*`` headers, as the hub redirects to its storage.
"""

import dataclasses
import fnmatch
import json
import re
import threading
from collections import Counter
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, quote, unquote, urlsplit

from servers.hub_repository import HubRepository

PAGE = 50
"""Entries per page of a tree listing, so that small repositories have several pages."""


@dataclasses.dataclass(frozen=True)
class HubFault:
    """What goes wrong with some requests.

    Args:
        path: Pattern of the files concerned; ``*`` concerns API calls too.
        name: ``cut`` (the line breaks in the middle), ``cut-at-once`` (before the first byte), ``wrong-bytes`` (as many
            bytes, but others), ``short`` (fewer bytes, well told), ``gated``, or a status such as ``429``.
        n_times: So often, then all is well.
        on: ``GET``, ``HEAD``, ``POST`` or None for all; ``cut``, ``wrong-bytes`` and ``short`` concern GET only.
        headers: Sent along with a status.
    """

    path: str
    name: str
    n_times: int = 10**9
    on: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True)
class HubCall:
    """One request: what was asked, and how it ended."""

    method: str
    path: str
    status: int
    n_bytes: int
    fault: str | None = None


class HubServer:
    """The server in threads of this process.

    Args:
        repositories: What it serves.
        faults: What goes wrong; the first one that fits a request and is not used up is taken.
        key: The token that opens private repositories.
    """

    def __init__(self, *repositories: HubRepository, faults: Iterable[HubFault] = (), key: str | None = None) -> None:
        self.repositories = {(repository.kind, repository.id): repository for repository in repositories}
        self.key = key
        self.log: list[HubCall] = []
        self._faults = [[fault, fault.n_times] for fault in faults]
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def downloaded(self) -> Counter[str]:
        """How often each file was sent in full or in part, by path inside its repository."""
        sent = (call for call in self.log if call.method == "GET" and call.n_bytes and call.path.startswith("file:"))
        return Counter(call.path.removeprefix("file:") for call in sent)

    def add_fault(self, fault: HubFault) -> None:
        with self._lock:
            self._faults.append([fault, fault.n_times])

    def clear(self) -> None:
        """Forget the log and all faults."""
        with self._lock:
            self.log.clear()
            self._faults.clear()

    def take_fault(self, path: str, method: str, names: frozenset[str] | None) -> HubFault | None:
        """Return the fault of a request and use it up once; ``names`` are those that can happen here, None for all."""
        with self._lock:
            for entry in self._faults:
                fault, n_left = entry
                can_happen = (fault.name in names) if names is not None else fault.name not in _ON_CONTENT
                if n_left > 0 and can_happen and fault.on in {None, method} and fnmatch.fnmatch(path, fault.path):
                    entry[1] = n_left - 1
                    return fault
        return None

    def note(self, call: HubCall) -> None:
        with self._lock:
            self.log.append(call)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


_ON_CONTENT = frozenset({"cut", "cut-at-once", "wrong-bytes", "short"})
_ERRORS = {
    "RepoNotFound": "Repository not found",
    "RevisionNotFound": "Invalid rev id",
    "EntryNotFound": "Entry not found",
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two packets, and each request would wait 40 ms
    hub: HubServer

    def log_message(self, *_: object) -> None:
        """Keep quiet; the log is ``HubServer.log``."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self._body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        path, query = unquote(address.path), parse_qs(address.query)
        api = re.fullmatch(
            r"/api/(datasets|models|spaces)/([^/]+/[^/]+)(?:/(revision|tree|paths-info)/([^/]+)(?:/(.*))?)?", path
        )
        file = re.fullmatch(r"(?:/(datasets|spaces))?/([^/]+/[^/]+)/(resolve|storage)/([^/]+)/(.+)", path)
        if api:
            self._answer_api(api[1], api[2], api[3] or "revision", api[4] or "main", api[5] or "", query)
        elif file:
            self._answer_file(file[1] or "models", file[2], file[3], file[4], file[5])
        else:
            self._refuse(404, "NotFound", path)

    def _open(self, kind: str, id: str, revision: str, asked: str) -> HubRepository | None:
        """Return the repository, None after a refusal was sent."""
        fault = self.hub.take_fault(asked, self.command, None)
        if fault is not None:
            self._suffer(fault, asked)
            return None
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and self.hub.key is not None and token != self.hub.key:
            self._refuse(401, None, asked, message="Invalid credentials in Authorization header")
            return None
        repository = self.hub.repositories.get((kind, id))
        if repository is None or (repository.is_private and token != self.hub.key):
            # The hub tells strangers neither that a repository is private nor that it does not exist.
            self._refuse(404 if token else 401, "RepoNotFound", asked)
            return None
        if not repository.is_revision(revision):
            self._refuse(404, "RevisionNotFound", asked)
            return None
        return repository

    def _suffer(self, fault: HubFault, asked: str) -> None:
        if fault.name == "gated":
            self._refuse(403, "GatedRepo", asked, fault=fault, message="Access to this dataset is restricted")
        elif fault.name == "404":
            self._refuse(404, "EntryNotFound", asked, fault=fault)
        elif fault.name == "401":
            self._refuse(401, None, asked, fault=fault, message="Invalid credentials in Authorization header")
        else:
            self._refuse(int(fault.name), None, asked, fault=fault, message=f"error {fault.name}")

    def _answer_api(self, kind: str, id: str, verb: str, revision: str, rest: str, query: dict[str, list[str]]) -> None:
        asked = f"api:{verb}/{rest}"
        repository = self._open(kind, id, revision, asked)
        if repository is None:
            return
        if verb == "paths-info":
            # huggingface_hub sends a form, datasets and fsspec send JSON.
            is_form = "form" in self.headers.get("Content-Type", "")
            wanted = parse_qs(self._body.decode())["paths"] if is_form else json.loads(self._body)["paths"]
            names = set(repository.names)
            self._json([repository.entry(name) for name in wanted if name in names], asked)
        elif verb == "tree":
            self._send_tree(repository, rest, query, asked)
        else:
            siblings = [{"rfilename": name} for name in repository.names]
            told = {
                "id": id,
                "_id": "0" * 24,
                "sha": repository.commit,
                "private": repository.is_private,
                "gated": False,
            }
            self._json({**told, "disabled": False, "downloads": 0, "likes": 0, "tags": [], "siblings": siblings}, asked)

    def _send_tree(self, repository: HubRepository, folder: str, query: dict[str, list[str]], asked: str) -> None:
        is_recursive = query.get("recursive", ["false"])[0].lower() in {"true", "1"}
        entries = repository.tree(folder, is_recursive=is_recursive)
        if not entries:
            self._refuse(404, "EntryNotFound", asked)
            return
        start = int(query.get("cursor", ["0"])[0])
        headers = {}
        if start + PAGE < len(entries):
            address = urlsplit(self.path)
            kept = [part for part in address.query.split("&") if part and not part.startswith("cursor=")]
            following = f"{self.hub.url}{address.path}?{'&'.join([*kept, f'cursor={start + PAGE}'])}"
            headers["Link"] = f'<{following}>; rel="next"'
        self._json(entries[start : start + PAGE], asked, headers)

    def _answer_file(self, kind: str, id: str, verb: str, revision: str, name: str) -> None:
        asked = f"file:{name}"
        repository = self._open(kind, id, revision, name)
        if repository is None:
            return
        if name not in repository.names:
            self._refuse(404, "EntryNotFound", asked, headers={"X-Repo-Commit": repository.commit})
            return
        sha256, blob, n_bytes = repository.hashes(name)
        is_large = repository.is_large(name)
        headers = {
            "X-Repo-Commit": repository.commit,
            "ETag": f'"{sha256 if is_large else blob}"',
            "Accept-Ranges": "bytes",
        }
        if is_large and verb == "resolve":
            prefix = "" if kind == "models" else f"/{kind}"
            place = f"{prefix}/{id}/storage/{repository.commit}/{quote(name)}"
            headers |= {"Location": place, "X-Linked-Etag": f'"{sha256}"', "X-Linked-Size": str(n_bytes)}
            self._send(302, b"", asked, headers)
        else:
            self._send_content(repository.content(name), name, headers)

    def _send_content(self, content: bytes, name: str, headers: dict[str, str]) -> None:
        fault = self.hub.take_fault(name, self.command, _ON_CONTENT) if self.command == "GET" else None
        kind = fault.name if fault else None
        if kind == "wrong-bytes":
            content = bytes([content[0] ^ 1]) + content[1:] if content else content
        if kind == "short":
            content = content[: len(content) // 2]
        status, total = 200, len(content)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked:
            start, stop = int(asked[1]), int(asked[2]) + 1 if asked[2] else total
            content, status = content[start:stop], 206
            headers = {**headers, "Content-Range": f"bytes {start}-{start + len(content) - 1}/{total}"}
        n_sent = {"cut": len(content) // 2, "cut-at-once": 0}.get(kind or "", len(content))
        self._send(status, content, f"file:{name}", headers, n_sent=n_sent, fault=kind)

    def _refuse(
        self,
        status: int,
        code: str | None,
        asked: str,
        *,
        fault: HubFault | None = None,
        message: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        message = message or _ERRORS.get(code or "", "Not found")
        told = {**({"X-Error-Code": code} if code else {}), "X-Error-Message": message, **(headers or {})}
        told |= dict(fault.headers) if fault else {}
        body = json.dumps({"error": message}).encode()
        self._send(
            status, body, asked, {"Content-Type": "application/json", **told}, fault=fault.name if fault else None
        )

    def _json(self, value: object, asked: str, headers: dict[str, str] | None = None) -> None:
        self._send(200, json.dumps(value).encode(), asked, {"Content-Type": "application/json", **(headers or {})})

    def _send(
        self,
        status: int,
        body: bytes,
        asked: str,
        headers: dict[str, str],
        *,
        n_sent: int | None = None,
        fault: str | None = None,
    ) -> None:
        is_body_sent = self.command != "HEAD"
        n_sent = (len(body) if n_sent is None else n_sent) if is_body_sent else 0
        self.hub.note(HubCall(self.command, asked, status, n_sent if status in {200, 206} else 0, fault))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:n_sent])
        self.wfile.flush()
        if is_body_sent and n_sent < len(body):
            self.close_connection = True
