"""`/handbook explain <link>` in the stand-in, on a real index."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import update

from bot.maintenance import Maintenance
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.slack.house_rules import HouseRules
from bot.slack.wording import ENGLISH, FRENCH
from bot.store import QuestionLog, open_engine
from bot.store.tables import questions
from ingest import AudienceConfig
from tests.slack_running import ScriptedHandbook, running, serving, settings_in

ANSWERED = "Combien de jours de télétravail par semaine ?"
UNANSWERED = "Quel est le salaire des directeurs ?"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = {
        "guide/teletravail.md": "# Télétravail\n\n## Rythme\n\nLe télétravail est possible deux"
        " jours par semaine, après accord du responsable.\n",
        "guide/cantine.md": "# Cantine\n\nLa cantine ouvre à midi &lt;!channel&gt;.\n",
        "primes/salaires.md": "# Salaires des directeurs\n\nLe salaire des directeurs est de"
        " 9 000 euros.\n",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "handbook.toml").write_text(
        '[[sources]]\nname = "guide"\npath = "guide"\n\n'
        '[[sources]]\nname = "primes"\npath = "primes"\naudience = "managers"\n',
        encoding="utf-8",
    )
    Maintenance(settings_in(tmp_path)).sync([], progress=lambda _: None)
    return tmp_path


async def answered(sandbox: Sandbox, question: str, channel: str = "general") -> Message:
    asked = sandbox.say("camille", channel, f"@Manuel {question}")
    return await sandbox.wait_for_reply(asked)


async def explained(sandbox: Sandbox, message: Message | str, who: str = "amina") -> Message:
    link = message if isinstance(message, str) else sandbox.workspace().permalink(message)
    count = len(sandbox.ephemerals(who)) + 1
    sandbox.slash(who, "general", "/handbook", f"explain {link}")
    return await sandbox.wait_for_ephemeral(who, count=count)


async def test_an_answer_is_explained_step_by_step_and_to_the_admin_alone(
    sandbox: Sandbox, folder: Path
) -> None:
    async with serving(sandbox, folder):
        reply = await answered(sandbox, ANSWERED)
        before = len(sandbox.messages("general"))
        shown = await explained(sandbox, reply)

        assert len(sandbox.messages("general")) == before
    assert FRENCH.home_question.format(question=ANSWERED) in shown.text
    for heading in (FRENCH.explain_words, FRENCH.explain_passages):
        assert heading in shown.text
    assert "télétravail = tt (" in shown.text
    assert "1. Télétravail › Rythme" in shown.text
    assert "rang par mots : 1, rang par sens : –" in shown.text
    assert "apport des mots : " in shown.text
    assert FRENCH.explain_draft.format(generator="extractive") in shown.text
    assert "seuil 0." in shown.text
    assert "quote_coverage" in shown.text
    assert FRENCH.explain_footer in shown.text


async def test_an_abstention_is_explained_without_what_not_everybody_may_read(
    sandbox: Sandbox, folder: Path
) -> None:
    async with serving(sandbox, folder):
        reply = await answered(sandbox, UNANSWERED)
        shown = await explained(sandbox, reply)

    assert reply.text.startswith("je ne sais pas")
    assert FRENCH.explain_now.split("{")[0] in shown.text
    assert "je ne sais pas" in shown.text
    assert any(
        reason in shown.text for reason in (FRENCH.explain_unsupported, FRENCH.explain_no_passage)
    )
    assert "9 000" not in f"{shown.text}{shown.blocks}"
    assert "Salaires des directeurs" not in f"{shown.text}{shown.blocks}"


async def test_what_everybody_in_its_channel_may_read_explains_an_answer(
    sandbox: Sandbox, folder: Path
) -> None:
    channel = sandbox.add_channel("direction", members=["camille", "amina"], private=True)
    rules = HouseRules(audiences={"managers": AudienceConfig(channels=(channel.channel_id,))})
    question = "Quel est le salaire des directeurs, en euros ?"
    async with serving(sandbox, folder, rules=rules):
        there = await explained(sandbox, await answered(sandbox, question, "direction"))
        elsewhere = await explained(sandbox, await answered(sandbox, question))

    assert "Salaires des directeurs" in there.text
    assert "Salaires des directeurs" not in elsewhere.text


async def test_the_link_may_be_that_of_the_question(sandbox: Sandbox, folder: Path) -> None:
    async with serving(sandbox, folder):
        reply = await answered(sandbox, ANSWERED)
        question = sandbox.thread(reply)[0]
        shown = await explained(sandbox, f"<{sandbox.workspace().permalink(question)}>")

    assert FRENCH.explain_title in shown.text


async def test_a_follow_up_is_explained_with_its_thread(sandbox: Sandbox, folder: Path) -> None:
    async with serving(sandbox, folder):
        first = sandbox.say("camille", "general", f"@Manuel {ANSWERED}")
        await sandbox.wait_for_reply(first)
        then = sandbox.say("camille", "general", "@Manuel et après accord de qui ?", first.ts)
        reply = await sandbox.wait_until(
            lambda: replies[1] if len(replies := sandbox.replies(first)) > 1 else None
        )
        shown = await explained(sandbox, reply)

    assert then.thread_ts == first.ts
    assert "Comprise avec le fil" in shown.text
    assert ANSWERED in shown.text


async def test_nothing_that_a_page_says_is_live(sandbox: Sandbox, folder: Path) -> None:
    async with serving(sandbox, folder):
        reply = await answered(sandbox, "à quelle heure ouvre la cantine ?")
        shown = await explained(sandbox, reply)

    assert "&lt;!channel&gt;" in shown.text
    assert "<!" not in shown.text
    assert {block["type"] for block in shown.blocks} == {"rich_text"}


async def test_words_that_are_no_longer_kept_are_not_explained(
    sandbox: Sandbox, folder: Path
) -> None:
    async with serving(sandbox, folder):
        reply = await answered(sandbox, ANSWERED)
        engine = open_engine(settings_in(folder).database_url)
        with engine.begin() as connection:
            connection.execute(update(questions).values(asked_at=time.time() - 91 * 86_400))
        QuestionLog(engine, keep_days=90).forget_old()
        engine.dispose()
        shown = await explained(sandbox, reply)

    assert shown.text == FRENCH.explain_words_gone


async def test_somebody_elses_direct_message_is_not_explained(
    sandbox: Sandbox, folder: Path
) -> None:
    async with serving(sandbox, folder):
        reply = await sandbox.wait_for_reply(sandbox.direct_message("camille", ANSWERED))
        theirs = await explained(sandbox, reply)
        reply = await sandbox.wait_for_reply(sandbox.direct_message("amina", ANSWERED))
        own = await explained(sandbox, reply)

    assert theirs.text == FRENCH.explain_elsewhere
    assert FRENCH.explain_title in own.text


@pytest.mark.parametrize("member", [False, True])
async def test_a_private_channel_is_explained_to_its_members_only(
    sandbox: Sandbox, folder: Path, member: bool
) -> None:
    members = ["camille", "amina"] if member else ["camille"]
    sandbox.add_channel("direction", members=members, private=True)
    async with serving(sandbox, folder):
        reply = await answered(sandbox, ANSWERED, "direction")
        shown = await explained(sandbox, reply)

    assert (ANSWERED in shown.text) is member
    assert (shown.text == FRENCH.explain_elsewhere) is not member


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", FRENCH.explain_usage),
        ("pourquoi ?", FRENCH.explain_usage),
        ("https://exemple.slack.com/archives/C0/p1700000000000001", FRENCH.explain_not_found),
    ],
)
async def test_other_links_are_told_apart(
    sandbox: Sandbox, folder: Path, typed: str, words: str
) -> None:
    async with serving(sandbox, folder):
        assert (await explained(sandbox, typed)).text == words


async def test_others_get_no_explanation(sandbox: Sandbox, folder: Path) -> None:
    async with serving(sandbox, folder):
        reply = await answered(sandbox, ANSWERED)
        shown = await explained(sandbox, reply, who="james")
        refused = await explained(sandbox, "", who="james")

    assert "quote_coverage" not in shown.text
    assert refused.text == ENGLISH.admins_only


async def test_an_outage_is_told(sandbox: Sandbox, folder: Path) -> None:
    async with running(sandbox, folder, handbook=ScriptedHandbook()):
        reply = await answered(sandbox, ANSWERED)
        assert (await explained(sandbox, reply)).text == FRENCH.outage
