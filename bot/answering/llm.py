"""The generator with a model: any OpenAI-compatible chat endpoint.

Alone imports openai, and the HTTP client that openai brings.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

import httpx2
import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessage
from openai.types.chat.chat_completion_chunk import ChoiceDelta

from bot.answering.abandoning import Abandonment, abandonable
from bot.answering.breaker import CircuitBreaker, Incidents
from bot.answering.chat import Completion
from bot.answering.dialect import Dialect
from bot.answering.packing import CHARS_PER_TOKEN, PackingLimits, pack_context
from bot.answering.prompt import REPLY_SCHEMA, build_messages, correction, objections
from bot.answering.replies import ClaimReader, Reply, ReplyClaim, UnusableReply, parse_reply
from bot.answering.usage import RunMeter, TokenMeter, TokenUsage
from bot.errors import AnswerUnavailable
from bot.grounding.verifier import RejectedClaim
from bot.records import Draft, DraftClaim, Passage
from bot.retrieval.query import Query
from bot.settings import BotSettings
from ingest import ConfigurationError

logger = logging.getLogger(__name__)

MODEL_CONFIDENCE = 0.8
"""What a model's claims start from before the gate: models do not report a usable figure."""

_TRUNCATED = "it was cut off before its end; be brief, with at most two claims"


_RETRIED = frozenset((408, 409, 429))
"""Refusals that say to try again, besides 5xx."""
_FIRST_PAUSE_S = 0.5
"""Before the first further attempt; each next one doubles it. Source: the openai package."""
_LEAST_CHARS_PER_TOKEN = 1.0
"""An endpoint that counts more than a token a character counts something else besides."""
_LEAST_S = 0.001
"""Of a time-out: none at all would mean no limit."""
CONNECT_S = 5.0
"""To reach an endpoint: until then a request cannot be broken off. Source: the openai package."""


_LASTING = (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError)
"""Failures that do not mend themselves: a wrong key, a wrong name."""


class ChatEndpoint:
    """Asks one model of one endpoint. Safe to share between threads.

    What the endpoint accepts (a JSON schema, JSON mode, a temperature, a seed, the name of the
    token limit) is found by trying, and remembered for every later request.
    """

    def __init__(
        self,
        client: openai.OpenAI,
        model: str,
        *,
        breaker: CircuitBreaker | None = None,
        meter: TokenMeter | None = None,
    ) -> None:
        """Wire an endpoint.

        Args:
            client: Holds the address, the key, the time a reply has and the further attempts on
                408/409/429/5xx. Unlike there, the time is for all attempts together.
            model: Name the endpoint knows.
            breaker: Keeps questions from waiting for an endpoint that is down.
            meter: Counts tokens, and may refuse to spend more.
        """
        self._client = client.with_options(max_retries=0)
        self._retries = client.max_retries
        self._timeout_s = _seconds(client.timeout)
        self.model = model
        self._breaker = breaker or CircuitBreaker()
        self._meter = meter or RunMeter()
        self._dialect = Dialect()
        self._chars_per_token = CHARS_PER_TOKEN
        self._lock = threading.Lock()
        self._running: set[Abandonment] = set()
        self._is_closed = False

    @property
    def chars_per_token(self) -> float:
        """Return how many characters the model's own tokenizer puts in a token.

        It is what the endpoint told of the last request, and the safe estimate before that and
        where it tells more than that.
        """
        return self._chars_per_token

    def complete(
        self,
        messages: Sequence[dict[str, str]],
        *,
        max_tokens: int,
        schema: dict[str, object] | None = None,
        on_text: Callable[[str], None] | None = None,
        timeout_s: float | None = None,
    ) -> Completion:
        """Ask for one reply; see `Chat.complete`."""
        with self._until_closed() as abandonment:
            return self._complete(messages, max_tokens, schema, on_text, timeout_s, abandonment)

    def close(self) -> None:
        """Give up what is being asked, and ask nothing more."""
        with self._lock:
            self._is_closed = True
            running = tuple(self._running)
        for abandonment in running:
            abandonment.abandon()

    @contextmanager
    def _until_closed(self) -> Iterator[Abandonment]:
        with abandonable() as abandonment:
            with self._lock:
                self._running.add(abandonment)
                is_closed = self._is_closed
            try:
                if is_closed:
                    abandonment.abandon()
                abandonment.check()
                yield abandonment
            finally:
                with self._lock:
                    self._running.discard(abandonment)

    def _complete(
        self,
        messages: Sequence[dict[str, str]],
        max_tokens: int,
        schema: dict[str, object] | None,
        on_text: Callable[[str], None] | None,
        timeout_s: float | None,
        abandonment: Abandonment,
    ) -> Completion:
        refusal = self._meter.refusal() or self._breaker.refusal()
        if refusal is not None:
            raise AnswerUnavailable(refusal)
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        try:
            with _broken_off(abandonment):
                completion = self._create(
                    messages,
                    max_tokens=max_tokens,
                    schema=schema,
                    on_text=on_text,
                    deadline=_Deadline(limit_s, abandonment),
                )
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            reason = _words(self.model, error)
            if isinstance(error, (openai.BadRequestError, openai.UnprocessableEntityError)):
                self._breaker.gave_up()  # it is up, and refuses this request
            else:
                self._breaker.failed(reason, lasting=isinstance(error, _LASTING))
            raise AnswerUnavailable(reason) from error
        except ValueError as error:  # the client lets a body that is not JSON through as this
            reason = (
                f"the endpoint of the model {self.model} did not answer in JSON:"
                " check OPENAI_BASE_URL"
            )
            self._breaker.failed(reason, lasting=True)
            raise AnswerUnavailable(reason) from error
        except BaseException:
            self._breaker.gave_up()
            raise
        self._breaker.worked()
        usage = _usage(completion, messages)
        self._meter.count(usage)
        measured = _chars_read(messages) / max(1, usage.prompt)
        self._chars_per_token = min(CHARS_PER_TOKEN, max(_LEAST_CHARS_PER_TOKEN, measured))
        return _completion(completion, self.model)

    def _create(
        self,
        messages: Sequence[dict[str, str]],
        *,
        max_tokens: int,
        schema: dict[str, object] | None,
        on_text: Callable[[str], None] | None,
        deadline: _Deadline,
    ) -> ChatCompletion:
        """Ask in the plainest words that the endpoint has wanted so far, and learn."""
        in_pieces = on_text is not None
        while True:
            dialect = self._dialect
            options = dialect.options(max_tokens=max_tokens, schema=schema, in_pieces=in_pieces)
            try:
                reply = self._request(messages, options, deadline)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._learn(dialect, error, in_pieces=in_pieces):
                    raise
                continue
            if on_text is None or not isinstance(reply, openai.Stream):
                if not isinstance(reply, ChatCompletion):  # the client hands other text through
                    raise ValueError("the reply is no JSON object")
                return reply
            with reply:
                if "text/event-stream" in reply.response.headers.get("content-type", ""):
                    return self._listen(reply, on_text, deadline)
            self._speak(dialect, replace(dialect, stream=False))  # it answers in one piece

    def _request(
        self, messages: Sequence[dict[str, str]], options: Mapping[str, Any], deadline: _Deadline
    ) -> ChatCompletion | openai.Stream[ChatCompletionChunk]:
        """Ask, and ask again while a failure may pass and there is time."""
        further, pause_s = self._retries, _FIRST_PAUSE_S
        while True:
            try:
                reply: ChatCompletion | openai.Stream[ChatCompletionChunk]
                reply = self._client.chat.completions.create(
                    model=self.model,
                    messages=cast(Any, messages),
                    timeout=httpx2.Timeout(
                        max(_LEAST_S, deadline.left_s()),
                        connect=min(CONNECT_S, max(_LEAST_S, deadline.left_s())),
                    ),
                    **options,
                )
                return reply
            except (openai.APIConnectionError, openai.APIStatusError) as error:
                asked_s = _asked_pause_s(error)
                wait_s = pause_s if asked_s is None else asked_s
                if not further or not _may_pass(error) or wait_s >= deadline.left_s():
                    raise
                further, pause_s = further - 1, 2 * pause_s
                deadline.pause(wait_s)

    def _listen(
        self,
        stream: openai.Stream[ChatCompletionChunk],
        on_text: Callable[[str], None],
        deadline: _Deadline,
    ) -> ChatCompletion:
        """Hear a reply to its end, and return it in one piece."""
        heard = _Heard()
        for piece in heard.pieces(stream):
            on_text(piece)
            if deadline.left_s() <= 0:  # the client's own time-out is for each piece
                raise openai.APITimeoutError(request=stream.response.request)
        return heard.completion()

    def _learn(self, refused: Dialect, error: openai.APIStatusError, *, in_pieces: bool) -> bool:
        """Speak more plainly from now on; False when there is nothing less to ask for."""
        plainer = refused.after_refusal(_refusal(error), in_pieces=in_pieces)
        return self._speak(refused, plainer)

    def _speak(self, refused: Dialect, plainer: Dialect | None) -> bool:
        with self._lock:
            if self._dialect != refused:
                return True  # another thread has learned something meanwhile: try that
            if plainer is None:
                return False
            self._dialect = plainer
        logger.info("the endpoint refused a parameter", extra={"now": repr(plainer)})
        return True


@contextmanager
def _broken_off(abandonment: Abandonment) -> Iterator[None]:
    """Take what ends because we broke it off for that, and not for a failure of the model."""
    try:
        yield
    except (openai.OpenAIError, httpx2.HTTPError, ValueError):
        abandonment.check()
        raise
    abandonment.check()  # a reply may end without being whole


class _Deadline:
    """When a reply must be there, attempts and pauses together."""

    def __init__(self, limit_s: float, abandonment: Abandonment) -> None:
        self._at = time.monotonic() + limit_s
        self._abandonment = abandonment

    def pause(self, seconds: float) -> None:
        """Wait, at most until the reply is given up."""
        self._abandonment.pause(seconds)

    def left_s(self) -> float:
        return self._at - time.monotonic()


class _AloudReader:
    """Tells the claims of a reply as it is written.

    Once something was told of a reply that could not be used, the next one is not told of: it may
    say it otherwise.
    """

    def __init__(self, on_claim: Callable[[ReplyClaim], None] | None) -> None:
        self._on_claim = on_claim
        self._told = False

    def begin(self) -> Callable[[str], None] | None:
        """Return what gets the pieces of the next reply; None: nobody listens."""
        on_claim = self._on_claim
        if on_claim is None or self._told:
            return None
        reader = ClaimReader()

        def read(text: str) -> None:
            for claim in reader.feed(text):
                self._told = True
                on_claim(claim)

        return read


class _Heard:
    """Puts a reply together from its pieces."""

    def __init__(self) -> None:
        self._content: list[str] = []
        self._refusal: list[str] = []
        self._call: list[str] = []
        self._finish_reason: str | None = None
        self._usage: CompletionUsage | None = None

    def pieces(self, chunks: Iterable[ChatCompletionChunk]) -> Iterator[str]:
        """Yield for each chunk the text it adds to the reply, which may be none."""
        for chunk in chunks:
            self._usage = chunk.usage or self._usage
            text = ""
            for choice in (chunk.choices or ())[:1]:
                self._finish_reason = choice.finish_reason or self._finish_reason
                if choice.delta is not None:
                    text = _text_of(choice.delta.content)
                    self._refusal.append(choice.delta.refusal or "")
                    self._call += _arguments(choice.delta)
            self._content.append(text)
            yield text

    def completion(self) -> ChatCompletion:
        """Return it as if it had come in one piece."""
        call = {"type": "function", "function": {"name": "", "arguments": "".join(self._call)}}
        message = {
            "role": "assistant",
            "content": "".join(self._content),
            "refusal": "".join(self._refusal) or None,
            "tool_calls": [call] if self._call else None,
        }
        choice = {"index": 0, "finish_reason": self._finish_reason, "message": message}
        return ChatCompletion.construct(choices=[choice], usage=self._usage)


class ModelGenerator:
    """Drafts with a chat model. Safe to share between threads.

    Ids of the evidence are random for each request, so that no page can name one.
    """

    def __init__(
        self,
        client: openai.OpenAI,
        model: str,
        *,
        max_tokens: int = 800,
        attempts: int = 2,
        limits: PackingLimits | None = None,
        breaker: CircuitBreaker | None = None,
        meter: TokenMeter | None = None,
    ) -> None:
        """Wire a generator.

        Args:
            client: Holds the endpoint, the key, the time-out and the retries on 408/409/429/5xx.
            model: Name the endpoint knows.
            max_tokens: Of one reply, thinking included; a reply cut off is asked for again with
                twice as many.
            attempts: Replies asked for before an unusable one is an outage, at least 1.
            limits: How much the model reads.
            breaker: See `ChatEndpoint`.
            meter: See `ChatEndpoint`.
        """
        self._endpoint = ChatEndpoint(client, model, breaker=breaker, meter=meter)
        self._max_tokens = max_tokens
        self._attempts = attempts
        self._limits = limits or PackingLimits()

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._endpoint.model

    @property
    def endpoint(self) -> ChatEndpoint:
        """Return what it asks: other requests to the model share its breaker and its budget."""
        return self._endpoint

    def draft(self, query: Query, passages: Sequence[Passage]) -> Draft:
        """Ask the model for claims; see `Generator.draft`."""
        return self._draft(query, passages, ())

    def redraft(
        self, query: Query, passages: Sequence[Passage], rejected: Sequence[RejectedClaim]
    ) -> Draft:
        """Ask the model again, telling why its claims were refused; see `Writer.redraft`."""
        return self._draft(query, passages, rejected)

    def draft_aloud(
        self,
        query: Query,
        passages: Sequence[Passage],
        on_claim: Callable[[DraftClaim], None],
        *,
        rejected: Sequence[RejectedClaim] = (),
    ) -> Draft:
        """Ask the model and tell its claims as it writes them; see `AudibleWriter.draft_aloud`."""
        return self._draft(query, passages, rejected, on_claim)

    def _draft(
        self,
        query: Query,
        passages: Sequence[Passage],
        rejected: Sequence[RejectedClaim],
        on_claim: Callable[[DraftClaim], None] | None = None,
    ) -> Draft:
        if not passages:
            return Draft((), query.language, confidence=0.0)
        ids = [f"p{secrets.token_hex(4)}" for _ in range(self._limits.max_passages)]
        evidence = pack_context(
            passages,
            evidence_ids=ids,
            limits=self._limits,
            chars_per_token=self._endpoint.chars_per_token,
        )
        messages = build_messages(query.question, query.text, evidence)
        if rejected:
            messages.append(objections([(r.claim.sentence, r.reason) for r in rejected]))
        chunk_ids = {item.evidence_id: item.passage.chunk.chunk_id for item in evidence}

        def tell(claim: ReplyClaim) -> None:
            if on_claim is not None:
                on_claim(_draft_claim(claim, chunk_ids))

        reply = self._reply(messages, tell if on_claim is not None else None)
        claims = tuple(_draft_claim(claim, chunk_ids) for claim in reply.claims)
        language = reply.language if reply.language in ("fr", "en") else query.language
        return Draft(claims, language, confidence=MODEL_CONFIDENCE if claims else 0.0)

    def _reply(
        self, messages: list[dict[str, str]], on_claim: Callable[[ReplyClaim], None] | None
    ) -> Reply:
        problem, max_tokens, reader = "", self._max_tokens, _AloudReader(on_claim)
        for _ in range(self._attempts):
            asked = [*messages, correction(problem)] if problem else messages
            completion = self._endpoint.complete(
                asked, max_tokens=max_tokens, schema=REPLY_SCHEMA, on_text=reader.begin()
            )
            try:
                return parse_reply(completion.text)
            except UnusableReply as verdict:
                problem = _TRUNCATED if completion.truncated else str(verdict)
                max_tokens = 2 * self._max_tokens if completion.truncated else self._max_tokens
                logger.info("unusable reply", extra={"model": self.name, "reason": problem})
        raise AnswerUnavailable(f"the model {self.name} gave no usable reply: {problem}")


def open_model_generator(
    settings: BotSettings,
    *,
    meter: TokenMeter | None = None,
    incidents: Incidents | None = None,
) -> ModelGenerator:
    """Wire the model of the settings.

    Args:
        settings: Of everything, with ANSWER_MODEL.
        meter: Counts what the model costs.
        incidents: Told when the model goes down, and when it is back.

    Raises:
        ConfigurationError: If there is a model, but neither a key nor an address to ask it at.
    """
    return ModelGenerator(
        _client(settings),
        settings.answer_model,
        max_tokens=settings.answer_max_tokens,
        breaker=CircuitBreaker(incidents),
        meter=meter,
    )


def check_endpoint(settings: BotSettings) -> str:
    """Ask the endpoint for a word, and return what to tell an operator.

    Raises:
        AnswerUnavailable: If it does not answer, naming what to look at.
        ConfigurationError: As `open_model_generator`.
    """
    endpoint = ChatEndpoint(_client(settings), settings.answer_model)
    message = {"role": "user", "content": "Reply with the word ok."}
    # Reasoning models refuse a limit that leaves no room to think.
    endpoint.complete([message], max_tokens=settings.answer_max_tokens)
    return f"{settings.answer_model} answers"


def _client(settings: BotSettings) -> openai.OpenAI:
    key = settings.openai_api_key
    if key is None and settings.openai_base_url is None:
        raise ConfigurationError(
            "ANSWER_MODEL is set, but neither OPENAI_API_KEY nor OPENAI_BASE_URL"
        )
    secret = key.get_secret_value() if key else "none"
    url = urlsplit(settings.openai_base_url or "")
    query = dict(parse_qsl(url.query))  # Azure's ?api-version=…, which goes with every request
    return openai.OpenAI(
        api_key=secret,
        base_url=url._replace(query="").geturl() or None,
        default_query=query or None,
        # Azure knows a key by this name where the version of its interface is told.
        default_headers={"api-key": secret} if "api-version" in query else None,
        timeout=settings.answer_timeout_s,
        max_retries=2,
        http_client=_http_client(settings.answer_timeout_s),
    )


def _http_client(timeout_s: float) -> httpx2.Client:
    """Return what makes requests that can be broken off.

    Each has a connection of its own: which one a request takes is told when it is opened. A
    redirect would take passages, and a key, to a host nobody chose.
    """
    return openai.DefaultHttpxClient(
        timeout=timeout_s,
        follow_redirects=False,
        limits=httpx2.Limits(max_keepalive_connections=0),
        event_hooks={"request": [_watched]},
    )


def _watched(request: httpx2.Request) -> None:
    with abandonable() as abandonment:
        request.extensions["trace"] = abandonment.watch


def _seconds(timeout: object) -> float:
    """Return the seconds of a client's time-out, which may also be one for each step."""
    if isinstance(timeout, (int, float)):
        return float(timeout)
    read_s = getattr(timeout, "read", None)
    return float("inf") if read_s is None else float(read_s)


def _may_pass(error: openai.OpenAIError) -> bool:
    """Tell whether the same request may work in a moment; a time-out has used up the time."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _RETRIED or error.status_code >= 500
    return not isinstance(error, openai.APITimeoutError)


def _asked_pause_s(error: openai.OpenAIError) -> float | None:
    """Return the seconds an endpoint asks to wait, None where it does not say."""
    if not isinstance(error, openai.APIStatusError):
        return None
    try:
        return float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None


def _draft_claim(claim: ReplyClaim, chunk_ids: Mapping[str, str]) -> DraftClaim:
    """Resolve the evidence id; one that was never handed out stays, and the gate refuses it."""
    return DraftClaim(
        sentence=claim.sentence,
        chunk_id=chunk_ids.get(claim.passage_id, f"unknown evidence {claim.passage_id}"),
        quote=claim.quote,
    )


def _completion(completion: ChatCompletion, model: str) -> Completion:
    """Find the text of a reply, wherever the server put it; "" when there is none."""
    if not completion.choices:
        return Completion("", truncated=False)
    choice = completion.choices[0]
    if choice.message.refusal or choice.finish_reason == "content_filter":
        raise AnswerUnavailable(f"the model {model} refused to answer")
    return Completion(_text(choice.message), truncated=choice.finish_reason == "length")


def _usage(completion: ChatCompletion, messages: Sequence[dict[str, str]]) -> TokenUsage:
    """Return the tokens of a request, estimated where the server does not tell."""
    told = completion.usage
    if told is not None:
        return TokenUsage(1, told.prompt_tokens or 0, told.completion_tokens or 0)
    written = sum(len(_text(choice.message)) for choice in completion.choices or ())
    return TokenUsage(
        1, round(_chars_read(messages) / CHARS_PER_TOKEN), round(written / CHARS_PER_TOKEN)
    )


def _chars_read(messages: Sequence[dict[str, str]]) -> int:
    return sum(len(message["content"]) for message in messages)


def _text(message: ChatCompletionMessage) -> str:
    calls = message.tool_calls or []
    if content := _text_of(message.content):
        return content
    if isinstance(message.content, list):
        return ""
    return next((call.function.arguments for call in calls if call.type == "function"), "")


def _text_of(content: object) -> str:
    if isinstance(content, list):  # parts, as some servers send thinking and text apart
        parts = (p for p in content if isinstance(p, dict) and p.get("type") == "text")
        return "".join(str(part.get("text", "")) for part in parts)
    return content if isinstance(content, str) else ""


def _arguments(delta: ChoiceDelta) -> list[str]:
    """Return what a piece adds to the first call of a tool."""
    calls = [call for call in delta.tool_calls or () if call.index == 0 and call.function]
    return [call.function.arguments or "" for call in calls if call.function]


def _refusal(error: openai.APIStatusError) -> str:
    """Return the parameter that a refusal names, or else all its text. It is never shown."""
    parameter = error.body.get("param") if isinstance(error.body, dict) else None
    return (
        parameter
        if parameter in ("temperature", "seed", "response_format", "stream", "stream_options")
        else error.response.text
    )


def _words(model: str, error: openai.OpenAIError | httpx2.HTTPError) -> str:
    """Say what went wrong, without the server's own text: it may hold the key or the question."""
    # The client lets errors of reading a refusal through as they are.
    if isinstance(error, (openai.APITimeoutError, httpx2.TimeoutException)):
        return f"the model {model} did not answer in time"
    if isinstance(error, (openai.APIConnectionError, httpx2.TransportError)):
        return f"the endpoint of the model {model} cannot be reached: check OPENAI_BASE_URL"
    if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
        return f"the endpoint of the model {model} refused the key: check OPENAI_API_KEY"
    if isinstance(error, openai.NotFoundError):
        return f"the endpoint does not know the model {model}: check ANSWER_MODEL"
    if isinstance(error, openai.RateLimitError):
        return f"the endpoint of the model {model} has no quota left for now"
    if isinstance(error, openai.APIStatusError):
        return f"the endpoint of the model {model} answered HTTP {error.status_code}"
    return f"the model {model} failed ({type(error).__name__})"
