"""A fake Kubernetes API server: objects in memory, scripted watches, rejections and dropped connections."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, urlsplit

import yaml

HANG_UP = "hang up"
"""In the script of a watch or log: drop the connection."""
USABLE: dict[str, Any] = {
    "/version": {"gitVersion": "v1.34.0"},
    "/api/v1/namespaces/sweeps": {"metadata": {"name": "sweeps", "uid": "u0"}},
}
"""Objects of a cluster on which a sweep can run."""


class ApiServer:
    """The state and the behaviour of the server.

    Attributes:
        objects: The objects, by path.
        refusals: Rejections of the next matching request: method, part of the path, status, message.
        watches: The events of each following watch.
        logs: The lines, or a status, of each following log; a function among them is called.
        requests: All requests: method, path, query.
        denied: Permissions that an access review denies: `verb resource`.
    """

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.refusals: list[tuple[str, str, int, str]] = []
        self.watches: deque[list[Any]] = deque()
        self.logs: deque[list[Any]] = deque()
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.denied: set[str] = set()
        self.version = 100

    def put(self, path: str, manifest: dict[str, Any]) -> dict[str, Any]:
        """Store an object."""
        self.version += 1
        manifest = json.loads(json.dumps(manifest))
        manifest.setdefault("metadata", {})["resourceVersion"] = str(self.version)
        manifest["metadata"].setdefault("uid", f"uid-{self.version}")
        manifest["metadata"].setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
        self.objects[path] = manifest
        return manifest

    def _delete(self, path: str) -> tuple[int, Any]:
        """Delete an object; one with a finalizer is only marked."""
        found = self.objects.get(path)
        if found is None:
            return 404, {"message": f"{path} not found"}
        if found.get("metadata", {}).get("finalizers"):
            found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        else:
            del self.objects[path]
            self._collect()
        return 200, found

    def _patch(self, path: str, body: Any) -> tuple[int, Any]:
        """Apply a merge patch, or a JSON patch to an object that exists; a status is part of its object."""
        path = path.removesuffix("/status")
        if not isinstance(body, list):
            return 200, self.put(path, _merge(self.objects.get(path, {}), body))
        if path not in self.objects:
            return 404, {"message": f"{path} not found"}
        changed = json.loads(json.dumps(self.objects[path]))
        for each in body:
            *steps, last = each["path"].split("/")[1:]
            place = changed
            for step in steps:
                place = place[int(step) if isinstance(place, list) else step]
            if each["op"] == "test" and place[last] != each["value"]:
                return 422, {"message": "the test failed"}
            place[last] = each["value"]
        return 200, self.put(path, changed)

    def _collect(self) -> None:
        """Delete objects whose owners are all deleted, as Kubernetes' garbage collector does."""
        found = {path: one["metadata"] for path, one in self.objects.items() if "metadata" in one}
        there = {each["uid"] for each in found.values()}
        for path, metadata in found.items():
            owners = {each["uid"] for each in metadata.get("ownerReferences", [])}
            if owners and not owners & there:
                del self.objects[path]

    def answer(  # noqa: PLR0911 - one return per kind of request
        self, method: str, path: str, query: dict[str, str], body: Any
    ) -> tuple[int, Any]:
        """Return the status and the body of the response."""
        for at, (verb, part, status, message) in enumerate(self.refusals):
            if verb == method and part in path:
                del self.refusals[at]
                return status, {"kind": "Status", "message": message, "code": status}
        if path.endswith("selfsubjectaccessreviews"):
            attributes = body["spec"]["resourceAttributes"]
            name = "/".join(filter(None, (attributes["resource"], attributes.get("subresource"))))
            return 201, {"status": {"allowed": f"{attributes['verb']} {name}" not in self.denied}}
        match method:
            case "POST" | "PATCH" if query.get("dryRun"):
                return 200, body
            case "POST":
                path = f"{path}/{body['metadata']['name']}"
                return (
                    (409, {"message": "already exists"})
                    if path in self.objects
                    else (201, self.put(path, body))
                )
            case "PATCH":
                return self._patch(path, body)
            case "DELETE":
                return self._delete(path)
        if path in self.objects:
            return 200, self.objects[path]
        inside = [one for name, one in sorted(self.objects.items()) if name.rpartition("/")[0] == path]
        if not inside and not path.rsplit("/", 1)[1].endswith("s"):
            return 404, {"message": f"{path} not found"}
        wanted = dict(pair.split("=") for pair in query.get("labelSelector", "").split(",") if pair)
        name = query.get("fieldSelector", "").partition("metadata.name=")[2]
        inside = [one for one in inside if wanted.items() <= one["metadata"].get("labels", {}).items()]
        inside = [one for one in inside if name in ("", one["metadata"]["name"])]
        return 200, {"items": inside, "metadata": {"resourceVersion": str(self.version)}}


def _play(script: list[Any], wire: BinaryIO) -> None:
    """Send a scripted stream in chunks."""
    for event in script:
        if callable(event):
            event()
            continue
        if event == HANG_UP:
            wire.write(b'40\r\n{"type": "MODI')  # an incomplete chunk
            return
        line = (event if isinstance(event, str) else json.dumps(event)).encode() + b"\n"
        wire.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
    wire.write(b"0\r\n\r\n")


def _merge(here: Any, patch: Any) -> Any:
    """Apply a patch: tables are merged, anything else is replaced."""
    if isinstance(here, dict) and isinstance(patch, dict):
        return {**here, **{name: _merge(here.get(name), value) for name, value in patch.items()}}
    return patch


@contextmanager
def serve(folder: Path) -> Iterator[tuple[ApiServer, Path]]:
    """Serve for a `with` block; return the server and the path of a kubeconfig."""
    server = ApiServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Else a body waits 40 ms for the acknowledgement of its headers.
        disable_nagle_algorithm = True

        def _handle(self) -> None:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query))
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            server.requests.append((self.command, parts.path, query))
            if query.get("watch") == "true":
                self._stream(server.watches)
                return
            if query.get("follow") == "true":
                self._stream(server.logs)
                return
            status, found = server.answer(self.command, parts.path, query, json.loads(data) if data else None)
            if status == 0:
                self.close_connection = True
                return
            text = found.encode() if isinstance(found, str) else json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def _stream(self, scripts: deque[list[Any]]) -> None:
            script = scripts.popleft() if scripts else []
            if script and isinstance(script[0], int):
                self.send_response(script[0])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.close_connection = bool(script)
            _play(script, self.wfile)

        do_GET = do_POST = do_PATCH = do_DELETE = _handle  # noqa: N815 - names defined by http.server

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{http.server_port}"}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "sweeps"}}],
            "current-context": "x",
        }
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(config))
        yield server, path
        http.shutdown()
        thread.join()
