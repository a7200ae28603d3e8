"""`manuel serve` with a slow, scripted answerer: a process to kill in the middle of an answer.

Run as a program. ANSWER_SECONDS says how long each answer takes.
"""

import asyncio
import os
import time

from bot.records import Outcome, Question
from bot.settings import BotSettings
from bot.slack.app import serve
from ingest import Audiences, configure_logging
from tests.slack_running import ScriptedHandbook, knows_remote_work


def slowly(question: Question, audiences: Audiences) -> Outcome:
    time.sleep(float(os.environ.get("ANSWER_SECONDS", "0")))
    return knows_remote_work(question, audiences)


if __name__ == "__main__":
    settings = BotSettings()
    configure_logging(settings.log_format, settings.log_level)
    asyncio.run(serve(settings, build=lambda: ScriptedHandbook(slowly)))
