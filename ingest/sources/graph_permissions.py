"""Says who may read a file by what Microsoft Graph tells of its permissions. Pure.

Source of the shapes: learn.microsoft.com/graph/api/resources/permission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ingest.records import EVERYONE, Audiences

_LETS_READ: Final = frozenset({"read", "write", "owner", "sp.full control"})
_FOR_ALL: Final = frozenset({"anonymous", "organization"})
"""Scopes of links that everybody in the company may follow."""
_EVERYONE_CLAIMS: Final = ("c:0-.f|rolemanager|spo-grid-all-users/", "c:0(.s|true")
"""Login names of "Everyone except external users" and "Everyone", the same in every language."""
_GROUPS: Final = ("group", "siteGroup")
_NAMES: Final = ("displayName", "id", "email")


def readers(
    permissions: Sequence[Mapping[str, Any]], group_audiences: Mapping[str, str]
) -> Audiences:
    """Return the audiences that permissions let read.

    Args:
        permissions: All that hold for one item, inherited ones among them.
        group_audiences: Audience by display name, id or address of a group.

    Returns:
        Nobody when only single people and other groups may: who they are in Slack is not known.
    """
    allowed: set[str] = set()
    for permission in permissions:
        if not _LETS_READ.intersection(permission.get("roles") or ()):
            continue
        link = permission.get("link") or {}
        if link.get("scope") in _FOR_ALL and not permission.get("hasPassword"):
            allowed.add(EVERYONE)
        for identity in _identities(permission):
            allowed |= _audiences(identity, group_audiences)
    return frozenset(allowed)


def _identities(permission: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield permission.get("grantedToV2") or {}
    yield from permission.get("grantedToIdentitiesV2") or ()


def _audiences(identity: Mapping[str, Any], group_audiences: Mapping[str, str]) -> set[str]:
    login_name = str((identity.get("siteUser") or {}).get("loginName") or "")
    if login_name.startswith(_EVERYONE_CLAIMS):
        return {EVERYONE}
    groups = (identity.get(kind) or {} for kind in _GROUPS)
    names = (str(group.get(name)) for group in groups for name in _NAMES)
    return {group_audiences[name] for name in names if name in group_audiences}
