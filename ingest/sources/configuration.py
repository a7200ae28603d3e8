"""The `[[sources]]` tables of handbook.toml: one class per kind of source."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    field_validator,
    model_validator,
)

from ingest.records import EVERYONE

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _one_or_many(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _without_separator(name: str) -> str:
    if ":" in name:
        raise ValueError("a name cannot contain `:`")
    return name


def _web_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address starts with http:// or https://")
    return _without_password(url)


def _without_password(url: str) -> str:
    if urlsplit(url).password is not None:
        raise ValueError("a password stands in the environment, not in an address: see token_env")
    return url


def _not_an_option(value: str) -> str:
    # git takes what starts with a dash for an option, wherever it stands.
    if value.startswith("-"):
        raise ValueError("it cannot start with `-`")
    return value


Names = Annotated[tuple[Text, ...], BeforeValidator(_one_or_many)]
WebAddress = Annotated[Text, AfterValidator(_web_address)]
WebAddresses = Annotated[tuple[WebAddress, ...], BeforeValidator(_one_or_many), Field(min_length=1)]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of an environment variable that holds a secret."""
GitAddress = Annotated[Text, AfterValidator(_not_an_option), AfterValidator(_without_password)]


PATH_RULES: Final = "2"
"""How rules by path are matched: another value has every page of theirs looked at again."""


class SourceTable(BaseModel):
    """What every kind of source has.

    Attributes:
        name: Shown to people and stored with each page; unique.
        include: Globs of the pages to take; none: every readable kind.
        exclude: Globs of the pages to leave out.
        audience: Who may read the pages; none: everyone.
        path_audiences: Who may read the pages that a glob matches; narrows `audience`.
        page_audiences: Whether `audience` in the front matter of a page narrows it further; some
            handbooks name there whom a page is written for.
        schedule: Crontab form; a scheduled sync leaves the source out until this came since its
            last complete sync. None: every scheduled sync takes it.
        owner: Who looks after these pages: a name, an address, a Slack id.
        workspaces: Ids (T…) of the Slack workspaces whose people may read the pages; none: every
            one that is served.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Keys whose change makes every page be looked at again: its link or audience may be another.
    _shown: ClassVar[tuple[str, ...]] = (
        "url",
        "audience",
        "path_audiences",
        "page_audiences",
        "workspaces",
    )

    name: Annotated[Text, AfterValidator(_without_separator)]
    include: tuple[Text, ...] = ()
    exclude: tuple[Text, ...] = ()
    audience: Names = (EVERYONE,)
    path_audiences: dict[Text, Names] = Field(default_factory=dict)
    page_audiences: bool = True
    schedule: Text | None = None
    owner: Text | None = None
    workspaces: Names = ()

    @property
    def fingerprint(self) -> str:
        """Return what changes whenever unchanged pages get another link or audience."""
        shown = self.model_dump_json(include=set(self._shown))
        if self.path_audiences:
            shown += PATH_RULES
        return hashlib.sha256(shown.encode()).hexdigest()[:8]

    @property
    def place(self) -> str:
        """Return where the pages are, for people."""
        raise NotImplementedError

    def beside(self, folder: Path) -> SourceTable:
        """Return it with its relative paths starting at a folder."""
        return self

    def __hash__(self) -> int:
        return hash(self.name)


class FolderTable(SourceTable):
    """Files in a folder.

    Attributes:
        path: Folder of the pages; relative paths start at handbook.toml.
        url: Template of the pages' links.
    """

    type: Literal["folder"] = "folder"
    path: Path
    url: Text | None = None

    __hash__ = SourceTable.__hash__

    @property
    def place(self) -> str:
        """Return the folder."""
        return str(self.path)

    def beside(self, folder: Path) -> FolderTable:
        """Return it with an absolute path."""
        return self.model_copy(update={"path": absolute(self.path, folder)})


class UploadTable(SourceTable):
    """A folder that people put files in, by hand or in Slack.

    Attributes:
        path: The folder; relative paths start at handbook.toml.
        url: Template of the pages' links.
        settle_s: How long a file must have been left alone before it is read.
        watch_s: How often the folder is looked at while the app serves; 0: at syncs alone.
        slack: Whether files that admins send to the app in Slack are kept here.
    """

    type: Literal["upload"]
    path: Path
    url: Text | None = None
    settle_s: Annotated[float, Field(ge=0, le=3_600)] = 5.0
    watch_s: Annotated[float, Field(ge=0, le=86_400)] = 30.0
    slack: bool = True

    __hash__ = SourceTable.__hash__

    @property
    def place(self) -> str:
        """Return the folder."""
        return str(self.path)

    def beside(self, folder: Path) -> UploadTable:
        """Return it with an absolute path."""
        return self.model_copy(update={"path": absolute(self.path, folder)})


class GitTable(SourceTable):
    """Files in a git repository.

    Attributes:
        repository: Anything `git fetch` takes: https, ssh, a path.
        branch: Branch or tag; none: the one the repository calls its own.
        folder: Folder in the repository that the pages are in; pages are named from there.
        url: Template of the pages' links; none: the page on GitHub or GitLab at its commit.
        depth: Commits to fetch; none: all, without the files' old versions where possible.
        token_env: Environment variable with a token for https.
        username: Goes with the token; what GitHub and GitLab take by default.
        ssh_key: Private key for ssh; none: what ssh uses by itself.
        timeout_s: Longest time one fetch may take.
    """

    _shown = (*SourceTable._shown, "repository", "branch")

    type: Literal["git"]
    repository: GitAddress
    branch: Annotated[Text, AfterValidator(_not_an_option)] | None = None
    folder: Text = "."
    url: Text | None = None
    depth: Annotated[int, Field(ge=1)] | None = None
    token_env: Variable | None = None
    username: Text = "oauth2"
    ssh_key: Path | None = None
    timeout_s: Annotated[float, Field(gt=0)] = 1_800.0

    __hash__ = SourceTable.__hash__

    @property
    def place(self) -> str:
        """Return the repository."""
        return self.repository

    def beside(self, folder: Path) -> GitTable:
        """Return it with absolute paths."""
        changes: dict[str, Any] = {}
        if self.ssh_key is not None:
            changes["ssh_key"] = absolute(self.ssh_key, folder)
        if not is_remote(self.repository):
            changes["repository"] = str(absolute(Path(self.repository), folder))
        return self.model_copy(update=changes)


class WebsiteTable(SourceTable):
    """Pages of a website.

    Attributes:
        start: Where to begin; pages outside the folders of these addresses are left out.
        hosts: Further hosts whose pages belong to the site.
        sitemap: Address of the sitemap; none: what robots.txt names, else /sitemap.xml.
        mode: `sitemap`, `crawl`, or `auto`: the sitemap where there is one.
        headers_env: Request headers, by the environment variables that hold their values.
        cookies_env: Cookies, by the environment variables that hold their values.
        private_network: Whether the hosts may have private addresses, as an intranet has.
        obey_robots: Whether robots.txt is followed.
        keep_query: Whether a crawl follows links with a query (`?page=2`).
        trust_lastmod: Whether a page whose date in the sitemap did not change is not asked for.
        requests_per_second: Never more than these.
        max_pages: A site with more is not listed completely.
        time_limit_s: Nor is one that takes longer.
    """

    type: Literal["website"]
    start: WebAddresses
    hosts: Names = ()
    sitemap: WebAddress | None = None
    mode: Literal["auto", "sitemap", "crawl"] = "auto"
    headers_env: dict[Text, Variable] = Field(default_factory=dict)
    cookies_env: dict[Text, Variable] = Field(default_factory=dict)
    private_network: bool = False
    obey_robots: bool = True
    keep_query: bool = False
    trust_lastmod: bool = False
    requests_per_second: Annotated[float, Field(gt=0)] = 5.0
    max_pages: Annotated[int, Field(ge=1)] = 20_000
    time_limit_s: Annotated[float, Field(gt=0)] = 7_200.0

    __hash__ = SourceTable.__hash__

    @property
    def place(self) -> str:
        """Return where to begin."""
        return self.start[0]


class MediaWikiTable(SourceTable):
    """Pages of a MediaWiki, named by their titles.

    Attributes:
        api: Address of its api.php.
        namespaces: Numbers of the namespaces to take.
        categories: Pages in one of these only; none: all.
        exclude_categories: Pages in one of these are left out.
        username: Of a bot password, for a wiki that is not open to everybody.
        password_env: Environment variable with that bot password.
        headers_env: Request headers, by the environment variables that hold their values.
        private_network: Whether the wiki may have a private address.
        requests_per_second: Never more than these.
        max_pages: A wiki with more is not listed completely.
    """

    type: Literal["mediawiki"]
    api: WebAddress
    namespaces: tuple[int, ...] = (0,)
    categories: Names = ()
    exclude_categories: Names = ()
    username: Text | None = None
    password_env: Variable | None = None
    headers_env: dict[Text, Variable] = Field(default_factory=dict)
    private_network: bool = False
    requests_per_second: Annotated[float, Field(gt=0)] = 10.0
    max_pages: Annotated[int, Field(ge=1)] = 20_000

    __hash__ = SourceTable.__hash__

    @model_validator(mode="after")
    def _whole_login(self) -> Self:
        if (self.username is None) != (self.password_env is None):
            raise ValueError("username and password_env go together")
        return self

    @property
    def place(self) -> str:
        """Return the address of its interface."""
        return self.api


class ConfluenceTable(SourceTable):
    """Pages of Confluence spaces, named `SPACE/title`.

    Attributes:
        site: Its address with its folder: `https://company.atlassian.net/wiki`.
        spaces: Keys of the spaces.
        email: Account of the token, in Cloud.
        token_env: Environment variable with an API token (Cloud) or a personal one (Data Center).
        group_audiences: Audience by Confluence group; restrictions to others let nobody read.
        labels: Pages with one of these only; none: all.
        exclude_labels: Pages with one of these are left out.
        attachments: Whether the files of the pages are taken, too.
        private_network: Whether the site may have a private address.
        requests_per_second: Never more than these.
    """

    _shown = (*SourceTable._shown, "group_audiences")

    type: Literal["confluence"]
    site: WebAddress
    spaces: Annotated[Names, Field(min_length=1)]
    email: Text | None = None
    token_env: Variable | None = None
    group_audiences: dict[Text, Text] = Field(default_factory=dict)
    labels: Names = ()
    exclude_labels: Names = ()
    attachments: bool = True
    private_network: bool = False
    requests_per_second: Annotated[float, Field(gt=0)] = 5.0

    __hash__ = SourceTable.__hash__

    @field_validator("spaces")
    @classmethod
    def _are_keys(cls, spaces: tuple[str, ...]) -> tuple[str, ...]:
        for key in spaces:
            if '"' in key or "\\" in key:
                raise ValueError(f"{key!r} is no key of a space")
        return spaces

    @property
    def place(self) -> str:
        """Return its address."""
        return self.site


class NotionTable(SourceTable):
    """Pages of Notion page trees and databases, named by the titles on the way to them.

    Attributes:
        roots: Links or ids of the pages and databases at the top.
        token_env: Environment variable with the secret of an integration they are shared with.
        audience: Who may read the pages: Notion does not tell, so none is nobody here.
        api: Address of the interface.
        private_network: Whether that may have a private address.
        requests_per_second: Never more than these; Notion allows three.
    """

    type: Literal["notion"]
    roots: Annotated[Names, Field(min_length=1)]
    token_env: Variable
    audience: Names = ()
    api: WebAddress = "https://api.notion.com"
    private_network: bool = False
    requests_per_second: Annotated[float, Field(gt=0)] = 3.0

    __hash__ = SourceTable.__hash__

    @property
    def place(self) -> str:
        """Return the first root."""
        return self.roots[0]


class SharePointTable(SourceTable):
    """Files of a SharePoint library or a OneDrive, by Microsoft Graph.

    Attributes:
        tenant: Id or domain of the directory of Microsoft Entra.
        client_id: Of an application that may read the files.
        client_secret_env: Environment variable with one of its client secrets.
        site: Address of the site.
        user: Address of the person whose OneDrive it is, instead of a site.
        library: Name of the site's document library; none: the one it has by default.
        folder: Folder in it that the pages are in; pages are named from there.
        group_audiences: Audience by name, id or address of a group; those of others are nobody.
        item_permissions: Whether files are limited by their own permissions; without them
            `audience` has to be said.
        api: Address of Microsoft Graph, another one in national clouds.
        login: Address that gives tokens, likewise.
        private_network: Whether these may have private addresses.
        requests_per_second: Never more than these.
    """

    _shown = (*SourceTable._shown, "group_audiences", "item_permissions")

    type: Literal["sharepoint"]
    tenant: Text
    client_id: Text
    client_secret_env: Variable
    site: WebAddress | None = None
    user: Text | None = None
    library: Text | None = None
    folder: str = ""
    group_audiences: dict[Text, Text] = Field(default_factory=dict)
    item_permissions: bool = True
    api: WebAddress = "https://graph.microsoft.com"
    login: WebAddress = "https://login.microsoftonline.com"
    private_network: bool = False
    requests_per_second: Annotated[float, Field(gt=0)] = 10.0

    __hash__ = SourceTable.__hash__

    @model_validator(mode="after")
    def _one_drive(self) -> Self:
        if (self.site is None) == (self.user is None):
            raise ValueError("site or user says where the files are")
        _is_limited(self, obeyed=self.item_permissions)
        return self

    @property
    def place(self) -> str:
        """Return the site, or whose OneDrive it is."""
        return self.site or self.user or ""


class GoogleDriveTable(SourceTable):
    """Files of Google Drive folders.

    Attributes:
        folders: Their links or ids.
        key_env: Environment variable with the key of a service account: its JSON, or the path of
            the file.
        subject: Address of the person on whose behalf it reads, with delegation in the domain.
        token_env: Environment variable with an access token instead, which lasts an hour.
        domains: Files shared with these domains are for everyone.
        group_audiences: Audience by address of a group; those of others are nobody.
        item_permissions: Whether files are limited by their own permissions; without them
            `audience` has to be said.
        api: Address of the interface.
        private_network: Whether that may have a private address.
        requests_per_second: Never more than these.
    """

    _shown = (*SourceTable._shown, "domains", "group_audiences", "item_permissions")

    type: Literal["google_drive"]
    folders: Annotated[Names, Field(min_length=1)]
    key_env: Variable | None = None
    subject: Text | None = None
    token_env: Variable | None = None
    domains: Names = ()
    group_audiences: dict[Text, Text] = Field(default_factory=dict)
    item_permissions: bool = True
    api: WebAddress = "https://www.googleapis.com"
    private_network: bool = False
    requests_per_second: Annotated[float, Field(gt=0)] = 10.0

    __hash__ = SourceTable.__hash__

    @model_validator(mode="after")
    def _one_login(self) -> Self:
        if (self.key_env is None) == (self.token_env is None):
            raise ValueError("key_env (of a service account) or token_env lets in")
        _is_limited(self, obeyed=self.item_permissions)
        return self

    @property
    def place(self) -> str:
        """Return the first folder."""
        return self.folders[0]


def _is_limited(table: SourceTable, *, obeyed: bool) -> None:
    if not obeyed and "audience" not in table.model_fields_set:
        raise ValueError("item_permissions = false needs audience: say who may read the pages")


KINDS: Mapping[str, type[SourceTable]] = {
    "folder": FolderTable,
    "git": GitTable,
    "website": WebsiteTable,
    "mediawiki": MediaWikiTable,
    "confluence": ConfluenceTable,
    "notion": NotionTable,
    "sharepoint": SharePointTable,
    "google_drive": GoogleDriveTable,
}


def _kind(table: Any) -> str | None:
    if isinstance(table, Mapping):
        kind = table.get("type", "folder")
        return kind if isinstance(kind, str) else None
    return getattr(table, "type", None)


AnySourceTable = Annotated[
    Annotated[FolderTable, Tag("folder")]
    | Annotated[UploadTable, Tag("upload")]
    | Annotated[GitTable, Tag("git")]
    | Annotated[WebsiteTable, Tag("website")]
    | Annotated[MediaWikiTable, Tag("mediawiki")]
    | Annotated[ConfluenceTable, Tag("confluence")]
    | Annotated[NotionTable, Tag("notion")]
    | Annotated[SharePointTable, Tag("sharepoint")]
    | Annotated[GoogleDriveTable, Tag("google_drive")],
    Discriminator(_kind),
]


def absolute(path: Path, folder: Path) -> Path:
    """Return a path that starts at a folder when it is relative."""
    return (folder / path.expanduser()).resolve()


def is_remote(repository: str) -> bool:
    """Tell an address (`https://…`, `git@host:path`) from a path."""
    if "://" in repository:
        return True
    before, colon, _ = repository.partition(":")
    return bool(colon) and "/" not in before and len(before) > 1  # one letter: a drive of Windows
