"""Asks Microsoft Graph about a drive: where it is, its files, who may read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from pydantic import SecretStr

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.sources.web_addresses import place_of
from ingest.sources.web_client import WebClient
from ingest.sources.web_json import MAX_REPLY_BYTES, Forbidden, JsonInterface, JsonObject, NotThere
from ingest.sources.web_login import OAuthLogin
from ingest.sources.web_visitor import SiteAccess

API: Final = "https://graph.microsoft.com"
LOGIN: Final = "https://login.microsoftonline.com"
BATCH: Final = 20
"""Most requests in one. Source: learn.microsoft.com/graph/json-batching."""
CREDENTIALS: Final = (
    "look at tenant, client_id and client_secret_env, and at the application's permissions"
    " (Sites.Read.All, or Files.Read.All) with an administrator's consent"
)


@dataclass(frozen=True, slots=True)
class GraphLogin:
    """An application of Microsoft Entra, with a client secret.

    Attributes:
        tenant: Id or domain of the directory.
        client_id: Of the application.
        secret: One of its client secrets.
        address: Where tokens are given.
    """

    tenant: str
    client_id: str
    secret: SecretStr
    address: str = LOGIN


@dataclass(frozen=True, slots=True)
class DriveAddress:
    """Where a drive is: in a site of SharePoint, or with a person in OneDrive.

    Attributes:
        site: Address of the site: `https://company.sharepoint.com/sites/handbook`.
        user: Address of the person whose OneDrive it is, instead of a site.
        library: Name of the site's document library; None: the one it has by default.
        folder: Path of a folder in it that the pages are in, "" for all of it.
    """

    site: str | None = None
    user: str | None = None
    library: str | None = None
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Drive:
    """A drive that was found; `url` is where people see it."""

    drive_id: str
    name: str
    url: str


class GraphClient:
    """Microsoft Graph, for one application.

    Args:
        api: Its address.
        login: Who asks.
        access: How it is asked.
        max_file_bytes: A larger file is refused.
        stopped: Asked while waiting.
    """

    def __init__(
        self,
        api: str,
        login: GraphLogin,
        access: SiteAccess,
        *,
        max_file_bytes: int,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._access = access
        self._max_file_bytes = max_file_bytes
        self._stopped = stopped
        self._api = f"{api.rstrip('/')}/v1.0"
        self._token = OAuthLogin(
            self._client(login.address),
            f"{login.address.rstrip('/')}/{quote(login.tenant)}/oauth2/v2.0/token",
            lambda: {
                "grant_type": "client_credentials",
                "client_id": login.client_id,
                "client_secret": login.secret.get_secret_value(),
                "scope": f"{api.rstrip('/')}/.default",
            },
            login=CREDENTIALS,
        )
        self.interface = JsonInterface(
            self._client(self._api), login=CREDENTIALS, bearer=self._token
        )
        self._storage: WebClient | None = None

    def find(self, address: DriveAddress) -> Drive:
        """Return the drive at an address.

        Raises:
            SourceUnavailableError: If there is none that we may see (as all methods here: if
                Graph does not answer, refuses, or sends something else).
        """
        try:
            with _well_formed():
                return self._find(address)
        except NotThere as error:
            raise SourceUnavailableError(f"{error}: look at site, user and library") from error
        except PageParseError as error:
            raise SourceUnavailableError(str(error)) from error

    def delta(self, drive: Drive) -> str:
        """Return the address that tells all of a drive, and then what changes."""
        return f"{self._api}/drives/{drive.drive_id}/root/delta"

    def root_permissions(self, drive: Drive) -> None:
        """See whether permissions are told.

        Raises:
            SourceUnavailableError: If not.
        """
        try:
            self.interface.get(f"{self._api}/drives/{drive.drive_id}/root/permissions")
        except PageParseError as error:
            raise SourceUnavailableError(str(error)) from error

    def permissions(self, drive: Drive, item_id: str) -> list[JsonObject] | None:
        """Return all permissions of an item, None when we may not see them.

        Raises:
            NotThere: If the item is not there any more.
        """
        with _well_formed():
            try:
                return self._all(f"{self._api}{_permissions_path(drive, item_id)}")
            except Forbidden:
                return None

    def permissions_of(
        self, drive: Drive, item_ids: Sequence[str]
    ) -> dict[str, list[JsonObject] | None]:
        """Return the permissions of up to `BATCH` items, by one request.

        Returns:
            By id, as `permissions`; without the items for which Graph has no short answer now.
        """
        requests = [
            {"id": item_id, "method": "GET", "url": _permissions_path(drive, item_id)}
            for item_id in item_ids
        ]
        found: dict[str, list[JsonObject] | None] = {}
        try:
            with _well_formed():
                told = self.interface.query(f"{self._api}/$batch", {"requests": requests})
                for answer in told["responses"]:
                    if answer["status"] == 403:
                        found[answer["id"]] = None
                    elif answer["status"] == 200 and "@odata.nextLink" not in answer["body"]:
                        found[answer["id"]] = list(answer["body"]["value"])
        except PageParseError as error:
            raise SourceUnavailableError(str(error)) from error
        return found

    def download(self, drive: Drive, item_id: str, media_type: str) -> bytes:
        """Return the content of a file.

        Graph redirects to an address that lets anybody in for a while (that of
        `@microsoft.graph.downloadUrl`): it is asked without our token, on the drive's own host
        alone, and stands in no message.

        Raises:
            NotThere: If it is not there any more.
            PageParseError: If it is too large.
        """
        if self._storage is None:
            self._storage = self._client(drive.url)
        address = f"{self._api}/drives/{drive.drive_id}/items/{item_id}/content"
        return self.interface.file(
            address, media_type, max_bytes=self._max_file_bytes, storage=self._storage
        )

    def close(self) -> None:
        """Close the connections."""
        self.interface.close()
        self._token.close()
        if self._storage is not None:
            self._storage.close()

    def _find(self, address: DriveAddress) -> Drive:
        if address.user is not None:
            return _as_drive(self.interface.get(f"{self._api}/users/{quote(address.user)}/drive"))
        parts = urlsplit(address.site or "")
        path = f":{quote(parts.path.rstrip('/'))}" if parts.path.strip("/") else ""
        site = self.interface.get(f"{self._api}/sites/{parts.hostname}{path}")
        base = f"{self._api}/sites/{site['id']}"
        if address.library is None:
            return _as_drive(self.interface.get(f"{base}/drive"))
        for found in self._all(f"{base}/drives"):
            if found["name"] == address.library:
                return _as_drive(found)
        raise SourceUnavailableError(f"{address.site} has no library {address.library!r}")

    def _all(self, address: str) -> list[JsonObject]:
        """Return the objects of a list, from all its batches."""
        found: list[JsonObject] = []
        seen: set[str] = set()
        while address not in seen:
            seen.add(address)
            batch = self.interface.get(address)
            found.extend(batch["value"])
            if "@odata.nextLink" not in batch:
                return found
            address = str(batch["@odata.nextLink"])
        raise SourceUnavailableError("Microsoft Graph continues where it was already")

    def _client(self, address: str) -> WebClient:
        return WebClient(
            {place_of(address)},
            headers={},
            cookies={},
            private_network=self._access.private_network,
            requests_per_second=self._access.requests_per_second,
            max_bytes=MAX_REPLY_BYTES,
            first_retry_s=self._access.first_retry_s,
            stopped=self._stopped,
        )


def _permissions_path(drive: Drive, item_id: str) -> str:
    return f"/drives/{drive.drive_id}/items/{item_id}/permissions"


def _as_drive(found: JsonObject) -> Drive:
    return Drive(str(found["id"]), str(found.get("name") or "drive"), str(found["webUrl"]))


@contextmanager
def _well_formed() -> Iterator[None]:
    """Read what Graph tells in the body."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise SourceUnavailableError(f"Microsoft Graph answers without {error}") from error
