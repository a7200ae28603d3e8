"""Slack's side of HTTP mode: the same payloads as in Socket Mode, as signed requests."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
import uuid
from dataclasses import dataclass
from urllib.parse import urlencode

import aiohttp

from bot.sandbox.delivery import (
    ACK_TIMEOUT_S,
    Attempt,
    Delivery,
    DeliveryState,
    PayloadKind,
    Sender,
)
from bot.sandbox.workspace import Json, World


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the app answered; `reason` says why that is no acknowledgement, "" when it is one."""

    reason: str
    no_retry: bool = False
    response: Json | None = None


class SignedHttp(Sender):
    """Sends each payload to the app's request URL, and events again when they fail.

    Attributes:
        request_url: Where the app listens; what is sent while it is empty is lost.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.request_url = ""
        self._session: aiohttp.ClientSession | None = None

    def sign(self, body: bytes, *, at: float | None = None) -> dict[str, str]:
        """Return the headers that prove a request to come from Slack.

        Args:
            body: As it is sent.
            at: Seconds since the epoch; default: now. Real time: the app compares with its own.
        """
        timestamp = str(int(time.time() if at is None else at))
        signed = b":".join((b"v0", timestamp.encode(), body))
        digest = hmac.new(self._world.signing_secret.encode(), signed, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}

    async def verify_url(self) -> bool:
        """Send the challenge with which Slack tries a new request URL; True if it comes back."""
        challenge = uuid.uuid4().hex
        body = json.dumps({"type": "url_verification", "challenge": challenge, "token": "sandbox"})
        answer = await self._post(body.encode(), "application/json", {})
        return bool(answer.response) and challenge in json.dumps(answer.response)

    async def close(self) -> None:
        """Stop sending."""
        await self._tasks.close()
        if self._session is not None:
            await self._session.close()

    async def _run(self, delivery: Delivery, first_retry: int = 0) -> None:
        waits = (0.0, *self.retry_after_s) if delivery.kind is PayloadKind.EVENT else (0.0,)
        reason = "http_timeout" if first_retry else ""
        for number, wait_s in enumerate(waits, start=first_retry):
            await self._world.clock.sleep(wait_s)
            if not self.request_url:
                self._settle(delivery, DeliveryState.LOST)
                return
            attempt = Attempt(str(uuid.uuid4()), 0, self._world.clock.now())
            delivery.attempts.append(attempt)
            headers = {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason}
            body, content_type = _encoded(delivery)
            answer = await self._post(body, content_type, headers if number else {})
            if not answer.reason:
                attempt.acknowledged_at = self._world.clock.now()
                self._settle(delivery, DeliveryState.ACKNOWLEDGED, answer.response)
                return
            if answer.no_retry:
                break
            reason = answer.reason
        self._settle(delivery, DeliveryState.FAILED)

    async def _post(self, body: bytes, content_type: str, headers: dict[str, str]) -> _Answer:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        timeout = aiohttp.ClientTimeout(total=ACK_TIMEOUT_S)
        sent = {"Content-Type": content_type, **self.sign(body), **headers}
        try:
            async with self._session.post(
                self.request_url, data=body, headers=sent, timeout=timeout, allow_redirects=False
            ) as response:
                text = await response.text()
                if not 200 <= response.status < 300:
                    stop = response.headers.get("X-Slack-No-Retry") == "1"
                    return _Answer("http_error", no_retry=stop)
                return _Answer("", response=_response(response.content_type, text))
        except TimeoutError:
            return _Answer("http_timeout")
        except aiohttp.ClientError:
            return _Answer("connection_failed")


def _encoded(delivery: Delivery) -> tuple[bytes, str]:
    """Return the body and its type: events are JSON, commands and interactions are forms."""
    payload = delivery.payload
    if delivery.kind is PayloadKind.EVENT:
        return json.dumps(payload).encode(), "application/json"
    form = payload
    if delivery.kind is PayloadKind.INTERACTION:
        form = {"payload": json.dumps(payload)}
    return urlencode(form).encode(), "application/x-www-form-urlencoded"


def _response(content_type: str, text: str) -> Json | None:
    """Read the body of an acknowledgement: a message, or what becomes of a view."""
    if not text:
        return None
    if content_type != "application/json":
        return {"text": text}
    content = json.loads(text)
    return content if isinstance(content, dict) else None
