"""`agents.sessions.*` and the older `assistant.threads.*` that bridge to them."""

from __future__ import annotations

from bot.sandbox.arguments import MethodError, invalid_arguments
from bot.sandbox.methods.call import Call
from bot.sandbox.workspace import Channel, Json, Session, SessionStatus

MAX_TITLE = 200
MAX_PROMPTS = 4
MAX_LOADING_MESSAGES = 10
"""Sources of the limits: the pages of these methods."""

NO_STOP = "missing_agent_session_stopped_event_subscription"


def set_status(call: Call) -> Json:
    """Create a session or change its status; the title counts only at creation."""
    _need_agent(call)
    channel, thread_ts = _place(call, "thread_ts_required")
    try:
        status = SessionStatus(call.arguments.text("status"))
    except ValueError:
        raise MethodError("invalid_status") from None
    title = call.arguments.text("title")
    if len(title) > MAX_TITLE:
        raise invalid_arguments("[ERROR] title must be less than 201 characters")
    initiator = call.arguments.text("initiator_user_id")
    if initiator and initiator not in call.workspace.users:
        raise MethodError("user_not_found")
    session = set_session(call, channel, thread_ts, status, title=title)
    answer: Json = {"status": status, "agent_status": status, "title": session.title}
    subscribed = "agent_session_stopped" in call.slack.world.manifest.events
    if status is SessionStatus.PROCESSING and not subscribed:
        answer |= {"warning": NO_STOP, "response_metadata": {"warnings": [NO_STOP]}}
    return answer


def rename(call: Call) -> Json:
    """Give a session another title."""
    _need_agent(call)
    channel, thread_ts = _place(call, "thread_ts_required")
    title = call.arguments.text("title")
    if not 1 <= len(title) <= MAX_TITLE:
        raise invalid_arguments("[ERROR] title must have 1 to 200 characters")
    session = call.workspace.sessions.get((channel.channel_id, thread_ts))
    if session is None:
        raise MethodError("session_not_found")
    session.title = title
    _publish(call, session)
    return {"title": title}


def set_thread_status(call: Call) -> Json:
    """Show a loading text: the bridge to `processing` (some text) and `active` (none)."""
    channel, thread_ts = _place(call, "invalid_thread_ts", name="channel_id")
    messages = call.arguments.values.get("loading_messages") or []
    if isinstance(messages, list) and len(messages) > MAX_LOADING_MESSAGES:
        raise invalid_arguments(
            "[ERROR] no more than 10 items allowed [json-pointer:/loading_messages]"
        )
    text = call.arguments.text("status")
    status = SessionStatus.PROCESSING if text else SessionStatus.ACTIVE
    session = set_session(call, channel, thread_ts, status)
    session.loading = text
    session.loading_messages = list(messages) if isinstance(messages, list) else [str(messages)]
    session.history.append(text)
    return {}


def set_thread_title(call: Call) -> Json:
    """Give a thread its title: the bridge to `rename`."""
    channel, thread_ts = _place(call, "invalid_thread_ts", name="channel_id")
    title = call.arguments.required("title", "invalid_arguments")
    session = set_session(call, channel, thread_ts, SessionStatus.ACTIVE, keep_status=True)
    session.title = title[:MAX_TITLE]
    return {}


def set_suggested_prompts(call: Call) -> Json:
    """Offer up to four prompts; with `thread_ts`, an agent app's call does nothing, silently."""
    channel = call.channel("channel_id")
    prompts = call.arguments.items("prompts", "invalid_arguments")
    if not prompts or len(prompts) > MAX_PROMPTS:
        raise invalid_arguments("[ERROR] 1 to 4 prompts expected [json-pointer:/prompts]")
    if any(not p.get("title") or not p.get("message") for p in prompts):
        raise invalid_arguments("[ERROR] missing required field [json-pointer:/prompts]")
    if not ("thread_ts" in call.arguments and call.slack.world.manifest.is_agent):
        call.workspace.set_prompts(channel, call.arguments.text("title") or None, prompts)
    return {}


def set_session(
    call: Call,
    channel: Channel,
    thread_ts: str,
    status: SessionStatus,
    *,
    title: str = "",
    keep_status: bool = False,
) -> Session:
    """Create the session of a thread if needed and give it a status.

    Args:
        call: The call that asks for it.
        channel: Where the thread is.
        thread_ts: Root of the thread.
        status: New status.
        title: Counts only where the session is created.
        keep_status: Leave an existing session's status as it is.
    """
    key = (channel.channel_id, thread_ts)
    session = call.workspace.sessions.get(key)
    if session is None:
        session = Session(channel.channel_id, thread_ts, status, title)
        call.workspace.sessions[key] = session
    elif not keep_status:
        session.status = status
    if not keep_status:
        session.history.append(status.value)
    _publish(call, session)
    return session


def _need_agent(call: Call) -> None:
    if not call.slack.world.manifest.is_agent:
        raise MethodError("feature_disabled")


def _place(call: Call, missing: str, *, name: str = "channel_id") -> tuple[Channel, str]:
    channel = call.channel(name)
    thread_ts = call.arguments.required("thread_ts", missing)
    if not call.workspace.thread(channel, thread_ts):
        raise MethodError("invalid_thread_ts")
    return channel, thread_ts


def _publish(call: Call, session: Session) -> None:
    call.slack.world.changes.publish(
        "session",
        team_id=call.workspace.team_id,
        channel_id=session.channel_id,
        ts=session.thread_ts,
    )
