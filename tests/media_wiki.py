"""A real MediaWiki of one's own: PHP's server and an SQLite file, for tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAM = Path("/usr/share/mediawiki")
PASSWORD = "A-pass-phrase-1234"


@dataclass
class Wiki:
    """A running wiki."""

    folder: Path
    url: str

    @property
    def api(self) -> str:
        return f"{self.url}/api.php"

    def write(self, pages: Mapping[str, str]) -> None:
        """Write pages, by title (without `/`), new or not."""
        drafts = self.folder / "drafts"
        shutil.rmtree(drafts, ignore_errors=True)
        drafts.mkdir()
        for title, text in pages.items():
            (drafts / f"{title}.txt").write_text(text, encoding="utf-8")
        self._run("importTextFiles", "--overwrite", *map(str, drafts.iterdir()))

    def delete(self, *titles: str) -> None:
        names = self.folder / "titles"
        names.write_text("\n".join(titles) + "\n", encoding="utf-8")
        self._run("deleteBatch", str(names))

    def move(self, title: str, target: str) -> None:
        names = self.folder / "titles"
        names.write_text(f"{title}|{target}\n", encoding="utf-8")
        self._run("moveBatch", "--noredirects", str(names))

    def close_to_strangers(self) -> None:
        settings = self.folder / "LocalSettings.php"
        text = settings.read_text(encoding="utf-8")
        settings.write_text(f"{text}\n$wgGroupPermissions['*']['read'] = false;\n")

    def _run(self, script: str, *arguments: str) -> None:
        path = PROGRAM / "maintenance" / f"{script}.php"
        done = subprocess.run(
            ["php", str(path), *arguments],
            env=os.environ | {"MW_CONFIG_FILE": str(self.folder / "LocalSettings.php")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def running_wiki(folder: Path) -> Iterator[Wiki]:
    """Install and serve a wiki; skips the test where MediaWiki or PHP is absent."""
    if shutil.which("php") is None or not (PROGRAM / "maintenance" / "install.php").is_file():
        pytest.skip("no MediaWiki: apt-get install mediawiki php-cli php-sqlite3")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    wiki = Wiki(folder, f"http://127.0.0.1:{port}")
    options = {
        "dbtype": "sqlite",
        "dbname": "wiki",
        "dbpath": str(folder / "db"),
        "confpath": str(folder),
        "scriptpath": "",
        "server": wiki.url,
        "lang": "fr",
        "pass": PASSWORD,
    }
    script = PROGRAM / "maintenance" / "install.php"
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    subprocess.run(
        ["php", str(script), *arguments, "Guide", "Admin"], capture_output=True, check=True
    )
    server = subprocess.Popen(
        ["php", "-S", f"127.0.0.1:{port}", "-t", str(PROGRAM)],
        env=os.environ | {"MW_CONFIG_FILE": str(folder / "LocalSettings.php")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(f"{wiki.api}?action=query&meta=siteinfo&format=json")
        yield wiki
    finally:
        server.kill()
        server.wait()


def _wait_for(url: str) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(200):
        try:
            with opener.open(url, timeout=10) as reply:
                reply.read()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the wiki did not start")
