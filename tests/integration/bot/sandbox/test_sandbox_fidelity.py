"""Is the stand-in true to Slack? Its JSON against samples, recorded shapes, and Bolt itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import Delivery
from bot.sandbox.manifest import DEFAULT_PATH, EVENT_SCOPES, Manifest
from bot.sandbox.server import SandboxServer

# Key paths the recorded shapes (2021-2026, several SDKs behind) do not have, with their source.
KNOWN_BEYOND_SHAPES = {
    # docs: Events API, envelope
    "context_team_id": "Events API page",
    "context_enterprise_id": "Events API page",
    "event.app_context": "agent messaging page",
    "event.context": "app_home_opened page",
    # samples: app_mention in a thread
    "event.parent_user_id": "sample app_mention.in_thread",
    "event.bot_profile.user_id": "sample conversations.replies.agent_thread",
    "event.app_id": "sample message.bot_own_or_other_app",
    # message objects
    "message.bot_profile.user_id": "sample conversations.replies.agent_thread",
    "messages[].bot_profile.user_id": "sample conversations.replies.agent_thread",
    "message.bot_profile.icons": "shape chat.postMessage",
    "messages[].client_msg_id": "sample conversations.replies.agent_thread",
    # interactivity
    "state": "sample block_actions.button_in_home_tab",
    "response_urls": "sample view_submission",
    # views
    "view.state.values": "sample views.open",
    "view.blocks": "sample view_submission",
    "event.view.blocks": "sample view_submission",
    "event.view.state.values": "sample view_submission",
}

# Values of another JSON type than the shape's, and why.
OTHER_TYPES = {
    "is_enterprise_install": "a string in commands, as in their form body",
}

# Keys of a sample that the stand-in does not make, and why.
NOT_MADE = {
    "enterprise_id": "no Enterprise Grid",
    "enterprise_name": "no Enterprise Grid",
    "team.enterprise_id": "no Enterprise Grid",
    "team.enterprise_name": "no Enterprise Grid",
    "authed_users": "deprecated",
    "event.user_team": "shared channels only",
    "event.source_team": "shared channels only",
    "event.user_profile": "shared channels only",
    "event.client_msg_id": "bots have none; the composed sample kept it",
}


def paths(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (key path, JSON type) of everything in a value; blocks and files are not ours."""
    if isinstance(value, dict):
        for key, child in value.items():
            path = f"{prefix}.{key}" if prefix else key
            yield path, kind(child)
            if key not in ("blocks", "files", "attachments", "metadata", "values"):
                yield from paths(child, path)
    elif isinstance(value, list):
        for child in value:
            yield from paths(child, f"{prefix}[]")


def kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return {str: "string", list: "array", dict: "object", type(None): "null"}[type(value)]


def differences(ours: Any, shape: Any, excused: set[str]) -> list[str]:
    """Return what in `ours` no shape knows: other keys, or other JSON types.

    Exceptions that were needed are added to `excused`.
    """
    known = dict(paths(shape))
    wrong = []
    for path, found in paths(ours):
        if path not in known:
            exceptions = {k for k in KNOWN_BEYOND_SHAPES if f"{path}.".startswith(f"{k}.")}
            excused |= exceptions
            if not exceptions:
                wrong.append(f"unknown key {path}")
        elif path in OTHER_TYPES or "null" in (found, known[path]):
            continue
        elif found != known[path]:
            wrong.append(f"{path} is {found}, not {known[path]}")
    return wrong


@pytest.fixture(scope="module")
def payloads(shared_dir: Path) -> Path:
    folder = shared_dir / "slack-payloads"
    if not folder.is_dir():
        pytest.skip("the Slack samples are not beside the project")
    return folder


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def everything() -> Manifest:
    """Return our manifest with every event and scope, so that every payload can be made."""
    ours = Manifest.read(DEFAULT_PATH)
    fields = {name: getattr(ours, name) for name in ours.__slots__}
    scopes = ours.scopes | {s for s in EVENT_SCOPES.values() if s}
    wider = {"im:write", "im:read", "mpim:read"}
    return Manifest(**fields | {"events": frozenset(EVENT_SCOPES), "scopes": scopes | wider})


class Conversation:
    """One long conversation that makes the stand-in say everything it can."""

    def __init__(self, sandbox: Sandbox, slack: AsyncWebClient) -> None:
        self.sandbox = sandbox
        self.slack = slack
        self.answers: dict[str, dict[str, Any]] = {}
        self.deliveries: dict[str, Delivery] = {}

    async def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        response = await self.slack.api_call(
            method,
            json=arguments,
            params={k: v for k, v in arguments.items() if isinstance(v, str)},
        )
        assert isinstance(response.data, dict)
        self.answers[method] = response.data
        return response.data

    def keep(self, name: str, delivery: Delivery | None = None) -> None:
        self.deliveries[name] = delivery or self.sandbox.deliveries()[-1]


BUTTON = {
    "type": "button",
    "action_id": "go",
    "value": "v",
    "text": {"type": "plain_text", "text": "Go", "emoji": True},
}
FEEDBACK = {
    "type": "context_actions",
    "block_id": "fb1",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "answer_feedback",
            "positive_button": {
                "text": {"type": "plain_text", "text": "Utile", "emoji": True},
                "value": "up",
            },
            "negative_button": {
                "text": {"type": "plain_text", "text": "Pas utile", "emoji": True},
                "value": "down",
            },
        }
    ],
}
MODAL = {
    "type": "modal",
    "callback_id": "view-id",
    "notify_on_close": True,
    "title": {"type": "plain_text", "text": "Titre"},
    "close": {"type": "plain_text", "text": "Fermer"},
    "submit": {"type": "plain_text", "text": "Envoyer"},
    "blocks": [
        {
            "type": "input",
            "block_id": "hspI",
            "label": {"type": "plain_text", "text": "Label"},
            "element": {"type": "plain_text_input", "action_id": "maBWU"},
        }
    ],
}


async def converse(talk: Conversation) -> None:
    sandbox, workspace = talk.sandbox, talk.sandbox.workspace()
    general = workspace.channel("general").channel_id
    camille = workspace.user("camille").user_id
    # Questions
    root = sandbox.say("camille", "general", "@Manuel combien ?")
    talk.keep("app_mention", sandbox.deliveries("app_mention")[-1])
    talk.keep("message_twin", sandbox.deliveries("message")[-1])
    sandbox.say("james", "general", "@Manuel et moi ?", root.ts)
    talk.keep("app_mention_in_thread", sandbox.deliveries("app_mention")[-1])
    sandbox.add_bot("Gazette")
    sandbox.say("Gazette", "general", "@Manuel ?")
    talk.keep("app_mention_from_bot", sandbox.deliveries("app_mention")[-1])
    talk.keep("message_from_bot")
    edited = sandbox.say("camille", "general", "combien ?")
    sandbox.edit(edited, "@Manuel combien ?")
    talk.keep("app_mention_edited", sandbox.deliveries("app_mention")[-1])
    talk.keep("message_changed")
    sandbox.delete(edited)
    talk.keep("message_deleted")
    entity = {"type": "slack#/types/channel_id", "value": general, "team_id": workspace.team_id}
    direct = sandbox.direct_message("camille", "How many days?", looking_at=[entity])
    talk.keep("message_im")
    sandbox.direct_message("camille", "And for part-timers?", direct.ts)
    talk.keep("message_im_in_thread")
    # Answers
    await talk.call("auth.test")
    where = {"channel": general, "thread_ts": root.ts}
    posted = await talk.call("chat.postMessage", **where, text="voilà", blocks=[FEEDBACK])
    answer = sandbox.replies(root)[0]
    await talk.call("chat.getPermalink", channel=general, message_ts=posted["ts"])
    await talk.call("reactions.add", channel=general, timestamp=posted["ts"], name="eyes")
    await talk.call("conversations.replies", channel=general, ts=root.ts)
    await talk.call("reactions.remove", channel=general, timestamp=posted["ts"], name="eyes")
    await talk.call(
        "chat.postEphemeral",
        channel=general,
        user=camille,
        text="pour vous",
        blocks=[{"type": "actions", "block_id": "sh1", "elements": [BUTTON]}],
    )
    talk.keep("press_feedback", sandbox.click("camille", answer, "answer_feedback", "down"))
    ephemeral = sandbox.ephemerals("camille")[-1]
    talk.keep("press_in_ephemeral", sandbox.click("camille", ephemeral, "go"))
    talk.keep("message_shortcut", sandbox.shortcut("james", root, "ask_about_message"))
    await talk.call("chat.update", channel=general, ts=posted["ts"], text="mieux")
    own = await slack_stream(talk, direct.channel_id, direct.ts)
    await talk.call("chat.delete", channel=direct.channel_id, ts=own)
    # People and places
    await talk.call("users.info", user=camille, include_locale="true")
    group = sandbox.add_group("rh", ["amina"])
    await talk.call("usergroups.users.list", usergroup=group.group_id)
    await talk.call("conversations.info", channel=general)
    await talk.call("conversations.members", channel=general)
    await talk.call("conversations.open", users=camille)
    await talk.call("apps.connections.open")
    sandbox.react("camille", answer, "tada")
    talk.keep("reaction_added")
    sandbox.join("Gazette", "general")
    talk.keep("member_joined")
    # Agent and views
    session = {"channel_id": direct.channel_id, "thread_ts": direct.ts}
    await talk.call("agents.sessions.setStatus", **session, status="processing", title="Congés")
    await talk.call("agents.sessions.rename", **session, title="Congés annuels")
    await talk.call("assistant.threads.setStatus", **session, status="cherche")
    await talk.call("assistant.threads.setTitle", **session, title="Congés")
    prompts = [{"title": "Congés", "message": "Combien ?"}]
    await talk.call(
        "assistant.threads.setSuggestedPrompts", channel_id=direct.channel_id, prompts=prompts
    )
    sandbox.press_stop("camille", direct)
    talk.keep("session_stopped")
    sandbox.rename_session("camille", direct, "Vacances")
    talk.keep("session_renamed")
    sandbox.look_at("camille", [entity])
    talk.keep("context_changed")
    sandbox.open_home("camille", "messages", entities=[entity])
    talk.keep("home_opened_messages")
    sandbox.open_home("camille")
    talk.keep("home_opened_first")
    home = {"type": "home", "blocks": [{"type": "actions", "elements": [BUTTON]}]}
    await talk.call("views.publish", user_id=camille, view=home)
    talk.keep("press_in_home", sandbox.click_in_view("camille", "go"))
    sandbox.open_home("camille")
    talk.keep("home_opened_again")
    trigger = sandbox.interactions.new_trigger(workspace, camille)
    opened = await talk.call("views.open", trigger_id=trigger, view=MODAL)
    view_id = opened["view"]["id"]
    await talk.call("views.update", view_id=view_id, view=MODAL)
    trigger = sandbox.interactions.new_trigger(workspace, camille, view_id)
    await talk.call("views.push", trigger_id=trigger, view=MODAL)
    values = {"hspI": {"maBWU": {"type": "plain_text_input", "value": "test"}}}
    talk.keep("view_closed", sandbox.close_modal("camille"))
    talk.keep("view_submission", sandbox.submit("camille", values))
    # Command, files, end
    talk.keep("slash_command", sandbox.slash("camille", "general", "/handbook", "congés"))
    upload = await talk.call("files.getUploadURLExternal", filename="a.md", length="1")
    workspace.files[upload["file_id"]].content = b"x"
    await talk.call("files.completeUploadExternal", files=[{"id": upload["file_id"]}])
    sandbox.uninstall()
    talk.keep("tokens_revoked", sandbox.deliveries()[-2])
    talk.keep("app_uninstalled")


async def slack_stream(talk: Conversation, channel: str, thread_ts: str) -> str:
    started = await talk.call("chat.startStream", channel=channel, thread_ts=thread_ts)
    where = {"channel": channel, "ts": started["ts"]}
    await talk.call("chat.appendStream", **where, markdown_text="You get **25 days**.")
    await talk.call("chat.stopStream", **where, blocks=[FEEDBACK])
    return started["ts"]


@pytest.fixture
async def talk() -> AsyncIterator[Conversation]:
    async with SandboxServer(manifest=everything()) as sandbox, aiohttp.ClientSession() as session:
        slack = AsyncWebClient(
            sandbox.workspace().bot_token,
            base_url=sandbox.api_url,
            session=session,
            retry_handlers=[],
        )
        original = slack.api_call

        async def api_call(method: str, **more: Any) -> Any:
            if method == "apps.connections.open":
                more["headers"] = {"Authorization": f"Bearer {sandbox.world.app_token}"}
            return await original(method, **more)

        slack.api_call = api_call  # type: ignore[method-assign]
        conversation = Conversation(sandbox, slack)
        await converse(conversation)
        assert sandbox.problems == []
        yield conversation


EMPTY_SHAPES = {"chat.appendStream", "chat.startStream", "chat.stopStream"}
"""Methods whose recorded shape holds errors only; their samples are compared instead."""

EVENT_SHAPES = {
    "app_mention": "AppMentionPayload",
    "app_mention_in_thread": "AppMentionPayload",
    "app_mention_from_bot": "AppMentionPayload",
    "app_mention_edited": "AppMentionPayload",
    "message_twin": "MessagePayload",
    "message_im": "MessagePayload",
    "message_im_in_thread": "MessagePayload",
    "message_from_bot": "MessagePayload",
    "message_changed": "MessageChangedPayload",
    "message_deleted": "MessageDeletedPayload",
    "reaction_added": "ReactionAddedPayload",
    "member_joined": "MemberJoinedChannelPayload",
    "home_opened_first": "AppHomeOpenedPayload",
    "home_opened_again": "AppHomeOpenedPayload",
    "home_opened_messages": "AppHomeOpenedPayload",
    "tokens_revoked": "TokensRevokedPayload",
    "app_uninstalled": "AppUninstalledPayload",
}
INTERACTION_SHAPES = {
    "press_feedback": "BlockActionPayload",
    "press_in_ephemeral": "BlockActionPayload",
    "press_in_home": "BlockActionPayload",
    "view_submission": "ViewSubmissionPayload",
    "view_closed": "ViewClosedPayload",
    "message_shortcut": "MessageShortcutPayload",
    "slash_command": "SlashCommandPayload",
}
SAMPLES = {
    "app_mention": "events/app_mention.json",
    "app_mention_in_thread": "events/app_mention.in_thread.json",
    "app_mention_from_bot": "events/app_mention.from_other_bot.json",
    "app_mention_edited": "events/app_mention.edited.json",
    "message_twin": "events/message.channels_twin_of_app_mention.json",
    "message_im": "events/message.im_agent_view_first.json",
    "message_im_in_thread": "events/message.im_agent_view_reply_in_thread.json",
    "message_from_bot": "events/message.bot_own_or_other_app.json",
    "message_changed": "events/message_changed.json",
    "message_deleted": "events/message_deleted.json",
    "session_stopped": "events/agent_session_stopped.json",
    "session_renamed": "events/agent_session_title_changed.json",
    "context_changed": "events/app_context_changed.json",
    "home_opened_first": "events/app_home_opened.home_tab_first.json",
    "home_opened_messages": "events/app_home_opened.messages_tab.json",
    "tokens_revoked": "events/tokens_revoked.json",
    "app_uninstalled": "events/app_uninstalled.json",
    "press_feedback": "interactivity/block_actions.feedback_buttons.json",
    "press_in_ephemeral": "interactivity/block_actions.button_in_ephemeral.json",
    "press_in_home": "interactivity/block_actions.button_in_home_tab.json",
    "view_submission": "interactivity/view_submission.json",
    "view_closed": "interactivity/view_closed.json",
    "message_shortcut": "interactivity/shortcut.message_action.json",
    "slash_command": "commands/slash_command.json",
}


async def test_nothing_has_a_key_or_a_type_that_slack_was_never_seen_with(talk, payloads):
    shapes = payloads / "shapes"
    compared = {
        name: (talk.deliveries[name].payload, shapes / folder / f"{shape}.json")
        for folder, names in (("events", EVENT_SHAPES), ("interactivity", INTERACTION_SHAPES))
        for name, shape in names.items()
    }
    for method, answer in talk.answers.items():
        known = shapes / "api" / f"{method}.json"
        sample = payloads / "api" / f"{method}.json"
        is_known = known.is_file() and method not in EMPTY_SHAPES
        compared[method] = (answer, known if is_known else sample)
    excused: set[str] = set()
    wrong = {
        name: found
        for name, (ours, path) in compared.items()
        if (found := differences(ours, read(path), excused))
    }
    assert wrong == {}
    assert sorted(set(KNOWN_BEYOND_SHAPES) - excused) == [], "exceptions that nothing needs"


async def test_payloads_have_every_key_of_slacks_samples(talk, payloads):
    missing = {}
    for name, sample in SAMPLES.items():
        ours = dict(paths(talk.deliveries[name].payload))
        theirs = dict(paths(read(payloads / sample)))
        absent = [p for p in theirs if p not in ours and p not in NOT_MADE and "[]" not in p]
        if absent:
            missing[name] = absent
    assert missing == {}


COMPARED_ANSWERS = (
    "agents.sessions.rename",
    "agents.sessions.setStatus",
    "apps.connections.open",
    "assistant.threads.setStatus",
    "chat.appendStream",
    "chat.delete",
    "chat.getPermalink",
    "chat.postEphemeral",
    "chat.startStream",
    "chat.stopStream",
    "chat.update",
    "conversations.members",
    "conversations.open",
    "files.completeUploadExternal",
    "files.getUploadURLExternal",
    "reactions.add",
    "usergroups.users.list",
    "views.open",
    "views.publish",
    "views.push",
    "views.update",
)


@pytest.mark.parametrize("method", COMPARED_ANSWERS)
async def test_answer_has_every_key_of_slacks_sample(talk, payloads, method):
    ours = dict(paths(talk.answers[method]))
    theirs = dict(paths(read(payloads / "api" / f"{method}.json")))
    assert [path for path in theirs if path not in ours] == []


async def test_refusal_has_the_keys_of_slacks_sample(talk, payloads):
    talk.sandbox.workspace().installed = True
    talk.sandbox.workspace().granted = frozenset({"chat:write"})
    with pytest.raises(SlackApiError) as caught:
        await talk.slack.users_info(user="U1")
    sample = read(payloads / "api" / "errors" / "missing_scope.json")
    assert set(caught.value.response.data) == set(sample)


EXPECTED_CONTEXT = {
    # name: (listener, has channel, has thread, has user)
    "app_mention": ("app_mention", True, False, True),
    "app_mention_in_thread": ("app_mention", True, True, True),
    "message_im": ("message", True, False, True),
    "message_im_in_thread": ("message", True, True, True),
    "session_stopped": ("agent_session_stopped", True, True, True),
    "session_renamed": ("agent_session_title_changed", True, True, True),
    "context_changed": ("app_context_changed", True, False, True),
    "home_opened_first": ("app_home_opened", True, False, True),
    "reaction_added": ("reaction_added", True, False, True),
    "member_joined": ("member_joined_channel", True, False, True),
    "app_uninstalled": ("app_uninstalled", False, False, False),
    "slash_command": ("/handbook", True, False, True),
    "press_feedback": ("answer_feedback", True, True, True),
    "press_in_ephemeral": ("go", True, False, True),
    "press_in_home": ("go", False, False, True),
    "view_submission": ("view-id", False, False, True),
    "view_closed": ("closed", False, False, True),
    "message_shortcut": ("ask_about_message", True, True, True),
}


@pytest.mark.parametrize("name", EXPECTED_CONTEXT)
async def test_bolt_takes_each_payload_for_what_it_is(talk, name):
    workspace = talk.sandbox.workspace()
    workspace.installed = True
    app = AsyncApp(client=talk.slack, signing_secret="x", request_verification_enabled=False)
    heard: list[tuple[str, Any]] = []

    def listener(label: str):
        async def listen(ack, context):
            heard.append((label, context))
            await ack()

        return listen

    for event in {e.partition(".")[0] for e in EVENT_SCOPES}:
        app.event(event)(listener(event))
    app.command("/handbook")(listener("/handbook"))
    app.action("go")(listener("go"))
    app.action("answer_feedback")(listener("answer_feedback"))
    app.view("view-id")(listener("view-id"))
    app.view_closed("view-id")(listener("closed"))
    app.shortcut("ask_about_message")(listener("ask_about_message"))

    payload = talk.deliveries[name].payload
    await app.async_dispatch(AsyncBoltRequest(body=payload, mode="socket_mode"))
    async with asyncio.timeout(5):
        while not heard:
            await asyncio.sleep(0)
    label, channel, thread, user = EXPECTED_CONTEXT[name]
    assert [name for name, _ in heard] == [label]
    context = heard[0][1]
    assert context.team_id == workspace.team_id
    assert (context.channel_id is not None) is channel
    assert (context.thread_ts is not None) is thread
    assert (context.user_id is not None) is user
