"""Requests to a model that are broken off from another thread, on a real HTTP server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from bot.answering.abandoning import Abandonment, abandonable
from bot.answering.llm import ChatEndpoint, open_model_generator
from bot.errors import AnswerAbandoned
from bot.settings import BotSettings
from tests.scripted_server import Scripted, scripted_server

ASKED = [{"role": "user", "content": "le badge ?"}]
DEADLINE_S = 20.0
"""Of a test that fails: the model holds its answer back for longer."""


class SilentModel:
    """Says what it is told to, or nothing, and then waits for ever."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.is_asked = threading.Event()
        self.go_on = threading.Event()

    def wait(self) -> None:
        self.is_asked.set()
        self.go_on.wait(3 * DEADLINE_S)

    def __call__(self, _body: Any) -> Scripted:
        if self.how == "half-way":
            return Scripted(events=({"choices": []}, self.wait))
        if self.how == "before another attempt":
            self.is_asked.set()
            return Scripted(503, {}, headers={"Retry-After": str(3 * DEADLINE_S)})
        self.wait()
        return Scripted(200, {})


def endpoint(url: str) -> ChatEndpoint:
    settings = BotSettings(
        _env_file=None, answer_model="m", openai_base_url=url, answer_timeout_s=10 * DEADLINE_S
    )
    return open_model_generator(settings).endpoint


def asking(endpoint: ChatEndpoint, abandonment: Abandonment, *, aloud: bool) -> Callable[[], None]:
    def ask() -> None:
        heard = (lambda text: None) if aloud else None
        with abandonable(abandonment):
            endpoint.complete(ASKED, max_tokens=50, on_text=heard)

    return ask


@pytest.mark.parametrize("how", ["before the first word", "half-way", "before another attempt"])
@pytest.mark.parametrize("aloud", [True, False], ids=["streamed", "in one piece"])
def test_a_request_that_is_given_up_ends_at_once_and_is_no_outage(how: str, aloud: bool) -> None:
    model, abandonment = SilentModel(how), Abandonment()
    with scripted_server(model) as server, ThreadPoolExecutor(1) as threads:
        asked = endpoint(server.url)
        request = threads.submit(asking(asked, abandonment, aloud=aloud))
        assert model.is_asked.wait(DEADLINE_S)
        abandonment.abandon()
        assert isinstance(request.exception(DEADLINE_S), AnswerAbandoned)
        model.go_on.set()
        # The question does not go on with its next request, and other questions are asked.
        with pytest.raises(AnswerAbandoned):
            asking(asked, abandonment, aloud=aloud)()
        requests = len(server.requests)
        server.script[:] = [Scripted(200, {"choices": [{"message": {"content": "oui"}}]})]
        assert asked.complete(ASKED, max_tokens=50).text == "oui"
        assert len(server.requests) == requests + 1


def test_a_closed_endpoint_gives_up_what_is_asked_and_asks_nothing_more() -> None:
    model = SilentModel("half-way")
    with scripted_server(model) as server, ThreadPoolExecutor(1) as threads:
        asked = endpoint(server.url)
        request = threads.submit(asking(asked, Abandonment(), aloud=True))
        assert model.is_asked.wait(DEADLINE_S)
        asked.close()
        assert isinstance(request.exception(DEADLINE_S), AnswerAbandoned)
        model.go_on.set()
        with pytest.raises(AnswerAbandoned):
            asked.complete(ASKED, max_tokens=50)
    assert len(server.requests) == 1
