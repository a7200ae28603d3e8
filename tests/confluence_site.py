"""A local server with the shapes of Confluence's REST interface, for tests.

Source of the shapes: developer.atlassian.com, "Search content by CQL" of Confluence Cloud REST v1,
which Data Center has as well.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from tests.web_site import Answer, Site

CONTEXT = "/wiki"


@dataclass
class Content:
    """One page."""

    title: str
    body: str = "<p>Texte.</p>"
    space: str = "RH"
    version: int = 1
    above: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    tells_restrictions: bool = True


@dataclass
class Attached:
    """One file of a page (or of a blog post, by an id that no page has)."""

    name: str
    content: bytes
    page: str | None
    version: int = 1
    space: str = "RH"
    store: str = ""
    """Where downloads are redirected to, "" for nowhere."""


@dataclass
class Confluence:
    """Pages and files by id, and how the server behaves."""

    pages: dict[str, Content] = field(default_factory=dict)
    files: dict[str, Attached] = field(default_factory=dict)
    authorization: str | None = None
    batch: int = 2
    failures: list[Answer] = field(default_factory=list)

    def on(self, site: Site) -> None:
        """Answer every request to a site."""
        site.answer_with(lambda request: self.answer(request))

    def answer(self, request: BaseHTTPRequestHandler) -> Answer:
        if self.authorization not in (None, request.headers.get("Authorization")):
            return Answer(status=401)
        if self.failures:
            return self.failures.pop(0)
        parts = urlsplit(request.path)
        if parts.path.startswith(f"{CONTEXT}/download/"):
            return self._download(parts.path.split("/")[4])
        if parts.path != f"{CONTEXT}/rest/api/content/search":
            return Answer(status=404)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        found = self._matching(query["cql"])
        start = int(query.get("cursor", "0"))
        limit = min(int(query.get("limit", "25")), self.batch)
        links = {"base": "https://elsewhere.example/wiki", "context": CONTEXT}
        if start + limit < len(found):
            rest = parts.query.split("&cursor=")[0]
            links["next"] = f"/rest/api/content/search?{rest}&cursor={start + limit}"
        results = [
            _attachment(content_id, self.files[content_id])
            if content_id in self.files
            else _shape(content_id, self.pages[content_id], query.get("expand", ""))
            for content_id in found[start : start + limit]
        ]
        told = {"results": results, "totalSize": len(found), "_links": links}
        return Answer(json.dumps(told).encode(), headers={"Content-Type": "application/json"})

    def _matching(self, cql: str) -> Sequence[str]:
        if match := re.fullmatch(r"id=(\d+)", cql):
            return [match[1]] if match[1] in self.pages else []
        if match := re.fullmatch(r'space="(\w+)" and type=attachment', cql):
            return [file_id for file_id, file in self.files.items() if file.space == match[1]]
        match = re.fullmatch(r'space="(\w+)" and type=page', cql)
        assert match, cql
        return [page_id for page_id, page in self.pages.items() if page.space == match[1]]

    def _download(self, file_id: str) -> Answer:
        file = self.files.get(file_id)
        if file is None:
            return Answer(status=404)
        if file.store:
            return Answer(status=302, headers={"Location": file.store})
        return Answer(file.content, headers={"Content-Type": "application/octet-stream"})


def basic(email: str, token: str) -> str:
    return f"Basic {base64.b64encode(f'{email}:{token}'.encode()).decode()}"


def _shape(page_id: str, page: Content, expand: str) -> dict[str, object]:
    shape: dict[str, object] = {
        "id": page_id,
        "type": "page",
        "status": "current",
        "title": page.title,
        "_links": {"webui": f"/spaces/{page.space}/pages/{page_id}"},
    }
    if "version" in expand:
        shape["version"] = {"number": page.version, "when": "2024-05-01T10:00:00.000Z"}
    if "ancestors" in expand:
        shape["ancestors"] = [{"id": above, "type": "page"} for above in page.above]
    if "metadata.labels" in expand:
        shape["metadata"] = {"labels": {"results": [{"name": name} for name in page.labels]}}
    if "restrictions" in expand and page.tells_restrictions:
        shape["restrictions"] = {
            "read": {
                "operation": "read",
                "restrictions": {
                    "user": {"results": [{"accountId": user} for user in page.users]},
                    "group": {"results": [{"name": group} for group in page.groups]},
                },
            }
        }
    if "body.export_view" in expand:
        shape["body"] = {"export_view": {"value": page.body, "representation": "export_view"}}
    return shape


def _attachment(file_id: str, file: Attached) -> dict[str, object]:
    shape: dict[str, object] = {
        "id": file_id,
        "type": "attachment",
        "status": "current",
        "title": file.name,
        "version": {"number": file.version, "when": "2024-05-01T10:00:00.000Z"},
        "extensions": {"mediaType": "application/octet-stream", "fileSize": len(file.content)},
        "_links": {
            "webui": f"/spaces/{file.space}/pages/{file.page}?preview={file_id}",
            "download": f"/download/attachments/{file_id}/file?version={file.version}&api=v2",
        },
    }
    if file.page is not None:
        shape["container"] = {"id": file.page, "type": "page"}
    return shape
