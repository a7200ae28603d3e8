"""The demo's conversation, played with the real app on a few passages of our own."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from bot.sandbox.demo import CONVERSATION, Turn, play
from bot.sandbox.server import SandboxServer
from tests.outcomes import abstention
from tests.slack_running import running

REMOTE = "combien de jours de télétravail ?"


def terminal() -> Console:
    return Console(file=io.StringIO(), width=100)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


async def test_conversation_is_printed_as_people_would_see_it(tmp_path: Path):
    turns = (
        Turn("mention", "camille", f"@Manuel {REMOTE}"),
        Turn("inconnue", "james", "@Manuel la couleur du chat ?", answered=False),
        Turn("message direct", "amina", REMOTE, where=""),
        Turn("recherche", "camille", "télétravail", command="/handbook"),
    )
    console = terminal()
    async with SandboxServer() as sandbox, running(sandbox, tmp_path):
        assert await play(sandbox, console, turns) == []
        assert sandbox.problems == []
    shown = printed(console)
    assert "Camille Durand  #general" in shown
    assert f"@Manuel {REMOTE}" in shown
    assert "Manuel APP  #general · in thread" in shown
    assert "│ Deux jours de télétravail par semaine. [1]" in shown
    assert "1. Télétravail › Rythme · mis à jour le 12 mars 2026" in shown
    assert "je ne sais pas" in shown
    assert "Amina Benali  direct message" in shown
    assert "/handbook télétravail" in shown
    assert "only visible to you" in shown


async def test_reply_that_is_not_the_one_due_is_a_failure(tmp_path: Path):
    turn = Turn("mention", "camille", f"@Manuel {REMOTE}")
    console = terminal()

    def knows_nothing(_question, _audiences):
        return abstention()

    async with SandboxServer() as sandbox, running(sandbox, tmp_path, knows_nothing):
        assert await play(sandbox, console, (turn,)) == [turn]
    assert "expected an answer" in printed(console)


def test_demo_shows_what_the_issue_promises():
    assert len(CONVERSATION) == 5
    assert sum(t.answered is False for t in CONVERSATION) == 1
    assert [t.command for t in CONVERSATION if t.command] == ["/handbook"]
    assert sum(t.where == "" for t in CONVERSATION) == 1
