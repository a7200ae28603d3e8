"""Joins what a source and a parser know of a page into the `Page` that is indexed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from ingest.language import detect_language
from ingest.records import Audiences, Page, ParsedPage, RawPage, narrow, within

# Front matter keys of the last change, the most precise first: Hugo, Jekyll, Docusaurus, MkDocs
# and <meta> names, lower case with `_`. `date` is often the day of publication, so it comes last.
_MODIFIED_KEYS = (
    "lastmod",
    "last_modified_at",
    "last_modified",
    "modified",
    "modified_at",
    "last_updated",
    "last_update",
    "updated",
    "updated_at",
    "last_reviewed",
    "date",
)
_LANGUAGE_KEYS = ("language", "lang", "locale")
_AUDIENCE_KEYS = ("audience", "audiences")
_OUTDATED_KEYS = ("outdated", "deprecated", "archived")
_TRUE = frozenset({"true", "yes", "on", "1", "oui", "vrai"})

Metadata = Mapping[str, str | Sequence[str]]


def build_page(source: str, raw: RawPage, parsed: ParsedPage, *, version: str) -> Page:
    """Make the page to index.

    Front matter wins over what the source says: its date over the file's, its language over
    detection's guess. Its audience can only narrow the source's, never widen it.

    Args:
        source: Name of the source.
        raw: As fetched.
        parsed: As parsed from `raw`.
        version: Of the code that parses and chunks.
    """
    metadata = {key.lower().replace("-", "_"): value for key, value in parsed.metadata.items()}
    return Page(
        source=source,
        path=raw.path,
        title=parsed.title,
        language=detect_language(parsed.text, _first(metadata, _LANGUAGE_KEYS)),
        text=parsed.text,
        blocks=parsed.blocks,
        content_hash=raw.content_hash,
        version=version,
        url=raw.url,
        modified_at=_modified_at(metadata) or raw.modified_at,
        audiences=_limit(_readers(raw, metadata), raw.workspaces),
        outdated=any(_is_true(metadata.get(key)) for key in _OUTDATED_KEYS),
    )


def _first(metadata: Metadata, keys: Sequence[str]) -> str | None:
    for key in keys:
        value = metadata.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _modified_at(metadata: Metadata) -> datetime | None:
    for key in _MODIFIED_KEYS:
        value = metadata.get(key)
        if not isinstance(value, str):
            continue
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _audiences(metadata: Metadata) -> Audiences | None:
    """Return whom the page itself names: None when it names nobody, empty when it is not clear."""
    for key in _AUDIENCE_KEYS:
        value = metadata.get(key)
        if value is None:
            continue
        # A list that stands in front matter that is no valid YAML arrives as it was typed.
        names = value.strip("[]").split(",") if isinstance(value, str) else value
        return frozenset(stripped for name in names if (stripped := name.strip("\"' ")))
    return None


def _readers(raw: RawPage, metadata: Metadata) -> Audiences:
    declared = _audiences(metadata) if raw.obeys_itself else None
    return raw.audiences if declared is None else narrow(raw.audiences, declared)


def _limit(audiences: Audiences, workspaces: frozenset[str]) -> Audiences:
    if not workspaces:
        return audiences
    return frozenset().union(*(within(workspace, audiences) for workspace in workspaces))


def _is_true(value: str | Sequence[str] | None) -> bool:
    return isinstance(value, str) and value.strip().lower() in _TRUE
