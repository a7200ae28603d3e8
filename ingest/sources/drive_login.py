"""Signs in to Google with a service account: the only importer of google-auth."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from ingest.errors import ConfigurationError

SCOPE: Final = "https://www.googleapis.com/auth/drive.readonly"
_GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_LIFETIME_S: Final = 3_600
"""The longest that Google takes. Source: developers.google.com/identity/protocols/oauth2."""


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """The key of a service account.

    Attributes:
        address: Its e-mail address.
        token_address: Where it is given tokens.
        form: Returns what is sent there, signed anew each time.
    """

    address: str
    token_address: str
    form: Callable[[], Mapping[str, str]]


def open_service_account(key: SecretStr, subject: str | None = None) -> ServiceAccount:
    """Read the key of a service account.

    Args:
        key: Its JSON, or the path of the file that Google gave.
        subject: Address of the person on whose behalf it reads, with delegation in the domain.

    Raises:
        ConfigurationError: If google-auth is not installed, or this is no such key.
    """
    try:
        from google.auth import crypt, jwt
    except ImportError as error:
        raise ConfigurationError(
            "Google Drive with a service account needs google-auth:"
            " pip install 'manuel[google-drive]'"
        ) from error
    told = _read(key.get_secret_value())
    try:
        address, token_address = str(told["client_email"]), str(told["token_uri"])
        signer = crypt.RSASigner.from_service_account_info(told)  # type: ignore[no-untyped-call]  # google-auth is half typed
    except (KeyError, TypeError, ValueError):
        raise ConfigurationError(_NO_KEY) from None  # the error may quote the key

    def form() -> Mapping[str, str]:
        now = int(time.time())
        claims = {
            "iss": address,
            "scope": SCOPE,
            "aud": token_address,
            "iat": now,
            "exp": now + _LIFETIME_S,
            **({"sub": subject} if subject else {}),
        }
        assertion: bytes = jwt.encode(signer, claims)  # type: ignore[no-untyped-call]  # likewise
        return {"grant_type": _GRANT, "assertion": assertion.decode("ascii")}

    return ServiceAccount(address, token_address, form)


_NO_KEY: Final = "this is no key of a Google service account (JSON, or the path of its file)"


def _read(key: str) -> dict[str, object]:
    try:
        text = key if key.lstrip().startswith("{") else Path(key).read_text(encoding="utf-8")
        told = json.loads(text)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not JSON"
        raise ConfigurationError(f"{_NO_KEY}: {why}") from None
    if not isinstance(told, dict):
        raise ConfigurationError(_NO_KEY)
    return told
