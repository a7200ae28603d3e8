"""Arguments of one Web API call, from JSON, form and query string alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bot.sandbox.workspace import Json


class MethodError(Exception):
    """A method refuses a call: answered as HTTP 200 with `ok: false`.

    Attributes:
        error: Slack's word for it.
        extra: More keys of the answer (`needed`, `response_metadata`…).
    """

    def __init__(self, error: str, **extra: Any) -> None:
        super().__init__(error)
        self.error = error
        self.extra = extra


def invalid_arguments(*messages: str) -> MethodError:
    """Return the `invalid_arguments` refusal with Slack's explanations."""
    return MethodError("invalid_arguments", response_metadata={"messages": list(messages)})


class Arguments:
    """Named arguments whose values may be JSON values or the strings of a form."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)

    def __contains__(self, name: str) -> bool:
        value = self.values.get(name)
        return value is not None and value != ""

    def text(self, name: str, default: str = "") -> str:
        """Return a text; absent or null counts as `default`."""
        value = self.values.get(name)
        return default if value is None else str(value)

    def required(self, name: str, error: str) -> str:
        """Return a text that must not be empty.

        Raises:
            MethodError: With `error`, when it is.
        """
        value = self.text(name)
        if not value:
            raise MethodError(error)
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a truth value: JSON's own, or `true`, `1`, `yes` in a form."""
        value = self.values.get(name)
        if value is None or value == "":
            return default
        return value if isinstance(value, bool) else str(value).lower() in ("true", "1", "yes")

    def integer(self, name: str, default: int) -> int:
        """Return a whole number; what is none counts as `default`."""
        try:
            return int(self.values.get(name) or default)
        except (TypeError, ValueError):
            return default

    def items(self, name: str, error: str) -> list[Json] | None:
        """Return a list of objects, JSON-encoded in a form; None when absent.

        Raises:
            MethodError: With `error`, when it is something else.
        """
        value = self._decoded(name, error)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise MethodError(error)
        return value

    def mapping(self, name: str, error: str) -> Json | None:
        """Return an object, JSON-encoded in a form; None when absent.

        Raises:
            MethodError: With `error`, when it is something else.
        """
        value = self._decoded(name, error)
        if value is not None and not isinstance(value, dict):
            raise MethodError(error)
        return value

    def _decoded(self, name: str, error: str) -> Any:
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise MethodError(error) from None
