"""`files.*` methods: the three-step upload, and what a file is."""

from __future__ import annotations

from bot.sandbox.arguments import MethodError, invalid_arguments
from bot.sandbox.methods.call import Call
from bot.sandbox.shared_files import file_json
from bot.sandbox.workspace import Json, UploadedFile


def upload_url(call: Call) -> Json:
    """Return where to send a file's bytes."""
    name = call.arguments.required("filename", "invalid_arguments")
    length = call.arguments.integer("length", 0)
    if length < 1:
        raise invalid_arguments("invalid `length`")
    file_id = call.slack.world.new_id("F")
    call.workspace.files[file_id] = UploadedFile(file_id, name, length)
    base_url = call.slack.interactions.base_url
    return {
        "upload_url": f"{base_url}/upload/{call.workspace.team_id}/{file_id}",
        "file_id": file_id,
    }


def info(call: Call) -> Json:
    """Describe a file."""
    file_id = call.arguments.required("file", "invalid_arguments")
    file = call.workspace.files.get(file_id)
    if file is None or file.content is None:
        raise MethodError("file_not_found")
    described = file_json(call.workspace, file, "", call.slack.interactions.base_url)
    return {"file": described, "comments": [], "response_metadata": {"next_cursor": ""}}


def complete_upload(call: Call) -> Json:
    """Share uploaded files in a channel or thread, or keep them to the app."""
    wanted = call.arguments.items("files", "invalid_arguments") or []
    if not wanted:
        raise invalid_arguments("missing required field: files")
    files = [call.workspace.files.get(str(w.get("id"))) for w in wanted]
    if any(file is None or file.content is None for file in files):
        raise MethodError("file_not_found")
    answered: list[Json] = []
    for file, want in zip(files, wanted, strict=True):
        if file is not None:
            file.title = str(want.get("title") or file.name)
            answered.append({"id": file.file_id, "title": file.title})
    if "channel_id" in call.arguments:
        _share(call, answered)
    return {"files": answered}


def _share(call: Call, files: list[Json]) -> None:
    channel = call.channel("channel_id", must_be_in=True)
    message = call.workspace.post(
        channel,
        call.workspace.bot.user_id,
        call.arguments.text("initial_comment"),
        files=files,
        thread_ts=call.arguments.text("thread_ts") or None,
        bot=call.workspace.bot,
        subtype="file_share",
    )
    call.slack.feed.message_posted(call.workspace, message)
