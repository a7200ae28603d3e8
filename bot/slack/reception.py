"""What comes before the handbook: who is not answered, and threads that want silence."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from bot.slack.admission import Admission
from bot.slack.rendering import Message, render_notice
from bot.slack.wording import Words
from bot.store import Job, JobStore, MutedThreads

REFUSAL = "refusal"
MUTED = "muted"
UNMUTED = "unmuted"

_MUTE = frozenset({"mute", "silence"})
_UNMUTE = frozenset({"unmute", "parle"})
_AROUND = " \t\n.!…\"'«»“”/"


@dataclass(frozen=True, slots=True)
class Received:
    """What becomes of a message that does not reach the handbook.

    Attributes:
        kind: What it is, for the queue.
        message: What is said; None: nothing.
    """

    kind: str
    message: Message | None = None


class Reception:
    """Deals with messages that are no question to the handbook.

    `mute` in a thread ends the follow-ups that need no mention, until `unmute`; whoever mentions
    the bot is answered all the same.

    Args:
        jobs: Tells what was said in a thread before.
    """

    def __init__(self, admission: Admission, muted: MutedThreads, jobs: JobStore) -> None:
        self._admission = admission
        self._muted = muted
        self._jobs = jobs

    async def receive(self, job: Job, words: Words) -> Received | None:
        """Return what becomes of a message, None when it is to be answered.

        Raises:
            JobStoreError: If the database cannot be used now.
        """
        refusal = await self._admission.refusal(
            job.user_id,
            job.team_id,
            words,
            channel_id=job.channel_id,
            in_shared_channel=job.in_shared_channel,
        )
        if refusal:
            said = bool(job.thread_ts) and await asyncio.to_thread(
                self._jobs.earlier_outcome, job, REFUSAL
            )
            return Received(REFUSAL, None if said else render_notice(refusal))
        if not job.thread_ts:  # asked in the Home tab: there is no thread to be silent in
            return None
        return await asyncio.to_thread(self._silence, job, words)

    def _silence(self, job: Job, words: Words) -> Received | None:
        thread = (job.team_id, job.channel_id, job.thread_ts)
        order = (job.question or "").casefold().strip(_AROUND)
        if order in _MUTE:
            self._muted.mute(*thread)
            return Received(MUTED, render_notice(words.muted))
        if order in _UNMUTE:
            self._muted.unmute(*thread)
            return Received(UNMUTED, render_notice(words.unmuted))
        # Elsewhere only mentions reach us, and those are meant for us.
        if _is_direct(job) and self._muted.is_muted(*thread):
            return Received(MUTED)
        return None


def _is_direct(job: Job) -> bool:
    return job.channel_id.startswith("D")
