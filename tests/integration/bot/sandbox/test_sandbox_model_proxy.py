"""The way between the app and its model, with a real endpoint at the other end."""

from __future__ import annotations

import asyncio
import json

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.sandbox.control import Sandbox
from bot.sandbox.model_proxy import ModelProxy
from bot.sandbox.pretend_model import PretendModel
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
        await switches.set("slow_model", on=True)
        assert switches.state()["switches"]["slow_model"] is True
        waiting = asyncio.create_task(client.post(address))
        done, _ = await asyncio.wait({waiting}, timeout=0.3)
        assert not done
        waiting.cancel()
        await switches.set("slow_model", on=False)
        async with client.post(address) as answer:
            assert answer.status == 202


async def test_endpoint_that_is_away_is_an_error_of_the_gateway():
    async with (
        ModelProxy("http://127.0.0.1:9/v1") as proxy,
        aiohttp.ClientSession() as client,
        client.post(f"{proxy.base_url}/chat/completions") as answer,
    ):
        assert answer.status == 502


async def test_answer_in_pieces_arrives_in_pieces():
    go_on = asyncio.Event()

    async def write(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"data: 1\n\n")
        await go_on.wait()
        await response.write(b"data: 2\n\n")
        return response

    endpoint = web.Application()
    endpoint.router.add_post("/chat/completions", write)
    async with (
        TestServer(endpoint) as server,
        ModelProxy(f"{server.make_url('/')}") as proxy,
        aiohttp.ClientSession() as client,
        client.post(f"{proxy.base_url}/chat/completions") as answer,
    ):
        assert await answer.content.readline() == b"data: 1\n"
        go_on.set()
        assert (await answer.text()).endswith("data: 2\n\n")


async def test_pretend_model_writes_piece_by_piece_what_it_says_in_one():
    ask = {"messages": [{"role": "user", "content": "Reply with the word ok."}]}
    async with PretendModel() as model, aiohttp.ClientSession() as client:
        address = f"{model.base_url}/chat/completions"
        async with client.post(address, json=ask) as answer:
            [whole] = (await answer.json())["choices"]
        async with client.post(address, json=ask | {"stream": True}) as answer:
            lines = (await answer.text()).removesuffix("\n\n").split("\n\n")
    *chunks, done = [line.removeprefix("data: ") for line in lines]
    choices = [json.loads(chunk)["choices"][0] for chunk in chunks]
    assert "".join(c["delta"].get("content", "") for c in choices) == "ok"
    assert whole["message"]["content"] == "ok"
    assert choices[-1]["finish_reason"] == "stop"
    assert done == "[DONE]"
