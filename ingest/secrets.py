"""Reads the secrets that handbook.toml names but never holds."""

from __future__ import annotations

import os

from dotenv import dotenv_values
from pydantic import SecretStr

from ingest.errors import ConfigurationError

ENV_FILE = ".env"


def read_secret(variable: str, *, needed_by: str) -> SecretStr:
    """Return the value of an environment variable, or of its line in `.env`.

    Args:
        variable: Its name.
        needed_by: What the error says needs it.

    Raises:
        ConfigurationError: If it is not set, or empty.
    """
    value = os.environ.get(variable)
    if value is None:
        value = dotenv_values(ENV_FILE).get(variable)
    if not value or not value.strip():
        raise ConfigurationError(
            f"{needed_by} needs the environment variable {variable}, which is not set"
        )
    return SecretStr(value.strip())
