"""A folder of files as a source of pages."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from string import Formatter
from typing import Final
from urllib.parse import quote

from ingest.errors import ConfigurationError, PageParseError, SourceUnavailableError
from ingest.parsing.media import MEDIA_TYPES
from ingest.records import PUBLIC, Audiences, RawPage, SkippedPage
from ingest.sources.base import Entry, Listing

DEFAULT_MAX_PAGE_BYTES: Final = 20_000_000

# Folders that site generators keep their templates in, and tools their own files: no pages.
_NOT_PAGES: Final = frozenset({"_includes", "_layouts", "_data", "node_modules", "__pycache__"})
_INDEX_NAMES: Final = frozenset({"index", "_index", "readme"})


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
            url_template: Link of each page, with any of `{path}` (rh/conges.md),
                `{path_without_extension}` (rh/conges), `{slug}` (rh/conges, and rh for
                rh/index.md or rh/README.md, as sites publish them) and `{name}` (conges), each
                quoted for a URL.
            include: Patterns of paths to take; empty means all. `*` stays inside a folder, `**`
                goes through any number of them.
            exclude: Patterns of paths to leave out; they win over `include`.
            max_page_bytes: Larger files are skipped and reported.
            audiences: Who may read the pages.

        Raises:
            ConfigurationError: If the template has an unknown placeholder.
        """
        self._name = name
        self._root = Path(root)
        self._url_template = url_template
        self._include = [_pattern(glob) for glob in include]
        self._exclude = [_pattern(glob) for glob in exclude]
        self._max_page_bytes = max_page_bytes
        self._audiences = audiences
        self._locations: dict[str, str] = {}  # path as listed (NFC) -> path on disk
        _check_template(name, url_template)

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        return self._name

    def listing(self) -> Listing:
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
        location = self._root / self._locations.get(entry.path, entry.path)
        try:
            if not location.resolve(strict=True).is_relative_to(self._root.resolve(strict=True)):
                raise PageParseError(_LEAVES)
            with location.open("rb") as file:
                content = file.read(self._max_page_bytes + 1)
                modified = os.fstat(file.fileno()).st_mtime
        except OSError as error:
            if not self._root.is_dir():
                raise SourceUnavailableError(f"{self._root} is gone") from error
            raise PageParseError(f"cannot be read: {_why(error)}") from error
        if len(content) > self._max_page_bytes:
            raise PageParseError(self._too_large())
        return RawPage(
            path=entry.path,
            content=content,
            media_type=MEDIA_TYPES[PurePosixPath(entry.path).suffix.lower()],
            modified_at=datetime.fromtimestamp(modified, UTC),
            url=_url(self._url_template, entry.path) if self._url_template else None,
            audiences=self._audiences,
        )

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
            if not member.name.startswith(".") and member.name not in _NOT_PAGES:
                self._look_at(member, prefix + member.name, around, found)

    def _look_at(
        self, member: os.DirEntry[str], location: str, around: tuple[Path, ...], found: _Found
    ) -> None:
        path = unicodedata.normalize("NFC", location)
        is_page = PurePosixPath(path).suffix.lower() in MEDIA_TYPES and self._is_wanted(path)
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
        if not _is_unicode(path):
            return "its name is not valid Unicode"
        if path in found.entries:
            return "another file has the same name in another Unicode form"
        if status.st_size == 0:
            return "the file is empty"
        if status.st_size > self._max_page_bytes:
            return self._too_large()
        return None if os.access(real, os.R_OK) else "cannot be read: permission denied"

    def _too_large(self) -> str:
        return f"larger than {self._max_page_bytes} bytes (MAX_PAGE_BYTES)"

    def _is_wanted(self, path: str) -> bool:
        if any(pattern.match(path) for pattern in self._exclude):
            return False
        return not self._include or any(pattern.match(path) for pattern in self._include)


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


def _is_unicode(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- patterns and links --------------------------------------------------------------------------

_GLOB_PARTS: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|.", re.S)
_GLOB_MEANINGS: Final = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _pattern(glob: str) -> re.Pattern[str]:
    """Compile a path pattern. Without `/` it means a name at any depth; `folder/` all in it."""
    glob = unicodedata.normalize("NFC", glob.removeprefix("./"))
    if "/" not in glob:
        glob = f"**/{glob}"
    if glob.endswith("/"):
        glob = f"{glob}**"
    parts = (part[0] for part in _GLOB_PARTS.finditer(glob.removeprefix("/")))
    return re.compile(
        "".join(
            part if part[0] == "[" and len(part) > 1 else _GLOB_MEANINGS.get(part, re.escape(part))
            for part in parts
        )
        + r"\Z"
    )


_PLACEHOLDERS: Final = ("path", "path_without_extension", "slug", "name")


def _check_template(source: str, template: str | None) -> None:
    try:
        fields = [
            field for _, field, _, _ in Formatter().parse(template or "") if field is not None
        ]
    except ValueError as error:
        raise ConfigurationError(f"url of source {source!r}: {error}: {template}") from error
    unknown = [field for field in fields if field not in _PLACEHOLDERS]
    if unknown:
        known = ", ".join(f"{{{placeholder}}}" for placeholder in _PLACEHOLDERS)
        raise ConfigurationError(
            f"url of source {source!r} has {{{unknown[0]}}}; it may have {known}"
        )


def _url(template: str, path: str) -> str:
    pure = PurePosixPath(path)
    bare = pure.with_suffix("")
    folder = "" if bare.parent == PurePosixPath() else str(bare.parent)
    values = {
        "path": path,
        "path_without_extension": str(bare),
        "slug": folder if bare.name.lower() in _INDEX_NAMES else str(bare),
        "name": bare.name,
    }
    return template.format(**{key: quote(value, safe="/") for key, value in values.items()})
