"""Says who may read a file by what Google Drive tells of its permissions. Pure.

Source of the shapes: developers.google.com/drive/api/reference/rest/v3/permissions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ingest.records import EVERYONE, Audiences

_LETS_READ: Final = frozenset(
    {"reader", "commenter", "writer", "fileOrganizer", "organizer", "owner"}
)


@dataclass(frozen=True, slots=True)
class Sharing:
    """What permissions mean to us.

    Attributes:
        domains: What is shared with these is for everyone: all their people are employees.
        group_audiences: Audience by address of a group.
    """

    domains: Collection[str] = ()
    group_audiences: Mapping[str, str] = field(default_factory=dict)

    def readers(
        self, permissions: Sequence[Mapping[str, Any]], *, limited: bool = False
    ) -> Audiences:
        """Return the audiences that permissions let read.

        Args:
            permissions: All that hold for one file or folder.
            limited: Whether those of the folders around it do not hold.

        Returns:
            Nobody when only single people, other groups and other domains may.
        """
        allowed = set()
        for permission in permissions:
            if permission.get("role") not in _LETS_READ or permission.get("deleted"):
                continue
            if permission.get("view"):  # of a part, such as the name alone
                continue
            if limited and _is_inherited(permission):
                continue
            allowed.add(self._audience(permission))
        return frozenset(allowed - {""})

    def _audience(self, permission: Mapping[str, Any]) -> str:
        kind = permission.get("type")
        if kind == "anyone" or (kind == "domain" and permission.get("domain") in self.domains):
            return EVERYONE
        if kind == "group":
            return self.group_audiences.get(str(permission.get("emailAddress")).lower(), "")
        return ""


def _is_inherited(permission: Mapping[str, Any]) -> bool:
    details = permission.get("permissionDetails") or ()
    return bool(details) and all(detail.get("inherited") for detail in details)
