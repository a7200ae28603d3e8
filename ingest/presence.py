"""Says whether a page is known to be deleted at its source, where that is cheap to ask."""

from __future__ import annotations

import logging
import subprocess
import time
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import httpx2

from ingest.config import load_config
from ingest.errors import HandbookError
from ingest.settings import IngestSettings
from ingest.sources.configuration import (
    FolderTable,
    GitTable,
    SourceTable,
    UploadTable,
    WebsiteTable,
)
from ingest.sources.paths import folder_in_repository
from ingest.sources.web_addresses import place_of
from ingest.sources.web_client import USER_AGENT, GuardedTransport

logger = logging.getLogger(__name__)

WEB_BUDGET_S: Final = 0.7
"""How long an answer may wait for a website; then it goes as it is."""
LET_BE_S: Final = 60.0
"""How long a website is not asked that did not answer in time."""
KEEP_S: Final = 10.0
"""How long what a website said of a page holds: an answer asks for a page several times."""
MOST_KEPT: Final = 1_000
GIT_BUDGET_S: Final = 2.0
_GONE: Final = frozenset({404, 410})


class SourcePresence:
    """Asks the sources of handbook.toml; safe to share between threads.

    A file of a folder is looked for; a page in a repository on this machine is looked for in its
    branch; a page of a website is asked for its head, if no login is needed. Of other sources, and
    whenever something fails, nothing is known, and a page counts as there.

    Args:
        settings: Where handbook.toml is.
        web_budget_s: How long a website may take.
    """

    def __init__(self, settings: IngestSettings, *, web_budget_s: float = WEB_BUDGET_S) -> None:
        self._settings = settings
        self._web_budget_s = web_budget_s
        self._read: tuple[int, Mapping[str, SourceTable]] | None = None  # when written, and what
        self._silent: dict[str, float] = {}  # hosts that did not answer, and until when to let be
        self._looked: dict[str, tuple[float, bool]] = {}  # pages, when asked for, and if gone

    def is_gone(self, source: str, path: str) -> bool:
        """Say whether a page is known to be deleted.

        Args:
            source: Name of its source.
            path: Of the page in its source.

        Raises:
            ConfigurationError: If handbook.toml is wrong.
        """
        match self._tables().get(source):
            case FolderTable(path=root) | UploadTable(path=root):
                try:
                    return _file_is_gone(root, path)
                except (OSError, ValueError) as error:  # no right to look, or its disk is away
                    logger.info("a page was not looked for", extra={"reason": type(error).__name__})
                    return False
            case GitTable() as table:
                return _is_gone_from_repository(table, path)
            case WebsiteTable() as table if not table.headers_env and not table.cookies_env:
                return self._is_gone_from_web(path, table)
            case _:
                return False

    def _tables(self) -> Mapping[str, SourceTable]:
        """Return the sources as handbook.toml has them now: a folder may be another one."""
        try:
            written = self._settings.handbook_config.stat().st_mtime_ns
        except OSError:
            return {}
        if self._read is None or self._read[0] != written:
            configured = load_config(self._settings).sources
            self._read = written, {table.name: table for table in configured}
        return self._read[1]

    def _is_gone_from_web(self, url: str, table: WebsiteTable) -> bool:
        place, now = place_of(url), time.monotonic()
        if place not in {*map(place_of, table.start), *table.hosts}:
            return False
        if self._silent.get(place, now) > now:
            return False
        looked_at, gone = self._looked.get(url, (-KEEP_S, False))
        if now - looked_at < KEEP_S:
            return gone
        try:
            gone = self._asked(url, private_network=table.private_network)
        except (httpx2.HTTPError, httpx2.InvalidURL, HandbookError, OSError, ValueError) as error:
            logger.info("a page was not looked for", extra={"reason": type(error).__name__})
            self._silent[place] = now + LET_BE_S
            return False
        if time.monotonic() - now > self._web_budget_s:
            self._silent[place] = now + LET_BE_S
        if len(self._looked) >= MOST_KEPT:
            self._looked.clear()
        self._looked[url] = (now, gone)
        return gone

    def _asked(self, url: str, *, private_network: bool) -> bool:
        """Ask a website for a page; it gets to see nothing that a sync would not show it."""
        with httpx2.Client(
            transport=GuardedTransport(private_network=private_network),
            headers={"User-Agent": USER_AGENT},
            timeout=self._web_budget_s,
            trust_env=False,
        ) as client:
            if client.head(url).status_code not in _GONE:
                return False
            with client.stream("GET", url) as answer:  # some servers know no HEAD
                return answer.status_code in _GONE


def _file_is_gone(root: Path, path: str) -> bool:
    if not root.is_dir():
        return False  # the whole folder is away: an outage, not a deletion
    place = root
    for part in path.split("/"):
        if not (place / part).exists():
            # Some disks write names decomposed, and others keep them so.
            part = next((n.name for n in place.iterdir() if _composed(n.name) == part), "")
            if not part:
                return True
        place /= part
    return False


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _is_gone_from_repository(table: GitTable, path: str) -> bool:
    repository = Path(table.repository)
    if not repository.is_dir():
        return False  # elsewhere: asking would take a fetch
    folder = folder_in_repository(table.folder)
    inside = f"{folder}/{path}" if folder else path
    branch = table.branch or "HEAD"
    try:
        if _git(repository, "rev-parse", "--verify", "--quiet", branch) is None:
            return False
        if _git(repository, "cat-file", "-e", f"{branch}:{inside}") is not None:
            return False
        # Not by that name; the tree may have it decomposed.
        names = _git(repository, "ls-tree", "-r", "-z", "--name-only", "--full-tree", branch)
    except (OSError, subprocess.SubprocessError):
        return False
    if names is None:
        return False
    decoded = (name.decode("utf-8", "surrogateescape") for name in names.split(b"\0"))
    return _composed(inside) not in map(_composed, decoded)


def _git(repository: Path, *arguments: str) -> bytes | None:
    """Return what git says, None when it refuses."""
    ended = subprocess.run(  # noqa: S603 - no shell, and values that start no option
        ["git", "-C", str(repository), *arguments],  # noqa: S607 - whichever git the PATH has
        capture_output=True,
        timeout=GIT_BUDGET_S,
        check=False,
    )
    return ended.stdout if ended.returncode == 0 else None
