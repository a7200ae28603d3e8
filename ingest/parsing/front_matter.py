"""Reads the front matter of a page: YAML between `---`, TOML between `+++`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

import yaml

Metadata = dict[str, str | list[str]]

_YAML: Final = re.compile(r"\A\s*---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
_TOML: Final = re.compile(r"\A\s*\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.S | re.M)
_SIMPLE_LINE: Final = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:[ \t]*(\S.*)$", re.M)
_QUOTED: Final = re.compile(r"""\A(["'])(.*)\1\Z""", re.S)
_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The one in C where PyYAML was built with it."""
_OPENED: Final = re.compile(r"\A\s*(?:---|\+\+\+)[ \t]*\n((?:.*\n){0,60})")
_AUDIENCE: Final = re.compile(r"""^["']?(audiences?)["']?[ \t]*[:=]""", re.M | re.I)
_MAX_CHARS: Final = 2_000
"""Longer values are data for a template, not facts about the page."""


def split_front_matter(source: str) -> tuple[Metadata, str]:
    """Return the front matter's plain values and the source without it.

    Values keep the spelling of the page ("2024-05-01", "true"). Of nested tables only the date of
    Docusaurus' `last_update` is kept. YAML that does not parse is read line by line. An audience
    that is declared but cannot be read is an empty list: it is not known who may read the page.
    """
    if match := _YAML.match(source):
        return _with_audience(_plain(_load_yaml(match[1])), match[1]), source[match.end() :]
    if match := _TOML.match(source):
        return _with_audience(_plain(_load_toml(match[1])), match[1]), source[match.end() :]
    if match := _OPENED.match(source):  # and never closed
        return _with_audience({}, match[1]), source
    return {}, source


def _with_audience(metadata: Metadata, written: str) -> Metadata:
    known = {key.lower() for key in metadata}
    for name in _AUDIENCE.findall(written):
        if name.lower() not in known:
            metadata[name.lower()] = []
    return metadata


def _load_yaml(text: str) -> Mapping[Any, Any]:
    try:
        # BaseLoader makes every scalar a string and builds no Python object.
        loaded = yaml.load(text, Loader=_LOADER)  # noqa: S506 - safer than SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return {key: _QUOTED.sub(r"\2", value.strip()) for key, value in _SIMPLE_LINE.findall(text)}
    return loaded if isinstance(loaded, dict) else {}


def _load_toml(text: str) -> Mapping[Any, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _plain(values: Mapping[Any, Any]) -> Metadata:
    metadata: Metadata = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            value = value.get("date")
        if isinstance(value, list):
            items = [text for item in value if (text := _scalar(item))]
            if items:
                metadata[str(key)] = items
        elif text := _scalar(value):
            metadata[str(key)] = text
    return metadata


def _scalar(value: object) -> str | None:
    if value is None or isinstance(value, (list, Mapping)):
        return None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = " ".join(text.split())
    return text if 0 < len(text) <= _MAX_CHARS else None
