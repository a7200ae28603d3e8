"""`chat.*Stream` methods: a message that grows while the app writes."""

from __future__ import annotations

from bot.sandbox.arguments import MethodError, invalid_arguments
from bot.sandbox.blocks import MAX_BLOCKS, MAX_MARKDOWN, Surface, block_problems
from bot.sandbox.methods.agents import set_session
from bot.sandbox.methods.call import Call
from bot.sandbox.payloads import message_json
from bot.sandbox.workspace import Json, Message, SessionStatus, Stream

MAX_TASK_FIELD = 256
CHUNK_TYPES = frozenset({"markdown_text", "task_update", "plan_update", "blocks"})
"""Sources: node-slack-sdk's chunk types and the chat.appendStream page."""


def start(call: Call) -> Json:
    """Begin a stream in a thread."""
    workspace, arguments = call.workspace, call.arguments
    channel = call.channel(must_be_in=True)
    if channel.is_archived:
        raise MethodError("is_archived")
    thread_ts = arguments.text("thread_ts")
    if not thread_ts or not workspace.thread(channel, thread_ts):
        raise MethodError("invalid_thread_ts")
    if not channel.is_im:
        for name in ("recipient_user_id", "recipient_team_id"):
            arguments.required(name, f"missing_{name}")
    _check(call)
    message = workspace.post(
        channel, workspace.bot.user_id, "", thread_ts=thread_ts, bot=workspace.bot
    )
    message.streaming_state = "in_progress"
    workspace.streams[(channel.channel_id, message.ts)] = Stream(call.slack.world.clock.now())
    _grow(call, message)
    if call.slack.world.manifest.is_agent:
        set_session(call, channel, thread_ts, SessionStatus.PROCESSING)
    call.slack.feed.message_posted(workspace, message)
    return {"channel": channel.channel_id, "ts": message.ts}


def append(call: Call) -> Json:
    """Add text or chunks to a live stream."""
    message = _live(call)
    _check(call)
    if "markdown_text" not in call.arguments and "chunks" not in call.arguments:
        raise MethodError("no_text")
    _grow(call, message)
    return {"channel": message.channel_id, "ts": message.ts}


def stop(call: Call) -> Json:
    """End a stream with its last text and its own blocks."""
    message = _live(call)
    _check(call)
    blocks = call.arguments.items("blocks", "invalid_blocks_format") or []
    if problems := block_problems(blocks, Surface.MESSAGE):
        raise MethodError("invalid_blocks", response_metadata={"messages": problems})
    status = call.arguments.text("session_status", SessionStatus.ACTIVE)
    if status not in set(SessionStatus):
        raise MethodError("invalid_status")
    _grow(call, message)
    message.blocks += blocks
    message.metadata = call.arguments.mapping("metadata", "invalid_metadata_format")
    message.streaming_state = "completed"
    _publish(call, message)
    channel = call.workspace.channels[message.channel_id]
    if call.slack.world.manifest.is_agent and message.thread_ts:
        set_session(call, channel, message.thread_ts, SessionStatus(status))
    return {
        "channel": message.channel_id,
        "ts": message.ts,
        "message": message_json(call.workspace, message),
    }


def _live(call: Call) -> Message:
    """Return the stream's message.

    Raises:
        MethodError: Where there is none, it is another app's, stopped, or over its time.
    """
    channel = call.channel()
    message = call.message(channel, "ts")
    if not call.is_own(message):
        raise MethodError("message_not_owned_by_app")
    stream = call.workspace.streams.get((channel.channel_id, message.ts))
    if stream is not None and stream.stopped_by_user:
        raise MethodError("stopped_by_user")
    if stream is None or message.streaming_state != "in_progress":
        raise MethodError("message_not_in_streaming_state")
    if call.slack.world.clock.now() - stream.started_at > call.slack.world.stream_lifetime_s:
        message.streaming_state = "completed"
        raise MethodError("message_not_in_streaming_state")
    return message


def _check(call: Call) -> None:
    """Refuse content over a limit before anything is changed."""
    chunks = call.arguments.items("chunks", "invalid_chunks") or []
    texts = [call.arguments.text("markdown_text")]
    for chunk in chunks:
        if chunk.get("type") not in CHUNK_TYPES:
            raise MethodError("invalid_chunks")
        if chunk["type"] == "markdown_text":
            texts.append(str(chunk.get("text", "")))
        elif chunk["type"] == "blocks":
            _check_blocks(chunk.get("blocks", []))
        elif any(len(v) > MAX_TASK_FIELD for v in chunk.values() if isinstance(v, str)):
            raise invalid_arguments("[ERROR] must be less than 257 characters")
    if sum(map(len, texts)) > MAX_MARKDOWN:
        raise MethodError("msg_too_long")


def _check_blocks(blocks: list[Json]) -> None:
    problems = block_problems(blocks, Surface.MESSAGE)
    if problems or len(blocks) > MAX_BLOCKS[Surface.MESSAGE]:
        raise MethodError("invalid_blocks", response_metadata={"messages": problems})


def _grow(call: Call, message: Message) -> None:
    """Add the call's text or chunks to the message."""
    stream = call.workspace.streams[(message.channel_id, message.ts)]
    text = call.arguments.text("markdown_text")
    chunks = call.arguments.items("chunks", "invalid_chunks")
    for mode, given in (("text", bool(text)), ("chunks", bool(chunks))):
        if not given:
            continue
        if stream.mode not in ("", mode):
            raise MethodError("streaming_mode_mismatch")
        stream.mode = mode
    message.text += text
    for chunk in chunks or ():
        _add_chunk(stream, message, chunk)
    message.blocks = _blocks(stream, message)
    _publish(call, message)


def _add_chunk(stream: Stream, message: Message, chunk: Json) -> None:
    match chunk["type"]:
        case "markdown_text":
            message.text += str(chunk.get("text", ""))
        case "task_update":
            task = stream.tasks.setdefault(str(chunk["id"]), {})
            task |= {k: v for k, v in chunk.items() if k not in ("type", "id")}
        case "plan_update":
            stream.plan_title = str(chunk["title"])
        case "blocks":
            stream.blocks += chunk["blocks"]


def _blocks(stream: Stream, message: Message) -> list[Json]:
    blocks: list[Json] = []
    if stream.tasks:
        tasks = [
            {"type": "task_card", "task_id": task_id} | task
            for task_id, task in stream.tasks.items()
        ]
        blocks.append({"type": "plan", "title": stream.plan_title, "tasks": tasks})
    if message.text:
        blocks.append({"type": "markdown", "text": message.text})
    return blocks + stream.blocks


def _publish(call: Call, message: Message) -> None:
    call.slack.world.changes.publish(
        "message_changed",
        team_id=call.workspace.team_id,
        channel_id=message.channel_id,
        ts=message.ts,
    )
