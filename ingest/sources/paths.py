"""Which paths of a source are pages, and where readers find each of them. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from string import Formatter
from typing import Final
from urllib.parse import quote

from ingest.errors import ConfigurationError
from ingest.parsing.media import MEDIA_TYPES

# Folders that site generators keep their templates in, and tools their own files: no pages.
_NOT_PAGES: Final = frozenset({"_includes", "_layouts", "_data", "node_modules", "__pycache__"})
_INDEX_NAMES: Final = frozenset({"index", "_index", "readme"})

# --- patterns ------------------------------------------------------------------------------------

_GLOB_PARTS: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|.", re.S)
_GLOB_MEANINGS: Final = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def path_pattern(glob: str) -> re.Pattern[str]:
    """Compile a path pattern, to be used with `match`.

    `*` stays inside a folder, `**` goes through any number of them. Without `/` a pattern means a
    name at any depth; `folder/` means everything in it.
    """
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


class PathFilter:
    """The paths that `include` and `exclude` let through; `exclude` wins.

    Args:
        include: Patterns of paths to take; empty means all.
        exclude: Patterns of paths to leave out.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = [path_pattern(glob) for glob in include]
        self._exclude = [path_pattern(glob) for glob in exclude]

    def wants(self, path: str) -> bool:
        """Tell whether a path (relative, with `/`, NFC) is to be taken."""
        if any(pattern.match(path) for pattern in self._exclude):
            return False
        return not self._include or any(pattern.match(path) for pattern in self._include)


def is_hidden(name: str) -> bool:
    """Tell whether a file or folder of this name holds no pages, nor anything below it."""
    return name.startswith(".") or name in _NOT_PAGES


def has_page_suffix(path: str) -> bool:
    """Tell whether a file of this name can be parsed."""
    return PurePosixPath(path).suffix.lower() in MEDIA_TYPES


def is_unicode(path: str) -> bool:
    """Tell whether a file's name can be written: those of old disks may be bytes of no encoding."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def path_part(title: str) -> str:
    """Return a title as one part of a path: on one line, NFC, its slashes no separators."""
    return unicodedata.normalize("NFC", " ".join(title.split()).replace("/", "∕"))


def distinct_paths(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the id of each path; where several ids have one path, each path says its id.

    What is said of a path (`include`, `path_audiences`) is meant for all that have it: match the
    path as it was found, not as it is returned.

    Args:
        found: Paths and ids; ids are unique.
    """
    ids: dict[str, list[str]] = {}
    for path, item_id in found:
        ids.setdefault(path, []).append(item_id)
    return {
        path if len(several) == 1 else f"{path} ({item_id})": item_id
        for path, several in ids.items()
        for item_id in several
    }


def folder_in_repository(folder: str) -> str:
    """Return the path of a folder as git names it; "" for the top of the repository."""
    return "" if folder.strip("./") == "" else folder.strip("/").removeprefix("./")


def media_type_of(path: str) -> str:
    """Return the media type of a path that `has_page_suffix`."""
    return MEDIA_TYPES[PurePosixPath(path).suffix.lower()]


# --- links ---------------------------------------------------------------------------------------

PLACEHOLDERS: Final = (
    "path",
    "path_without_extension",
    "slug",
    "name",
    "mkdocs",
    "docusaurus",
    "hugo",
)
_NUMBERED: Final = re.compile(r"\A\d+\s*[-_.]+\s*(?=[^\d\s])")


class LinkTemplate:
    """Makes the link of a page from its path.

    `{path}` is rh/conges.md, `{path_without_extension}` rh/conges, `{name}` conges, `{slug}`
    rh/conges (and rh for rh/index.md or rh/README.md); `{mkdocs}`, `{docusaurus}` and `{hugo}` are
    the path under which these generators publish the file, unless its front matter says another.
    All are quoted for a URL.

    Args:
        source: Named in errors.
        template: As configured.
        extra: Further placeholders that the source fills itself.

    Raises:
        ConfigurationError: If the template has an unknown placeholder.
    """

    def __init__(self, source: str, template: str, *, extra: Sequence[str] = ()) -> None:
        self._template = template
        known = (*PLACEHOLDERS, *extra)
        try:
            names = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
        except ValueError as error:
            raise ConfigurationError(f"url of source {source!r}: {error}: {template}") from error
        unknown = [name for name in names if name not in known]
        if unknown:
            allowed = ", ".join(f"{{{name}}}" for name in known)
            raise ConfigurationError(
                f"url of source {source!r} has {{{unknown[0]}}}; it may have {allowed}"
            )

    def link(self, path: str, **extra: str) -> str:
        """Return the link of the page at a path."""
        pure = PurePosixPath(path)
        bare = pure.with_suffix("")
        values = {
            "path": path,
            "path_without_extension": str(bare),
            "slug": _slug(bare),
            "name": bare.name,
            "mkdocs": _as_folder(_slug(bare)),
            "docusaurus": _docusaurus(bare),
            "hugo": _as_folder(_slug(bare).lower().replace(" ", "-")),
            **extra,
        }
        return self._template.format(**{k: quote(v, safe="/") for k, v in values.items()})


def _slug(bare: PurePosixPath) -> str:
    folder = "" if bare.parent == PurePosixPath() else str(bare.parent)
    return folder if bare.name.lower() in _INDEX_NAMES else str(bare)


def _as_folder(slug: str) -> str:
    return f"{slug}/" if slug else ""


def _docusaurus(bare: PurePosixPath) -> str:
    """Return where Docusaurus publishes a page: without number prefixes, a folder's own page at it.

    Source: docusaurus.io/docs/sidebar/autogenerated (number prefixes) and
    docusaurus.io/docs/create-doc (index, README, and a file named like its folder).
    """
    parts = [_NUMBERED.sub("", part) for part in bare.parts]
    if len(parts) > 1 and parts[-1] == parts[-2]:
        parts.pop()
    return _slug(PurePosixPath(*parts))
