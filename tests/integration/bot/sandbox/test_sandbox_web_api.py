"""The stand-in's Web API, judged by slack_sdk's own client over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox


@pytest.fixture
async def slack(sandbox: Sandbox) -> AsyncIterator[AsyncWebClient]:
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(
            sandbox.workspace().bot_token,
            base_url=sandbox.api_url,
            session=session,
            retry_handlers=[],
        )


@pytest.fixture
def general(sandbox: Sandbox) -> str:
    return sandbox.workspace().channel("general").channel_id


async def refusal(call) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    assert caught.value.response.status_code == 200
    return caught.value.response["error"]


def modal(text: str = "x", **changes) -> dict:
    title = {"type": "plain_text", "text": "Titre"}
    block = {
        "type": "section",
        "block_id": "s",
        "text": {"type": "mrkdwn", "text": text},
        "accessory": {
            "type": "button",
            "action_id": "go",
            "text": {"type": "plain_text", "text": "Go"},
        },
    }
    return {"type": "modal", "title": title, "blocks": [block]} | changes


# Rules of every call


async def test_auth_test_tells_who_the_bot_is_and_which_scopes_it_has(sandbox, slack):
    answer = await slack.auth_test()
    assert answer["user_id"] == sandbox.bot_id
    assert answer["team_id"] == sandbox.workspace().team_id
    assert "chat:write" in answer.headers["x-oauth-scopes"].split(",")


async def test_wrong_and_missing_tokens_are_refused(slack):
    assert await refusal(slack.auth_test(token="xoxb-wrong")) == "invalid_auth"
    assert await refusal(slack.api_call("auth.test", headers={"Authorization": ""})) == "not_authed"


async def test_bot_token_opens_no_socket_and_app_token_posts_nothing(sandbox, slack, general):
    token = sandbox.workspace().bot_token
    assert await refusal(slack.apps_connections_open(app_token=token)) == "not_allowed_token_type"
    post = slack.chat_postMessage(channel=general, text="x", token=sandbox.world.app_token)
    assert await refusal(post) == "not_allowed_token_type"


async def test_method_without_its_scope_is_refused_with_what_is_needed(sandbox, slack):
    sandbox.workspace().granted = frozenset({"chat:write"})
    with pytest.raises(SlackApiError) as caught:
        await slack.users_info(user=sandbox.bot_id)
    assert caught.value.response["error"] == "missing_scope"
    assert caught.value.response["needed"] == "users:read"
    assert caught.value.response["provided"] == "chat:write"


async def test_unknown_method_is_refused_and_marks_the_run_as_failed(sandbox, slack):
    assert await refusal(slack.api_call("dnd.info")) == "unknown_method"
    assert len(sandbox.problems) == 1
    assert "dnd.info" in sandbox.problems[0]


async def test_calls_are_recorded_without_tokens(sandbox, slack, general):
    await slack.chat_postMessage(channel=general, text="bonjour")
    call = sandbox.calls("chat.postMessage")[0]
    assert call.ok
    assert call.arguments["text"] == "bonjour"
    assert "xoxb" not in str(call.arguments)


@pytest.mark.parametrize("how", ["json", "form", "query"])
async def test_arguments_are_read_from_json_form_and_query(sandbox, general, how):
    headers = {"Authorization": f"Bearer {sandbox.workspace().bot_token}"}
    values = {"channel": general, "text": "x", "blocks": '[{"type": "divider"}]'}
    argument = {"json": "json", "form": "data", "query": "params"}[how]
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{sandbox.api_url}chat.postMessage", headers=headers, **{argument: values}
        ) as response,
    ):
        answer = await response.json()
    assert answer["ok"]
    assert answer["message"]["blocks"][0]["type"] == "divider"


async def test_reading_methods_ignore_a_json_body(slack, sandbox):
    answer = refusal(slack.api_call("users.info", json={"user": sandbox.bot_id}))
    assert await answer == "user_not_found"


async def test_uninstalled_workspace_answers_account_inactive(sandbox, slack):
    sandbox.uninstall()
    assert await refusal(slack.auth_test()) == "account_inactive"


# Rates and faults


async def test_calls_over_a_methods_rate_are_noted_and_refused_when_strict(sandbox, slack):
    for _ in range(21):
        await slack.usergroups_users_list(usergroup=sandbox.add_group("rh", ["camille"]).group_id)
    assert any("usergroups.users.list" in warning for warning in sandbox.web_api.rate_warnings)
    sandbox.web_api.strict_rates = True
    with pytest.raises(SlackApiError) as caught:
        await slack.usergroups_users_list(usergroup="S1")
    assert caught.value.response.status_code == 429
    assert int(caught.value.response.headers["Retry-After"]) > 0
    sandbox.advance(61)
    assert await refusal(slack.usergroups_users_list(usergroup="S1")) == "no_such_subteam"


async def test_second_post_within_a_second_in_one_channel_is_over_the_rate(sandbox, slack, general):
    sandbox.web_api.strict_rates = True
    await slack.chat_postMessage(channel=general, text="un")
    with pytest.raises(SlackApiError) as caught:
        await slack.chat_postMessage(channel=general, text="deux")
    assert caught.value.response["error"] == "ratelimited"
    sandbox.advance(1.1)
    await slack.chat_postMessage(channel=general, text="deux")


async def test_fault_hits_as_often_as_asked_and_then_no_more(sandbox, slack):
    sandbox.fault("auth.test", "ratelimited", seconds=7)
    with pytest.raises(SlackApiError) as caught:
        await slack.auth_test()
    assert caught.value.response.headers["Retry-After"] == "7"
    sandbox.fault("auth.test", "error", error="fatal_error")
    assert await refusal(slack.auth_test()) == "fatal_error"
    assert (await slack.auth_test())["ok"]


async def test_dropped_connection_before_and_after_the_work(sandbox, slack, general):
    sandbox.fault("chat.postMessage", "drop_before")
    with pytest.raises(aiohttp.ClientError):
        await slack.chat_postMessage(channel=general, text="jamais")
    sandbox.fault("chat.postMessage", "drop_after")
    with pytest.raises(aiohttp.ClientError):
        await slack.chat_postMessage(channel=general, text="posté")
    assert [m.text for m in sandbox.messages("general")] == ["posté"]


async def test_share_of_faults_is_a_probability(sandbox, slack):
    fault = sandbox.fault("auth.test", "error", times=None, share=0.5)
    failed = 0
    for _ in range(40):
        try:
            await slack.auth_test()
        except SlackApiError:
            failed += 1
    assert failed == fault.hits
    assert 0 < failed < 40


# chat.*


async def test_post_in_a_thread_counts_on_its_root(sandbox, slack, general):
    root = sandbox.say("camille", "general", "@Manuel ?")
    posted = await slack.chat_postMessage(channel=general, text="voilà", thread_ts=root.ts)
    assert posted["message"]["parent_user_id"] == root.user_id
    assert posted["message"]["bot_profile"]["name"] == "Manuel"
    sandbox.workspace().granted |= {"channels:history"}
    thread = await slack.conversations_replies(channel=general, ts=root.ts)
    assert [m["ts"] for m in thread["messages"]] == [root.ts, posted["ts"]]
    assert thread["messages"][0]["reply_count"] == 1


async def test_post_to_a_person_opens_the_direct_message(sandbox, slack):
    person = sandbox.workspace().user("james")
    posted = await slack.chat_postMessage(channel=person.user_id, text="hello")
    assert posted["channel"] == sandbox.workspace().direct(person.user_id).channel_id


async def test_posts_where_the_bot_may_not_are_refused(sandbox, slack, general):
    away = sandbox.add_channel("ailleurs", with_bot=False)
    secret = sandbox.add_channel("secret", private=True, with_bot=False)
    old = sandbox.add_channel("vieux", is_archived=True)
    post = slack.chat_postMessage
    assert await refusal(post(channel=away.channel_id, text="x")) == "not_in_channel"
    assert await refusal(post(channel=secret.channel_id, text="x")) == "channel_not_found"
    assert await refusal(post(channel="C404", text="x")) == "channel_not_found"
    assert await refusal(post(channel=old.channel_id, text="x")) == "is_archived"
    empty = slack.api_call("chat.postMessage", json={"channel": general, "text": " "})
    assert await refusal(empty) == "no_text"


async def test_reply_to_a_reply_or_to_nothing_is_refused(sandbox, slack, general):
    root = sandbox.say("camille", "general", "@Manuel ?")
    reply = sandbox.say("camille", "general", "alors ?", root.ts)
    post = slack.chat_postMessage
    wrong = post(channel=general, text="x", thread_ts=reply.ts)
    assert await refusal(wrong) == "cannot_reply_to_message"
    sandbox.delete(root)
    gone = post(channel=general, text="x", thread_ts=root.ts)
    assert await refusal(gone) == "thread_not_found"


async def test_content_over_a_limit_is_refused(slack, general):
    post = slack.chat_postMessage
    header = {"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}
    assert await refusal(post(channel=general, text="x", blocks=[header])) == "invalid_blocks"
    assert await refusal(post(channel=general, markdown_text="x" * 12001)) == "msg_too_long"
    both = post(channel=general, markdown_text="x", text="x")
    assert await refusal(both) == "markdown_text_conflict"


async def test_text_is_cut_at_40000_characters(sandbox, slack, general):
    await slack.chat_postMessage(channel=general, text="x" * 40001)
    assert len(sandbox.messages("general")[0].text) == 40000


async def test_update_without_blocks_drops_them_and_says_it_is_edited(sandbox, slack, general):
    divider = [{"type": "divider"}]
    posted = await slack.chat_postMessage(channel=general, text="a", blocks=divider)
    updated = await slack.chat_update(channel=general, ts=posted["ts"], text="b")
    assert "blocks" not in updated["message"]
    assert updated["message"]["edited"]["user"] == sandbox.bot_id


async def test_updates_and_deletes_are_for_own_messages_that_exist(sandbox, slack, general):
    theirs = sandbox.say("camille", "general", "à moi")
    update = slack.chat_update(channel=general, ts=theirs.ts, text="x")
    assert await refusal(update) == "cant_update_message"
    delete = slack.chat_delete(channel=general, ts=theirs.ts)
    assert await refusal(delete) == "cant_delete_message"
    missing = slack.chat_update(channel=general, ts="1.000001", text="x")
    assert await refusal(missing) == "message_not_found"
    own = await slack.chat_postMessage(channel=general, text="x")
    long = slack.chat_update(channel=general, ts=own["ts"], text="x" * 4001)
    assert await refusal(long) == "msg_too_long"
    await slack.chat_delete(channel=general, ts=own["ts"])
    gone = slack.chat_delete(channel=general, ts=own["ts"])
    assert await refusal(gone) == "message_not_found"


async def test_ephemeral_is_seen_by_one_person_and_not_in_the_thread(sandbox, slack, general):
    root = sandbox.say("camille", "general", "@Manuel ?")
    person = sandbox.workspace().user("camille").user_id
    shown = await slack.chat_postEphemeral(
        channel=general, user=person, text="pour vous", thread_ts=root.ts
    )
    assert [m.ts for m in sandbox.ephemerals("camille")] == [shown["message_ts"]]
    assert sandbox.ephemerals("james") == []
    assert sandbox.thread(root) == [root]
    stranger = sandbox.add_user("zoe").user_id
    away = slack.chat_postEphemeral(channel=general, user=stranger, text="x")
    assert await refusal(away) == "user_not_in_channel"
    update = slack.chat_update(channel=general, ts=shown["message_ts"], text="x")
    assert await refusal(update) == "message_not_found"


async def test_permalink_of_a_message(sandbox, slack, general):
    message = sandbox.say("camille", "general", "x")
    answer = await slack.chat_getPermalink(channel=general, message_ts=message.ts)
    digits = message.ts.replace(".", "")
    assert answer["permalink"] == f"https://exemple.slack.com/archives/{general}/p{digits}"
    missing = slack.chat_getPermalink(channel=general, message_ts="1.000001")
    assert await refusal(missing) == "message_not_found"


# Conversations and people


async def test_members_and_replies_come_in_pages(sandbox, slack, general):
    first = await slack.conversations_members(channel=general, limit=3)
    assert len(first["members"]) == 3
    cursor = first["response_metadata"]["next_cursor"]
    second = await slack.conversations_members(channel=general, limit=3, cursor=cursor)
    assert second["response_metadata"]["next_cursor"] == ""
    members = sandbox.workspace().channel("general").members
    assert first["members"] + second["members"] == members
    wrong = slack.conversations_members(channel=general, cursor="???")
    assert await refusal(wrong) == "invalid_cursor"


async def test_replies_need_the_history_scope_of_that_kind_of_channel(sandbox, slack, general):
    root = sandbox.say("camille", "general", "x")
    read = slack.conversations_replies(channel=general, ts=root.ts)
    assert await refusal(read) == "missing_scope"
    direct = sandbox.direct_message("camille", "y")
    answer = await slack.conversations_replies(channel=direct.channel_id, ts=direct.ts)
    assert len(answer["messages"]) == 1
    missing = slack.conversations_replies(channel=direct.channel_id, ts="1.000001")
    assert await refusal(missing) == "thread_not_found"


async def test_replies_after_a_time_stamp_keep_the_root(sandbox, slack):
    root = sandbox.direct_message("camille", "y")
    replies = [sandbox.direct_message("camille", str(n), root.ts) for n in range(3)]
    answer = await slack.conversations_replies(
        channel=root.channel_id, ts=root.ts, oldest=replies[0].ts
    )
    assert [m["ts"] for m in answer["messages"]] == [root.ts, replies[1].ts, replies[2].ts]


async def test_apps_outside_the_marketplace_read_15_messages_a_call(sandbox, slack):
    root = sandbox.direct_message("camille", "y")
    for n in range(20):
        sandbox.direct_message("camille", str(n), root.ts)
    sandbox.world.limited_history = True
    answer = await slack.conversations_replies(channel=root.channel_id, ts=root.ts, limit=100)
    assert len(answer["messages"]) == 15
    assert answer["has_more"]


async def test_conversation_info_tells_what_kind_it_is(sandbox, slack, general):
    answer = await slack.conversations_info(channel=general)
    assert answer["channel"]["is_channel"]
    secret = sandbox.add_channel("secret", private=True)
    answer = await slack.conversations_info(channel=secret.channel_id)
    assert answer["channel"]["is_private"]
    direct = sandbox.workspace().direct(sandbox.workspace().user("camille").user_id)
    info = slack.conversations_info(channel=direct.channel_id)
    assert await refusal(info) == "missing_scope"


async def test_opening_a_direct_message_needs_its_scope(sandbox, slack):
    person = sandbox.workspace().user("camille").user_id
    assert await refusal(slack.conversations_open(users=person)) == "missing_scope"
    sandbox.workspace().granted |= {"im:write"}
    answer = await slack.conversations_open(users=person)
    assert answer["channel"]["id"] == sandbox.workspace().direct(person).channel_id
    assert await refusal(slack.conversations_open(users="U404")) == "user_not_found"


async def test_person_has_role_locale_and_time_zone(sandbox, slack):
    guest = sandbox.add_user("ext", role="guest", locale="en-GB", tz="Europe/London")
    answer = await slack.users_info(user=guest.user_id, include_locale=True)
    assert answer["user"]["is_restricted"]
    assert not answer["user"]["is_admin"]
    assert answer["user"]["locale"] == "en-GB"
    owner = await slack.users_info(user=sandbox.workspace().user("amina").user_id)
    assert owner["user"]["is_owner"]
    assert owner["user"]["is_admin"]
    assert "locale" not in owner["user"]
    assert await refusal(slack.users_info(user="U404")) == "user_not_found"


async def test_user_group_lists_its_people(sandbox, slack):
    group = sandbox.add_group("rh", ["amina"])
    answer = await slack.usergroups_users_list(usergroup=group.group_id)
    assert answer["users"] == [sandbox.workspace().user("amina").user_id]
    assert await refusal(slack.usergroups_users_list(usergroup="S404")) == "no_such_subteam"


async def test_reactions_count_once(sandbox, slack, general):
    message = sandbox.say("camille", "general", "x")
    where = {"channel": general, "timestamp": message.ts, "name": "eyes"}
    await slack.reactions_add(**where)
    assert message.reactions == {"eyes": [sandbox.bot_id]}
    assert await refusal(slack.reactions_add(**where)) == "already_reacted"
    await slack.reactions_remove(**where)
    assert await refusal(slack.reactions_remove(**where)) == "no_reaction"


# Agent sessions


async def test_session_keeps_its_first_title_until_renamed(sandbox, slack):
    root = sandbox.direct_message("camille", "Combien de congés ?")
    where = {"channel_id": root.channel_id, "thread_ts": root.ts}
    await slack.agents_sessions_setStatus(**where, status="processing", title="Congés")
    answer = await slack.agents_sessions_setStatus(**where, status="active", title="Autre")
    assert answer["title"] == "Congés"
    await slack.agents_sessions_rename(**where, title="Autre")
    session = sandbox.session(root)
    assert session is not None
    assert (session.title, session.status) == ("Autre", "active")


async def test_session_calls_that_slack_refuses(sandbox, slack):
    root = sandbox.direct_message("camille", "?")
    call = slack.agents_sessions_setStatus
    where = {"channel_id": root.channel_id, "thread_ts": root.ts}
    missing = call(channel_id=root.channel_id, thread_ts="", status="active")
    assert await refusal(missing) == "thread_ts_required"
    assert await refusal(call(**where, status="busy")) == "invalid_status"
    unknown = call(**(where | {"thread_ts": "1.000001"}), status="active")
    assert await refusal(unknown) == "invalid_thread_ts"
    nobody = call(**where, status="active", initiator_user_id="U404")
    assert await refusal(nobody) == "user_not_found"


async def test_loading_text_clears_when_the_app_replies(sandbox, slack, general):
    root = sandbox.say("camille", "general", "@Manuel ?")
    await slack.assistant_threads_setStatus(
        channel_id=general, thread_ts=root.ts, status="cherche…"
    )
    session = sandbox.session(root)
    assert session is not None
    assert session.loading == "cherche…"
    await slack.chat_postMessage(channel=general, text="voilà", thread_ts=root.ts)
    assert session.loading == ""


async def test_suggested_prompts_with_a_thread_are_silently_ignored(sandbox, slack):
    root = sandbox.direct_message("camille", "?")
    prompts = [{"title": "Congés", "message": "Combien ?"}]
    await slack.assistant_threads_setSuggestedPrompts(
        channel_id=root.channel_id, thread_ts=root.ts, prompts=prompts
    )
    assert sandbox.workspace().prompts == {}
    await slack.assistant_threads_setSuggestedPrompts(channel_id=root.channel_id, prompts=prompts)
    assert sandbox.workspace().prompts[root.channel_id].prompts == prompts
    five = slack.assistant_threads_setSuggestedPrompts(
        channel_id=root.channel_id, prompts=prompts * 5
    )
    assert await refusal(five) == "invalid_arguments"


# Streams


async def test_sdk_stream_grows_and_ends_as_one_message(sandbox, slack, general):
    root = sandbox.say("camille", "general", "@Manuel ?")
    stream = await slack.chat_stream(
        channel=general,
        thread_ts=root.ts,
        recipient_team_id=sandbox.workspace().team_id,
        recipient_user_id=root.user_id,
        buffer_size=1,
    )
    await stream.append(markdown_text="**25** ")
    await stream.append(markdown_text="jours")
    answer = await stream.stop(blocks=[{"type": "divider"}])
    assert answer["message"]["streaming_state"] == "completed"
    [reply] = sandbox.replies(root)
    assert reply.text == "**25** jours"
    assert reply.blocks[-1]["type"] == "divider"


async def test_stream_needs_a_thread_and_outside_direct_messages_a_recipient(
    sandbox, slack, general
):
    root = sandbox.say("camille", "general", "@Manuel ?")
    nowhere = slack.chat_startStream(channel=general, thread_ts="1.000001")
    assert await refusal(nowhere) == "invalid_thread_ts"
    nobody = slack.chat_startStream(channel=general, thread_ts=root.ts)
    assert await refusal(nobody) == "missing_recipient_user_id"
    half = slack.chat_startStream(
        channel=general, thread_ts=root.ts, recipient_user_id=root.user_id
    )
    assert await refusal(half) == "missing_recipient_team_id"


async def test_stream_keeps_its_mode_dies_in_time_and_can_then_be_updated(sandbox, slack):
    root = sandbox.direct_message("camille", "?")
    stream = await slack.chat_startStream(
        channel=root.channel_id, thread_ts=root.ts, markdown_text="a"
    )
    where = {"channel": root.channel_id, "ts": stream["ts"]}
    mixed = slack.chat_appendStream(**where, chunks=[{"type": "markdown_text", "text": "b"}])
    assert await refusal(mixed) == "streaming_mode_mismatch"
    long = slack.chat_appendStream(**where, markdown_text="x" * 12001)
    assert await refusal(long) == "msg_too_long"
    assert await refusal(slack.chat_update(**where, text="x")) == "streaming_state_conflict"
    sandbox.advance(301)
    late = slack.chat_appendStream(**where, markdown_text="c")
    assert await refusal(late) == "message_not_in_streaming_state"
    await slack.chat_update(**where, text="en entier")


async def test_stop_button_ends_the_stream_for_the_app(sandbox, slack):
    root = sandbox.direct_message("camille", "?")
    stream = await slack.chat_startStream(
        channel=root.channel_id, thread_ts=root.ts, markdown_text="a"
    )
    sandbox.press_stop("camille", root)
    where = {"channel": root.channel_id, "ts": stream["ts"]}
    stopped = slack.chat_appendStream(**where, markdown_text="b")
    assert await refusal(stopped) == "stopped_by_user"
    assert sandbox.session(root).status == "active"


# Views


async def test_home_is_kept_per_person_and_guarded_by_its_hash(sandbox, slack):
    person = sandbox.workspace().user("camille").user_id
    home = {"type": "home", "blocks": [{"type": "divider"}]}
    first = await slack.views_publish(user_id=person, view=home)
    await slack.views_publish(user_id=person, view=home, hash=first["view"]["hash"])
    stale = slack.views_publish(user_id=person, view=home, hash=first["view"]["hash"])
    assert await refusal(stale) == "hash_conflict"
    assert sandbox.home("james") is None
    unknown = slack.views_publish(user_id="U404", view=home)
    assert await refusal(unknown) == "invalid_arguments"


async def test_trigger_opens_one_modal_within_three_seconds(sandbox, slack):
    workspace = sandbox.workspace()
    person = workspace.user("camille").user_id
    trigger = sandbox.interactions.new_trigger(workspace, person)
    await slack.views_open(trigger_id=trigger, view=modal())
    assert sandbox.modal("camille") is not None
    again = slack.views_open(trigger_id=trigger, view=modal())
    assert await refusal(again) == "exchanged_trigger_id"
    late = sandbox.interactions.new_trigger(workspace, person)
    sandbox.advance(3.5)
    assert await refusal(slack.views_open(trigger_id=late, view=modal())) == "expired_trigger_id"
    wrong = slack.views_open(trigger_id="1.2.3", view=modal())
    assert await refusal(wrong) == "invalid_trigger_id"


async def test_modals_stack_three_high_and_update_by_id(sandbox, slack):
    workspace = sandbox.workspace()
    person = workspace.user("camille").user_id
    trigger = sandbox.interactions.new_trigger(workspace, person)
    first = await slack.views_open(trigger_id=trigger, view=modal())
    top = first["view"]["id"]
    for _ in range(2):
        trigger = sandbox.interactions.new_trigger(workspace, person, top)
        top = (await slack.views_push(trigger_id=trigger, view=modal()))["view"]["id"]
    trigger = sandbox.interactions.new_trigger(workspace, person, top)
    fourth = slack.views_push(trigger_id=trigger, view=modal())
    assert await refusal(fourth) == "push_limit_reached"
    updated = await slack.views_update(view_id=top, view=modal("y"))
    assert updated["view"]["blocks"][0]["text"]["text"] == "y"
    assert updated["view"]["root_view_id"] == first["view"]["id"]
    unknown = slack.views_update(view_id="V404", view=modal())
    assert await refusal(unknown) == "not_found"


async def test_view_over_250_kilobytes_is_refused(sandbox, slack):
    person = sandbox.workspace().user("camille").user_id
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3000}}
    home = {"type": "home", "blocks": [block] * 90}
    assert await refusal(slack.views_publish(user_id=person, view=home)) == "view_too_large"


# Files


async def test_sdk_upload_arrives_and_is_shared(sandbox, slack, general):
    answer = await slack.files_upload_v2(
        channel=general, content="# Réponse", filename="answer.md", initial_comment="voilà"
    )
    file_id = answer["files"][0]["id"]
    assert sandbox.workspace().files[file_id].content == "# Réponse".encode()
    assert sandbox.messages("general")[0].files == [{"id": file_id, "title": "answer.md"}]
    missing = slack.files_completeUploadExternal(files=[{"id": "F404", "title": "x"}])
    assert await refusal(missing) == "file_not_found"
