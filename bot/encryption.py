"""Encrypts what is secret before it is stored."""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from bot.errors import VaultError
from ingest import ConfigurationError

HOW_TO_MAKE_A_KEY = (
    'python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"'
)


class TokenVault:
    """Seals and opens secrets (AES-128-CBC with HMAC-SHA256, see cryptography's Fernet).

    Args:
        keys: The first seals; each of them opens, so that an old key can stay for a while.

    Raises:
        ConfigurationError: If there is no key, or one is not a Fernet key.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        wrong = f"TOKEN_ENCRYPTION_KEYS is missing or wrong; make a key with: {HOW_TO_MAKE_A_KEY}"
        if not keys:
            raise ConfigurationError(wrong)
        try:
            self._fernet = MultiFernet([Fernet(key) for key in keys])
        except ValueError as error:
            raise ConfigurationError(wrong) from error

    def seal(self, secret: str) -> str:
        """Return what may be stored."""
        return self._fernet.encrypt(secret.encode()).decode()

    def open(self, sealed: str) -> str:
        """Return the secret.

        Raises:
            VaultError: If none of the keys sealed it, or it was changed.
        """
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken as error:
            raise VaultError(
                "a stored token cannot be opened: a key is missing from TOKEN_ENCRYPTION_KEYS"
            ) from error
