"""A real HTTP server on loopback that plays scripted answers, one per request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Scripted:
    """One answer: a status with a JSON body, or text sent as it is, after a delay."""

    status: int = 200
    body: object = None
    delay_s: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    events: tuple[object, ...] = ()
    """Sent as a stream instead of the body: JSON, words as they are, or a function that is called
    before what follows it."""


@dataclass
class ScriptedServer:
    """What is left to play and what was asked. The last answer is played for ever.

    An answer may be a function of the request's body.
    """

    script: list[Scripted | Callable[[Any], Scripted]]
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def next(self, body: Any) -> Scripted:
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return answer if isinstance(answer, Scripted) else answer(body)


@contextmanager
def scripted_server(*script: Scripted | Callable[[Any], Scripted]) -> Iterator[ScriptedServer]:
    """Serve a script; yields the server with its base `url` (ends in /v1)."""
    state = ScriptedServer(list(script))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"null")
            state.requests.append({"path": self.path, "body": body, "headers": dict(self.headers)})
            answer = state.next(body)
            time.sleep(answer.delay_s)
            if answer.events:
                self.stream(answer)
                return
            text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
            payload = text.encode()
            try:
                self.send_response(answer.status)
                given = {"Content-Type": "application/json", "Content-Length": str(len(payload))}
                for name, value in (given | answer.headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(payload)
            except ConnectionError:
                pass  # the client gave up waiting: that is what some scripts are for

        def stream(self, answer: Scripted) -> None:
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", "text/event-stream")
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for event in answer.events:
                    if callable(event):
                        event()
                        continue
                    data = event if isinstance(event, str) else json.dumps(event)
                    self.wfile.write(f"data: {data}\n\n".encode())
                    self.wfile.flush()
            except ConnectionError:
                pass

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
