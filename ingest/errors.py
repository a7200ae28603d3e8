"""Everything this project raises on purpose.

HandbookError                      root
├── ConfigurationError             a setting or handbook.toml is wrong: names it
├── SourceError
│   ├── SourceUnavailableError     the source cannot be listed or reached now: retry later
│   └── PageParseError             this page cannot be read: skip it, with the reason
├── EmbeddingError
│   └── EncodingFailed             the encoder is down or refused: search goes on with keywords
├── IndexStoreError
│   ├── IndexNotBuiltError         nothing has been ingested yet
│   │   └── IndexOutdatedError     an older version built it: the next ingest brings it up to date
│   ├── SchemaVersionError         the database was written by a newer version
│   └── EmbeddingMismatchError     the index holds vectors of another model
├── LeaseHeldError                 another process runs the same sync
└── BotError                       see bot/errors.py
"""


class HandbookError(Exception):
    """Root of every error raised on purpose; its message may be shown to an operator."""


class ConfigurationError(HandbookError):
    """A setting, an option or handbook.toml is wrong; the message names it."""


class SourceError(HandbookError):
    """A source of pages failed."""


class SourceUnavailableError(SourceError):
    """The source cannot be listed or reached now; nothing may be concluded about its pages."""


class PageParseError(SourceError):
    """One page cannot be turned into text; the message is the reason shown in the report."""


class EmbeddingError(HandbookError):
    """An embedder cannot be set up."""


class EncodingFailed(EmbeddingError):  # noqa: N818 - the field's name for it, fixed by the design
    """The encoder could not encode these texts now."""


class IndexStoreError(HandbookError):
    """The index cannot be read or written."""


class IndexNotBuiltError(IndexStoreError):
    """There is no index yet; `manuel ingest` builds it."""


class IndexOutdatedError(IndexNotBuiltError):
    """An older version built the index; `manuel ingest` brings it up to date."""


class SchemaVersionError(IndexStoreError):
    """The database has a schema this version does not know."""


class EmbeddingMismatchError(IndexStoreError):
    """The index holds vectors of another model than the one configured."""


class LeaseHeldError(HandbookError):
    """Another process holds the lease for the same work."""
