"""Makes the connector that a `[[sources]]` table describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from pydantic import SecretStr

from ingest.errors import ConfigurationError
from ingest.records import Audiences
from ingest.secrets import read_secret
from ingest.settings import IngestSettings
from ingest.sources.base import Source
from ingest.sources.configuration import (
    ConfluenceTable,
    FolderTable,
    GitTable,
    GoogleDriveTable,
    MediaWikiTable,
    NotionTable,
    SharePointTable,
    SourceTable,
    UploadTable,
    WebsiteTable,
)
from ingest.sources.folder import FolderSource
from ingest.sources.restricted import RestrictedSource


def open_source(table: SourceTable, settings: IngestSettings) -> Source:
    """Make the connector; nothing is read or reached yet.

    Raises:
        ConfigurationError: If a secret that the table names is not set, or a value of it is wrong.
    """
    source = _open(table, settings)
    if not table.path_audiences and not table.workspaces and table.page_audiences:
        return source
    return RestrictedSource(
        source, table.path_audiences, table.workspaces, obey_pages=table.page_audiences
    )


def _open(table: SourceTable, settings: IngestSettings) -> Source:
    match table:
        case FolderTable():
            return FolderSource(
                table.name,
                table.path,
                url_template=table.url,
                **_page_options(table, settings),
            )
        case UploadTable():
            return _open_upload(table, settings)
        case GitTable():
            return _open_git(table, settings)
        case WebsiteTable():
            return _open_website(table, settings)
        case MediaWikiTable():
            return _open_mediawiki(table, settings)
        case ConfluenceTable():
            return _open_confluence(table, settings)
        case NotionTable():
            return _open_notion(table, settings)
        case SharePointTable():
            return _open_sharepoint(table, settings)
        case GoogleDriveTable():
            return _open_google_drive(table, settings)
        case _:
            raise ConfigurationError(f"source {table.name!r} is of an unknown type")


def _open_upload(table: UploadTable, settings: IngestSettings) -> Source:
    # Imported on demand, as every connector but the folder's.
    from ingest.sources.upload import UploadSource

    return UploadSource(
        table.name,
        table.path,
        url_template=table.url,
        settle_s=table.settle_s,
        **_page_options(table, settings),
    )


def _open_git(table: GitTable, settings: IngestSettings) -> Source:
    # Imported on demand, as every connector but the folder's.
    from ingest.sources.git import GitSource
    from ingest.sources.git_command import GitAccess

    access = GitAccess(
        repository=table.repository,
        token=_secret(table.token_env, table) if table.token_env else None,
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
        timeout_s=table.timeout_s,
        **_page_options(table, settings),
    )


def _open_website(table: WebsiteTable, settings: IngestSettings) -> Source:
    from ingest.sources.web_visitor import SiteAccess, SiteLimits
    from ingest.sources.website import WebsiteSource

    access = SiteAccess(
        headers=_secrets(table.headers_env, table),
        cookies=_secrets(table.cookies_env, table),
        private_network=table.private_network,
        obey_robots=table.obey_robots,
        requests_per_second=table.requests_per_second,
    )
    return WebsiteSource(
        table.name,
        table.start,
        cache=settings.cache_dir / "websites",
        access=access,
        limits=SiteLimits(max_pages=table.max_pages, time_limit_s=table.time_limit_s),
        hosts=table.hosts,
        sitemap=table.sitemap,
        mode=table.mode,
        keep_query=table.keep_query,
        trust_lastmod=table.trust_lastmod,
        **_page_options(table, settings),
    )


def _open_mediawiki(table: MediaWikiTable, settings: IngestSettings) -> Source:
    from ingest.sources.mediawiki import MediaWikiSource, WikiLogin
    from ingest.sources.web_visitor import SiteAccess

    login = None
    if table.username is not None and table.password_env is not None:
        login = WikiLogin(table.username, _secret(table.password_env, table))
    return MediaWikiSource(
        table.name,
        table.api,
        access=SiteAccess(
            headers=_secrets(table.headers_env, table),
            private_network=table.private_network,
            requests_per_second=table.requests_per_second,
        ),
        login=login,
        namespaces=table.namespaces,
        categories=table.categories,
        exclude_categories=table.exclude_categories,
        max_pages=table.max_pages,
        **_page_options(table, settings),
    )


def _open_confluence(table: ConfluenceTable, settings: IngestSettings) -> Source:
    from ingest.sources.confluence import ConfluenceLogin, ConfluenceSource
    from ingest.sources.web_visitor import SiteAccess

    login = None
    if table.token_env is not None:
        login = ConfluenceLogin(_secret(table.token_env, table), table.email)
    return ConfluenceSource(
        table.name,
        table.site,
        spaces=table.spaces,
        access=SiteAccess(
            private_network=table.private_network,
            requests_per_second=table.requests_per_second,
        ),
        login=login,
        group_audiences=table.group_audiences,
        labels=table.labels,
        exclude_labels=table.exclude_labels,
        attachments=table.attachments,
        **_page_options(table, settings),
    )


def _open_notion(table: NotionTable, settings: IngestSettings) -> Source:
    from ingest.sources.notion import NotionSource
    from ingest.sources.web_visitor import SiteAccess

    return NotionSource(
        table.name,
        table.roots,
        token=_secret(table.token_env, table),
        cache=settings.cache_dir / "notion",
        api=table.api,
        access=SiteAccess(
            private_network=table.private_network,
            requests_per_second=table.requests_per_second,
        ),
        **_page_options(table, settings),
    )


def _open_sharepoint(table: SharePointTable, settings: IngestSettings) -> Source:
    from ingest.sources.graph import GraphSource
    from ingest.sources.graph_client import DriveAddress, GraphLogin
    from ingest.sources.web_visitor import SiteAccess

    return GraphSource(
        table.name,
        DriveAddress(table.site, table.user, table.library, table.folder),
        login=GraphLogin(
            table.tenant, table.client_id, _secret(table.client_secret_env, table), table.login
        ),
        cache=settings.cache_dir / "sharepoint",
        api=table.api,
        access=SiteAccess(
            private_network=table.private_network,
            requests_per_second=table.requests_per_second,
        ),
        group_audiences=table.group_audiences,
        item_permissions=table.item_permissions,
        **_page_options(table, settings),
    )


def _open_google_drive(table: GoogleDriveTable, settings: IngestSettings) -> Source:
    from ingest.sources.drive import DriveLogin, GoogleDriveSource
    from ingest.sources.drive_login import open_service_account
    from ingest.sources.drive_permissions import Sharing
    from ingest.sources.web_visitor import SiteAccess

    if table.key_env is not None:
        key = _secret(table.key_env, table)
        login = DriveLogin(account=open_service_account(key, table.subject))
    else:
        login = DriveLogin(token=_secret(table.token_env or "", table))
    sharing = Sharing(
        frozenset(domain.lower() for domain in table.domains),
        {group.lower(): audience for group, audience in table.group_audiences.items()},
    )
    return GoogleDriveSource(
        table.name,
        table.folders,
        login=login,
        cache=settings.cache_dir / "google-drive",
        api=table.api,
        access=SiteAccess(
            private_network=table.private_network,
            requests_per_second=table.requests_per_second,
        ),
        sharing=sharing if table.item_permissions else None,
        **_page_options(table, settings),
    )


class _PageOptions(TypedDict):
    """What every connector is told of its pages."""

    include: Sequence[str]
    exclude: Sequence[str]
    max_page_bytes: int
    audiences: Audiences


def _page_options(table: SourceTable, settings: IngestSettings) -> _PageOptions:
    return {
        "include": table.include,
        "exclude": table.exclude,
        "max_page_bytes": settings.max_page_bytes,
        "audiences": frozenset(table.audience),
    }


def _secret(variable: str, table: SourceTable) -> SecretStr:
    return read_secret(variable, needed_by=f"source {table.name!r} in handbook.toml")


def _secrets(variables: Mapping[str, str], table: SourceTable) -> dict[str, SecretStr]:
    """Return the secret of each name, by the variable that holds it."""
    return {name: _secret(variable, table) for name, variable in variables.items()}
