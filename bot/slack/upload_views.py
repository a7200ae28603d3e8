"""What admins see of the pages they upload. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from bot.slack.mrkdwn import clean
from bot.slack.rendering import Block, Message, button, render_notice
from bot.slack.wording import Words
from bot.store import FileOutcome
from ingest import IngestReport, Upload

REMOVE: Final = "remove_upload"
LISTED: Final = 40
"""Uploads in a list: each is a block with a button, and a message takes 50."""


def render_outcomes(
    outcomes: Sequence[FileOutcome], report: IngestReport | None, words: Words
) -> Message:
    """Render what became of files.

    Args:
        outcomes: Of each.
        report: Of the sync that followed; None when it failed, or no file was kept.
        words: To say it with.
    """
    unread = {page.path: page.reason for page in report.skipped} if report else {}
    kept = [outcome.name for outcome in outcomes if not outcome.refusal]
    indexed = [name for name in kept if name not in unread] if report else []
    lines = []
    if indexed:
        said = words.upload_one if len(indexed) == 1 else words.upload_many
        lines.append(said.format(count=len(indexed), names=", ".join(map(clean, indexed))))
    elif kept and report is None:
        lines.append(words.upload_later.format(names=", ".join(map(clean, kept))))
    refused = [(one.name, one.refusal) for one in outcomes if one.refusal]
    refused += [(name, unread[name]) for name in kept if name in unread]
    if refused:
        lines.append(words.upload_refused)
        lines += [f"• {clean(name)} : {clean(reason)}" for name, reason in refused]
    return render_notice("\n".join(lines))


def render_uploads(uploads: Sequence[Upload], words: Words) -> Message:
    """Render the pages that were uploaded, each with a button that removes it."""
    if not uploads:
        return render_notice(words.uploads_none)
    lines = [words.uploads_listed.format(count=len(uploads))]
    blocks = list(render_notice(lines[0]).blocks)
    for upload in uploads[:LISTED]:
        line = f"{clean(upload.name)} · {words.format_moment(upload.modified_at)}"
        lines.append(line)
        block = dict(render_notice(line).blocks[0])
        blocks.append({**block, "accessory": _removal(upload, words)})
    if len(uploads) > LISTED:
        more = render_notice(words.and_more.format(count=len(uploads) - LISTED))
        lines.append(more.text)
        blocks += more.blocks
    return Message("\n".join(lines), tuple(blocks))


def _removal(upload: Upload, words: Words) -> Block:
    element = button(words.upload_remove, REMOVE, json.dumps({"name": upload.name}), style="danger")
    question = words.upload_remove_text.format(name=upload.name)
    return {
        **element,
        "confirm": {
            "title": {"type": "plain_text", "text": words.upload_remove},
            "text": {"type": "plain_text", "text": question[:300]},
            "confirm": {"type": "plain_text", "text": words.upload_remove},
            "deny": {"type": "plain_text", "text": words.cancel},
        },
    }
