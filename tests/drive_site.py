"""A local server with the shapes of Google Drive v3 and of Google's logins, for tests.

Source of the shapes: developers.google.com/drive/api/reference/rest/v3 (files, permissions,
changes) and developers.google.com/identity/protocols/oauth2/service-account.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from google.auth import jwt

from tests.web_site import Answer, Site

GOOGLE = "application/vnd.google-apps."
FOLDER, DOCUMENT, SHORTCUT = f"{GOOGLE}folder", f"{GOOGLE}document", f"{GOOGLE}shortcut"
SHEET = f"{GOOGLE}spreadsheet"
ROOT = "root-folder-0"
ANYONE: dict[str, object] = {"type": "anyone", "role": "reader"}
COMPANY: dict[str, object] = {"type": "domain", "role": "reader", "domain": "company.example"}


def group(name: str, **more: object) -> dict[str, object]:
    return {"type": "group", "role": "reader", "emailAddress": f"{name}@company.example", **more}


def person(name: str) -> dict[str, object]:
    return {"type": "user", "role": "owner", "emailAddress": f"{name}@company.example"}


@dataclass
class File:
    """One file, folder or shortcut; `permissions` None: not told to us."""

    name: str
    content: bytes = b""
    kind: str = "application/octet-stream"
    parent: str = ROOT
    drive: str = ""
    permissions: Sequence[dict[str, object]] | None = (COMPANY,)
    modified: str = "2024-05-01T10:00:00.000Z"
    target: str = ""
    augmented: bool = False
    limited: bool = False
    trashed: bool = False


@dataclass
class GoogleDrive:
    """Files by id, and how the server behaves."""

    files: dict[str, File] = field(default_factory=dict)
    public_key: str = ""
    subject: str | None = None
    batch: int = 3
    changes: int = 0
    """How many there were; grows by `touch`."""
    oldest_token: int = 0
    tokens: list[str] = field(default_factory=list)
    valid: set[str] = field(default_factory=set)
    failures: list[Answer] = field(default_factory=list)
    broken: dict[str, Answer] = field(default_factory=dict)
    """What a path answers instead, while it is here; `/drive/v3` left out."""
    incomplete: bool = False
    url: str = ""

    def on(self, site: Site) -> None:
        """Answer every request to a site."""
        self.url = site.url
        site.answer_with(lambda request: self.answer(request))

    def touch(self) -> None:
        """Have the next reader of changes be told that something changed."""
        self.changes += 1

    def answer(self, request: BaseHTTPRequestHandler) -> Answer:
        if request.path == "/token":
            return self._login(parse_qs(request.body.decode()))  # type: ignore[attr-defined]
        if request.headers.get("Authorization") not in {f"Bearer {one}" for one in self.valid}:
            return error(401, "authError")
        if self.failures:
            return self.failures.pop(0)
        parts = urlsplit(request.path)
        path = parts.path.removeprefix("/drive/v3/")
        if path in self.broken:
            return self.broken[path]
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if not path.endswith("/export"):
            assert query["supportsAllDrives"] == "true"
        if path == "files":
            return self._search(query)
        if path.startswith("changes"):
            return self._changes(path, query)
        _, file_id, *what = path.split("/")
        if file_id not in self.files or self.files[file_id].trashed:
            return error(404, "notFound")
        if what == ["permissions"]:
            told = self.files[file_id].permissions
            return error(403, "forbidden") if told is None else _json({"permissions": list(told)})
        if what == ["export"] or query.get("alt") == "media":
            return self._content(file_id, query)
        return _json(self._shape(file_id))

    def _login(self, form: dict[str, list[str]]) -> Answer:
        assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
        try:
            claims = jwt.decode(form["assertion"][0], certs=self.public_key)
        except ValueError:
            return Answer(b'{"error": "invalid_grant", "error_description": "Invalid JWT"}', 400)
        assert claims["aud"] == f"{self.url}/token"
        assert claims["scope"] == "https://www.googleapis.com/auth/drive.readonly"
        assert claims.get("sub") == self.subject
        token = f"ya29.{len(self.tokens)}"
        self.tokens.append(token)
        self.valid.add(token)
        return _json({"access_token": token, "expires_in": 3599, "token_type": "Bearer"})

    def _search(self, query: dict[str, str]) -> Answer:
        assert "trashed = false" in query["q"]
        assert query["includeItemsFromAllDrives"] == "true"
        drive = query.get("driveId", "")
        assert query["corpora"] == ("drive" if drive else "user")
        parents = re.findall(r"'([^']+)' in parents", query["q"])
        found = [
            file_id
            for file_id, file in self.files.items()
            if file.parent in parents and file.drive == drive and not file.trashed
        ]
        start = int(query.get("pageToken", "0"))
        told: dict[str, object] = {
            "files": [self._shape(file_id) for file_id in found[start : start + self.batch]],
            "incompleteSearch": self.incomplete,
        }
        if start + self.batch < len(found):
            told["nextPageToken"] = str(start + self.batch)
        return _json(told)

    def _changes(self, path: str, query: dict[str, str]) -> Answer:
        drive = query.get("driveId", "mine")
        if path == "changes/startPageToken":
            return _json({"startPageToken": f"{drive}:{self.changes}"})
        owner, _, since = query["pageToken"].partition(":")
        assert owner == drive
        if int(since) < self.oldest_token:
            return error(400, "invalid")
        changes = [{"changeType": "file"}] * (self.changes - int(since))
        return _json({"changes": changes, "newStartPageToken": f"{drive}:{self.changes}"})

    def _content(self, file_id: str, query: dict[str, str]) -> Answer:
        file = self.files[file_id]
        media_type = query.get("mimeType", "application/octet-stream")
        assert ("mimeType" in query) == file.kind.startswith(GOOGLE)
        return Answer(file.content, headers={"Content-Type": media_type})

    def _shape(self, file_id: str) -> dict[str, object]:
        file = self.files[file_id]
        shape: dict[str, object] = {
            "id": file_id,
            "name": file.name,
            "mimeType": file.kind,
            "parents": [file.parent],
            "trashed": file.trashed,
            "modifiedTime": file.modified,
            "webViewLink": f"https://docs.google.com/document/d/{file_id}/edit",
        }
        if not file.kind.startswith(GOOGLE):
            shape["size"] = str(len(file.content))
            shape["md5Checksum"] = hashlib.md5(file.content, usedforsecurity=False).hexdigest()
        if file.target:
            shape["shortcutDetails"] = {"targetId": file.target}
        if file.drive:
            shape["driveId"] = file.drive
            shape["hasAugmentedPermissions"] = file.augmented
            shape["inheritedPermissionsDisabled"] = file.limited
        elif file.permissions is not None:
            shape["permissions"] = list(file.permissions)
        return shape


def error(status: int, reason: str) -> Answer:
    """Return an error as Google's interfaces tell it."""
    details = [{"domain": "usageLimits", "reason": reason, "message": "x"}]
    told = {"error": {"code": status, "message": "x", "errors": details}}
    return Answer(json.dumps(told).encode(), status, {"Content-Type": "application/json"})


def _json(told: object) -> Answer:
    return Answer(json.dumps(told).encode(), headers={"Content-Type": "application/json"})
