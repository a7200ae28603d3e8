"""The doorway to the index: the one surface `bot` imports.

Cheap to import: what needs the database, the encoders or the scheduler is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ingest.acronyms import as_typed
from ingest.analysis import (
    KeywordQuery,
    QueryWord,
    SynonymTable,
    analyze_passage,
    analyze_query,
    fold,
)
from ingest.config import AudienceConfig, HandbookConfig, load_config
from ingest.embedding.base import Embedder, TokenEmbedder, TokenStates, Vector
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
from ingest.index.base import IndexedPage, IndexReader, IndexStatus, MatchMode, SourceStatus
from ingest.journal import switch_to_wal
from ingest.progress import Progress, ProgressEvent
from ingest.records import (
    EVERYONE,
    PUBLIC,
    Audiences,
    IngestReport,
    ScoredChunk,
    StoredChunk,
    Unit,
    UnitKind,
    within,
)
from ingest.settings import IngestSettings
from ingest.spelling import Respeller
from ingest.stopwords import STOP_WORDS
from ingest.synonyms import COMMON_ACRONYMS

if TYPE_CHECKING:
    from ingest.app import read_settings, run_ingest
    from ingest.command_line import run as run_command_line
    from ingest.console import ingest_command, status_command
    from ingest.embedding.factory import open_embedder
    from ingest.logs import configure_logging
    from ingest.presence import SourcePresence
    from ingest.schedule import IngestScheduler, ScheduleStatus, read_schedule
    from ingest.source_checks import SourceCheck, check_sources
    from ingest.sources.paths import has_page_suffix
    from ingest.uploads import Upload, UploadFolder, open_uploads

__all__ = [
    "COMMON_ACRONYMS",
    "EVERYONE",
    "PUBLIC",
    "STOP_WORDS",
    "AudienceConfig",
    "Audiences",
    "CodedTokens",
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
    "IndexedPage",
    "IngestReport",
    "IngestScheduler",
    "IngestSettings",
    "KeywordQuery",
    "LeaseHeldError",
    "MatchMode",
    "PageParseError",
    "Progress",
    "ProgressEvent",
    "QueryWord",
    "Respeller",
    "ScheduleStatus",
    "SchemaVersionError",
    "ScoredChunk",
    "SourceCheck",
    "SourceError",
    "SourcePresence",
    "SourceStatus",
    "SourceUnavailableError",
    "StoredChunk",
    "SynonymTable",
    "TokenCodec",
    "TokenEmbedder",
    "TokenStates",
    "Unit",
    "UnitKind",
    "Upload",
    "UploadFolder",
    "Vector",
    "analyze_passage",
    "analyze_query",
    "as_typed",
    "check_sources",
    "configure_logging",
    "fold",
    "has_page_suffix",
    "ingest_command",
    "load_config",
    "open_embedder",
    "open_reader",
    "open_uploads",
    "read_schedule",
    "read_settings",
    "run_command_line",
    "run_ingest",
    "status_command",
    "switch_to_wal",
    "within",
]

_LAZY = {
    "CodedTokens": "ingest.embedding.token_codes",
    "IngestScheduler": "ingest.schedule",
    "ScheduleStatus": "ingest.schedule",
    "SourceCheck": "ingest.source_checks",
    "SourcePresence": "ingest.presence",
    "TokenCodec": "ingest.embedding.token_codes",
    "Upload": "ingest.uploads",
    "UploadFolder": "ingest.uploads",
    "check_sources": "ingest.source_checks",
    "configure_logging": "ingest.logs",
    "has_page_suffix": "ingest.sources.paths",
    "ingest_command": "ingest.console",
    "open_embedder": "ingest.embedding.factory",
    "open_uploads": "ingest.uploads",
    "read_schedule": "ingest.schedule",
    "read_settings": "ingest.app",
    "run_command_line": "ingest.command_line:run",
    "run_ingest": "ingest.app",
    "status_command": "ingest.console",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _LAZY[name].partition(":")
    value = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value
