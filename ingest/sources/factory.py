"""Makes the connector that a `[[sources]]` table describes."""

from __future__ import annotations

from pydantic import SecretStr

from ingest.errors import ConfigurationError
from ingest.secrets import read_secret
from ingest.settings import IngestSettings
from ingest.sources.base import Source
from ingest.sources.configuration import FolderTable, GitTable, SourceTable
from ingest.sources.folder import FolderSource
from ingest.sources.restricted import RestrictedSource


def open_source(table: SourceTable, settings: IngestSettings) -> Source:
    """Make the connector; nothing is read or reached yet.

    Raises:
        ConfigurationError: If a secret that the table names is not set, or a value of it is wrong.
    """
    source = _open(table, settings)
    if not table.path_audiences and not table.workspaces:
        return source
    return RestrictedSource(source, table.path_audiences, table.workspaces)


def _open(table: SourceTable, settings: IngestSettings) -> Source:
    match table:
        case FolderTable():
            return FolderSource(
                table.name,
                table.path,
                url_template=table.url,
                include=table.include,
                exclude=table.exclude,
                max_page_bytes=settings.max_page_bytes,
                audiences=frozenset(table.audience),
            )
        case GitTable():
            return _open_git(table, settings)
        case _:
            raise ConfigurationError(f"source {table.name!r} is of an unknown type")


def _open_git(table: GitTable, settings: IngestSettings) -> Source:
    # Imported on demand, as every connector but the folder's.
    from ingest.sources.git import GitSource
    from ingest.sources.git_command import GitAccess

    access = GitAccess(
        repository=table.repository,
        token=_secret(table.token_env, table),
        token_name=table.token_env,
        username=table.username,
        ssh_key=table.ssh_key,
    )
    return GitSource(
        table.name,
        access,
        cache=settings.cache_dir / "git",
        branch=table.branch,
        folder=table.folder,
        depth=table.depth,
        url_template=table.url,
        include=table.include,
        exclude=table.exclude,
        max_page_bytes=settings.max_page_bytes,
        audiences=frozenset(table.audience),
        timeout_s=table.timeout_s,
    )


def _secret(variable: str | None, table: SourceTable) -> SecretStr | None:
    if variable is None:
        return None
    return read_secret(variable, needed_by=f"source {table.name!r} in handbook.toml")
