"""Gets OAuth 2.0 access tokens, and others when they expire."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Final

from ingest.errors import SourceUnavailableError
from ingest.sources.web_client import WebClient
from ingest.sources.web_json import error_code, json_object

_EARLY_S: Final = 60.0
"""A token is not used so shortly before it expires."""
_MICROSOFT_CODE: Final = re.compile(rb"AADSTS\d+")
"""Says more than the code of RFC 6749. Source: Microsoft Entra, "AADSTS error codes"."""


class OAuthLogin:
    """An access token, asked for when it is first needed and again when it expires or is refused.

    Args:
        client: Asks the host of the token's address.
        address: Where tokens are given.
        form: Returns what proves who we are; called for each token.
        login: What a person must look at when we are refused: names the settings.
    """

    def __init__(
        self,
        client: WebClient,
        address: str,
        form: Callable[[], Mapping[str, str]],
        *,
        login: str,
    ) -> None:
        self._client = client
        self._address = address
        self._form = form
        self._login = login
        self._header: str | None = None
        self._until = 0.0  # on the monotonic clock: the other may be set back

    def header(self) -> str:
        """Return the value of the Authorization header.

        Raises:
            SourceUnavailableError: If no token is given.
        """
        if self._header is None or time.monotonic() >= self._until:
            self._header = self._asked()
        return self._header

    def renew(self) -> None:
        """Forget the token: it was refused."""
        self._header = None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _asked(self) -> str:
        asked_at = time.monotonic()
        reply = self._client.post(self._address, self._form())
        if reply.status in (400, 401, 403):
            told = _MICROSOFT_CODE.search(reply.content)
            code = f"{error_code(reply)} {told[0].decode() if told else ''}".strip()
            raise SourceUnavailableError(
                f"{self._address} gives no token ({code or reply.status}): {self._login}"
            )
        if reply.status != 200:
            raise SourceUnavailableError(f"{self._address} answers {reply.status}")
        found = json_object(reply)
        token, lifetime_s = found.get("access_token"), found.get("expires_in")
        if not isinstance(token, str) or not isinstance(lifetime_s, (int, float)):
            raise SourceUnavailableError(f"{self._address} sends no access token")
        self._until = asked_at + lifetime_s - _EARLY_S
        return f"Bearer {token}"
