"""A local server with the shapes of Notion's interface (version 2025-09-03), for tests.

Source of the shapes: developers.notion.com/reference (page, block, database, data source, errors).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from tests.web_site import Answer, Site

LONG_AGO = "2024-05-01T10:00:00.000Z"
TOKEN = "ntn_s3cr3t"


def id_of(number: int) -> str:
    """Return an id as the interface writes it."""
    return str(UUID(int=number))


def bare(number: int) -> str:
    return id_of(number).replace("-", "")


def words(text: str, **annotations: bool) -> list[dict[str, object]]:
    """Return rich text of one run."""
    return [
        {
            "type": "text",
            "text": {"content": text, "link": None},
            "annotations": {"bold": False, "italic": False, "code": False, **annotations},
            "plain_text": text,
            "href": None,
        }
    ]


@dataclass
class Block:
    """One block; what is particular to its kind is `content`."""

    kind: str
    text: str | None = None
    content: dict[str, object] = field(default_factory=dict)
    inside: list[Block] = field(default_factory=list)
    number: int = 0


@dataclass
class Page:
    """One page: `blocks` may hold pages and databases, by `child`."""

    title: str
    blocks: list[Block] = field(default_factory=list)
    edited: str = LONG_AGO
    properties: dict[str, object] = field(default_factory=dict)
    in_trash: bool = False


@dataclass
class Database:
    """One database: the numbers of the pages in each of its data sources."""

    title: str
    sources: list[list[int]] = field(default_factory=list)


def paragraph(text: str) -> Block:
    return Block("paragraph", text)


def child(number: int, kind: str = "child_page") -> Block:
    return Block(kind, number=number)


@dataclass
class Notion:
    """Pages and databases by number, and how the server behaves."""

    pages: dict[int, Page] = field(default_factory=dict)
    databases: dict[int, Database] = field(default_factory=dict)
    batch: int = 2
    failures: list[Answer] = field(default_factory=list)
    broken: dict[str, Answer] = field(default_factory=dict)
    """What a path answers instead, while it is here; `/v1` left out."""
    _inside: dict[str, list[Block]] = field(default_factory=dict)

    def on(self, site: Site) -> None:
        """Answer every request to a site."""
        site.answer_with(lambda request: self.answer(request))

    def answer(self, request: BaseHTTPRequestHandler) -> Answer:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _error(401, "unauthorized", "API token is invalid.")
        assert request.headers["Notion-Version"] == "2025-09-03"
        if self.failures:
            return self.failures.pop(0)
        parts = urlsplit(request.path)
        path = parts.path.removeprefix("/v1/")
        if path in self.broken:
            return self.broken[path]
        kind, some_id, *rest = path.split("/")
        posted = json.loads(getattr(request, "body", b"{}")) if request.command == "POST" else {}
        query = {name: values[0] for name, values in parse_qs(parts.query).items()} | posted
        found = self._find(kind, str(UUID(some_id)), rest, query)
        if found is None:
            return _error(404, "object_not_found", f"Could not find object with ID: {some_id}.")
        return Answer(json.dumps(found).encode(), headers=_JSON)

    def _find(
        self, kind: str, some_id: str, rest: list[str], query: dict[str, str]
    ) -> dict[str, object] | None:
        number = UUID(some_id).int
        match kind, rest:
            case "pages", [] if number in self.pages:
                return self._page(number)
            case "databases", [] if number in self.databases:
                return self._database(number)
            case "blocks", ["children"] if number in self.pages:
                blocks = [self._block(block) for block in self.pages[number].blocks]
                return self._list(blocks, query)
            case "blocks", ["children"] if some_id in self._inside:
                return self._list([self._block(one) for one in self._inside[some_id]], query)
            case "data_sources", ["query"] if number // 100 in self.databases:
                rows = self.databases[number // 100].sources[number % 100]
                return self._list([self._page(row) for row in rows], query)
        return None

    def _list(self, objects: list[dict[str, object]], query: dict[str, str]) -> dict[str, object]:
        start = int(query.get("start_cursor", "0"))
        end = start + min(int(query.get("page_size", "100")), self.batch)
        more = end < len(objects)
        return {
            "object": "list",
            "results": objects[start:end],
            "next_cursor": str(end) if more else None,
            "has_more": more,
            "request_id": id_of(1),
        }

    def _page(self, number: int) -> dict[str, object]:
        page = self.pages[number]
        title = {"id": "title", "type": "title", "title": words(page.title)}
        return {
            "object": "page",
            "id": id_of(number),
            "last_edited_time": page.edited,
            "in_trash": page.in_trash,
            "archived": page.in_trash,
            "properties": {**page.properties, "Nom": title},
            "url": f"https://www.notion.so/Page-{bare(number)}",
            "public_url": None,
        }

    def _database(self, number: int) -> dict[str, object]:
        database = self.databases[number]
        return {
            "object": "database",
            "id": id_of(number),
            "title": words(database.title),
            "in_trash": False,
            "data_sources": [
                {"id": id_of(100 * number + index), "name": f"Source {index}"}
                for index in range(len(database.sources))
            ],
        }

    def _block(self, block: Block) -> dict[str, object]:
        if block.kind in ("child_page", "child_database"):
            page = self.pages.get(block.number)
            found = page or self.databases.get(block.number)
            content: dict[str, object] = {"title": found.title if found else "Ailleurs"}
            edited = page.edited if page else LONG_AGO
        else:
            content, edited = dict(block.content), LONG_AGO
            if block.text is not None:
                content["rich_text"] = words(block.text)
        number = block.number or 1_000_000 + id(block) % 1_000_000_000
        if block.inside:
            self._inside[id_of(number)] = block.inside
        return {
            "object": "block",
            "id": id_of(number),
            "type": block.kind,
            "last_edited_time": edited,
            "in_trash": False,
            "has_children": bool(block.inside) or block.kind.startswith("child_"),
            block.kind: content,
        }


_JSON = {"Content-Type": "application/json; charset=utf-8"}


def _error(status: int, code: str, message: str) -> Answer:
    told = {"object": "error", "status": status, "code": code, "message": message}
    return Answer(json.dumps(told).encode(), status, headers=_JSON)
