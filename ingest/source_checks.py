"""Says of each configured source whether it can be reached, and what is there."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from ingest.config import load_config
from ingest.errors import ConfigurationError, SourceError
from ingest.schedule import source_trigger
from ingest.settings import IngestSettings
from ingest.sources.factory import open_source


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """How one source is.

    Attributes:
        name: Of the source.
        ok: Whether it answers and lets us in.
        detail: What is there, or what is wrong and what to do.
        owner: Who looks after its pages, as configured.
    """

    name: str
    ok: bool
    detail: str
    owner: str | None = None


def check_sources(settings: IngestSettings) -> list[SourceCheck]:
    """Reach every source of handbook.toml, in its order.

    Raises:
        ConfigurationError: If handbook.toml is wrong.
    """
    checks = []
    for table in load_config(settings).sources:
        try:
            source_trigger(table, settings)
            with closing(open_source(table, settings)) as source:
                ok, detail = True, source.probe()
        except (SourceError, ConfigurationError) as error:
            ok, detail = False, " ".join(str(error).split())
        checks.append(SourceCheck(table.name, ok, detail, table.owner))
    return checks
