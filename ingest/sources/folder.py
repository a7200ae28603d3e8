"""A folder of files as a source of pages."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.records import PUBLIC, Audiences, RawPage, SkippedPage
from ingest.sources.base import (
    DEFAULT_MAX_PAGE_BYTES,
    UNWATCHED,
    Entry,
    Listing,
    Watch,
    too_large,
)
from ingest.sources.paths import (
    LinkTemplate,
    PathFilter,
    has_page_suffix,
    is_hidden,
    is_unicode,
    media_type_of,
)


class FolderSource:
    """The pages in a folder and below it.

    Links are followed as long as they stay inside the folder. Hidden files and folders are ignored,
    and so are files that are no pages by their suffix (images, data, programs).
    """

    def __init__(
        self,
        name: str,
        root: Path | str,
        *,
        url_template: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_page_bytes: int = DEFAULT_MAX_PAGE_BYTES,
        audiences: Audiences = PUBLIC,
    ) -> None:
        """Describe a folder; nothing is read yet.

        Args:
            name: Shown to people and stored with each page.
            root: The folder.
            url_template: Link of each page; see `LinkTemplate`.
            include: Patterns of paths to take; empty means all; see `path_pattern`.
            exclude: Patterns of paths to leave out; they win over `include`.
            max_page_bytes: Larger files are skipped and reported.
            audiences: Who may read the pages.

        Raises:
            ConfigurationError: If the template has an unknown placeholder.
        """
        self._name = name
        self._root = Path(root)
        self._links = LinkTemplate(name, url_template) if url_template else None
        self._filter = PathFilter(include, exclude)
        self._max_page_bytes = max_page_bytes
        self._audiences = audiences
        self._locations: dict[str, str] = {}  # path as listed (NFC) -> path on disk

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        return self._name

    def probe(self) -> str:
        """Count the pages.

        Raises:
            SourceUnavailableError: If the folder itself is not there or cannot be read.
        """
        return f"{len(self.listing().entries)} pages"

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """List the pages.

        Raises:
            SourceUnavailableError: If the folder itself is not there or cannot be read.
        """
        try:
            root = self._root.resolve(strict=True)
            with os.scandir(root):
                pass
        except OSError as error:
            raise SourceUnavailableError(f"cannot list {self._root}: {_why(error)}") from error
        found = _Found()
        self._walk(root, "", (root,), found)
        self._locations = found.locations
        return Listing(
            entries=tuple(found.entries[path] for path in sorted(found.entries)),
            skipped=tuple(sorted(found.skipped, key=lambda page: page.path)),
            complete=not found.problems,
            problem="; ".join(found.problems) or None,
        )

    def fetch(self, entry: Entry) -> RawPage:
        """Read one page.

        Raises:
            SourceUnavailableError: If the folder went away.
            PageParseError: If the file cannot be read any more, grew too large, or is now a link
                that leaves the folder.
        """
        location = self._root / self.location(entry.path)
        try:
            real, root = location.resolve(strict=True), self._root.resolve(strict=True)
            if not real.is_relative_to(root):
                raise PageParseError(_LEAVES)
            with location.open("rb") as file:
                content = file.read(self._max_page_bytes + 1)
                modified = os.fstat(file.fileno()).st_mtime
        except OSError as error:
            if not self._root.is_dir():
                raise SourceUnavailableError(f"{self._root} is gone") from error
            raise PageParseError(f"cannot be read: {_why(error)}") from error
        if len(content) > self._max_page_bytes:
            raise PageParseError(too_large(self._max_page_bytes))
        return RawPage(
            path=entry.path,
            content=content,
            media_type=media_type_of(entry.path),
            modified_at=datetime.fromtimestamp(modified, UTC),
            url=self._links.link(entry.path) if self._links else None,
            audiences=self._audiences,
            found_at=unicodedata.normalize("NFC", real.relative_to(root).as_posix()),
        )

    def location(self, path: str) -> str:
        """Return where a listed page is on disk, below the folder: its name may be decomposed."""
        return self._locations.get(path, path)

    def close(self) -> None:
        """Nothing is held open."""

    def _walk(self, folder: Path, prefix: str, around: tuple[Path, ...], found: _Found) -> None:
        """Look at everything in a folder.

        Args:
            folder: Its real path.
            prefix: Its path inside the source, "" or ending with `/`.
            around: Real paths of the root and of the folders on the way here, this one included.
            found: Collects the outcome.
        """
        try:
            with os.scandir(folder) as scan:
                members = sorted(scan, key=lambda member: member.name)
        except OSError as error:
            found.problems.append(f"cannot list {prefix or '.'}: {_why(error)}")
            return
        for member in members:
            if not is_hidden(member.name):
                self._look_at(member, prefix + member.name, around, found)

    def _look_at(
        self, member: os.DirEntry[str], location: str, around: tuple[Path, ...], found: _Found
    ) -> None:
        path = unicodedata.normalize("NFC", location)
        is_page = has_page_suffix(path) and self._filter.wants(path)
        try:
            real = Path(member.path).resolve(strict=True)
            status = real.stat()
        except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError up to 3.12
            if is_page:
                found.skip(path, f"cannot be read: {_why(error)}")
            return
        if stat.S_ISDIR(status.st_mode):
            if member.is_symlink() and (real in around or not real.is_relative_to(around[0])):
                found.skip(path, _LOOPS if real in around else _LEAVES)
            else:
                self._walk(real, f"{location}/", (*around, real), found)
        elif is_page:
            inside = real.is_relative_to(around[0])
            reason = _LEAVES if not inside else self._refusal(path, real, status, found)
            if reason is None:
                found.add(path, location, status)
            else:
                found.skip(path, reason)

    def _refusal(self, path: str, real: Path, status: os.stat_result, found: _Found) -> str | None:
        """Return why a file cannot be taken, None if it can."""
        if not stat.S_ISREG(status.st_mode):
            return "not a regular file"
        if not is_unicode(path):
            return "its name is not valid Unicode"
        if path in found.entries:
            return "another file has the same name in another Unicode form"
        if status.st_size == 0:
            return "the file is empty"
        if status.st_size > self._max_page_bytes:
            return too_large(self._max_page_bytes)
        return None if os.access(real, os.R_OK) else "cannot be read: permission denied"


_LEAVES: Final = "a link that leaves the folder"
_LOOPS: Final = "a link to a folder it is in"


@dataclass(slots=True)
class _Found:
    """What a walk collects; paths are relative, with `/`, and NFC."""

    entries: dict[str, Entry] = field(default_factory=dict)
    locations: dict[str, str] = field(default_factory=dict)
    skipped: list[SkippedPage] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, path: str, location: str, status: os.stat_result) -> None:
        # The change time notices an edit that keeps size and modification time.
        version = f"{status.st_mtime_ns:x}-{status.st_ctime_ns:x}-{status.st_size:x}"
        self.entries[path] = Entry(path, version, status.st_size)
        self.locations[path] = location

    def skip(self, path: str, reason: str) -> None:
        shown = path.encode("utf-8", "replace").decode()
        self.skipped.append(SkippedPage(shown, reason))


def _why(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error)).lower()
