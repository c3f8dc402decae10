"""A local ModelScope: the two endpoints that modelscope_hub asks for a dataset's files, with faults on purpose."""

import fnmatch
import json
import re
import threading
from collections import Counter
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, urlsplit

from servers.hub_repository import HubRepository
from servers.hub_server import HubFault


class ModelScopeServer:
    """The server in threads of this process.

    Args:
        repository: What it serves, on its branch ``master``.
        faults: As for ``HubServer``: ``cut``, ``wrong-bytes``, or a status.
    """

    def __init__(self, repository: HubRepository, faults: Iterable[HubFault] = ()) -> None:
        self.repository = repository
        self.downloaded: Counter[str] = Counter()
        self.asked: list[str] = []
        self._faults = [[fault, fault.n_times] for fault in faults]
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def take_fault(self, path: str) -> str | None:
        with self._lock:
            for entry in self._faults:
                if entry[1] > 0 and fnmatch.fnmatch(path, entry[0].path):
                    entry[1] -= 1
                    return entry[0].name
        return None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two packets, and each request would wait 40 ms
    hub: ModelScopeServer

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        self.hub.asked.append(self.path)
        found = re.fullmatch(r"/api/v1/datasets/([^/]+/[^/]+)/(repo/tree|repo)", address.path)
        if found is None or found[1] != self.hub.repository.id or query.get("Revision") not in {"master", "v1"}:
            self._json(404, {"Code": 10010205001, "Message": "dataset not found", "Success": False})
        elif found[2] == "repo/tree":
            self._send_tree(query)
        else:
            self._send_file(query["FilePath"])

    def _send_tree(self, query: dict[str, str]) -> None:
        fault = self.hub.take_fault("tree")
        if fault is not None:
            self._json(int(fault), {"Message": f"error {fault}", "Success": False})
            return
        repository = self.hub.repository
        entries = repository.tree(query.get("Root", "").strip("/"), is_recursive=query.get("Recursive") == "True")
        if "PageNumber" in query:
            size = int(query["PageSize"])
            start = (int(query["PageNumber"]) - 1) * size
            entries = entries[start : start + size]
        files = [self._listed(entry) for entry in entries]
        self._json(200, {"Code": 200, "Success": True, "Data": {"Files": files}})

    def _listed(self, entry: dict) -> dict:
        if entry["type"] == "directory":
            return {"Path": entry["path"], "Name": entry["path"].split("/")[-1], "Type": "tree", "Size": 0}
        sha256, _, n_bytes = self.hub.repository.hashes(entry["path"])
        name = entry["path"].split("/")[-1]
        return {"Path": entry["path"], "Name": name, "Type": "blob", "Size": n_bytes, "Sha256": sha256}

    def _send_file(self, name: str) -> None:
        fault = self.hub.take_fault(name)
        if name not in self.hub.repository.names:
            self._json(404, {"Code": 10010205001, "Message": "file not found", "Success": False})
            return
        if fault is not None and fault.isdecimal():
            self._json(int(fault), {"Message": f"error {fault}", "Success": False})
            return
        content = self.hub.repository.content(name)
        if fault == "wrong-bytes":
            content = bytes([content[0] ^ 1]) + content[1:]
        total, status, headers = len(content), 200, {}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked:
            start, stop = int(asked[1]), int(asked[2]) + 1 if asked[2] else total
            content, status = content[start:stop], 206
            headers = {"Content-Range": f"bytes {start}-{start + len(content) - 1}/{total}"}
        self.hub.downloaded[name] += self.command == "GET"
        n_sent = len(content) // 2 if fault == "cut" else len(content)
        self._send(status, content, headers | {"Accept-Ranges": "bytes"}, n_sent)

    def _json(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self._send(status, body, {"Content-Type": "application/json"}, len(body))

    def _send(self, status: int, body: bytes, headers: dict[str, str], n_sent: int) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:n_sent])
            self.wfile.flush()
            self.close_connection = n_sent < len(body)
