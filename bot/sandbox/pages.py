"""The pages of a handbook that is a folder, found again by the links of answers."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from urllib.parse import unquote

from bot.sandbox.web.ports import SourcePage

SUFFIXES = ("", ".md", ".markdown", ".mdx", ".html", ".htm", ".txt", ".docx", ".pdf", "/index.md")
"""Tried in turn, for links that leave the suffix out."""

_TEXT = frozenset({".md", ".markdown", ".mdx", ".njk"})


class FolderPages:
    """Reads pages of a folder and nothing outside it.

    Args:
        prefix: What the links of pages start with; the rest is a path in the folder.
        root: The folder.
    """

    def __init__(self, prefix: str, root: Path) -> None:
        self._prefix = prefix
        self._root = root

    def read(self, url: str) -> SourcePage | None:
        """Return the page behind a link, None where it is not one of the folder."""
        path = unquote(url.removeprefix(self._prefix).partition("#")[0].partition("?")[0])
        if not url.startswith(self._prefix) or not path or "\0" in path:
            return None
        root = self._root.resolve()
        for suffix in SUFFIXES:
            file = (root / f"{path.rstrip('/')}{suffix}").resolve()
            if file.is_relative_to(root) and file.is_file():
                name = file.relative_to(root).as_posix()
                return SourcePage(name, _media_type(file), file.read_bytes())
        return None


def _media_type(file: Path) -> str:
    if file.suffix.lower() in _TEXT:
        return "text/markdown"
    return mimetypes.guess_type(file.name)[0] or "application/octet-stream"
