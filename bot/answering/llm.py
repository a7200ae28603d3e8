"""The generator with a model: any OpenAI-compatible chat endpoint. Alone imports openai."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from typing import Any, Literal, cast

import openai
from openai.types.chat import ChatCompletion

from bot.answering.packing import Evidence, PackingLimits, pack_context
from bot.answering.prompt import REPLY_SCHEMA, build_messages, correction
from bot.answering.replies import Reply, UnusableReply, parse_reply
from bot.errors import AnswerUnavailable
from bot.records import Draft, DraftClaim, Passage
from bot.retrieval.query import Query
from bot.settings import BotSettings
from ingest import ConfigurationError

logger = logging.getLogger(__name__)

ReplyFormat = Literal["json_schema", "json_object", "text"]
_FORMATS: tuple[ReplyFormat, ...] = ("json_schema", "json_object", "text")

MODEL_CONFIDENCE = 0.8
"""What a model's claims start from before the gate: models do not report a usable figure."""


class ModelGenerator:
    """Drafts with a chat model. Safe to share between threads.

    What the endpoint supports (a JSON schema, JSON mode, neither; a seed) is found by trying and
    remembered. Ids of the evidence are random for each request, so that no page can name one.
    """

    def __init__(
        self,
        client: openai.OpenAI,
        model: str,
        *,
        max_tokens: int = 800,
        attempts: int = 2,
        limits: PackingLimits | None = None,
    ) -> None:
        """Wire a generator.

        Args:
            client: Holds the endpoint, the key, the time-out and the retries on 408/409/429/5xx.
            model: Name the endpoint knows.
            max_tokens: Of one reply, thinking included.
            attempts: Replies asked for before an unusable one is an outage, at least 1.
            limits: How much the model reads.
        """
        self._client = client
        self._model = model
        self._max_tokens = max_tokens
        self._attempts = attempts
        self._limits = limits or PackingLimits()
        self._format: ReplyFormat = _FORMATS[0]

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model

    def draft(self, query: Query, passages: Sequence[Passage]) -> Draft:
        """Ask the model for claims; see `Generator.draft`."""
        if not passages:
            return Draft((), query.language, confidence=0.0)
        ids = [f"p{secrets.token_hex(4)}" for _ in range(self._limits.max_passages)]
        evidence = pack_context(passages, evidence_ids=ids, limits=self._limits)
        reply = self._reply(build_messages(query.question, query.text, evidence))
        claims = _draft_claims(reply, evidence)
        language = reply.language if reply.language in ("fr", "en") else query.language
        return Draft(claims, language, confidence=MODEL_CONFIDENCE if claims else 0.0)

    def _reply(self, messages: list[dict[str, str]]) -> Reply:
        problem = ""
        for _ in range(self._attempts):
            text = self._complete(messages if not problem else [*messages, correction(problem)])
            try:
                return parse_reply(text)
            except UnusableReply as verdict:
                problem = str(verdict)
                logger.info("unusable reply", extra={"model": self._model, "reason": problem})
        raise AnswerUnavailable(f"the model {self._model} gave no usable reply: {problem}")

    def _complete(self, messages: list[dict[str, str]]) -> str:
        while True:
            try:
                completion = self._request(messages)
            except openai.BadRequestError as error:
                if not self._relax():
                    raise AnswerUnavailable(_words(self._model, error)) from error
            except openai.OpenAIError as error:
                raise AnswerUnavailable(_words(self._model, error)) from error
            except ValueError as error:  # the client lets a body that is not JSON through as this
                raise AnswerUnavailable(
                    f"the endpoint of the model {self._model} did not answer in JSON:"
                    " check OPENAI_BASE_URL"
                ) from error
            else:
                return _text(completion, self._model)

    def _request(self, messages: list[dict[str, str]]) -> ChatCompletion:
        options: dict[str, Any] = {}
        if self._format == "json_schema":
            schema = {"name": "answer", "strict": True, "schema": REPLY_SCHEMA}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self._format == "json_object":
            options["response_format"] = {"type": "json_object"}
        completion = self._client.chat.completions.create(
            model=self._model,
            messages=cast(Any, messages),
            temperature=0,
            max_tokens=self._max_tokens,
            **options,
        )
        return cast(ChatCompletion, completion)

    def _relax(self) -> bool:
        """Ask for less structure from now on; False when there is nothing less to ask for."""
        position = _FORMATS.index(self._format)
        if position + 1 == len(_FORMATS):
            return False
        self._format = _FORMATS[position + 1]
        logger.info("endpoint refused the reply format", extra={"next": self._format})
        return True


def open_model_generator(settings: BotSettings) -> ModelGenerator | None:
    """Wire the model of the settings; None when ANSWER_MODEL is empty."""
    if not settings.answer_model:
        return None
    return ModelGenerator(
        _client(settings), settings.answer_model, max_tokens=settings.answer_max_tokens
    )


def check_endpoint(settings: BotSettings) -> str:
    """Ask the endpoint for one token, and return what to tell an operator.

    Raises:
        AnswerUnavailable: If it does not answer, naming what to look at.
    """
    try:
        _client(settings).chat.completions.create(
            model=settings.answer_model,
            messages=[{"role": "user", "content": "ok"}],
            max_tokens=1,
        )
    except openai.OpenAIError as error:
        raise AnswerUnavailable(_words(settings.answer_model, error)) from error
    return f"{settings.answer_model} answers"


def _client(settings: BotSettings) -> openai.OpenAI:
    key = settings.openai_api_key
    if key is None and settings.openai_base_url is None:
        raise ConfigurationError(
            "ANSWER_MODEL is set, but neither OPENAI_API_KEY nor OPENAI_BASE_URL"
        )
    return openai.OpenAI(
        api_key=key.get_secret_value() if key else "none",
        base_url=settings.openai_base_url,
        timeout=settings.answer_timeout_s,
        max_retries=2,
    )


def _draft_claims(reply: Reply, evidence: Sequence[Evidence]) -> tuple[DraftClaim, ...]:
    """Resolve evidence ids; an id that was never handed out stays, and the gate refuses it."""
    chunks = {item.evidence_id: item.passage.chunk.chunk_id for item in evidence}
    return tuple(
        DraftClaim(
            sentence=claim.sentence,
            chunk_id=chunks.get(claim.passage_id, f"unknown evidence {claim.passage_id}"),
            quote=claim.quote,
        )
        for claim in reply.claims
    )


def _text(completion: ChatCompletion, model: str) -> str:
    """Return the reply's text, wherever the server put it; "" when there is none."""
    if not completion.choices:
        return ""
    message = completion.choices[0].message
    if message.refusal:
        raise AnswerUnavailable(f"the model {model} refused to answer")
    if message.content:
        return message.content
    calls = message.tool_calls or []
    return next((call.function.arguments for call in calls if call.type == "function"), "")


def _words(model: str, error: openai.OpenAIError) -> str:
    """Say what went wrong, without the server's own text: it may hold the key or the question."""
    if isinstance(error, openai.APITimeoutError):
        return f"the model {model} did not answer in time"
    if isinstance(error, openai.APIConnectionError):
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
