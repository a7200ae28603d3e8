"""When each file of a repository was last changed, by one walk through its history."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from ingest.errors import SourceUnavailableError
from ingest.sources.git_command import Git

_COMMIT: Final = b"\x01"
_READ_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Change:
    """The last change of a file.

    Attributes:
        commit: That made it.
        at: When its author wrote it, seconds since 1970; never later than it was committed.
    """

    commit: str
    at: int

    @property
    def modified_at(self) -> datetime:
        """Return the moment as a datetime; a clock that went ahead counts as now."""
        return datetime.fromtimestamp(min(self.at, datetime.now(UTC).timestamp()), UTC)


class History:
    """Remembers the last changes in a file, and walks only what is new since.

    A file that git cannot date (its change lies beyond the depth of a shallow clone) has no entry.
    """

    def __init__(self, git: Git, memory: Path) -> None:
        self._git = git
        self._memory = memory

    def changes(self, head: str, paths: Collection[str], *, folder: str) -> dict[str, Change]:
        """Return the last change of each of these files at a commit.

        Args:
            head: The commit.
            paths: As the tree has them.
            folder: All of them are in it; "" for the whole repository.
        """
        known_head, changes = self._remembered(folder)
        if known_head and known_head != head and self._is_ancestor(known_head, head):
            newer = dict(self._walk(f"{known_head}..{head}", folder))
            for path, change in newer.items():
                # A branch merged since may hold changes that are older than the known one.
                if path not in changes or change.at >= changes[path].at:
                    changes[path] = change
            known_head = head
        if known_head != head or not changes.keys() >= set(paths):
            changes = dict(self._walk(head, folder, set(paths)))
        wanted = {path: changes[path] for path in paths if path in changes}
        self._remember(head, folder, wanted)
        return wanted

    def _walk(
        self, span: str, folder: str, missing: set[str] | None = None
    ) -> Iterator[tuple[str, Change]]:
        """Yield each file once, with its newest change; ends once nothing is `missing`."""
        shallow = self._shallow_commits()
        arguments = ["log", "-z", "-c", "--name-only", "--no-renames", "--format=%x01%H %at %ct"]
        with self._git.stream(*arguments, span, "--", folder or ".") as output:
            change, dated, seen = Change("", 0), False, set[str]()
            for record in _records(output):
                if record.startswith(_COMMIT):
                    commit, author, committer = record[1:].split()
                    change = Change(commit.decode(), min(int(author), int(committer)))
                    dated = change.commit not in shallow
                elif record:
                    path = record.decode("utf-8", "replace")
                    if path not in seen and dated:
                        yield path, change
                    seen.add(path)
                    if missing is not None:
                        missing.discard(path)
                        if not missing:
                            return

    def _shallow_commits(self) -> frozenset[str]:
        """Return the commits whose parents were not fetched: they seem to add every file."""
        found = self._git.run("rev-parse", "--git-path", "shallow").decode().strip()
        try:
            return frozenset(Path(found).read_text(encoding="ascii").split())
        except FileNotFoundError:
            return frozenset()

    def _is_ancestor(self, older: str, newer: str) -> bool:
        try:
            self._git.run("merge-base", "--is-ancestor", older, newer)
        except SourceUnavailableError:  # also when the older one is gone
            return False
        return True

    def _remembered(self, folder: str) -> tuple[str, dict[str, Change]]:
        try:
            memory = json.loads(self._memory.read_text(encoding="utf-8"))
            if memory["folder"] != folder:
                return "", {}
            changes = {p: Change(str(c), int(at)) for p, (c, at) in memory["changes"].items()}
            return str(memory["head"]), changes
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return "", {}  # nothing, or cut short: walk everything

    def _remember(self, head: str, folder: str, changes: Mapping[str, Change]) -> None:
        memory = {
            "head": head,
            "folder": folder,
            "changes": {path: [change.commit, change.at] for path, change in changes.items()},
        }
        draft = self._memory.with_suffix(".new")
        draft.write_text(json.dumps(memory), encoding="utf-8")
        draft.replace(self._memory)


def _records(output: IO[bytes]) -> Iterator[bytes]:
    """Split what `git log -z` prints: a commit's first file begins with a line feed."""
    rest = b""
    while block := output.read(_READ_BYTES):
        *whole, rest = (rest + block).split(b"\0")
        for piece in whole:
            yield piece.removeprefix(b"\n")
    yield rest.removeprefix(b"\n")
