"""From a model's first words to Slack: a real index, a scripted model server, real sockets."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.app import open_engine_room
from bot.metrics import Metrics
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.settings import BotSettings
from bot.slack.house_rules import HouseRules
from bot.slack.readiness import HandbookWhenReady
from bot.store import JobState, JobStore
from ingest import run_ingest
from tests.scripted_server import Scripted, scripted_server
from tests.slack_running import running

PAGES = {
    "badge.md": "# Accueil\n\n## Badge\n\nLe badge visiteur est remis à l'accueil.\n",
    "perte.md": "# Accueil\n\n## Perte\n\nUn badge visiteur perdu est signalé au gardien.\n",
    "paie.md": "---\naudience: [rh]\n---\n# Paie\n\nLe badge visiteur secret ouvre la paie.\n",
}
FIRST = "Le badge visiteur est remis à l'accueil."
SECOND = "Un badge visiteur perdu est signalé au gardien."
INVENTED = "Le badge visiteur coûte 30 €."
SECRET = "Le badge visiteur secret ouvre la paie."


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


class Model:
    """Streams an invented, a first, a restricted and a second claim; waits before the last ones.

    With `dies` its connection is lost there.
    """

    def __init__(self, *, dies: bool = False) -> None:
        self.dies = dies
        self.go_on = threading.Event()
        self.prompt = ""

    def __call__(self, body: dict[str, Any]) -> Scripted:
        self.prompt = next(
            m["content"] for m in body["messages"] if '"evidence_id"' in m["content"]
        )
        ids = re.findall(r'"evidence_id": "(\w+)"', self.prompt)
        found = sorted((self.prompt.index(text), text) for text in (FIRST, SECOND))
        named = {text: ids[n] for n, (_, text) in enumerate(found)}
        claims = [
            {"sentence": INVENTED, "passage_id": named[FIRST], "quote": FIRST},
            {"sentence": FIRST, "passage_id": named[FIRST], "quote": FIRST},
            {"sentence": SECRET, "passage_id": named[FIRST], "quote": SECRET},
            {"sentence": SECOND, "passage_id": named[SECOND], "quote": SECOND},
        ]
        text = json.dumps({"language": "fr", "claims": claims}, ensure_ascii=False)
        cut = text.index(SECRET)
        before, after = (
            [_chunk(part[i : i + 7]) for i in range(0, len(part), 7)]
            for part in (text[:cut], text[cut:])
        )
        wait = lambda: self.go_on.wait(20)  # noqa: E731 - one of the events
        if self.dies:
            return Scripted(events=(*before, wait), headers={"Content-Length": "100000"})
        return Scripted(events=(*before, wait, *after, _chunk("", finish="stop"), "[DONE]"))


def _chunk(text: str, *, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "created": 0, "choices": [choice]}


def settings(folder: Path, url: str) -> BotSettings:
    (folder / "pages").mkdir()
    for name, text in PAGES.items():
        (folder / "pages" / name).write_text(text, encoding="utf-8")
    values = BotSettings(
        _env_file=None,
        database_url=f"sqlite:///{folder / 'manuel.db'}",
        handbook_config=folder / "absent.toml",
        answer_model="modele",
        openai_base_url=url,
    )
    run_ingest(values, specs=(f"folder:{folder / 'pages'}",))
    return values


async def ended(store: JobStore) -> None:
    async with asyncio.timeout(30):
        while store.counts() != {JobState.DONE: 1}:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("dies", [False, True], ids=["whole", "lost half-way"])
async def test_only_what_is_certain_is_shown_while_the_model_writes(
    sandbox: Sandbox, tmp_path: Path, dies: bool
) -> None:
    model = Model(dies=dies)
    with scripted_server(model) as server:
        values = settings(tmp_path, server.url)
        handbook = HandbookWhenReady(lambda: open_engine_room(values), Metrics())
        rules = HouseRules.of(values)
        async with running(sandbox, tmp_path, handbook=handbook, rules=rules) as store:
            asked = sandbox.say("camille", "general", "@Manuel où est remis le badge visiteur ?")
            shown = await sandbox.wait_until(lambda: _shown(sandbox, asked), timeout_s=30)
            words = str(shown.blocks)
            assert FIRST in words
            assert INVENTED not in words
            model.go_on.set()
            await ended(store)
            [reply] = sandbox.replies(asked)
        handbook.close()
    assert reply.ts == shown.ts
    words = str(reply.blocks)
    assert SECRET not in words + model.prompt
    assert INVENTED not in words
    assert FIRST in words
    assert ("modele" in words) != dies
    assert (SECOND in words) or dies


def _shown(sandbox: Sandbox, asked: Message) -> Message | None:
    return next((reply for reply in sandbox.replies(asked) if reply.blocks), None)
