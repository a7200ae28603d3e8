"""A local server with the shapes of Microsoft Graph and of its logins, for tests.

Source of the shapes: learn.microsoft.com/graph (driveItem, delta, permission, json-batching) and
learn.microsoft.com/entra/identity-platform (client credentials).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit

from tests.web_site import Answer, Site

TENANT, CLIENT, SECRET = "company.example", "c11e47", "s3cr3t-value"
DRIVE = "b!drive"
ROOT = "root-id"
EVERYBODY = {
    "roles": ["read"],
    "grantedToV2": {
        "siteUser": {
            "displayName": "Tout le monde sauf les utilisateurs externes",
            "loginName": "c:0-.f|rolemanager|spo-grid-all-users/0b1a",
        }
    },
}
ORGANIZATION = {"roles": ["read"], "link": {"scope": "organization", "type": "view"}}


def site_group(name: str, *roles: str) -> dict[str, object]:
    granted = {"siteGroup": {"displayName": name, "id": "5", "loginName": name}}
    return {"roles": list(roles or ["read"]), "grantedToV2": granted}


def group(name: str, group_id: str = "9f3c") -> dict[str, object]:
    granted = {"group": {"displayName": name, "id": group_id, "email": f"{name}@company.example"}}
    return {"roles": ["write"], "grantedToV2": granted}


def person(name: str) -> dict[str, object]:
    return {"roles": ["owner"], "grantedToV2": {"user": {"displayName": name, "id": "77"}}}


@dataclass
class Item:
    """One file (with content) or folder (without)."""

    name: str
    content: bytes | None = None
    parent: str = ROOT
    version: int = 1
    permissions: Sequence[dict[str, object]] = (EVERYBODY,)
    facets: dict[str, object] = field(default_factory=dict)


@dataclass
class Graph:
    """The items of one drive by id, and how the server behaves.

    Every change is told once to whoever holds the link to it: `log` has the ids in order.
    """

    storage: Site
    items: dict[str, Item] = field(default_factory=dict)
    library: str = "Documents"
    batch: int = 3
    first_link: int = 0
    """Links to changes before it are too old."""
    tokens: list[str] = field(default_factory=list)
    valid: set[str] = field(default_factory=set)
    failures: list[Answer] = field(default_factory=list)
    broken: dict[str, Answer] = field(default_factory=dict)
    """What a path answers instead, while it is here; `/v1.0` left out."""
    batched: dict[str, int] = field(default_factory=dict)
    """Status that a batch gives for an item instead."""
    _log: list[tuple[str, Item | None]] = field(default_factory=list)
    url: str = ""

    def on(self, site: Site) -> None:
        """Answer every request to a site."""
        self.url = site.url
        site.answer_with(lambda request: self.answer(request))
        self.storage.answer_with(lambda request: self.store(request))

    def put(self, item_id: str, item: Item) -> None:
        self.items[item_id] = item
        self._log.append((item_id, item))

    def remove(self, item_id: str) -> None:
        del self.items[item_id]
        self._log.append((item_id, None))

    def store(self, request: BaseHTTPRequestHandler) -> Answer:
        """Deliver a file to whoever has its address, and no token."""
        assert "Authorization" not in request.headers
        parts = urlsplit(request.path)
        item = self.items[unquote(parts.path.strip("/"))]
        assert parse_qs(parts.query) == {"tempauth": ["k3y"]}
        return self.broken.get("storage") or Answer(
            item.content or b"", headers={"Content-Type": "application/octet-stream"}
        )

    def answer(self, request: BaseHTTPRequestHandler) -> Answer:
        if request.path == f"/{TENANT}/oauth2/v2.0/token":
            return self._login(parse_qs(request.body.decode()))  # type: ignore[attr-defined]
        if request.headers.get("Authorization") not in {f"Bearer {one}" for one in self.valid}:
            return _error(401, "InvalidAuthenticationToken")
        if self.failures:
            return self.failures.pop(0)
        parts = urlsplit(request.path)
        path = unquote(parts.path.removeprefix("/v1.0"))
        if path in self.broken:
            return self.broken[path]
        if path == "/$batch":
            return self._batch(json.loads(request.body))  # type: ignore[attr-defined]
        return self._find(path, {k: v[0] for k, v in parse_qs(parts.query).items()})

    def _login(self, form: dict[str, list[str]]) -> Answer:
        if form["client_secret"] != [SECRET] or form["client_id"] != [CLIENT]:
            told = {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid secret"}
            return Answer(json.dumps(told).encode(), 401)
        assert form["grant_type"] == ["client_credentials"]
        assert form["scope"] == [f"{self.url}/.default"]
        token = f"token-{len(self.tokens)}"
        self.tokens.append(token)
        self.valid.add(token)
        return _json({"token_type": "Bearer", "expires_in": 3599, "access_token": token})

    def _find(self, path: str, query: dict[str, str]) -> Answer:
        drive = {"id": DRIVE, "name": self.library, "webUrl": f"{self.storage.url}/sites/m/Docs"}
        if path in ("/sites/company.sharepoint.com:/sites/manuel", "/sites/company.sharepoint.com"):
            return _json({"id": "site-id", "displayName": "Manuel"})
        if path in ("/sites/site-id/drive", "/users/ada@company.example/drive"):
            return _json(drive)
        if path == "/sites/site-id/drives":
            return _json({"value": [{**drive, "id": "other", "name": "Archives"}, drive]})
        root = f"/drives/{DRIVE}/root"
        if path == f"{root}/delta":
            return self._delta(query)
        if path == f"{root}/permissions":
            return _json({"value": [EVERYBODY]})
        item_id, _, what = path.removeprefix(f"/drives/{DRIVE}/items/").partition("/")
        if item_id not in self.items:
            return _error(404, "itemNotFound")
        if what == "permissions":
            return _json({"value": list(self.items[item_id].permissions)})
        assert what == "content"
        target = f"{self.storage.url}/{item_id}?tempauth=k3y"
        return Answer(status=302, headers={"Location": target})

    def _delta(self, query: dict[str, str]) -> Answer:
        if "since" in query:
            since = int(query["since"])
            if since < self.first_link:
                return _error(410, "resyncRequired")
            changes = self._log[since:]
        else:
            changes = [(ROOT, None), *self.items.items()]
        start = int(query.get("skip", "0"))
        told = [self._shape(*change) for change in changes[start : start + self.batch]]
        address = f"{self.url}/v1.0/drives/{DRIVE}/root/delta"
        found: dict[str, object] = {"value": told}
        if start + self.batch < len(changes):
            since_part = f"since={query['since']}&" if "since" in query else ""
            found["@odata.nextLink"] = f"{address}?{since_part}skip={start + self.batch}"
        else:
            found["@odata.deltaLink"] = f"{address}?since={len(self._log)}"
        return _json(found)

    def _shape(self, item_id: str, item: Item | None) -> dict[str, object]:
        if item_id == ROOT:
            return {"id": ROOT, "name": "root", "root": {}, "folder": {}, "parentReference": {}}
        if item is None:
            return {"id": item_id, "deleted": {"state": "deleted"}}
        kind: dict[str, object] = {"folder": {"childCount": 1}}
        if item.content is not None:
            kind = {"file": {"mimeType": "x"}, "size": len(item.content)}
        return {
            "id": item_id,
            "name": item.name,
            "parentReference": {"id": item.parent, "driveId": DRIVE},
            "cTag": f'"c:{{{item_id}}},{item.version}"',
            "lastModifiedDateTime": "2024-05-01T10:00:00Z",
            "webUrl": f"https://company.sharepoint.com/sites/manuel/{item_id}",
            **kind,
            **item.facets,
        }

    def _batch(self, asked: dict[str, list[dict[str, str]]]) -> Answer:
        assert len(asked["requests"]) <= 20
        responses = []
        for one in reversed(asked["requests"]):  # they come in any order
            status = self.batched.get(one["id"])
            answer = self._find(one["url"], {})
            body = json.loads(answer.body)
            responses.append({"id": one["id"], "status": status or answer.status, "body": body})
        return _json({"responses": responses})


def _json(told: object) -> Answer:
    return Answer(json.dumps(told).encode(), headers={"Content-Type": "application/json"})


def _error(status: int, code: str) -> Answer:
    told = {"error": {"code": code, "message": "x", "innerError": {"request-id": "1"}}}
    return Answer(json.dumps(told).encode(), status, {"Content-Type": "application/json"})
