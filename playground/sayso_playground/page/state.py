"""The picture the page draws: everything a person may see, and no secret."""

from typing import Any

from sayso_playground.config import PlaygroundConfig
from sayso_playground.slack.double import SlackDouble
from sayso_playground.slack.state import SlackMessage
from sayso_playground.telegram.double import TelegramDouble
from sayso_playground.telegram.state import TelegramMessage

Json = dict[str, Any]


def picture(config: PlaygroundConfig, slack: SlackDouble, telegram: TelegramDouble) -> Json:
    """Both platforms as they stand now."""
    members = [
        {"name": m.name, "slack": m.slack_id, "telegram": m.telegram_id} for m in config.members
    ]
    return {
        "members": members,
        "slack": _slack(config, slack),
        "telegram": _telegram(config, telegram),
        "calls": _calls(slack, telegram),
    }


def _slack(config: PlaygroundConfig, slack: SlackDouble) -> Json:
    state = slack.state
    channels = [
        {
            "id": channel.id,
            "name": channel.name,
            "dm_with": channel.members[0] if channel.id[0] == "D" and channel.members else None,
            "bot_is_member": channel.is_member,
            "members": channel.members,
        }
        for channel in state.channels.values()
    ]
    views = {
        owner: {"id": view.id, "view": view.view, "errors": view.errors}
        for owner, view in state.views.items()
    }
    return {
        "team": config.slack_team_domain,
        "bot": {"id": config.slack_bot_user_id, "name": config.slack_bot_name},
        "channels": channels,
        "groups": {group.id: group.handle for group in config.slack_usergroups},
        "messages": [_slack_message(slack, message) for message in state.messages.values()],
        "views": views,
        "faults": slack.faults.planned(),
    }


def _slack_message(slack: SlackDouble, message: SlackMessage) -> Json:
    return {
        "channel": message.channel,
        "ts": message.ts,
        "user": message.user,
        "text": message.text,
        "blocks": message.blocks,
        "thread_ts": message.thread_ts,
        "only_for": message.only_for,
        "edited": message.edited,
        "error": slack.error_mark(message),
    }


def _telegram(config: PlaygroundConfig, telegram: TelegramDouble) -> Json:
    state = telegram.state
    chats = [
        {
            "id": chat.id,
            "kind": chat.kind,
            "title": chat.title,
            "topics": {str(number): name for number, name in chat.topics.items()},
            "migrated_to": chat.migrated_to,
            "bot_is_member": chat.bot_is_member,
        }
        for chat in state.chats.values()
    ]
    return {
        "bot": {"id": state.bot_id, "name": config.telegram_bot_name},
        "chats": chats,
        "messages": [_telegram_message(telegram, message) for message in state.messages.values()],
        "faults": telegram.faults.planned(),
    }


def _telegram_message(telegram: TelegramDouble, message: TelegramMessage) -> Json:
    document = message.document
    people = [member.telegram_id for member in telegram.config.members]
    return {
        "chat": message.chat,
        "id": message.id,
        "sender": message.sender,
        "date": message.date,
        "text": message.text,
        "entities": message.entities,
        "rows": message.rows,
        "force_reply": message.other_markup,
        "asks": [person for person in people if telegram.state.asks(message, person)],
        "thread_id": message.thread_id,
        "reply_to": message.reply_to,
        "edited": bool(message.edited),
        "service": message.service,
        "document": document
        and {"id": document.file_id, "name": document.name, "size": len(document.content)},
    }


def _calls(slack: SlackDouble, telegram: TelegramDouble) -> list[Json]:
    """The last calls of each platform: names and outcomes, no arguments."""
    return [
        {"platform": name, "method": call.method, "status": call.status, "error": call.error}
        for name, double in (("slack", slack), ("telegram", telegram))
        for call in double.calls[-20:]
    ]
