"""What an app sends to a `response_url`, or in the acknowledgement of a command."""

from __future__ import annotations

from aiohttp import web

from bot.sandbox.arguments import Arguments, MethodError
from bot.sandbox.interactions import ResponsePost, ResponseUrl
from bot.sandbox.methods.call import Slack
from bot.sandbox.methods.content import read_content
from bot.sandbox.payloads import message_json
from bot.sandbox.workspace import Json, Message, Workspace


async def handle(slack: Slack, request: web.Request) -> web.Response:
    """Answer one post to a response address: plain `ok`, or 404 when it may not be used."""
    try:
        url = slack.interactions.use_response_url(request.match_info["token"])
    except MethodError as error:
        return web.json_response({"ok": False, "error": error.error}, status=404)
    try:
        content = await request.json()
    except ValueError:
        return web.Response(text="invalid_payload", status=400)
    workspace = slack.world.workspaces[url.team_id]
    refusal = ""
    try:
        apply(slack, workspace, url, content)
    except MethodError as error:
        refusal = error.error
    slack.interactions.posts.append(
        ResponsePost(slack.world.clock.now(), url.channel_id, url.user_id, content, refusal)
    )
    if refusal:
        return web.json_response({"ok": False, "error": refusal}, status=400)
    return web.Response(text="ok")


def apply(slack: Slack, workspace: Workspace, url: ResponseUrl, content: Json) -> None:
    """Show, replace or delete what a response says.

    Raises:
        MethodError: When the content is not one that Slack shows.
    """
    arguments = Arguments(content)
    origin = None
    if url.origin_ts is not None:
        origin = workspace.find_message(url.channel_id, url.origin_ts)
    if arguments.flag("delete_original"):
        if origin is not None:
            _delete(slack, workspace, origin)
        return
    if arguments.flag("replace_original") and origin is not None:
        _replace(slack, workspace, origin, arguments)
        return
    show(slack, workspace, url, arguments)


def show(slack: Slack, workspace: Workspace, url: ResponseUrl, arguments: Arguments) -> Message:
    """Post a response: to everybody when it says `in_channel`, else to the person alone."""
    content = read_content(arguments)
    in_channel = arguments.text("response_type") == "in_channel"
    message = workspace.post(
        workspace.channels[url.channel_id],
        workspace.bot.user_id,
        content.text,
        blocks=content.blocks,
        attachments=content.attachments,
        thread_ts=arguments.text("thread_ts") or None,
        bot=workspace.bot,
        visible_to=None if in_channel else url.user_id,
        response_token=url.token,
    )
    slack.feed.message_posted(workspace, message)
    return message


def _replace(slack: Slack, workspace: Workspace, origin: Message, arguments: Arguments) -> None:
    content = read_content(arguments)
    previous = message_json(workspace, origin)
    origin.text = content.text
    origin.blocks = content.blocks
    origin.attachments = content.attachments
    workspace.edited(origin, workspace.bot.user_id)
    if origin.visible_to is None:
        slack.feed.message_changed(workspace, origin, previous)


def _delete(slack: Slack, workspace: Workspace, origin: Message) -> None:
    previous = message_json(workspace, origin)
    workspace.remove(origin)
    if origin.visible_to is None:
        slack.feed.message_deleted(workspace, origin, previous)
