"""A real git repository, and real servers of it, for tests."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

BACKEND = (
    Path(
        subprocess.run(
            ["git", "--exec-path"], capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    / "git-http-backend"
)


@dataclass
class Repository:
    """A bare repository and the working copy that pushes to it."""

    bare: Path
    copy: Path

    @classmethod
    def create(cls, folder: Path) -> Repository:
        repository = cls(folder / "handbook.git", folder / "copy")
        git("init", "-q", "--bare", "-b", "main", str(repository.bare))
        git("init", "-q", "-b", "main", str(repository.copy))
        repository.git("remote", "add", "origin", str(repository.bare))
        return repository

    def git(self, *arguments: str, at: int | None = None) -> str:
        return git(*arguments, cwd=self.copy, at=at)

    def write(self, path: str, text: str) -> None:
        file = self.copy / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def push(self, message: str = "change", *, at: int | None = None, force: bool = False) -> str:
        """Commit everything, push, and return the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, at=at)
        self.git("push", "-q", *(["--force"] if force else []), "origin", "HEAD")
        return self.git("rev-parse", "HEAD")


def git(*arguments: str, cwd: Path | None = None, at: int | None = None) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.com",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.com",
    }
    if at is not None:
        environment |= {"GIT_AUTHOR_DATE": f"{at} +0100", "GIT_COMMITTER_DATE": f"{at} +0100"}
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@dataclass
class GitServer:
    """What a test sees of a running server."""

    url: str
    token: str | None = None

    def __post_init__(self) -> None:
        self.requests: list[str] = []


@contextmanager
def smart_http(root: Path, *, token: str | None = None) -> Iterator[GitServer]:
    """Serve repositories by git's own CGI program; with a token, to whoever shows it alone."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.serve()

        def do_POST(self) -> None:
            self.serve()

        def serve(self) -> None:
            parts = urlsplit(self.path)
            server.requests.append(f"{self.command} {self.path}")
            if not self.allowed():
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            environment = os.environ | {
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": self.command,
                "PATH_INFO": parts.path,
                "QUERY_STRING": parts.query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_ADDR": "127.0.0.1",
            }
            done = subprocess.run(
                [str(BACKEND)], input=body, env=environment, capture_output=True, check=False
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
            self.send_response(int(headers.pop("Status", "200").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def allowed(self) -> bool:
            if server.token is None:
                return True
            given = self.headers.get("Authorization", "").removeprefix("Basic ")
            return base64.b64decode(given).decode().endswith(f":{server.token}")

        def log_message(self, *_: object) -> None:
            pass

    with _serving(Handler) as url:
        server = GitServer(url, token)
        yield server


@contextmanager
def plain_http(root: Path) -> Iterator[str]:
    """Serve the files of repositories, as any web server can."""

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, directory=str(root), **options)  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    with _serving(Handler) as url:
        yield url


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
