"""Slack's Web API over HTTP: the rules that hold for every method."""

from __future__ import annotations

import asyncio
import base64
import json
import math
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from bot.sandbox.arguments import Arguments, MethodError
from bot.sandbox.faults import Fault, FaultKind, Faults
from bot.sandbox.methods import METHODS, Method
from bot.sandbox.methods.call import Call, Slack
from bot.sandbox.workspace import Json, Workspace

POSTS_PER_SECOND = 1
"""Messages a second in one channel. Source: the rate limits page."""

POSTING = frozenset({"chat.postMessage"})
_SECRET_ARGUMENTS = ("token", "client_secret", "code", "refresh_token")


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call as it was made and answered."""

    number: int
    at: float
    """When it was answered."""
    received_at: float
    method: str
    arguments: Json
    team_id: str | None
    status: int
    answer: Json
    """Empty when the connection was broken instead."""

    @property
    def ok(self) -> bool:
        """True when the method did what was asked."""
        return bool(self.answer.get("ok"))


class WebApi:
    """Answers `/api/<method>`, records every call and counts it against its rate."""

    def __init__(self, slack: Slack) -> None:
        self.calls: list[ApiCall] = []
        self.faults = Faults()
        self.strict_rates = False
        """Answer 429 above a method's rate; else only note it in `rate_warnings`."""
        self.rate_warnings: list[str] = []
        self.latency_s = 0.0
        self._slack = slack
        self._recent: dict[tuple[str, ...], deque[float]] = defaultdict(deque)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        name, received_at = request.match_info["method"], self._slack.world.clock.now()
        await asyncio.sleep(self.latency_s)
        method = METHODS.get(name)
        # At once: a call that has arrived is carried out, though the caller may have died since.
        values = await _read(request, json_body=method is None or method.json_body)
        fault = self.faults.next(name)
        if fault is not None and fault.kind is FaultKind.DELAY:
            await asyncio.sleep(fault.seconds)
        if fault is not None and fault.kind is FaultKind.DROP_BEFORE:
            return _drop(request)
        workspace = self._workspace(request, values)
        status, headers = 200, dict[str, str]()
        answer: Json
        try:
            answer = {"ok": True} | self._answer(request, name, method, workspace, values, fault)
        except _RateLimitedError as error:
            status, headers = 429, {"Retry-After": str(math.ceil(error.retry_after_s))}
            answer = {"ok": False, "error": "ratelimited"}
        except MethodError as error:
            answer = {"ok": False, "error": error.error} | error.extra
            status = 500 if error.error == "internal_error" else 200
        self._record(name, values, workspace, received_at, status, answer)
        if fault is not None and fault.kind is FaultKind.DROP_AFTER:
            return _drop(request)
        if workspace is not None:
            headers["x-oauth-scopes"] = ",".join(sorted(workspace.granted))
        return web.json_response(answer, status=status, headers=headers)

    def _answer(
        self,
        request: web.Request,
        name: str,
        method: Method | None,
        workspace: Workspace | None,
        values: Json,
        fault: Fault | None,
    ) -> Json:
        """Do the work of one call.

        Raises:
            MethodError: When a rule or the method refuses it.
        """
        if method is None:
            self._slack.world.report(f"the app called {name}, which the stand-in does not know")
            raise MethodError("unknown_method", req_method=name)
        if fault is not None:
            _apply(fault)
        workspace = self._authorise(_token(request, values), method, workspace)
        _check_scopes(method, workspace)
        self._count(name, method, workspace, values)
        return method.answer(Call(self._slack, workspace, Arguments(values)))

    # Who calls

    def _workspace(self, request: web.Request, values: Json) -> Workspace | None:
        token = _token(request, values)
        workspaces = self._slack.world.workspaces.values()
        return next((w for w in workspaces if w.bot_token == token), None)

    def _authorise(self, token: str, method: Method, workspace: Workspace | None) -> Workspace:
        """Return the workspace a call is about.

        Raises:
            MethodError: `not_authed`, `invalid_auth`, `account_inactive`, `token_expired` or
                `not_allowed_token_type`.
        """
        if method.caller == "client":
            return workspace or next(iter(self._slack.world.workspaces.values()))
        if not token:
            raise MethodError("not_authed")
        is_app_token = token == self._slack.world.app_token
        if not is_app_token and workspace is None:
            raise MethodError("invalid_auth")
        if is_app_token is not (method.caller == "app"):
            raise MethodError("not_allowed_token_type")
        if workspace is None:
            # An app-level token belongs to no workspace; any one serves.
            return next(iter(self._slack.world.workspaces.values()))
        if not workspace.installed:
            raise MethodError("account_inactive")
        expires_at = workspace.token_expires_at
        if expires_at is not None and self._slack.world.clock.now() > expires_at:
            raise MethodError("token_expired")
        return workspace

    # Rates

    def _count(self, name: str, method: Method, workspace: Workspace, values: Json) -> None:
        team = workspace.team_id
        keys: list[tuple[tuple[str, ...], int, float]] = [((name, team), method.per_minute, 60.0)]
        if name in POSTING:
            keys.append(((name, team, str(values.get("channel"))), POSTS_PER_SECOND, 1.0))
        now = self._slack.world.clock.now()
        for key, most, seconds in keys:
            recent = self._recent[key]
            while recent and now - recent[0] > seconds:
                recent.popleft()
            if len(recent) >= most:
                self.rate_warnings.append(f"{name}: more than {most} in {seconds:.0f} s")
                if self.strict_rates:
                    raise _RateLimitedError(seconds - (now - recent[0]))
            recent.append(now)

    def _record(
        self,
        name: str,
        values: Json,
        workspace: Workspace | None,
        received_at: float,
        status: int,
        answer: Json,
    ) -> None:
        arguments = {k: v for k, v in values.items() if k not in _SECRET_ARGUMENTS}
        call = ApiCall(
            number=len(self.calls) + 1,
            at=self._slack.world.clock.now(),
            received_at=received_at,
            method=name,
            arguments=arguments,
            team_id=workspace.team_id if workspace else None,
            status=status,
            answer=answer,
        )
        self.calls.append(call)
        self._slack.world.changes.publish("call", number=call.number, method=name)


class _RateLimitedError(Exception):
    def __init__(self, retry_after_s: float) -> None:
        super().__init__("ratelimited")
        self.retry_after_s = retry_after_s


def _apply(fault: Fault) -> None:
    """Raise what a fault asks for, where it asks for an answer of its own."""
    if fault.kind is FaultKind.ERROR:
        raise MethodError(fault.error)
    if fault.kind is FaultKind.RATE_LIMITED:
        raise _RateLimitedError(fault.seconds)
    if fault.kind is FaultKind.SERVER_ERROR:
        raise MethodError("internal_error")


def _check_scopes(method: Method, workspace: Workspace) -> None:
    if method.scopes and not workspace.granted.intersection(method.scopes):
        provided = ",".join(sorted(workspace.granted))
        raise MethodError("missing_scope", needed=method.scopes[0], provided=provided)


async def _read(request: web.Request, *, json_body: bool) -> Json:
    """Return the arguments of a call from its query, form and, where read, JSON body."""
    values: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        values |= _json_object(await request.text()) if json_body else {}
    elif request.can_read_body:
        values |= {k: v for k, v in (await request.post()).items() if isinstance(v, str)}
    return values | _basic(request)


def _basic(request: web.Request) -> Json:
    """Return the client's id and secret, where they come as Basic authentication."""
    header = request.headers.get("Authorization", "")
    if not header.startswith("Basic "):
        return {}
    try:
        credentials = base64.b64decode(header.removeprefix("Basic "), validate=True).decode()
    except ValueError:
        return {}
    client_id, _, client_secret = credentials.partition(":")
    return {"client_id": client_id, "client_secret": client_secret}


def _json_object(body: str) -> Json:
    try:
        content = json.loads(body or "{}")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _token(request: web.Request, values: Json) -> str:
    header = request.headers.get("Authorization", "")
    if header.startswith("Bearer "):
        return header.removeprefix("Bearer ")
    return str(values.get("token", ""))


def _drop(request: web.Request) -> web.Response:
    """Break the connection; the answer returned goes nowhere."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
