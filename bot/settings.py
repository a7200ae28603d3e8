"""Every setting of Manuel: those of ingest, and the bot's own."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from ingest import IngestSettings


class BotSettings(IngestSettings):
    """What it takes to answer, at the command line and in Slack."""

    answer_model: str = Field(
        "", description="Chat model of the OpenAI-compatible endpoint; empty: extractive answers."
    )
    answer_timeout_s: float = Field(
        30.0, gt=0, description="Seconds the model has before quotes of the handbook take over."
    )
    answer_max_tokens: int = Field(
        1_500, ge=100, description="Tokens of one reply of the model, its thinking included."
    )
    model_daily_tokens: int = Field(
        0,
        ge=0,
        description="Tokens the model may cost in a day of TIMEZONE; past them answers are quoted"
        " until the next day. 0: no limit.",
    )
    translate_quotes: bool = Field(
        True,
        description="Whether ANSWER_MODEL translates quotes in another language than the question,"
        " beside them and marked as its own: one more request for such an answer.",
    )
    answer_max_words: int = Field(100, ge=20, le=400, description="Length of an answer, in words.")
    reader_model: str = Field(
        "",
        description="Cross-encoder or NLI model, by name or path, that reads each quoted passage"
        " beside the question and takes part in deciding whether to answer (extra"
        " `sentence-transformers`); run `manuel calibrate` after choosing one. Empty: none.",
    )
    reranker_model: str = Field(
        "",
        description="Cross-encoder, by name or path, that reads the best passages beside the"
        " question and reorders them (extra `sentence-transformers`); run `manuel calibrate` after"
        " choosing one. Empty: none.",
    )
    fusion: str = Field(
        "score",
        pattern="^(score|rrf)$",
        description="How keyword and vector rankings are merged: `score` or `rrf` (k = 60).",
    )
    slack_bot_token: SecretStr | None = Field(None, description="xoxb-… of the installed app.")
    slack_app_token: SecretStr | None = Field(
        None, description="xapp-… with connections:write, for Socket Mode."
    )
    slack_mode: Literal["socket", "http"] = Field(
        "socket",
        description="How Slack reaches the app: `socket` (a connection that the app opens) or"
        " `http` (requests to a public address).",
    )
    slack_signing_secret: SecretStr | None = Field(
        None, description="Proves that requests come from Slack, in HTTP mode."
    )
    http_host: str = Field(
        "127.0.0.1",
        description="Address to listen on for Slack's requests and /healthz.",
    )
    http_port: int | None = Field(
        None,
        ge=0,
        le=65_535,
        description="Port to listen on; default: 3000 in HTTP mode, none in Socket Mode.",
    )
    metrics_address: str = Field(
        "",
        pattern=r"^$|^(\[[0-9A-Fa-f:]+\]|[^:\s]+):[0-9]{1,5}$",
        description="Address and port that serve /metrics, apart from what Slack reaches, such as"
        " 127.0.0.1:9464; empty: nowhere.",
    )
    slack_client_id: str = Field(
        "",
        description="Id of the app, where workspaces install it by themselves: HTTP mode, instead"
        " of SLACK_BOT_TOKEN.",
    )
    slack_client_secret: SecretStr | None = Field(None, description="Goes with SLACK_CLIENT_ID.")
    allowed_workspaces: str = Field(
        "",
        description="Ids (T…) of the workspaces that may install the app and read the handbook,"
        " separated by commas; goes with SLACK_CLIENT_ID.",
    )
    token_encryption_keys: SecretStr | None = Field(
        None,
        description="Fernet keys, separated by commas: the first encrypts the tokens of workspaces,"
        " each decrypts; goes with SLACK_CLIENT_ID.",
    )
    public_url: str = Field(
        "",
        description="Where browsers reach Manuel, https://…, to install the app; goes with"
        " SLACK_CLIENT_ID.",
    )
    slack_api_url: str = Field(
        "https://slack.com/api/", description="Slack's Web API; the stand-in has its own."
    )
    slack_recording: Path | None = Field(
        None,
        description="File that gets what Slack sends and answers, without words, names and tokens,"
        " to compare the stand-in with; empty: nothing is recorded.",
    )
    admin_users: str = Field("", description="Slack user ids of admins, separated by commas.")
    admin_user_groups: str = Field(
        "", description="Ids of Slack user groups whose members are admins, separated by commas."
    )
    owners_channel: str = Field(
        "",
        pattern="^([CG][A-Z0-9]+)?$",
        description="Id of the Slack channel to which questions that the handbook does not answer"
        " can be passed on, C…; the app must be invited there. Empty: no such button.",
    )
    stale_after_days: int = Field(
        0,
        ge=0,
        description="Days after its last change from which a page is said to be old; 0: never.",
    )
    allow_guests: bool = Field(
        False, description="Whether guests of the Slack workspace are answered."
    )
    allow_shared_channels: bool = Field(
        False,
        description="Whether people of other companies are answered, and questions in channels"
        " shared with them.",
    )
    stream_answers: bool = Field(
        True,
        description="Whether an answer that ANSWER_MODEL writes appears in Slack sentence by"
        " sentence, each checked, where the workspace allows it.",
    )
    answer_workers: int = Field(2, ge=1, le=64, description="Questions answered at the same time.")
    job_lease_s: float = Field(
        30.0,
        ge=1.0,
        description="Seconds after which the questions of a process that died are taken over.",
    )
    question_log_days: int = Field(
        90,
        ge=0,
        description="Days the words of questions are kept, for follow-ups and for reading feedback;"
        " 0: ids and counts only.",
    )

    freshness_days: int = Field(
        30,
        ge=0,
        description="Days for which answers are compared with the handbook after each sync, and"
        " listed to admins when what they quote is gone; 0: never.",
    )

    @property
    def ranking_models(self) -> str:
        """Name what ranks passages: a threshold calibrated with other models means nothing."""
        return " ".join(filter(None, (self.embedding_model, self.reranker_model)))

    @property
    def admin_user_ids(self) -> frozenset[str]:
        """Return `ADMIN_USERS` as ids."""
        return frozenset(_parts(self.admin_users))

    @property
    def admin_group_ids(self) -> frozenset[str]:
        """Return `ADMIN_USER_GROUPS` as ids."""
        return frozenset(_parts(self.admin_user_groups))

    @property
    def workspace_ids(self) -> frozenset[str]:
        """Return `ALLOWED_WORKSPACES` as ids."""
        return frozenset(_parts(self.allowed_workspaces))

    @property
    def encryption_keys(self) -> list[str]:
        """Return `TOKEN_ENCRYPTION_KEYS`, the first first."""
        keys = self.token_encryption_keys
        return _parts(keys.get_secret_value()) if keys else []


def _parts(listed: str) -> list[str]:
    return [part.strip() for part in listed.split(",") if part.strip()]
