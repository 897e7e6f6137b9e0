"""What an app of Slack was granted, and what it lacks: Slack adds nothing without a new install."""

from __future__ import annotations

from collections.abc import Mapping

ANYWHERE = "chat:write.public"
"""Lets the bot post to public channels that it is not in."""

NEEDED = "chat:write"
"""Without this scope no card can be posted."""

# What each scope of our manifests is for, besides ANYWHERE, which not everybody wants.
_WANTED = {
    NEEDED: "posts cards",
    "commands": "/approvals",
    "channels:read": "checks the channels of routes",
    "groups:read": "the same for private channels",
    "users:read": "knows members of user groups, and the app's own id",
    "dnd:read": "calls nobody who does not want to be disturbed",
    "usergroups:read": "approvers such as slack:@oncall",
}


def granted(headers: Mapping[str, str]) -> frozenset[str]:
    """The scopes of a token, as each answer to it names them; empty where it names none."""
    named = headers.get("x-oauth-scopes") or ""
    return frozenset(scope for one in named.split(",") if (scope := one.strip()))


def lacking(scopes: frozenset[str]) -> dict[str, str]:
    """What an app with these lacks, with what it is for; nothing where they are not known."""
    return {scope: use for scope, use in _WANTED.items() if scopes and scope not in scopes}
