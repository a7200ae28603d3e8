"""The way between the app and its model, with a real endpoint at the other end."""

from __future__ import annotations

import asyncio

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.sandbox.control import Sandbox
from bot.sandbox.model_proxy import ModelProxy
from bot.sandbox.web.ports import Beside
from bot.sandbox.web.switches import Switches


async def echo(request: web.Request) -> web.Response:
    told = {
        "path": request.path_qs,
        "body": await request.text(),
        "key": request.headers["Authorization"],
    }
    return web.json_response(told, status=202, headers={"X-Request-Id": "7"})


async def test_request_and_answer_go_through_unchanged():
    endpoint = web.Application()
    endpoint.router.add_post("/v1/chat/completions", echo)
    async with (
        TestServer(endpoint) as server,
        ModelProxy(f"{server.make_url('/v1/')}") as proxy,
        aiohttp.ClientSession() as client,
        client.post(
            f"{proxy.base_url}/chat/completions?a=b",
            data='{"model": "é"}',
            headers={"Authorization": "Bearer key"},
        ) as answer,
    ):
        assert (answer.status, answer.headers["X-Request-Id"]) == (202, "7")
        assert await answer.json() == {
            "path": "/v1/chat/completions?a=b",
            "body": '{"model": "é"}',
            "key": "Bearer key",
        }


async def test_slow_model_keeps_the_app_waiting_until_the_switch_is_off():
    endpoint = web.Application()
    endpoint.router.add_post("/chat/completions", echo)
    async with (
        TestServer(endpoint) as server,
        ModelProxy(f"{server.make_url('/')}") as proxy,
        aiohttp.ClientSession(headers={"Authorization": "Bearer key"}) as client,
    ):
        switches = Switches(Sandbox(), Beside(model=proxy))
        address = f"{proxy.base_url}/chat/completions"
        switches.set("slow_model", on=True)
        assert switches.state()["switches"]["slow_model"] is True
        waiting = asyncio.create_task(client.post(address))
        done, _ = await asyncio.wait({waiting}, timeout=0.3)
        assert not done
        waiting.cancel()
        switches.set("slow_model", on=False)
        async with client.post(address) as answer:
            assert answer.status == 202


async def test_endpoint_that_is_away_is_an_error_of_the_gateway():
    async with (
        ModelProxy("http://127.0.0.1:9/v1") as proxy,
        aiohttp.ClientSession() as client,
        client.post(f"{proxy.base_url}/chat/completions") as answer,
    ):
        assert answer.status == 502
