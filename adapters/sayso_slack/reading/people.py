"""Who somebody is in a workspace, from what Slack says of them."""

from __future__ import annotations

from sayso_slack.callback_guard import Payload, as_object, as_text

# docs.slack.dev, the user object. Each of them must be said, and said to be false.
_FLAGS = {
    "deleted": "the account is deactivated",
    "is_bot": "the account is a bot's",
    "is_ultra_restricted": "a guest of one channel",
    "is_restricted": "a guest",
}


def why_not(user: Payload, team_id: str) -> str:
    """Why somebody does not count as a member of a user group; empty where they do.

    A member is a person of this workspace or organisation. What Slack does not
    say is not taken for granted.
    """
    for flag, why in _FLAGS.items():
        if user.get(flag) is not False:
            return why if user.get(flag) else f"Slack does not say {flag} of the account"
    if user.get("is_stranger") or not is_of(user, team_id):
        return "somebody of another workspace"
    return ""


def is_of(user: Payload, team_id: str) -> bool:
    """Whether the workspace or the organisation is theirs."""
    enterprise = as_object(user.get("enterprise_user"))
    teams = enterprise.get("teams")
    homes = [
        as_text(user.get("team_id")),
        as_text(enterprise.get("enterprise_id")),
        *(teams if isinstance(teams, list) else ()),
    ]
    return bool(team_id) and team_id in homes
