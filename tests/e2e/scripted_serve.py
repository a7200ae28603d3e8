"""`manuel serve` with a slow, scripted answerer: a process to kill in the middle of an answer.

Run as a program. ANSWER_SECONDS says how long each answer takes. With ANSWER_MODEL the answer has
two sentences, the first of which is there at once.
"""

import asyncio
import os
import time

from bot.answering.streaming import OnClaim
from bot.records import Outcome, Question
from bot.settings import BotSettings
from bot.slack.app import serve
from ingest import Audiences, configure_logging
from tests.outcomes import answer, claim
from tests.slack_running import ScriptedHandbook, knows_remote_work

WRITTEN = answer(
    claim(sentence="Vous avez deux jours."), claim(sentence="C'est par semaine."), generator="m"
)


def slowly(question: Question, audiences: Audiences, on_claim: OnClaim | None = None) -> Outcome:
    if on_claim is not None:
        on_claim(WRITTEN.claims[0])
    time.sleep(float(os.environ.get("ANSWER_SECONDS", "0")))
    return WRITTEN if os.environ.get("ANSWER_MODEL") else knows_remote_work(question, audiences)


if __name__ == "__main__":
    settings = BotSettings()
    configure_logging(settings.log_format, settings.log_level)
    asyncio.run(serve(settings, build=lambda: ScriptedHandbook(slowly)))
