"""What admins choose for one channel holds there, and nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.maintenance import Maintenance
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message, Role, View
from bot.slack.wording import ENGLISH, FRENCH
from bot.store import ChannelSettings, ChannelSettingsStore, WhoMayAsk, migrate, open_engine
from tests.slack_running import serving, settings_in

REMOTE = "Combien de jours de télétravail par semaine ?"
CANTEEN = "La cantine ouvre à combien d'heures, du lundi au vendredi ?"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        sandbox.add_channel("rh")
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sources with a page each, synced."""
    pages = {
        "rh/teletravail.md": "# Télétravail\n\n## Rythme\n\nLe télétravail est possible deux jours"
        " par semaine, après accord du responsable.\n",
        "vie/cantine.md": "# Cantine\n\n## Heure d'ouverture de la cantine\n\nLa cantine ouvre à"
        " 12 heures, du lundi au vendredi.\n",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "handbook.toml").write_text(
        '[[sources]]\nname = "rh"\npath = "rh"\n\n[[sources]]\nname = "vie"\npath = "vie"\n',
        encoding="utf-8",
    )
    Maintenance(settings_in(tmp_path)).sync([], progress=lambda _: None)
    return tmp_path


def choose(sandbox: Sandbox, folder: Path, channel: str, **chosen: Any) -> None:
    """Keep settings for a channel, as its modal does."""
    engine = open_engine(settings_in(folder).database_url)
    migrate(engine)
    workspace = sandbox.workspace()
    ChannelSettingsStore(engine).put(
        workspace.team_id, workspace.channel(channel).channel_id, ChannelSettings(**chosen)
    )
    engine.dispose()


def kept(sandbox: Sandbox, folder: Path, channel: str) -> ChannelSettings:
    engine = open_engine(settings_in(folder).database_url)
    workspace = sandbox.workspace()
    found = ChannelSettingsStore(engine).get(
        workspace.team_id, workspace.channel(channel).channel_id
    )
    engine.dispose()
    return found


async def asked(sandbox: Sandbox, question: str, channel: str, who: str = "camille") -> Message:
    return await sandbox.wait_for_reply(sandbox.say(who, channel, f"@Manuel {question}"))


async def ordered(
    sandbox: Sandbox, text: str, channel: str, who: str = "camille", count: int = 1
) -> Message:
    sandbox.slash(who, channel, "/handbook", text)
    return await sandbox.wait_for_ephemeral(who, count=count)


async def opened(sandbox: Sandbox, channel: str, who: str = "amina") -> View:
    sandbox.slash(who, channel, "/handbook", "channel")
    return await sandbox.wait_until(lambda: sandbox.modal(who))


def chosen(view: View, **picked: Any) -> dict[str, Any]:
    """The state of the modal with these texts picked, and the rest as it was."""
    values: dict[str, Any] = {}
    for block in view.content["blocks"]:
        name, element = block["block_id"], block["element"]
        options = {option["text"]["text"]: option for option in element["options"]}
        if element["type"] == "radio_buttons":
            option = options[picked[name]] if name in picked else element["initial_option"]
            values[name] = {name: {"type": "radio_buttons", "selected_option": option}}
        else:
            several = [options[text] for text in picked.get(name, ())]
            values[name] = {name: {"type": "multi_static_select", "selected_options": several}}
    return values


async def test_an_admin_sets_up_a_channel_in_a_modal(sandbox: Sandbox, folder: Path) -> None:
    async with serving(sandbox, folder):
        view = await opened(sandbox, "rh")
        assert view.content["title"]["text"] == FRENCH.channel_title
        values = chosen(
            view,
            sources=["vie"],
            language=FRENCH.channel_language_en,
            answers=FRENCH.channel_answers_privately,
            who=FRENCH.channel_who_members,
        )
        sandbox.submit("amina", values)
        await sandbox.wait_for_ephemeral("amina", FRENCH.channel_saved)
        again = await opened(sandbox, "rh")

    assert kept(sandbox, folder, "rh") == ChannelSettings(("vie",), "en", True, WhoMayAsk.MEMBERS)
    assert kept(sandbox, folder, "general") == ChannelSettings()
    [several] = [b["element"] for b in again.content["blocks"] if b["block_id"] == "sources"]
    assert [option["text"]["text"] for option in several["initial_options"]] == ["vie"]


async def test_what_is_taken_back_is_gone(sandbox: Sandbox, folder: Path) -> None:
    choose(sandbox, folder, "rh", sources=("vie",), language="en", who=WhoMayAsk.ADMINS)
    async with serving(sandbox, folder):
        view = await opened(sandbox, "rh")
        title = view.content["title"]["text"]
        values = chosen(
            view, language=ENGLISH.channel_language_reader, who=ENGLISH.channel_who_house
        )
        sandbox.submit("amina", values)
        await sandbox.wait_for_ephemeral("amina", FRENCH.channel_saved)

    assert title == ENGLISH.channel_title
    assert kept(sandbox, folder, "rh") == ChannelSettings()


async def test_others_do_not_set_up_a_channel(sandbox: Sandbox, folder: Path) -> None:
    async with serving(sandbox, folder):
        refusal = await ordered(sandbox, "channel", "rh", who="james")

    assert refusal.text == ENGLISH.admins_only
    assert sandbox.modal("james") is None


async def test_who_submits_must_still_be_an_admin(
    sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.people.KEEP_ROLE_S", 0.0)
    async with serving(sandbox, folder):
        values = chosen(await opened(sandbox, "rh"), who=FRENCH.channel_who_everyone)
        sandbox.workspace().user("amina").role = Role.MEMBER
        sandbox.submit("amina", values)
        await sandbox.wait_for_ephemeral("amina", FRENCH.admins_only)

    assert kept(sandbox, folder, "rh") == ChannelSettings()


async def test_a_direct_message_has_no_settings(sandbox: Sandbox, folder: Path) -> None:
    direct = sandbox.workspace().direct(sandbox.workspace().user("amina").user_id).channel_id
    async with serving(sandbox, folder):
        refusal = await ordered(sandbox, "channel", direct, who="amina")

    assert refusal.text == FRENCH.channel_not_here


async def test_only_the_chosen_sources_are_looked_into(sandbox: Sandbox, folder: Path) -> None:
    choose(sandbox, folder, "rh", sources=("rh",))
    async with serving(sandbox, folder):
        answered = await asked(sandbox, REMOTE, "rh")
        unanswered = await asked(sandbox, CANTEEN, "rh")
        elsewhere = await asked(sandbox, CANTEEN, "general")
        private = await ordered(sandbox, f"ask {CANTEEN}", "rh", count=2)
        hits = await ordered(sandbox, "cantine", "rh", count=3)
        found = await ordered(sandbox, "cantine", "general", count=4)

    assert "deux jours par semaine" in answered.text
    assert unanswered.text.startswith("je ne sais pas")
    assert "12 heures" in elsewhere.text
    assert private.text.startswith("je ne sais pas")
    assert hits.text == FRENCH.no_hits.format(terms="cantine")
    assert "12 heures" in found.text


async def test_the_language_of_a_channel_goes_before_that_of_the_reader(
    sandbox: Sandbox, folder: Path
) -> None:
    choose(sandbox, folder, "rh", language="en")
    async with serving(sandbox, folder):
        mention = await asked(sandbox, REMOTE, "rh")
        private = await ordered(sandbox, f"ask {REMOTE}", "rh", count=2)
        elsewhere = await asked(sandbox, REMOTE, "general")

    assert ENGLISH.quoted in mention.text
    assert ENGLISH.quoted in private.text
    assert FRENCH.quoted in elsewhere.text


async def test_a_private_channel_answer_goes_to_whoever_asked_alone(
    sandbox: Sandbox, folder: Path
) -> None:
    choose(sandbox, folder, "rh", private=True)
    async with serving(sandbox, folder):
        sandbox.say("camille", "rh", f"@Manuel {REMOTE}")
        direct = sandbox.workspace().direct(sandbox.workspace().user("camille").user_id)
        answer = await sandbox.wait_for_message(direct.channel_id)
        private = await ordered(sandbox, f"ask {REMOTE}", "rh", count=2)

    assert answer.text.startswith(FRENCH.channel_moved)
    assert "deux jours par semaine" in answer.text
    assert all(message.bot is None for message in sandbox.messages("rh"))
    assert "share_answer" not in str(private.blocks)


@pytest.mark.parametrize(
    ("who_may", "asker", "refusal"),
    [
        (WhoMayAsk.HOUSE, "camille", ""),
        (WhoMayAsk.HOUSE, "gilles", FRENCH.not_for_guests),
        (WhoMayAsk.EVERYONE, "gilles", ""),
        (WhoMayAsk.MEMBERS, "gilles", FRENCH.not_for_guests),
        (WhoMayAsk.MEMBERS, "camille", ""),
        (WhoMayAsk.ADMINS, "camille", FRENCH.channel_admins_only),
        (WhoMayAsk.ADMINS, "amina", ""),
    ],
)
async def test_who_may_ask_in_a_channel(
    sandbox: Sandbox, folder: Path, who_may: WhoMayAsk, asker: str, refusal: str
) -> None:
    sandbox.add_user("gilles", role="guest")
    sandbox.join("gilles", "rh")
    choose(sandbox, folder, "rh", who=who_may)
    async with serving(sandbox, folder):
        mention = await asked(sandbox, REMOTE, "rh", who=asker)
        search = await ordered(sandbox, "télétravail", "rh", who=asker)

    for said in (mention, search):
        if refusal:
            assert said.text == refusal
        else:
            assert "deux jours par semaine" in said.text


@pytest.mark.parametrize("who_may", [WhoMayAsk.EVERYONE, WhoMayAsk.MEMBERS])
async def test_a_channel_shared_with_another_company_is_answered_only_where_an_admin_chose_so(
    sandbox: Sandbox, folder: Path, who_may: WhoMayAsk
) -> None:
    sandbox.add_channel("partenaires", is_ext_shared=True)
    choose(sandbox, folder, "partenaires", who=who_may)
    async with serving(sandbox, folder):
        said = await asked(sandbox, REMOTE, "partenaires")

    if who_may is WhoMayAsk.EVERYONE:
        assert "deux jours par semaine" in said.text
    else:
        assert said.text == FRENCH.not_in_shared_channels


async def test_sources_of_other_workspaces_are_not_named(sandbox: Sandbox, folder: Path) -> None:
    config = folder / "handbook.toml"
    ours = sandbox.workspace().team_id
    config.write_text(
        f'[[sources]]\nname = "rh"\npath = "rh"\nworkspaces = ["{ours}"]\n\n'
        '[[sources]]\nname = "filiale"\npath = "vie"\nworkspaces = ["T0OTHER"]\n',
        encoding="utf-8",
    )
    async with serving(sandbox, folder):
        view = await opened(sandbox, "rh")

    [several] = [b["element"] for b in view.content["blocks"] if b["block_id"] == "sources"]
    assert [option["text"]["text"] for option in several["options"]] == ["rh"]


async def test_a_configuration_that_cannot_be_read_is_told(sandbox: Sandbox, folder: Path) -> None:
    async with serving(sandbox, folder):
        (folder / "handbook.toml").write_text("[[sources]\n", encoding="utf-8")
        refusal = await ordered(sandbox, "channel", "rh", who="amina")

    assert refusal.text == FRENCH.channel_failed
