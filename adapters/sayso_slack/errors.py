"""Slack's refusals: what they mean, and what to do about them."""

from __future__ import annotations

from typing import Any

from slack_sdk.errors import SlackApiError

from sayso.errors import DeliveryError

PLATFORM = "slack"

_NEW_TOKEN = "copy the Bot User OAuth Token (xoxb-…) from OAuth & Permissions in your Slack app"  # noqa: S105

# docs.slack.dev, the pages of the methods: their errors. Values say what to do.
_FIXES = {
    "not_in_channel": "invite the bot there: /invite @{bot}",
    "channel_not_found": "check the channel's id; a private channel also needs /invite @{bot}",
    "is_archived": "the channel is archived: unarchive it or choose another place",
    "restricted_action": "a workspace setting keeps apps from posting there: ask an admin",
    "cannot_dm_bot": "this user is a bot: choose a person or a channel",
    "user_not_found": "check the user's id",
    "user_not_visible": "the bot may not see this account",
    "user_disabled": "this account is deactivated: choose somebody else",
    "messages_tab_disabled": "turn on the Messages Tab under App Home in your Slack app",
    "not_authed": f"SLACK_BOT_TOKEN is not valid: {_NEW_TOKEN}",
    "invalid_auth": f"SLACK_BOT_TOKEN is not valid: {_NEW_TOKEN}",
    "token_revoked": f"SLACK_BOT_TOKEN was revoked: install the app again, then {_NEW_TOKEN}",
    "token_expired": "SLACK_BOT_TOKEN has expired: turn token rotation off and install again",
    "account_inactive": "the app is no longer installed: install it again, then use its new token",
    "org_login_required": "the workspace is moving to an organisation: wait, or ask an admin",
    "team_access_not_granted": "the app has no access to this workspace: ask an org admin",
    "not_allowed_token_type": "SLACK_BOT_TOKEN is of the wrong kind: it begins with xoxb-",
    "missing_scope": "add the scope {needed} under OAuth & Permissions, then reinstall the app",
    "invalid_blocks": "Slack rejects the card: please report this as a bug of Sayso",
    "msg_blocks_too_long": "the card is too long for Slack: please report this as a bug of Sayso",
    "msg_too_long": "the card's text is too long: please report this as a bug of Sayso",
    "message_not_found": "the message is gone: nothing is left to update",
    "cant_update_message": "the message is not the bot's own: it cannot be updated",
    "edit_window_closed": "the workspace does not let a message this old be edited",
    "is_inactive": "the channel is frozen: its messages cannot be updated",
    "block_mismatch": "Slack does not replace these blocks with others: the card stays as it is",
    "expired_trigger_id": "Slack waits 3 seconds for a dialog and it took longer: press again",
    "exchanged_trigger_id": "this press has opened a dialog already: press again for another one",
    "invalid_trigger_id": "Slack does not know this press: press again",
    "invalid_arguments": "Slack rejects the dialog: please report this as a bug of Sayso",
    "view_too_large": "it is too large for a Slack dialog",
    "no_such_subteam": "there is no such user group: check its handle or S… id",
    "plan_upgrade_required": "user groups need a paid Slack plan: name the approvers one by one",
}

# Slack had trouble of its own: what was asked may be done or not, and may be asked for again.
_PASSING = frozenset(
    {
        "accesslimited",
        "fatal_error",
        "internal_error",
        "rate_limited",
        "ratelimited",
        "request_timeout",
        "service_unavailable",
        "team_added_to_org",
    }
)

_REDIRECTED = (
    "was sent elsewhere with HTTP {status}, which is not followed; name the address itself "
    "in slack.api_url"
)

_SOCKET = "apps.connections.open"
_SOCKET_FIX = (
    "SLACK_APP_TOKEN is not valid or lacks the scope connections:write; "
    "see Basic Information, App-Level Tokens in your Slack app"
)


def delivery_error(method: str, error: SlackApiError, *, bot: str) -> DeliveryError:
    """Translate a failed call for its caller.

    A refusal by name is final unless the name is one of Slack's own troubles;
    any other status passes.
    """
    response = error.response
    status = getattr(response, "status_code", None) or getattr(response, "status", 0)
    if status == 429:
        return DeliveryError(PLATFORM, f"{method} is rate limited", retry_after=_wait(response))
    if status is not None and 300 <= status < 400:
        return DeliveryError(PLATFORM, f"{method} {_REDIRECTED.format(status=status)}")
    data = getattr(response, "data", None)
    name = data.get("error") if isinstance(data, dict) else None
    if not isinstance(name, str):
        return DeliveryError(PLATFORM, f"{method} answered HTTP {status}")
    if name in _PASSING:
        wait = _wait(response) if name in ("ratelimited", "rate_limited") else None
        return DeliveryError(PLATFORM, f"{method} failed for now: {name}", retry_after=wait)
    needed = data.get("needed") if isinstance(data, dict) else None
    fix = _FIXES.get(name, "Slack refused it").format(bot=bot, needed=needed or "it names")
    fix = _SOCKET_FIX if method == _SOCKET else fix
    return DeliveryError(PLATFORM, f"{method}: {name}: {fix}", code=name, permanent=True)


def _wait(response: Any) -> float:
    """docs.slack.dev, rate limits: Retry-After in seconds, for this method and workspace."""
    value = str((getattr(response, "headers", None) or {}).get("Retry-After", ""))
    return float(value) if value.isascii() and value.isdigit() and len(value) < 7 else 5.0
