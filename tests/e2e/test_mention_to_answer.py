"""The whole main path: a handbook on disk, `manuel ingest`, `manuel serve`, and people asking."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer

ROOT = Path(__file__).resolve().parents[2]

PAGES = {
    "teletravail.md": """# Télétravail

## Rythme

Le télétravail est possible deux jours par semaine, après accord du responsable.
Les jours de télétravail sont déclarés dans Lucca avant le vendredi.

## Matériel

Un écran et un clavier sont prêtés à chaque salarié qui travaille chez lui.
""",
    "conges.md": """# Congés

## Congés payés

Chaque salarié acquiert 2,5 jours ouvrables de congés payés par mois de travail.

## Congé de déménagement <!channel>

Un jour de congé <!channel> <https://evil.example|ici> est accordé pour un déménagement.
""",
    "en/onboarding.md": """# Onboarding

## First day

Your badge is handed out at the reception desk on the ground floor on your first day.
""",
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Write a small handbook, index it by the command line, and return the settings used."""
    folder = tmp_path_factory.mktemp("handbook")
    for name, text in PAGES.items():
        page = folder / "pages" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    (folder / "handbook.toml").write_text(
        '[[sources]]\nname = "guide"\ntype = "folder"\npath = "pages"\n'
        'url = "https://intranet.example/{path_without_extension}"\n',
        encoding="utf-8",
    )
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{folder / 'manuel.db'}",
        "HANDBOOK_CONFIG": str(folder / "handbook.toml"),
        "REINDEX_CRON": "",
        "JOB_LEASE_S": "1",
    }
    subprocess.run(
        [sys.executable, "-m", "bot", "ingest"], cwd=ROOT, env=environment, check=True, timeout=120
    )
    return environment


@asynccontextmanager
async def serving(
    sandbox: Sandbox, environment: dict[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run `manuel serve` against the stand-in; it is stopped politely at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "serve",
        cwd=ROOT,
        env={**environment, **sandbox.environment},
    )
    connected = asyncio.create_task(sandbox.wait_for_connection(timeout_s=60))
    ended = asyncio.create_task(process.wait())
    try:
        await asyncio.wait({connected, ended}, return_when=asyncio.FIRST_COMPLETED)
        assert process.returncode is None, "`manuel serve` ended before it connected"
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await ended
        connected.cancel()
    assert process.returncode == 0


@pytest.fixture
async def sandbox(environment: dict[str, str]) -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox, serving(sandbox, environment):
        yield sandbox
        assert sandbox.problems == []


async def test_a_mention_in_a_channel_gets_one_threaded_answer_with_its_sources(
    sandbox: Sandbox,
) -> None:
    asked = sandbox.say(
        "camille", "general", "@Manuel combien de jours de télétravail par semaine ?"
    )
    reply = await sandbox.wait_for_reply(asked, timeout_s=30)
    await asyncio.sleep(0.5)

    assert sandbox.replies(asked) == [reply]
    assert "deux jours par semaine" in reply.text
    assert "https://intranet.example/teletravail" in reply.text
    assert "1. Télétravail" in reply.text


async def test_a_question_in_english_is_answered_from_an_english_page(sandbox: Sandbox) -> None:
    asked = sandbox.direct_message("james", "Where do I get my badge on the first day?")
    reply = await sandbox.wait_for_reply(asked, timeout_s=30)

    assert "reception desk" in reply.text
    assert "https://intranet.example/en/onboarding" in reply.text
    assert "Quoted word for word" in reply.text


async def test_an_unanswerable_question_gets_an_abstention_without_a_source(
    sandbox: Sandbox,
) -> None:
    asked = sandbox.say(
        "camille", "general", "@Manuel qui a gagné la coupe du monde de football en 1998 ?"
    )
    reply = await sandbox.wait_for_reply(asked, timeout_s=30)

    assert reply.text.split("\n")[0] == "je ne sais pas"
    assert "intranet.example" not in reply.text
    assert "intranet.example" not in str(reply.blocks)


async def test_a_follow_up_is_understood_and_its_author_can_be_forgotten(
    sandbox: Sandbox, environment: dict[str, str]
) -> None:
    root = sandbox.direct_message("amina", "Combien de jours de télétravail par semaine ?")
    await sandbox.wait_for_reply(root, timeout_s=30)
    sandbox.direct_message("amina", "et le matériel ?", thread_ts=root.ts)
    reply = await sandbox.wait_for_reply(root, count=2, timeout_s=30)
    assert "Un écran et un clavier" in reply.text

    amina = sandbox.workspace().user("amina").user_id
    forget = [sys.executable, "-m", "bot", "forget-user", amina, "--json"]
    done = subprocess.run(
        forget, cwd=ROOT, env=environment, check=True, timeout=60, capture_output=True
    )
    assert json.loads(done.stdout)["questions"] == 2
    again = subprocess.run(
        forget, cwd=ROOT, env=environment, check=True, timeout=60, capture_output=True
    )
    assert set(json.loads(again.stdout).values()) == {0}


async def test_a_private_answer_is_shared_by_its_owner(sandbox: Sandbox) -> None:
    question = "ask combien de jours de télétravail par semaine ?"
    sandbox.slash("camille", "general", "/handbook", question)
    reply = await sandbox.wait_for_ephemeral("camille", "deux jours par semaine", timeout_s=30)
    assert sandbox.messages("general") == []

    sandbox.click("camille", reply, "share_answer")
    shared = await sandbox.wait_for_message("general", timeout_s=30)
    assert "deux jours par semaine" in shared.text
    assert "https://intranet.example/teletravail" in shared.text


async def test_a_thumb_below_an_answer_is_exported_with_the_passages_cited(
    sandbox: Sandbox, environment: dict[str, str]
) -> None:
    asked = sandbox.say("james", "general", "@Manuel where do I get my badge on the first day?")
    reply = await sandbox.wait_for_reply(asked, timeout_s=30)
    sandbox.click("james", reply, "feedback")
    await sandbox.wait_for_ephemeral("james", "noted", timeout_s=30)

    export = [sys.executable, "-m", "bot", "feedback", "export", "--json"]
    done = subprocess.run(
        export, cwd=ROOT, env=environment, check=True, timeout=60, capture_output=True
    )
    [given] = [json.loads(line) for line in done.stdout.splitlines()]
    assert (given["verdict"], given["question"]) == (
        "up",
        "where do I get my badge on the first day?",
    )
    assert "en/onboarding.md" in [p["page"] for p in given["passages"] if p["cited"]]


async def test_an_admin_brings_the_handbook_up_to_date_and_sees_its_state(
    sandbox: Sandbox,
) -> None:
    sandbox.slash("amina", "general", "/handbook", "reindex")
    report = await sandbox.wait_for_ephemeral("amina", timeout_s=60)
    assert report.text.startswith("guide : 0 pages ajoutées, 0 modifiées, 0 retirées, 3 inchangées")
    sandbox.slash("amina", "general", "/handbook", "status")
    state = await sandbox.wait_for_ephemeral("amina", count=2, timeout_s=30)
    assert state.text.startswith("Guide : 3 pages")

    sandbox.slash("camille", "general", "/handbook", "reindex")
    await sandbox.wait_for_ephemeral("camille", "réservée aux administrateurs", timeout_s=30)


async def test_markup_in_a_page_and_in_a_question_stays_dead(sandbox: Sandbox) -> None:
    asked = sandbox.say(
        "camille",
        "general",
        "@Manuel <!channel> combien de jours de congé pour un déménagement ? <https://evil.example>",
    )
    reply = await sandbox.wait_for_reply(asked, timeout_s=30)

    assert "déménagement" in reply.text
    assert "<" not in reply.text
    assert "https://evil.example" not in [
        element.get("url")
        for block in reply.blocks
        for part in block.get("elements", [])
        for element in part.get("elements", [])
        if isinstance(element, dict)
    ]
    assert not [block for block in reply.blocks if "<!" in str(block.get("text", ""))]


async def test_without_an_index_the_outage_is_admitted_until_the_first_sync_is_done(
    environment: dict[str, str], tmp_path: Path
) -> None:
    fresh = {**environment, "DATABASE_URL": f"sqlite:///{tmp_path / 'manuel.db'}"}
    async with SandboxServer() as sandbox, serving(sandbox, fresh):
        asked = sandbox.say("camille", "general", "@Manuel combien de télétravail ?")
        outage = await sandbox.wait_for_reply(asked, timeout_s=30)
        assert "panne" in outage.text
        assert "je ne sais pas" not in outage.text

        subprocess.run(
            [sys.executable, "-m", "bot", "ingest"], cwd=ROOT, env=fresh, check=True, timeout=120
        )
        again = sandbox.say("camille", "general", "@Manuel combien de jours de télétravail ?")
        reply = await sandbox.wait_for_reply(again, timeout_s=30)
        assert "deux jours" in reply.text
