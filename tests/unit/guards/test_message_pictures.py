"""Each kind of message has its picture in docs/slack.md, in French and in English."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "images" / "messages"
KINDS = (
    "mention",
    "abstention",
    "search",
    "home-member",
    "home-admin",
    "modal-channel",
    "modal-feedback",
    "modal-home-answer",
    "modal-home-search",
    "modal-human-answer",
    "modal-shortcut",
)
MOST_BYTES = 150_000


def test_every_picture_is_shown_in_both_languages_and_is_small() -> None:
    page = (ROOT / "docs" / "slack.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"images/messages/([a-z-]+)\.png", page))

    assert shown == {path.stem for path in FOLDER.glob("*.png")}
    assert {f"{kind}-{language}" for kind in KINDS for language in ("fr", "en")} <= shown
    kinds = {name.rpartition("-")[0] for name in shown}
    assert shown == {f"{kind}-{language}" for kind in kinds for language in ("fr", "en")}
    assert max(path.stat().st_size for path in FOLDER.glob("*.png")) < MOST_BYTES
