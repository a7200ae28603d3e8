"""An OpenAI-compatible embeddings endpoint on loopback whose answers a test can script."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSION = 16

Answer = tuple[int, dict[str, str], bytes]
"""Status, extra headers, body."""

Step = Callable[[dict[str, Any]], Answer]


@dataclass
class EmbeddingsServer:
    """Answers each request by the next step of `script`, then with vectors of its texts.

    Attributes:
        requests: Bodies received, in order.
        paths: Paths they were sent to.
        keys: Their Authorization headers.
        script: Steps not used yet.
    """

    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    script: list[Step] = field(default_factory=list)


@contextmanager
def embeddings_server() -> Iterator[EmbeddingsServer]:
    """Serve on a free port of loopback until the block ends."""
    state = EmbeddingsServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(body)
            state.paths.append(self.path)
            state.keys.append(self.headers.get("Authorization"))
            status, headers, content = (state.script.pop(0) if state.script else embeddings)(body)
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client gave up waiting, as the test wanted

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    state.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def vector_of(text: str) -> list[float]:
    """Return the vector that the server gives a text: from its digest, not of length 1."""
    return [byte - 99.5 for byte in hashlib.shake_128(text.encode()).digest(DIMENSION)]


def embeddings(body: dict[str, Any]) -> Answer:
    """Answer as an endpoint in order does."""
    return as_json(
        {"object": "list", "model": body["model"], "data": items(body["input"]), "usage": {}}
    )


def items(texts: list[str]) -> list[dict[str, Any]]:
    """Return the `data` of an answer."""
    return [
        {"object": "embedding", "index": index, "embedding": vector_of(text)}
        for index, text in enumerate(texts)
    ]


def as_json(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """Answer with a JSON body."""
    extra = {"Content-Type": "application/json"} | (headers or {})
    return status, extra, json.dumps(value).encode()


def failing(status: int, message: str = "no") -> Step:
    """Answer with an error, to be tried again at once where it may be."""

    def step(_body: dict[str, Any]) -> Answer:
        body = {"error": {"message": message}}
        return as_json(body, status=status, headers={"retry-after-ms": "1"})

    return step


def answering(data: object) -> Step:
    """Answer with any `data`."""
    return lambda body: as_json({"object": "list", "model": body["model"], "data": data})


def slow(seconds: float) -> Step:
    """Answer well, but late."""

    def step(body: dict[str, Any]) -> Answer:
        time.sleep(seconds)
        return embeddings(body)

    return step
