"""The values that travel between the steps of ingest and that the index hands out. No I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

EVERYONE = "everyone"
"""The audience of a page that anybody in the workspace may read."""

Audiences = frozenset[str]
"""Who is asking, as the set of audiences they belong to; contains EVERYONE for any employee."""

PUBLIC: Audiences = frozenset({EVERYONE})

NOBODY: Audiences = frozenset()
"""Of a page whose readers are not known, or all unknown here."""


class UnitKind(StrEnum):
    """What a unit is; decides how it is quoted."""

    HEADING = "heading"
    SENTENCE = "sentence"
    ITEM = "item"
    ROW = "row"
    CODE = "code"


def narrow(allowed: Audiences, declared: Audiences) -> Audiences:
    """Return who is left when a second rule is added to a first: never more than either."""
    if EVERYONE in declared:
        return allowed
    return declared if EVERYONE in allowed else allowed & declared


def within(workspace: str, audiences: Audiences) -> Audiences:
    """Return these audiences as far as they belong to one workspace.

    What is limited to workspaces has only such audiences; a reader in a workspace has them beside
    their own. So the limit holds wherever audiences are compared.
    """
    return frozenset(f"{workspace}/{audience}" for audience in audiences)


def held_back(held: Audiences, allowed: Audiences) -> Audiences:
    """Return who may still read a page that was for `held`, those of workspaces included.

    Args:
        held: As `within` may have limited them.
        allowed: Who may read it at most now, in whatever workspace.
    """
    left = held & allowed
    for workspace in {one.rpartition("/")[0] for one in held}:
        prefix = f"{workspace}/" if workspace else ""
        theirs = frozenset(one.removeprefix(prefix) for one in held if one.startswith(prefix))
        left |= {prefix + audience for audience in narrow(theirs, allowed)}
    return frozenset(left)


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as its source delivers it, before parsing.

    Attributes:
        path: Stable name inside the source: relative path with `/`, or a URL.
        content: The bytes.
        media_type: One of `ingest.parsing.media`: "text/markdown", "text/html", "application/pdf"…
        modified_at: Aware datetime of the last change known to the source, or None.
        url: Link for readers, or None.
        audiences: Who may read it.
        workspaces: Ids of the workspaces to whose people that is limited; none: no limit.
        obeys_itself: Whether the audience that the page itself names limits it.
        found_at: Where its text stands in the source: elsewhere than `path` when a link or another
            address led there. Who may read it depends on both; None: not known to differ.
    """

    path: str
    content: bytes
    media_type: str
    modified_at: datetime | None = None
    url: str | None = None
    audiences: Audiences = PUBLIC
    workspaces: frozenset[str] = frozenset()
    obeys_itself: bool = True
    found_at: str | None = None

    @property
    def content_hash(self) -> str:
        """Return the SHA-256 of the bytes, in hex."""
        return hashlib.sha256(self.content).hexdigest()


class BlockKind(StrEnum):
    """Kinds of blocks of a parsed page."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a parsed page: `page.text[start:end]`.

    Attributes:
        kind: What it is.
        start: Offset of its first character in the page's text.
        end: Offset past its last character.
        level: Heading level 1-6, or nesting depth of a list item from 1; else 0.
        group: Same number (unique in the page) for the items of one list or the rows of one table;
            else 0.
        header: For a table row: offsets (start, end) of the table's header row, None if it has none
            or for the header row itself.
        lead_in: For a list item or a table row: offsets of the line that introduces it ("You need:"
            before a list, the parent item of a nested item), or None.
        anchor: For a heading: its fragment in the published page, or None.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    group: int = 0
    header: tuple[int, int] | None = None
    lead_in: tuple[int, int] | None = None
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """The text of a page and its structure, markup gone.

    The text keeps one block per line or paragraph: headings without `#`, list items as
    `- item` or `1. item`, table rows as `| a | b |`, paragraphs separated by a blank line.
    """

    title: str
    text: str
    blocks: tuple[Block, ...]
    metadata: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    """Front matter or <meta> values that matter: language, date, audience, outdated…"""


@dataclass(frozen=True, slots=True)
class Page:
    """A page ready to be indexed.

    Attributes:
        source: Name of its source.
        path: Stable name inside the source (`page` in the JSON of contract.md).
        language: ISO 639-1 code, "und" when unknown.
        content_hash: SHA-256 of the raw bytes.
        version: Identifies the code that parsed and chunked it (`pipeline_version`): a page is
            parsed again when either changes.
    """

    source: str
    path: str
    title: str
    language: str
    text: str
    blocks: tuple[Block, ...]
    content_hash: str
    version: str
    url: str | None = None
    modified_at: datetime | None = None
    audiences: Audiences = PUBLIC
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest thing that is quoted: a sentence, a list item, a table row.

    Attributes:
        kind: What it is.
        start: Offset in `Chunk.text`.
        end: Offset past its end in `Chunk.text`.
        context: What must precede it to be understood alone, verbatim from the page: the header
            row of its table, the line that introduces its list; "" if nothing.
    """

    kind: UnitKind
    start: int
    end: int
    context: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The piece of a page that is stored, embedded and indexed.

    Attributes:
        chunk_id: Stable: derived from source, page, heading path, text and its occurrence among
            equals, never from its position.
        position: Order within the page, from 0.
        heading_path: Headings above it, outermost first, without the page's title.
        anchor: Fragment of the nearest heading in the published page, or None.
        start: Offset of its first character in the page's text; `text == page.text[start:end]`.
        end: Offset past its last character.
        context: Verbatim text from before `start` that it needs: table header row or list lead-in
            when a table or list is split; else "".
        units: What can be quoted from it, in order.
    """

    chunk_id: str
    position: int
    heading_path: tuple[str, ...]
    anchor: str | None
    start: int
    end: int
    text: str
    context: str
    units: tuple[Unit, ...]

    def embedding_text(self, title: str) -> str:
        """Return the text to embed: `title > heading path`, then context and text."""
        return embedding_text(title, self.heading_path, self.context, self.text)


def embedding_text(title: str, heading_path: Sequence[str], context: str, text: str) -> str:
    """Return what is embedded of a chunk (see `Chunk.embedding_text`)."""
    head = " > ".join((title, *heading_path))
    return "\n".join(part for part in (head, context, text) if part)


def text_hash(text: str) -> str:
    """Return the key of a text in the embedding cache: SHA-256 of its UTF-8 bytes, in hex."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """One entry of a ranking: higher score is better; the scale belongs to the retriever."""

    chunk_id: str
    score: float


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the index hands it out, with what is known of its page."""

    chunk_id: str
    source: str
    page: str
    title: str
    language: str
    heading_path: tuple[str, ...]
    url: str | None
    """Link for readers, with the heading's fragment where the source has anchors."""
    modified_at: datetime | None
    outdated: bool
    position: int
    text: str
    context: str
    units: tuple[Unit, ...]
    page_version: str
    """Content hash of the page when it was indexed."""

    @property
    def embedding_text(self) -> str:
        """Return the text that its vector and its token codes belong to."""
        return embedding_text(self.title, self.heading_path, self.context, self.text)

    @property
    def heading(self) -> str:
        """Return the heading path as it is shown: `A › B`."""
        return " › ".join(self.heading_path)


@dataclass(frozen=True, slots=True)
class SkippedPage:
    """A page left out of a sync, and why (a sentence for the report)."""

    path: str
    reason: str
    kept_previous: bool = False
    """True when the last good version stays in the index."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What one sync of one source did, or would do when `dry_run`."""

    source: str
    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: int = 0
    removed: tuple[str, ...] = ()
    skipped: tuple[SkippedPage, ...] = ()
    chunks: int = 0
    """Chunks of this source in the index afterwards."""
    embeddings_computed: int = 0
    embeddings_reused: int = 0
    seconds: float = 0.0
    complete: bool = True
    """False when the listing was incomplete (nothing was removed) or the sync stopped early."""
    blocked_removals: tuple[str, ...] = ()
    """Pages whose removal the guard refused; `--allow-removals` lets them go."""
    problems: tuple[str, ...] = ()
    """Everything else an operator must know, one sentence each."""
    dry_run: bool = False
