"""`make demo`, as a script runs it: no terminal, the real app in its own process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_demo_plays_its_conversation_and_ends_well_without_a_terminal(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "bot.sandbox.demo", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for heading in ("mention in a channel, in French", "in English", "A direct message", "search"):
        assert heading in done.stdout
    assert done.stdout.count("Manuel APP") == 5
    assert "je ne sais pas" in done.stdout
    assert "trois jours par semaine" in done.stdout
    assert "Halvenne-Badge" in done.stdout
    assert "only visible to you" in done.stdout
