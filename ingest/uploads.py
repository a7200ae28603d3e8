"""The folder that uploaded pages are kept in: written and listed here, read by `UploadSource`."""

from __future__ import annotations

import os
import tempfile
import time
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from ingest.config import load_config
from ingest.errors import PageParseError, SourceUnavailableError
from ingest.parsing import parse
from ingest.parsing.media import MEDIA_TYPES
from ingest.parsing.signatures import contradiction
from ingest.records import RawPage
from ingest.settings import IngestSettings
from ingest.sources.base import too_large
from ingest.sources.configuration import UploadTable
from ingest.sources.paths import has_page_suffix, is_hidden, media_type_of

_MAX_NAME_BYTES: Final = 200
_TEMPORARY: Final = ".upload-"


@dataclass(frozen=True, slots=True)
class Upload:
    """A page that was uploaded.

    Attributes:
        name: Of the file, and of the page in its source.
        size: Bytes.
        modified_at: When it was put there.
    """

    name: str
    size: int
    modified_at: datetime


class UploadFolder:
    """The files in the folder of an upload source; those in folders below it are not touched.

    Attributes:
        source: Name of the source that reads them.
        max_bytes: A larger file is not taken.
    """

    def __init__(self, source: str, path: Path, *, settle_s: float, max_bytes: int) -> None:
        """Describe a folder; it is made when the first file comes.

        Args:
            source: Name of its source.
            path: The folder.
            settle_s: What the source waits for before it reads a file that others write.
            max_bytes: Larger files are refused.
        """
        self.source = source
        self.max_bytes = max_bytes
        self._path = path
        self._settle_s = settle_s

    def page_name(self, name: str) -> str:
        """Return under which name a file is kept.

        Raises:
            PageParseError: If it can have none, or is of a kind that is no page.
        """
        bare = PurePosixPath(unicodedata.normalize("NFC", name).replace("\\", "/")).name
        kept = "".join(c for c in bare if c.isprintable()).strip().lstrip(".~$ ")
        if not has_page_suffix(kept):
            raise PageParseError(f"not one of {', '.join(sorted(MEDIA_TYPES))}")
        if len(kept.encode()) > _MAX_NAME_BYTES or is_hidden(kept) or not PurePosixPath(kept).stem:
            raise PageParseError("its name cannot be that of a page")
        return kept

    def put(self, name: str, content: bytes) -> str:
        """Keep a file, in place of the one with the same name, and return the name of its page.

        It is whole or not there at all, whatever happens meanwhile.

        Raises:
            PageParseError: If it is no page, not what its name says, too large or unreadable.
            SourceUnavailableError: If the folder cannot be written.
        """
        kept = self.page_name(name)
        if len(content) > self.max_bytes:
            raise PageParseError(too_large(self.max_bytes))
        if reason := contradiction(kept, content):
            raise PageParseError(reason)
        parse(RawPage(path=kept, content=content, media_type=media_type_of(kept)))
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            self._write(self._path / kept, content)
            for other in self._same_name(kept):
                other.unlink(missing_ok=True)
        except OSError as error:
            raise SourceUnavailableError(f"cannot write {kept}: {error.strerror}") from error
        return kept

    def remove(self, name: str) -> bool:
        """Delete a file; says whether there was one.

        Raises:
            SourceUnavailableError: If it cannot be deleted.
        """
        path = self._path / PurePosixPath(name).name
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise SourceUnavailableError(f"cannot delete {name}: {error.strerror}") from error
        return True

    def files(self) -> list[Upload]:
        """Return the files that are pages, by name; none without the folder.

        Raises:
            SourceUnavailableError: If the folder cannot be read.
        """
        try:
            with os.scandir(self._path) as scan:
                found = [(member.name, member.stat()) for member in scan if member.is_file()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SourceUnavailableError(f"cannot list {self._path}: {error.strerror}") from error
        return [
            Upload(name, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))
            for name, status in sorted(found)
            if has_page_suffix(name) and not is_hidden(name)
        ]

    def _write(self, path: Path, content: bytes) -> None:
        handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=self._path)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            # It is whole as soon as it has its name: nobody need wait until it is left alone.
            settled = time.time() - self._settle_s
            os.utime(temporary, (settled, settled))
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except OSError:
            with suppress(OSError):
                Path(temporary).unlink()
            raise
        _sync_folder(self._path)

    def _same_name(self, name: str) -> list[Path]:
        """Return the files whose name differs in capitals or Unicode form alone."""
        return [
            self._path / upload.name
            for upload in self.files()
            if upload.name != name and _folded(upload.name) == _folded(name)
        ]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _sync_folder(path: Path) -> None:
    """Have the name survive a power cut too, where folders can be opened."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_uploads(settings: IngestSettings) -> UploadFolder | None:
    """Return the folder for files that are sent in Slack; None when no source takes them.

    Raises:
        ConfigurationError: If handbook.toml is wrong.
    """
    for table in load_config(settings).sources:
        if isinstance(table, UploadTable) and table.slack:
            return UploadFolder(
                table.name,
                table.path,
                settle_s=table.settle_s,
                max_bytes=settings.max_page_bytes,
            )
    return None
