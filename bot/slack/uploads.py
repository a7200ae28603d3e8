"""Pages that admins send the bot as files: fetched, kept, indexed, told about, listed, removed."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from typing import Any, Final

from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError

from bot.errors import BotError
from bot.maintenance import Maintenance
from bot.slack.background import BackgroundTasks
from bot.slack.connection.bolt import Enter
from bot.slack.connection.reaching import CALL_FAILED, UNREACHABLE
from bot.slack.connection.web_client import SlackClient
from bot.slack.connection.workspaces import current, our_user_id
from bot.slack.file_download import FileNotFetchedError, FileRefusedError, download
from bot.slack.incoming import question_in
from bot.slack.listening import acknowledge
from bot.slack.mrkdwn import clean
from bot.slack.people import People
from bot.slack.rendering import Message, render_notice
from bot.slack.replies import ReplyAddress
from bot.slack.upload_views import REMOVE, render_outcomes, render_uploads
from bot.slack.wording import Words
from bot.store import FileOutcome, NewUpload, SentFile, UploadJob, UploadStore
from ingest import (
    HandbookError,
    IngestReport,
    LeaseHeldError,
    PageParseError,
    SourceError,
    UploadFolder,
    has_page_suffix,
)

log = logging.getLogger(__name__)

MAX_ATTEMPTS: Final = 6
IDLE_S: Final = 1.0
"""How often the queue is looked at: files that another process left are found so."""
BUSY_S: Final = 2.0
"""How long to wait for a sync that is running."""
RETRY_S: Final = 5.0
_HTML: Final = (".html", ".htm", ".xhtml", ".njk")
_GONE: Final = frozenset({"file_not_found", "file_deleted", "missing_scope", "access_denied"})


class Uploads:
    """Takes files off direct messages, works them off a durable queue, and shows what there is.

    Args:
        store: The queue.
        maintenance: Knows the folder, and syncs its source.
        people: Says who is an admin.
        client: Posts, and asks Slack about files.
        enter: Begins to act in a workspace.
        api_url: Of Slack's Web API.
    """

    def __init__(
        self,
        store: UploadStore,
        maintenance: Maintenance,
        people: People,
        client: SlackClient,
        enter: Enter,
        api_url: str,
    ) -> None:
        self._store = store
        self._maintenance = maintenance
        self._people = people
        self._client = client
        self._enter = enter
        self._api_url = api_url
        self._waiting = asyncio.Event()
        self._tasks = BackgroundTasks()

    def register(self, app: AsyncApp) -> None:
        """Listen for the button that removes an upload."""
        app.action(REMOVE)(ack=acknowledge, lazy=[self._removed])

    def start(self) -> None:
        """Work on what was sent, and on what an earlier process left."""
        self._tasks.start(self._work())

    async def stop(self) -> None:
        """Leave the rest to the next process."""
        await self._tasks.close()
        try:
            await asyncio.to_thread(self._store.release)
        except BotError as error:
            log.warning("uploads wait for the end of their lease: %s", error)

    async def take(self, body: dict[str, Any]) -> bool:
        """Keep the pages of a direct message; says whether that is all there is to do with it.

        A question that comes with them is still one.

        Raises:
            JobStoreError: Nothing is stored: do not acknowledge it.
        """
        event, said = body["event"], question_in(body, our_user_id())
        files = [f for f in event.get("files") or () if has_page_suffix(str(f.get("name") or ""))]
        if said is None or not files:
            return False
        upload = NewUpload(
            said.team_id,
            said.channel_id,
            said.message_ts,
            said.thread_ts,
            said.user_id,
            tuple(SentFile(str(file["id"]), str(file["name"])) for file in files),
        )
        await asyncio.to_thread(self._store.accept, upload)
        self._waiting.set()
        return not said.question.rstrip().endswith("?")

    # --- the queue -------------------------------------------------------------------------------

    async def _work(self) -> None:
        while True:
            self._waiting.clear()
            try:
                job = await asyncio.to_thread(self._store.claim)
                if job is not None:
                    await self._attempt(job)
                    continue
            except HandbookError as error:
                log.error("uploads have to wait: %s", error)
            try:
                async with asyncio.timeout(IDLE_S):
                    await self._waiting.wait()
            except TimeoutError:
                continue

    async def _attempt(self, job: UploadJob) -> None:
        renewing = self._tasks.start(self._renew(job))
        try:
            # In a task of its own: it acts in the workspace of the message.
            await self._tasks.start(self._index(job))
        except (FileNotFetchedError, *CALL_FAILED) as error:
            log.warning("an upload failed", extra={"reason": type(error).__name__})
            await self._try_again(job)
        except HandbookError:
            raise
        except Exception as error:  # noqa: BLE001 - the rim of a job: one must not end the rest
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("an upload failed: unexpected %s\n%s", type(error).__name__, where)
            await self._try_again(job)
        finally:
            renewing.cancel()

    async def _try_again(self, job: UploadJob) -> None:
        if job.attempts < MAX_ATTEMPTS:
            await asyncio.to_thread(self._store.put_off, job, RETRY_S * job.attempts)
        else:
            await asyncio.to_thread(self._store.finish, job)

    async def _renew(self, job: UploadJob) -> None:
        while True:
            await asyncio.sleep(self._store.lease_s / 3)
            try:
                await asyncio.to_thread(self._store.renew, job)
            except BotError as error:
                log.warning("an upload's lease was not renewed: %s", error)

    async def _index(self, job: UploadJob) -> None:
        """Do what is left to do for a message, and say how it ended."""
        if await self._enter(job.team_id) is None:
            await asyncio.to_thread(self._store.finish, job)
            return
        words, notice = await self._people.words(job.user_id), _Notice(self._client, job)
        try:
            message = await self._outcome(job, notice, words)
        except LeaseHeldError:
            await asyncio.to_thread(self._store.put_off, job, BUSY_S, counted=False)
            return
        await notice.show(message)
        await asyncio.to_thread(self._store.finish, job)

    async def _outcome(self, job: UploadJob, notice: _Notice, words: Words) -> Message:
        """Keep the files and index them.

        Raises:
            LeaseHeldError: If another sync is running.
            FileNotFetchedError: If Slack cannot be reached now.
        """
        if not await self._people.is_admin(job.user_id):
            return render_notice(words.upload_admins_only)
        try:
            folder = await asyncio.to_thread(self._maintenance.uploads)
        except HandbookError as error:
            log.error("the folder of uploads is unknown: %s", error)
            return render_notice(words.sync_failed)
        if folder is None:
            return render_notice(words.upload_nowhere)
        outcomes = job.outcomes
        if outcomes is None:
            names = ", ".join(clean(file.name) for file in job.files)
            posted_ts = await notice.show(render_notice(words.upload_running.format(names=names)))
            await asyncio.to_thread(self._store.noticed, job, posted_ts)
            outcomes = tuple([await self._keep(job, file, folder, words) for file in job.files])
            await asyncio.to_thread(self._store.kept, job, outcomes)
        kept = any(not outcome.refusal for outcome in outcomes)
        return render_outcomes(outcomes, await self._sync(folder.source) if kept else None, words)

    async def _keep(
        self, job: UploadJob, file: SentFile, folder: UploadFolder, words: Words
    ) -> FileOutcome:
        try:
            content = await self._fetch(file, folder.max_bytes)
            name = await asyncio.to_thread(folder.put, file.name, content)
        except (FileRefusedError, PageParseError) as error:
            return FileOutcome(file.name, str(error))
        except FileNotFetchedError:
            if job.attempts < MAX_ATTEMPTS:
                raise
            return FileOutcome(file.name, words.upload_unreachable)
        except SourceError as error:
            log.error("an upload cannot be kept: %s", error)
            return FileOutcome(file.name, words.upload_not_kept)
        log.info("a page was uploaded", extra={"user_id": job.user_id, "bytes": len(content)})
        return FileOutcome(name)

    async def _fetch(self, file: SentFile, max_bytes: int) -> bytes:
        """Return the bytes of a file (raises as `download`)."""
        try:
            answer = await self._client.files_info(file=file.file_id)
        except SlackApiError as error:
            reason = str(error.response.get("error"))
            if reason in _GONE:
                raise FileRefusedError(f"Slack does not hand it over ({reason})") from error
            raise FileNotFetchedError(reason) from error
        except UNREACHABLE as error:
            raise FileNotFetchedError(type(error).__name__) from error
        described, workspace = answer["file"], current()
        if workspace is None or described.get("is_external"):
            raise FileRefusedError("it is not kept in Slack")
        size = int(described.get("size") or 0)
        if size > max_bytes:
            raise FileRefusedError(f"larger than {max_bytes} bytes (MAX_PAGE_BYTES)")
        content = await download(
            str(described.get("url_private_download") or described.get("url_private") or ""),
            token=workspace.bot_token,
            api_url=self._api_url,
            max_bytes=max_bytes,
            expects_html=file.name.lower().endswith(_HTML),
        )
        if size and len(content) != size:
            raise FileNotFetchedError("another size than Slack says")
        return content

    async def _sync(self, source: str, *, removed: str | None = None) -> IngestReport | None:
        """Bring the source of uploads up to date; None when that failed, which is logged.

        Args:
            source: Its name.
            removed: A page whose removal an admin confirmed, however large a part of it that is.

        Raises:
            LeaseHeldError: If another sync is running.
        """

        def sync(*, allow_removals: bool = False) -> IngestReport | None:
            reports = self._maintenance.sync(
                [source], progress=lambda _: None, allow_removals=allow_removals
            )
            return reports[0] if reports else None

        try:
            report = await asyncio.to_thread(sync)
            if report is not None and removed and report.blocked_removals == (removed,):
                report = await asyncio.to_thread(sync, allow_removals=True)
        except LeaseHeldError:
            raise
        except HandbookError as error:
            log.error("uploads were not indexed: %s", error)
            return None
        return report

    # --- the list --------------------------------------------------------------------------------

    async def listed(self, user_id: str, words: Words) -> Message:
        """Return the uploads for an admin, or a refusal."""
        if not await self._people.is_admin(user_id):
            return render_notice(words.admins_only)
        try:
            folder = await asyncio.to_thread(self._maintenance.uploads)
            if folder is None:
                return render_notice(words.upload_nowhere)
            return render_uploads(await asyncio.to_thread(folder.files), words)
        except HandbookError as error:
            log.error("uploads cannot be listed: %s", error)
            return render_notice(words.outage)

    async def _removed(self, body: dict[str, Any]) -> None:
        user_id, address = body["user"]["id"], ReplyAddress.of(body)
        words = await self._people.words(user_id)
        if not await self._people.is_admin(user_id):
            await address.show(render_notice(words.admins_only))
            return
        name = str(json.loads(body["actions"][0]["value"])["name"])
        try:
            await address.show(render_notice(await self._remove(name, words)))
        except LeaseHeldError:  # the file is gone: that sync or the next one sees it
            await address.show(render_notice(words.upload_removed_later.format(name=clean(name))))
        except HandbookError as error:
            log.error("an upload was not removed: %s", error)
            await address.show(render_notice(words.failure))
        else:
            log.info("an upload was removed", extra={"user_id": user_id})

    async def _remove(self, name: str, words: Words) -> str:
        folder = await asyncio.to_thread(self._maintenance.uploads)
        if folder is None or not await asyncio.to_thread(folder.remove, name):
            return words.upload_gone.format(name=clean(name))
        report = await self._sync(folder.source, removed=name)
        done = report is not None and name in report.removed
        said = words.upload_removed if done else words.upload_removed_later
        return said.format(name=clean(name))


class _Notice:
    """Our message about an upload: posted once in its thread, and put right from then on."""

    def __init__(self, client: SlackClient, job: UploadJob) -> None:
        self._client = client
        self._job = job
        self._ts = job.notice_ts

    async def show(self, message: Message) -> str:
        """Show a message, and return the `ts` of ours (raises one of `CALL_FAILED`)."""
        channel_id, blocks = self._job.channel_id, [dict(block) for block in message.blocks]
        if self._ts:
            await self._client.chat_update(
                channel=channel_id, ts=self._ts, text=message.text, blocks=blocks
            )
            return self._ts
        posted = await self._client.chat_postMessage(
            channel=channel_id,
            thread_ts=self._job.thread_ts,
            text=message.text,
            blocks=blocks,
            unfurl_links=False,
            unfurl_media=False,
        )
        self._ts = str(posted["ts"])
        return self._ts
