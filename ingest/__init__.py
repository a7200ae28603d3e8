"""The doorway to the index: the one surface `bot` imports. Cheap to import."""

from ingest.analysis import (
    KeywordQuery,
    QueryWord,
    SynonymTable,
    analyze_passage,
    analyze_query,
    fold,
)
from ingest.config import HandbookConfig, load_config
from ingest.embedding.base import Embedder, Vector
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
from ingest.index import open_reader
from ingest.index.base import IndexReader, IndexStatus, MatchMode
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
from ingest.spelling import Respeller

__all__ = [
    "EVERYONE",
    "PUBLIC",
    "Audiences",
    "ConfigurationError",
    "Embedder",
    "EmbeddingError",
    "EmbeddingMismatchError",
    "EncodingFailed",
    "HandbookConfig",
    "HandbookError",
    "IndexNotBuiltError",
    "IndexReader",
    "IndexStatus",
    "IndexStoreError",
    "IngestReport",
    "IngestSettings",
    "KeywordQuery",
    "LeaseHeldError",
    "MatchMode",
    "PageParseError",
    "QueryWord",
    "Respeller",
    "SchemaVersionError",
    "ScoredChunk",
    "SourceError",
    "SourceUnavailableError",
    "StoredChunk",
    "SynonymTable",
    "Unit",
    "UnitKind",
    "Vector",
    "analyze_passage",
    "analyze_query",
    "fold",
    "load_config",
    "open_reader",
]
