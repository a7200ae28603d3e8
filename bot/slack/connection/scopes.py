"""What the app may do in a workspace."""

REQUIRED_SCOPES = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:read",
        "im:history",
        "reactions:write",
        "usergroups:read",
        "users:read",
    }
)
"""Bot scopes of deploy/manifest.socket-mode.json; a test keeps the two equal."""
