"""Asks Google Drive for its files, who may read them, and whether anything changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from pydantic import SecretStr

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.parsing.media import MARKDOWN, MEDIA_TYPES, PDF, PPTX, XLSX
from ingest.sources.drive_login import ServiceAccount
from ingest.sources.paths import has_page_suffix, media_type_of
from ingest.sources.web_addresses import place_of
from ingest.sources.web_client import Reply, WebClient, is_busy
from ingest.sources.web_json import (
    MAX_REPLY_BYTES,
    Forbidden,
    JsonInterface,
    JsonObject,
    error_code,
)
from ingest.sources.web_login import OAuthLogin
from ingest.sources.web_visitor import SiteAccess

API: Final = "https://www.googleapis.com"
FOLDER: Final = "application/vnd.google-apps.folder"
SHORTCUT: Final = "application/vnd.google-apps.shortcut"
_GOOGLE: Final = "application/vnd.google-apps."
_EXPORTS: Final[Mapping[str, Sequence[str]]] = {
    f"{_GOOGLE}document": (MARKDOWN,),
    f"{_GOOGLE}spreadsheet": (XLSX,),
    f"{_GOOGLE}presentation": (PPTX, PDF),
}
"""What files of Google's own kinds are exported as: the first that can be parsed."""
_PERMISSION: Final = "type,role,domain,emailAddress,deleted,view,permissionDetails(inherited)"
_FILE: Final = (
    "id,name,mimeType,parents,trashed,size,md5Checksum,modifiedTime,webViewLink,driveId,"
    "hasAugmentedPermissions,inheritedPermissionsDisabled,"
    f"shortcutDetails(targetId),permissions({_PERMISSION})"
)
_FOLDERS_AT_ONCE: Final = 40
"""Keeps the address of a search short."""
_TOO_FAST: Final = frozenset({"rateLimitExceeded", "userRateLimitExceeded"})
_LOGIN: Final = (
    "look at key_env and subject (or token_env), and share the folder with the service account"
)
_PICTURE: Final = re.compile(rb"^(\[image\d+\]: )<data:[^>\n]*>", re.M)
"""How an exported document ends: its pictures, which can be most of it."""


@dataclass(frozen=True, slots=True)
class DriveFile:
    """A file, folder or shortcut.

    Attributes:
        file_id: Unique.
        name: As people see it.
        kind: Media type; those of Google's own kinds are names alone.
        parents: Ids of the folders it is in.
        size: Bytes, None for Google's own kinds.
        version: Changes with its content.
        modified: RFC 3339 moment of its last change, "" when unknown.
        url: Link for readers, "" when there is none.
        drive_id: Of the shared drive it is in, "" when it is a person's.
        augmented: In a shared drive: whether more people may read it than its folder.
        limited: Whether those who may read its folder may not for that reason.
        target_id: What a shortcut leads to.
        permissions: None when they are not told with it.
    """

    file_id: str
    name: str
    kind: str
    parents: tuple[str, ...] = ()
    size: int | None = None
    version: str = ""
    modified: str = ""
    url: str = ""
    drive_id: str = ""
    augmented: bool = False
    limited: bool = False
    target_id: str = ""
    permissions: tuple[Mapping[str, Any], ...] | None = None

    @property
    def exported_as(self) -> str | None:
        """Return what it is read as, None when it cannot be read."""
        if self.kind.startswith(_GOOGLE):
            supported = set(MEDIA_TYPES.values())
            return next((as_ for as_ in _EXPORTS.get(self.kind, ()) if as_ in supported), None)
        if has_page_suffix(self.name):
            return media_type_of(self.name)
        return self.kind if self.kind in MEDIA_TYPES.values() else None


class DriveClient:
    """Google Drive, for one account.

    Args:
        api: Its address.
        account: Who asks; or
        token: An access token, which lasts an hour.
        access: How it is asked.
        max_file_bytes: A larger file is refused.
        stopped: Asked while waiting.
    """

    def __init__(
        self,
        api: str,
        *,
        account: ServiceAccount | None,
        token: SecretStr | None,
        access: SiteAccess,
        max_file_bytes: int,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._access = access
        self._stopped = stopped
        self._max_file_bytes = max_file_bytes
        self._api = f"{api.rstrip('/')}/drive/v3"
        self._login: OAuthLogin | None = None
        headers: dict[str, SecretStr] = {}
        if account is not None:
            self._login = OAuthLogin(
                self._client(account.token_address, {}),
                account.token_address,
                account.form,
                login=_LOGIN,
            )
        elif token is not None:
            headers["Authorization"] = SecretStr(f"Bearer {token.get_secret_value()}")
        self._interface = JsonInterface(
            self._client(self._api, headers), login=_LOGIN, bearer=self._login
        )

    def file(self, file_id: str) -> DriveFile:
        """Return one file or folder.

        Raises:
            NotThere: If there is none that we may see.
            SourceUnavailableError: If Drive does not answer, refuses, or sends something else (as
                all methods here).
        """
        with _well_formed():
            return _as_file(self._get(f"files/{file_id}", fields=_FILE))

    def children(self, folder_ids: Sequence[str], drive_id: str) -> Iterator[DriveFile]:
        """Yield what is in some folders of one shared drive, or of people ("")."""
        where = {"corpora": "drive", "driveId": drive_id} if drive_id else {"corpora": "user"}
        for start in range(0, len(folder_ids), _FOLDERS_AT_ONCE):
            ids = folder_ids[start : start + _FOLDERS_AT_ONCE]
            inside = " or ".join(f"'{folder_id}' in parents" for folder_id in ids)
            for batch in self._batches(
                "files",
                q=f"trashed = false and ({inside})",
                fields=f"nextPageToken,incompleteSearch,files({_FILE})",
                pageSize=1_000,
                includeItemsFromAllDrives="true",
                **where,
            ):
                if batch.get("incompleteSearch"):
                    raise SourceUnavailableError("Google Drive says that its search is incomplete")
                with _well_formed():
                    files = [_as_file(told) for told in batch["files"]]
                yield from files

    def permissions(self, file_id: str) -> list[JsonObject] | None:
        """Return the permissions of a file or folder, None when we may not see them.

        Raises:
            NotThere: If it is not there any more.
        """
        found: list[JsonObject] = []
        try:
            for batch in self._batches(
                f"files/{file_id}/permissions",
                fields=f"nextPageToken,permissions({_PERMISSION})",
                pageSize=100,
            ):
                with _well_formed():
                    found.extend(batch["permissions"])
        except Forbidden:
            return None
        return found

    def start_token(self, drive_id: str) -> str:
        """Return the token of what changes from now on, in a shared drive or with people ("")."""
        with _well_formed():
            return str(self._get("changes/startPageToken", **_in(drive_id))["startPageToken"])

    def changed_since(self, token: str, drive_id: str) -> bool:
        """Tell whether anything changed since a token was given."""
        following = token
        seen: set[str] = set()
        while following not in seen:
            seen.add(following)
            found = self._get(
                "changes",
                pageToken=following,
                includeItemsFromAllDrives="true",
                fields="nextPageToken,newStartPageToken,changes(changeType)",
                **_in(drive_id),
            )
            with _well_formed():
                if found["changes"] or found.get("newStartPageToken") is not None:
                    return bool(found["changes"])
                following = str(found["nextPageToken"])
        raise SourceUnavailableError("Google Drive continues where it was already")

    def content(self, file: DriveFile, media_type: str) -> bytes:
        """Return a file, or what one of Google's own kinds is exported as.

        Raises:
            NotThere: If it is not there any more.
            PageParseError: If it is too large, or may not be downloaded.
        """
        address = f"{self._api}/files/{file.file_id}"
        if file.kind.startswith(_GOOGLE):
            address = f"{address}/export?mimeType={media_type}"
        else:
            address = f"{address}?alt=media&supportsAllDrives=true"
        try:
            content = self._interface.file(address, media_type, max_bytes=self._max_file_bytes)
        except Forbidden as error:  # such as exportSizeLimitExceeded, cannotDownloadFile
            raise PageParseError(str(error).partition(": ")[0]) from error
        return _PICTURE.sub(rb"\1<>", content) if media_type == MARKDOWN else content

    def close(self) -> None:
        """Close the connections."""
        self._interface.close()
        if self._login is not None:
            self._login.close()

    def _batches(self, what: str, **parameters: str | int) -> Iterator[JsonObject]:
        """Yield the batches of a list, until Drive says it is done."""
        further: dict[str, str | int] = {}
        seen: set[str] = set()
        while True:
            found = self._get(what, **parameters, **further)
            yield found
            token = found.get("nextPageToken")
            if not token:
                return
            if token in seen:
                raise SourceUnavailableError("Google Drive continues where it was already")
            seen.add(str(token))
            further = {"pageToken": str(token)}

    def _get(self, what: str, **parameters: str | int) -> JsonObject:
        return self._interface.get(
            f"{self._api}/{what}", {**parameters, "supportsAllDrives": "true"}
        )

    def _client(self, address: str, headers: Mapping[str, SecretStr]) -> WebClient:
        return WebClient(
            {place_of(address)},
            headers=headers,
            cookies={},
            private_network=self._access.private_network,
            requests_per_second=self._access.requests_per_second,
            max_bytes=MAX_REPLY_BYTES,
            first_retry_s=self._access.first_retry_s,
            busy=_is_busy,
            stopped=self._stopped,
        )


def _in(drive_id: str) -> dict[str, str | int]:
    return {"driveId": drive_id} if drive_id else {}


def _is_busy(reply: Reply) -> bool:
    """Tell whether a reply asks to come back later: Google says so by 403, too."""
    return is_busy(reply) or (reply.status == 403 and error_code(reply) in _TOO_FAST)


def _as_file(told: JsonObject) -> DriveFile:
    permissions = told.get("permissions")
    return DriveFile(
        file_id=str(told["id"]),
        name=str(told["name"]),
        kind=str(told["mimeType"]),
        parents=tuple(told.get("parents") or ()),
        size=int(told["size"]) if "size" in told else None,
        version=str(told.get("md5Checksum") or told.get("modifiedTime") or ""),
        modified=str(told.get("modifiedTime") or ""),
        url=str(told.get("webViewLink") or ""),
        drive_id=str(told.get("driveId") or ""),
        augmented=bool(told.get("hasAugmentedPermissions")),
        limited=bool(told.get("inheritedPermissionsDisabled")),
        target_id=str((told.get("shortcutDetails") or {}).get("targetId") or ""),
        permissions=None if permissions is None else tuple(permissions),
    )


@contextmanager
def _well_formed() -> Iterator[None]:
    """Read what Drive tells in the body."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise SourceUnavailableError(f"Google Drive answers without {error}") from error
