"""Settings that ingest and the bot share, read once from the environment and `.env`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class IngestSettings(BaseSettings):
    """What it takes to build the index. Each field is the environment variable of its name."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", case_sensitive=False)

    database_url: str = Field(
        "sqlite:///data/manuel.db", description="SQLAlchemy URL of the database."
    )
    handbook_config: Path = Field(
        Path("handbook.toml"), description="Sources, synonyms and acronyms; the file may be absent."
    )
    cache_dir: Path = Field(
        Path("data/cache"),
        description="Copies of repositories, of pages of websites and Notion, and of what is in"
        " drives, so that a sync fetches what changed alone; may be deleted at any time.",
    )
    embedding_model: str = Field(
        "bundled",
        description="`bundled`, `openai:MODEL`, the name or path of a sentence-transformers model,"
        " or `none` for keyword search alone.",
    )
    embedding_query_prefix: str | None = Field(
        None, description="Put before each question; default: what the model asks for."
    )
    embedding_passage_prefix: str | None = Field(
        None, description="Put before each passage; default: what the model asks for."
    )
    embedding_batch_tokens: int = Field(
        4096, ge=512, description="Upper bound of tokens in one encoding batch; bounds the memory."
    )
    embedding_backend: Literal["torch", "onnx"] = Field(
        "torch", description="What runs a sentence-transformers model: `torch` or `onnx`."
    )
    embedding_threads: int = Field(
        0, ge=0, description="Threads of the bundled encoder; 0: one per available CPU."
    )
    openai_api_key: SecretStr | None = Field(
        None, description="Key of the OpenAI-compatible endpoint, if it wants one."
    )
    openai_base_url: str | None = Field(
        None, description="Base URL of the OpenAI-compatible endpoint; default: OpenAI's own."
    )
    max_page_bytes: int = Field(
        20_000_000, ge=1_000, description="Larger files are skipped and reported."
    )
    reindex_cron: str = Field(
        "0 5 * * *", description="When `manuel serve` syncs (crontab form); empty: never."
    )
    timezone: str = Field("Europe/Paris", description="Time zone of REINDEX_CRON.")
    log_format: str = Field("text", pattern="^(text|json)$", description="`text` or `json`.")
    log_level: str = Field("INFO", description="DEBUG, INFO, WARNING or ERROR.")

    @field_validator("*", mode="before")
    @classmethod
    def _empty_is_unset(cls, value: object, info: ValidationInfo) -> object:
        """Take `NAME=` for unset where unset means something, as shells and .env files write it."""
        name = info.field_name
        if value == "" and name is not None and cls.model_fields[name].default is None:
            return None
        return value
