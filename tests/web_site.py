"""A real web server with a site that tests write, and change while it runs."""

from __future__ import annotations

import gzip
import hashlib
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """What a path answers."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Site:
    """The paths of a running site; `requests` has each request's path and status."""

    url: str = ""
    answers: dict[str, Answer | Callable[[BaseHTTPRequestHandler], Answer]] = field(
        default_factory=dict
    )
    requests: list[tuple[str, int]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def page(self, path: str, body: str, *, head: str = "", title: str = "Page") -> None:
        """Put an HTML page, with a strong ETag."""
        html = (
            f"<html lang=fr><head><title>{title}</title>{head}</head>"
            f"<body><main>{body}</main></body></html>"
        )
        self.put(path, html.encode(), "text/html; charset=utf-8")

    def answer_with(self, answer: Callable[[BaseHTTPRequestHandler], Answer]) -> None:
        """Have every path answered by one function; what was posted is the handler's `body`."""

        class Everything(dict[str, object]):
            def get(self, path: str, default: object = None) -> object:
                return answer

        self.answers = Everything()  # type: ignore[assignment]

    def put(self, path: str, body: bytes, media_type: str, **headers: str) -> None:
        tag = f'"{hashlib.sha256(body).hexdigest()[:12]}"'
        self.answers[path] = Answer(
            body, headers={"Content-Type": media_type, "ETag": tag, **headers}
        )

    def sitemap(self, path: str, *pages: str, lastmod: str = "", packed: bool = False) -> None:
        date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
        rows = "".join(f"<url><loc>{self.url}{page}</loc>{date}</url>" for page in pages)
        xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        self._xml(path, xml, packed=packed)

    def sitemap_index(self, path: str, *sitemaps: str) -> None:
        rows = "".join(f"<sitemap><loc>{self.url}{one}</loc></sitemap>" for one in sitemaps)
        self._xml(
            path,
            f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}'
            "</sitemapindex>",
        )

    def _xml(self, path: str, xml: str, *, packed: bool = False) -> None:
        body = f'<?xml version="1.0" encoding="UTF-8"?>{xml}'.encode()
        self.answers[path] = Answer(gzip.compress(body) if packed else body)

    def redirect(self, path: str, target: str, status: int = 301) -> None:
        self.answers[path] = Answer(status=status, headers={"Location": target})

    def asked(self, path: str) -> list[int]:
        """Return the statuses of the requests for a path."""
        return [status for asked, status in self.requests if asked == path]


@contextmanager
def serving(site: Site, context: ssl.SSLContext | None = None) -> Iterator[Site]:
    """Serve a site on a port of the loopback interface; by HTTPS, with a context."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.do_GET()

        def do_GET(self) -> None:
            found = site.answers.get(self.path, Answer(b"nothing", 404))
            answer = found if isinstance(found, Answer) else found(self)
            status, body = answer.status, answer.body
            tag = answer.headers.get("ETag")
            if tag and self.headers.get("If-None-Match") == tag:
                status, body = 304, b""
            site.requests.append((self.path, status))
            site.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Keep quiet: clients that do not trust us leave in the middle of the handshake."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
