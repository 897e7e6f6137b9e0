"""People and user groups of the workspace, as the Web API and the Events API tell of them."""

from typing import Any

from sayso_playground.config import Member, PlaygroundConfig, UserGroup

Json = dict[str, Any]


def user_json(member: Member, config: PlaygroundConfig) -> Json:
    """The user object of docs.slack.dev; somebody who left has only a part of it."""
    found: Json = {
        "id": member.slack_id,
        "team_id": member.slack_team_id or config.slack_team_id,
        "name": member.username,
        "deleted": member.slack_deleted,
        "profile": {
            "real_name": member.name,
            "display_name": member.username,
            "status_text": "",
            "status_emoji": member.slack_status_emoji,
            "status_expiration": member.slack_status_expiration,
        },
        "is_bot": member.slack_is_bot,
        "is_app_user": False,
        "updated": int(config.clock()),
    }
    if member.slack_deleted:
        return found
    found |= {
        "color": "4bbe2e",
        "real_name": member.name,
        "tz": "Europe/Berlin",
        "tz_label": "Central European Time",
        "tz_offset": 3_600,
        "is_admin": False,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": member.slack_is_restricted or member.slack_is_ultra_restricted,
        "is_ultra_restricted": member.slack_is_ultra_restricted,
        "is_email_confirmed": True,
        "who_can_share_contact_card": "EVERYONE",
    }
    if member.slack_team_id not in (None, config.slack_team_id):
        found["is_stranger"] = True
    return found


def dnd_json(member: Member) -> Json:
    """Their next times without notifications; docs.slack.dev, dnd.teamInfo."""
    begins, ends = member.slack_dnd or (1, 1)
    return {
        "dnd_enabled": member.slack_dnd is not None,
        "next_dnd_start_ts": begins,
        "next_dnd_end_ts": ends,
    }


def bot_json(config: PlaygroundConfig) -> Json:
    """The bot's own user object."""
    bot = Member(config.slack_bot_name, config.slack_bot_user_id, 0, slack_is_bot=True)
    return user_json(bot, config)


def group_json(group: UserGroup, config: PlaygroundConfig) -> Json:
    """The user group object of docs.slack.dev, without its members."""
    return {
        "id": group.id,
        "team_id": config.slack_team_id,
        "is_usergroup": True,
        "is_subteam": True,
        "name": group.name,
        "description": "",
        "handle": group.handle,
        "is_external": False,
        "date_create": 1_700_000_000,
        "date_update": int(config.clock()),
        "date_delete": 0,
        "auto_type": None,
        "auto_provision": False,
        "enterprise_subteam_id": "",
        "created_by": config.slack_bot_user_id,
        "updated_by": config.slack_bot_user_id,
        "deleted_by": None,
        "prefs": {"channels": [], "groups": []},
        "user_count": len(group.members),
        "channel_count": 0,
    }


def group_changes(before: UserGroup, after: UserGroup, config: PlaygroundConfig) -> list[Json]:
    """The events that tell of a change of members, in the order in which Slack sends them."""
    added = [user for user in after.members if user not in before.members]
    removed = [user for user in before.members if user not in after.members]
    now = int(config.clock())
    members = {
        "type": "subteam_members_changed",
        "subteam_id": after.id,
        "team_id": config.slack_team_id,
        "date_previous_update": 1_700_000_000,
        "date_update": now,
        "added_users": added,
        "added_users_count": str(len(added)),
        "removed_users": removed,
        "removed_users_count": str(len(removed)),
    }
    subteam = {**group_json(after, config), "users": list(after.members)}
    return [members, {"type": "subteam_updated", "subteam": subteam}]
