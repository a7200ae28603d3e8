"""The doorway to the index: the one surface `bot` imports. Cheap to import."""

from ingest.analysis import KeywordQuery, QueryWord
from ingest.errors import (
    ConfigurationError,
    EmbeddingError,
    EmbeddingMismatchError,
    EncodingFailed,
    HandbookError,
    IndexNotBuiltError,
    IndexStoreError,
    LeaseHeldError,
    PageParseError,
    SchemaVersionError,
    SourceError,
    SourceUnavailableError,
)
from ingest.records import (
    EVERYONE,
    PUBLIC,
    Audiences,
    IngestReport,
    ScoredChunk,
    StoredChunk,
    Unit,
    UnitKind,
)
from ingest.settings import IngestSettings

__all__ = [
    "EVERYONE",
    "PUBLIC",
    "Audiences",
    "ConfigurationError",
    "EmbeddingError",
    "EmbeddingMismatchError",
    "EncodingFailed",
    "HandbookError",
    "IndexNotBuiltError",
    "IndexStoreError",
    "IngestReport",
    "IngestSettings",
    "KeywordQuery",
    "LeaseHeldError",
    "PageParseError",
    "QueryWord",
    "SchemaVersionError",
    "ScoredChunk",
    "SourceError",
    "SourceUnavailableError",
    "StoredChunk",
    "Unit",
    "UnitKind",
]
