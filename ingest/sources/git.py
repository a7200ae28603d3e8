"""The files of a git repository as a source of pages: a bare copy, read without checking it out."""

from __future__ import annotations

import hashlib
import posixpath
import re
import subprocess
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urlsplit

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
from ingest.sources.git_command import Git, GitAccess, end
from ingest.sources.git_history import Change, History
from ingest.sources.paths import (
    LinkTemplate,
    PathFilter,
    folder_in_repository,
    has_page_suffix,
    is_hidden,
    is_unicode,
    media_type_of,
)

LOCAL_REF: Final = "refs/manuel/head"
_NAMED: Final = 10
"""Branches named in an error."""
_FILE: Final = "blob"
_LINK: Final = "120000"
_SUBMODULE: Final = "160000"
_HOPS: Final = 5
"""Links followed one after the other."""
_LFS: Final = b"version https://git-lfs.github.com/spec/"
_LEAVES: Final = "a link that leaves the folder"


@dataclass(frozen=True, slots=True)
class _Member:
    """One line of `git ls-tree`; `path` is relative to the repository, as git has it."""

    mode: str
    oid: str
    path: str


@dataclass(frozen=True, slots=True)
class _Found:
    """Where a page of the listing is: its blob, its path in the repository, its last change."""

    oid: str
    repository_path: str
    change: Change | None


class GitSource:
    """The pages at the head of a branch.

    The repository is copied into a folder of ours, bare, without the contents of files that are no
    pages or no longer there, where the server can leave them out. Nothing is checked out: no hook,
    filter or submodule runs. A page has changed when its blob has, so a rewritten history costs no
    more than its changed pages.
    """

    def __init__(
        self,
        name: str,
        access: GitAccess,
        *,
        cache: Path,
        branch: str | None = None,
        folder: str = ".",
        depth: int | None = None,
        url_template: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_page_bytes: int = DEFAULT_MAX_PAGE_BYTES,
        audiences: Audiences = PUBLIC,
        timeout_s: float = 1_800.0,
    ) -> None:
        """Describe a repository; nothing is run yet.

        Args:
            name: Shown to people and stored with each page.
            access: Where it is, and the credentials.
            cache: Folder for copies of repositories; this one gets a folder in it.
            branch: Branch or tag; None for the one the repository calls its own.
            folder: Folder in the repository; pages are named from there.
            depth: Commits to fetch; None for all.
            url_template: Link of each page; see `LinkTemplate`; also with `{commit}` (of its last
                change), `{branch}` and `{repository_path}`. None: on GitHub or GitLab.
            include: Patterns of paths to take; empty means all; see `path_pattern`.
            exclude: Patterns of paths to leave out; they win over `include`.
            max_page_bytes: Larger files are skipped and reported.
            audiences: Who may read the pages.
            timeout_s: Longest time one git command may take.

        Raises:
            ConfigurationError: If the template has an unknown placeholder, or git may not use the
                repository's protocol.
        """
        self._name = name
        self._repository = access.repository
        digest = hashlib.sha256(access.repository.encode()).hexdigest()[:8]
        self._directory = cache / f"{re.sub(r'[^A-Za-z0-9-]', '_', name)}-{digest}.git"
        self._git = Git(self._directory, access, timeout_s=timeout_s)
        self._history = History(self._git, self._directory / "manuel-history.json")
        self._branch = branch
        self._folder = folder_in_repository(folder)
        self._depth = depth
        template = url_template or web_template(access.repository)
        extra = ("commit", "branch", "repository_path")
        self._links = LinkTemplate(name, template, extra=extra) if template else None
        self._filter = PathFilter(include, exclude)
        self._max_page_bytes = max_page_bytes
        self._audiences = audiences
        self._shown_branch = branch or "HEAD"
        self._pages: dict[str, _Found] = {}
        self._reading: subprocess.Popen[bytes] | None = None
        self._speaks_git = True  # not a plain web server, which can only hand out whole packs

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        return self._name

    def probe(self) -> str:
        """Ask the repository for its branches, and count the pages fetched last time.

        Raises:
            SourceUnavailableError: If it cannot be reached, refuses, or lacks the branch.
        """
        ref, commit = self._remote_head(UNWATCHED)
        where = f"{ref.removeprefix('refs/heads/')} at {commit[:10]}"
        known = self._local_head()
        if known is None:
            return f"{where}, not fetched yet"
        count = sum(1 for member in self._members(known) if self._is_page(member))
        return f"{where}, {count} pages" + ("" if known == commit else " at the last sync")

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """Fetch what is new, then list the pages at the head of the branch.

        Raises:
            SourceUnavailableError: If it cannot be reached, refuses, or lacks the branch or folder.
        """
        self.close()
        ref, commit = self._remote_head(watch)
        self._fetch_head(ref, commit, watch)
        members = list(self._members(commit))
        if self._folder and not members:
            raise SourceUnavailableError(
                f"the folder {self._folder!r} is not in {self._repository} at {ref}"
            )
        pages, skipped = self._choose(members)
        self._fetch_missing([member.oid for member in pages.values()], watch)
        linked = self._follow_links(pages, members, skipped)
        paths = {member.path for member in linked.values()}
        changes = self._history.changes(commit, paths, folder=self._folder)
        self._shown_branch = ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
        self._pages = {
            path: _Found(member.oid, member.path, changes.get(member.path))
            for path, member in linked.items()
        }
        return Listing(
            entries=tuple(Entry(path, _version(self._pages[path])) for path in sorted(self._pages)),
            skipped=tuple(sorted(skipped, key=lambda page: page.path)),
        )

    def fetch(self, entry: Entry) -> RawPage:
        """Read one page of the last listing.

        Raises:
            SourceUnavailableError: If the copy cannot be read.
            PageParseError: If the page is too large, or only a pointer to git LFS.
        """
        found = self._pages.get(entry.path)
        if found is None:
            raise PageParseError("not in the last listing")
        content = self._read(found.oid)
        if content.startswith(_LFS):
            raise PageParseError("its content is in Git LFS, which is not read")
        change = found.change
        return RawPage(
            path=entry.path,
            content=content,
            media_type=media_type_of(entry.path),
            modified_at=change.modified_at if change else None,
            url=self._link(entry.path, found),
            audiences=self._audiences,
            found_at=self._named(found.repository_path),
        )

    def close(self) -> None:
        """End what still runs."""
        if self._reading is not None:
            end(self._reading)
            self._reading = None

    def _link(self, path: str, found: _Found) -> str | None:
        if self._links is None:
            return None
        commit = found.change.commit if found.change else self._shown_branch
        return self._links.link(
            path,
            commit=commit,
            branch=self._shown_branch,
            repository_path=unicodedata.normalize("NFC", found.repository_path),
        )

    # --- what the remote has ---------------------------------------------------------------------

    def _remote_head(self, watch: Watch) -> tuple[str, str]:
        """Return the full name of the branch or tag and its commit."""
        refs: dict[str, str] = {}
        default = "HEAD"
        output, self._speaks_git = self._git.remote_refs(
            "HEAD", "refs/heads/*", "refs/tags/*", stopped=watch.stopped
        )
        for line in output.splitlines():
            value, _, ref = line.partition("\t")
            if value.startswith("ref: ") and ref == "HEAD":
                default = value.removeprefix("ref: ")
            elif ref:
                refs[ref] = value
        if self._branch is None:
            candidates = [default, "HEAD"]
        else:
            candidates = [f"refs/heads/{self._branch}", f"refs/tags/{self._branch}"]
        for ref in candidates:
            if ref in refs:
                return ref, refs.get(f"{ref}^{{}}", refs[ref])  # what an annotated tag points to
        if not refs:
            raise SourceUnavailableError(f"{self._repository} has no commit yet")
        branches = sorted(r.removeprefix("refs/heads/") for r in refs if r.startswith("refs/heads"))
        shown = ", ".join(branches[:_NAMED]) + (", …" if len(branches) > _NAMED else "")
        missing = self._branch or default.removeprefix("refs/heads/")
        raise SourceUnavailableError(
            f"{self._repository} has no branch or tag {missing!r} (it has: {shown or 'none'})"
        )

    def _local_head(self) -> str | None:
        if not self._directory.is_dir():
            return None
        try:
            return self._git.run("rev-parse", "--verify", "--quiet", LOCAL_REF).decode().strip()
        except SourceUnavailableError:
            return None

    def _fetch_head(self, ref: str, commit: str, watch: Watch) -> None:
        self._prepare_copy()
        if self._local_head() == commit and not self._is_deeper_now():
            return
        arguments = ["fetch", "--quiet", "--no-tags", "--force", "--no-write-fetch-head"]
        if self._speaks_git:
            arguments.append("--filter=blob:none")
            if self._depth is not None:
                arguments.append(f"--depth={self._depth}")
            elif self._is_shallow():
                arguments.append("--unshallow")
        self._git.run(*arguments, "origin", f"+{ref}:{LOCAL_REF}", stopped=watch.stopped)

    def _prepare_copy(self) -> None:
        if not (self._directory / "HEAD").is_file():
            self._directory.parent.mkdir(parents=True, exist_ok=True)
            path = str(self._directory)
            self._git.run("init", "--quiet", "--bare", "--template=", path, anywhere=True)
        # The caller holds the lease of the sync: whoever left a lock is gone.
        for lock in self._directory.rglob("*.lock"):
            lock.unlink(missing_ok=True)
        self._git.run("config", "remote.origin.url", self._repository)

    def _is_shallow(self) -> bool:
        return self._git.run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def _is_deeper_now(self) -> bool:
        return self._depth is None and self._is_shallow()

    def _fetch_missing(self, oids: Sequence[str], watch: Watch) -> None:
        """Fetch the contents that a partial copy lacks, all in one go."""
        if not self._is_partial():
            return
        format_ = "--batch-check=%(objectname)"
        known = self._git.run("cat-file", "--batch-all-objects", "--unordered", format_)
        missing = sorted(set(oids) - set(known.decode("ascii").split()))
        if missing:
            self._git.run(
                *("-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags"),
                *("--no-write-fetch-head", "--filter=blob:none", "--stdin", "origin"),
                stdin="\n".join(missing).encode(),
                stopped=watch.stopped,
            )

    def _is_partial(self) -> bool:
        try:
            self._git.run("config", "--get", "remote.origin.partialclonefilter")
        except SourceUnavailableError:
            return False
        return True

    # --- what the copy has -----------------------------------------------------------------------

    def _members(self, commit: str) -> Iterator[_Member]:
        arguments = ["ls-tree", "-r", "-z", "--full-tree", commit]
        if self._folder:
            arguments += ["--", f"{self._folder}/"]
        for line in self._git.run(*arguments).split(b"\0"):
            if line:
                head, _, path = line.partition(b"\t")
                mode, _, oid = head.decode("ascii").split()
                yield _Member(mode, oid, path.decode("utf-8", "surrogateescape"))

    def _named(self, repository_path: str) -> str:
        """Return a page's path inside the source."""
        prefix = f"{self._folder}/" if self._folder else ""
        return unicodedata.normalize("NFC", repository_path.removeprefix(prefix))

    def _is_page(self, member: _Member) -> bool:
        path = self._named(member.path)
        return (
            has_page_suffix(path)
            and self._filter.wants(path)
            and not any(is_hidden(part) for part in path.split("/"))
        )

    def _choose(self, members: Sequence[_Member]) -> tuple[dict[str, _Member], list[SkippedPage]]:
        pages: dict[str, _Member] = {}
        skipped: list[SkippedPage] = []
        for member in members:
            path = self._named(member.path)
            if member.mode == _SUBMODULE and self._filter.wants(path):
                skipped.append(SkippedPage(_shown(path), "a submodule, which is not followed"))
            elif not self._is_page(member):
                continue
            elif not is_unicode(path):
                skipped.append(SkippedPage(_shown(path), "its name is not valid Unicode"))
            elif path in pages:
                reason = "another file has the same name in another Unicode form"
                skipped.append(SkippedPage(path, reason))
            else:
                pages[path] = member
        return pages, skipped

    def _follow_links(
        self, pages: dict[str, _Member], members: Sequence[_Member], skipped: list[SkippedPage]
    ) -> dict[str, _Member]:
        """Replace the links among the pages by what they point to, inside the folder."""
        by_path = {member.path: member for member in members}
        followed: dict[str, _Member] = {}
        for path, member in pages.items():
            try:
                target = self._target(member, by_path)
            except PageParseError as error:
                skipped.append(SkippedPage(path, str(error)))
                continue
            if target is None:
                skipped.append(SkippedPage(path, _LEAVES))
            else:
                followed[path] = target
        return followed

    def _target(self, member: _Member, by_path: Mapping[str, _Member]) -> _Member | None:
        """Return the file that a member is or leads to, None when there is none in the folder.

        Raises:
            PageParseError: If a link is as large as no link is.
        """
        target: _Member | None = member
        for _ in range(_HOPS):
            if target is None or target.mode != _LINK:
                return target
            pointed = self._read(target.oid).decode("utf-8", "surrogateescape")
            folder = str(PurePosixPath(target.path).parent)
            target = by_path.get(posixpath.normpath(posixpath.join(folder, pointed)))
        return target if target is not None and target.mode != _LINK else None

    def _read(self, oid: str) -> bytes:
        """Return the content of a blob.

        Raises:
            PageParseError: If it is too large.
            SourceUnavailableError: If it is not there.
        """
        if self._reading is None:
            self._reading = self._git.open("cat-file", "--batch")
        asked, answered = self._reading.stdin, self._reading.stdout
        if asked is None or answered is None:
            raise SourceUnavailableError("git has no pipes")
        try:
            asked.write(f"{oid}\n".encode())
            asked.flush()
            head = answered.readline().split()
            if len(head) != 3 or head[1] != _FILE.encode():
                self.close()
                raise SourceUnavailableError(f"the copy of {self._repository} lacks {oid}")
            size = int(head[2])
            if size > self._max_page_bytes:
                self.close()  # instead of reading what nobody wants
                raise PageParseError(too_large(self._max_page_bytes))
            content = answered.read(size)
            answered.read(1)
        except OSError as error:
            self.close()
            raise SourceUnavailableError(f"git ended while reading {oid}") from error
        if len(content) != size:
            self.close()
            raise SourceUnavailableError(f"git ended while reading {oid}")
        return content


def web_template(repository: str) -> str | None:
    """Return the template of links to files on GitHub or GitLab, None for anything else."""
    if "://" in repository:
        parts = urlsplit(repository)
        host, path = parts.hostname or "", parts.path
    else:
        user_host, _, path = repository.partition(":")
        host = user_host.rpartition("@")[2]
    project = path.strip("/").removesuffix(".git")
    if "/" not in project or "{" in project:
        return None
    if host == "github.com" or host.startswith("github."):
        return f"https://{host}/{project}/blob/{{commit}}/{{repository_path}}"
    if host == "gitlab.com" or host.startswith("gitlab."):
        return f"https://{host}/{project}/-/blob/{{commit}}/{{repository_path}}"
    return None


def _version(found: _Found) -> str:
    commit = found.change.commit[:12] if found.change else "-"
    return f"{found.oid} {commit}"


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode()
