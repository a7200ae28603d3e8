"""The language of real questions."""

import json
from pathlib import Path

from ingest.language import detect_question_language

MIN_SHARE = 0.98


def test_nearly_all_real_questions_are_in_the_language_found(shared_dir: Path) -> None:
    lines = [
        json.loads(line)
        for file in sorted((shared_dir / "questions").glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    wrong = [
        (line["lang"], line["question"])
        for line in lines
        if detect_question_language(line["question"]) != line["lang"]
    ]
    assert lines
    assert len(wrong) <= (1 - MIN_SHARE) * len(lines), wrong
