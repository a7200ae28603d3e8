"""Walks through folders of Google Drive: what is in them, and who may read it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.records import NOBODY, PUBLIC, Audiences, SkippedPage
from ingest.sources.base import Watch
from ingest.sources.drive_client import FOLDER, SHORTCUT, DriveClient, DriveFile
from ingest.sources.drive_permissions import Sharing
from ingest.sources.paths import path_part
from ingest.sources.web_json import NotThere, PageByPage


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file at its path, and who may read it as far as its permissions go."""

    path: str
    file: DriveFile
    readers: Audiences


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to look into; `path` is "" or ends with `/`."""

    path: str
    file: DriveFile
    readers: Audiences


@dataclass(slots=True)
class DriveWalk:
    """One walk.

    Attributes:
        client: Asks Drive.
        sharing: What permissions mean; None: they are left aside.
        watch: Whoever waits.
        files: What was found, folders and shortcuts apart.
        drives: Ids of the shared drives that it led to, "" for what is with people.
        skipped: What could not be looked at.
        problems: Why the walk is incomplete; empty when it is complete.
    """

    client: DriveClient
    sharing: Sharing | None
    watch: Watch
    files: list[FoundFile] = field(default_factory=list)
    drives: set[str] = field(default_factory=set)
    skipped: list[SkippedPage] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _folders: list[Folder] = field(default_factory=list)
    _shortcuts: deque[tuple[str, str]] = field(default_factory=deque)
    _seen: set[str] = field(default_factory=set)
    _reading: PageByPage = field(default_factory=PageByPage)

    def readers_of_root(self, root: DriveFile) -> Audiences:
        """Return who may read what is in a folder, unless something in it says otherwise."""
        if self.sharing is None:
            return PUBLIC
        try:
            return self._allowed(self.client.permissions(root.file_id), root)
        except NotThere:
            return NOBODY

    def readers(self, file: DriveFile, around: Audiences) -> Audiences:
        """Return who may read something in a folder that others may read.

        In a shared drive what is in a folder is for those who may read the folder, unless it says
        that more people may, or that these may not. With a person, it says who may itself.

        Raises:
            NotThere: If it is not there any more.
        """
        if self.sharing is None:
            return PUBLIC
        if not file.drive_id:
            return self._allowed(file.permissions, file)
        if file.augmented or file.limited:
            return self._allowed(self.client.permissions(file.file_id), file)
        return around

    def run(self, roots: Sequence[Folder]) -> None:
        """Look into folders, into those in them, and at what shortcuts lead to.

        Raises:
            SourceUnavailableError: If Drive does not answer, or not to the end.
        """
        for root in roots:
            self._enter(root)
        while self._folders or self._shortcuts:
            if self._folders:
                self._look_into(self._folders)
            else:
                self._follow(*self._shortcuts.popleft())

    def _enter(self, folder: Folder) -> None:
        if folder.file.file_id not in self._seen:
            self._seen.add(folder.file.file_id)
            self.drives.add(folder.file.drive_id)
            self._folders.append(folder)

    def _look_into(self, folders: list[Folder]) -> None:
        """Look into the folders that are in the same shared drive as the first, all at once."""
        drive_id = folders[0].file.drive_id
        group = {one.file.file_id: one for one in folders if one.file.drive_id == drive_id}
        self._folders = [one for one in folders if one.file.file_id not in group]
        for file in self.client.children(list(group), drive_id):
            around = next((group[parent] for parent in file.parents if parent in group), None)
            if around is None:
                raise SourceUnavailableError("Google Drive tells a file without its folder")
            self._take(around.path + path_part(file.name), file, around.readers)
        self.watch.listed(len(self.files), len(self.files) + len(self._folders))

    def _take(self, path: str, file: DriveFile, around: Audiences) -> None:
        if file.kind == SHORTCUT:
            self._shortcuts.append((path, file.target_id))
            return
        if file.file_id in self._seen or (file.kind != FOLDER and file.exported_as is None):
            return
        with self._attempt(path, file):
            readers = self.readers(file, around)
            if file.kind == FOLDER:
                self._enter(Folder(f"{path}/", file, readers))
            else:
                self._seen.add(file.file_id)
                self.drives.add(file.drive_id)
                self.files.append(FoundFile(path, file, readers))

    def _follow(self, path: str, target_id: str) -> None:
        """Take what a shortcut leads to, unless it has a place of its own here."""
        if target_id in self._seen:
            return
        with self._attempt(path, None):
            try:
                target = self.client.file(target_id)
            except NotThere as error:
                raise PageParseError("a shortcut to what is not shared with us") from error
            if target.kind != SHORTCUT:
                self._take(path, target, self._around(target))

    def _around(self, target: DriveFile) -> Audiences:
        """Return who may read the folder of a target: it is asked for itself."""
        if self.sharing is None or not target.drive_id:
            return PUBLIC
        return self._allowed(self.client.permissions(target.file_id), target)

    def _allowed(
        self, permissions: Sequence[Mapping[str, Any]] | None, file: DriveFile
    ) -> Audiences:
        """Return who permissions let read; nobody when we may not see them."""
        if self.sharing is None or permissions is None:
            return NOBODY
        return self.sharing.readers(permissions, limited=file.limited)

    @contextmanager
    def _attempt(self, path: str, file: DriveFile | None) -> Iterator[None]:
        """Look at one thing in the body; if that fails, note it and go on."""
        try:
            with self._reading.page():
                yield
        except NotThere:
            return  # deleted meanwhile
        except PageParseError as error:
            if self.watch.stopped():
                raise SourceUnavailableError("stopped") from error
            self.skipped.append(SkippedPage(path, str(error)))
            down = isinstance(error.__cause__, SourceUnavailableError)
            if down and (file is None or file.kind == FOLDER):
                self.problems.append(f"{path}: {error}")
