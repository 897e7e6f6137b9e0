"""The methods of the Slack Web API that a permission bot calls, and when they refuse."""

import json
import re
from collections.abc import Callable
from typing import Any

from sayso_playground.config import SlackChannel
from sayso_playground.slack.blocks import (
    MOST_CHARACTERS_IN_ALL_BLOCKS,
    characters,
    check_blocks,
    check_home,
    check_view,
)
from sayso_playground.slack.people import bot_json, dnd_json, group_json, user_json
from sayso_playground.slack.shapes import Findings
from sayso_playground.slack.state import Json, SlackMessage, SlackState

_MOST_TEXT_POSTED = 40_000  # docs.slack.dev, chat.postMessage: longer text is cut
_MOST_TEXT_UPDATED = 4_000  # docs.slack.dev, chat.update: longer text is msg_too_long
_MOST_ASKED = 50  # docs.slack.dev, dnd.teamInfo: at most 50 users
_MOST_VIEWS = 3  # docs.slack.dev, modals: at most three views in a stack


class SlackRefusalError(Exception):
    """Slack answers ``ok: false`` with this error."""

    def __init__(self, error: str, **extra: Any) -> None:
        super().__init__(error)
        self.error = error
        self.extra = extra


def missing(*names: str) -> SlackRefusalError:
    """The refusal of a call without its required arguments."""
    messages = [f"[ERROR] missing required field: {name}" for name in names]
    return SlackRefusalError("invalid_arguments", response_metadata={"messages": messages})


class SlackMethods:
    """One function a method: arguments in, the answer without ``ok`` out."""

    def __init__(self, state: SlackState) -> None:
        self._state = state
        self._config = state.config
        self.table: dict[str, Callable[[Json], Json]] = {
            "auth.test": self._auth_test,
            "bots.info": self._bots_info,
            "chat.postMessage": self._post_message,
            "chat.update": self._update,
            "chat.postEphemeral": self._post_ephemeral,
            "chat.getPermalink": self._get_permalink,
            "dnd.teamInfo": self._dnd_team_info,
            "views.open": self._views_open,
            "views.push": self._views_push,
            "views.update": self._views_update,
            "views.publish": self._views_publish,
            "conversations.info": self._conversations_info,
            "conversations.open": self._conversations_open,
            "users.info": self._users_info,
            "usergroups.list": self._usergroups_list,
            "usergroups.users.list": self._usergroups_users_list,
        }

    def _auth_test(self, _: Json) -> Json:
        config = self._config
        return {
            "url": f"https://{config.slack_team_domain}.slack.com/",
            "team": config.slack_team_domain,
            "user": config.slack_bot_name,
            "team_id": config.slack_team_id,
            "user_id": config.slack_bot_user_id,
            "bot_id": config.slack_bot_id,
            "is_enterprise_install": False,
        }

    def _bots_info(self, arguments: Json) -> Json:
        config = self._config
        if arguments.get("bot") != config.slack_bot_id:
            raise SlackRefusalError("bot_not_found")
        bot = {
            "id": config.slack_bot_id,
            "deleted": False,
            "name": config.slack_bot_name,
            "updated": 0,
            "app_id": config.slack_app_id,
            "user_id": config.slack_bot_user_id,
            "icons": {},
        }
        return {"bot": bot}

    def _post_message(self, arguments: Json) -> Json:
        channel = self._writable_channel(arguments)
        text, blocks = self._content(arguments)
        thread = arguments.get("thread_ts")
        if thread is not None and not re.fullmatch(r"\d+\.\d+", str(thread)):
            raise SlackRefusalError("invalid_thread_ts")
        message = SlackMessage(
            channel.id,
            self._state.next_ts(),
            text[:_MOST_TEXT_POSTED],
            self._state.with_ids(blocks or []),
            self._config.slack_bot_user_id,
            thread_ts=arguments.get("thread_ts"),
        )
        self._state.post(message)
        sent = self._state.message_json(message)
        return {"channel": channel.id, "ts": message.ts, "message": sent}

    def _update(self, arguments: Json) -> Json:
        channel, ts = self._visible_channel(arguments), arguments.get("ts")
        if not ts:
            raise missing("ts")
        message = self._state.messages.get((channel.id, ts))
        if message is None or message.only_for:
            raise SlackRefusalError("message_not_found")
        if message.user != self._config.slack_bot_user_id:
            raise SlackRefusalError("cant_update_message")
        text, blocks = self._content(arguments)
        if len(text) > _MOST_TEXT_UPDATED:
            raise SlackRefusalError("msg_too_long")
        if blocks and _has_rich_text(message.blocks) and not _has_rich_text(blocks):
            raise SlackRefusalError("block_mismatch")
        updated = self._state.edit(message, text, blocks or [])
        sent = self._state.message_json(updated)
        return {"channel": channel.id, "ts": message.ts, "text": text, "message": sent}

    def _post_ephemeral(self, arguments: Json) -> Json:
        channel = self._writable_channel(arguments)
        user = arguments.get("user")
        if not user:
            raise missing("user")
        if not self._state.has_member(channel, user):
            raise SlackRefusalError("user_not_in_channel")
        text, blocks = self._content(arguments)
        message = SlackMessage(
            channel.id,
            self._state.next_ts(),
            text[:_MOST_TEXT_POSTED],
            self._state.with_ids(blocks or []),
            self._config.slack_bot_user_id,
            thread_ts=arguments.get("thread_ts"),
            only_for=user,
        )
        self._state.post(message)
        return {"message_ts": message.ts}

    def _get_permalink(self, arguments: Json) -> Json:
        channel, ts = self._visible_channel(arguments), arguments.get("message_ts")
        if not ts:
            raise missing("message_ts")
        message = self._state.messages.get((channel.id, ts))
        if message is None or message.only_for:
            raise SlackRefusalError("message_not_found")
        home = f"https://{self._config.slack_team_domain}.slack.com/archives/{channel.id}"
        thread = f"?thread_ts={message.thread_ts}&cid={channel.id}" if message.thread_ts else ""
        return {"channel": channel.id, "permalink": f"{home}/p{ts.replace('.', '')}{thread}"}

    def _dnd_team_info(self, arguments: Json) -> Json:
        users = str(arguments.get("users") or "").split(",")
        if users == [""]:
            raise missing("users")
        if len(users) > _MOST_ASKED:
            raise SlackRefusalError("too_many_users")
        people = self._state.people
        return {"users": {user: dnd_json(people[user]) for user in users if user in people}}

    def _views_open(self, arguments: Json) -> Json:
        view = self._checked_view(arguments)
        opened = self._state.open_view(self._owner(arguments), view)
        return {"view": self._state.view_json(opened)}

    def _views_push(self, arguments: Json) -> Json:
        view = self._checked_view(arguments)
        owner = self._owner(arguments)
        below = self._state.views.get(owner)
        if below and below.depth >= _MOST_VIEWS:
            raise SlackRefusalError("push_limit_reached")
        return {"view": self._state.view_json(self._state.open_view(owner, view, below))}

    def _views_update(self, arguments: Json) -> Json:
        view = self._checked_view(arguments)
        view_id = arguments.get("view_id")
        shown = next((v for v in self._state.views.values() if v.id == view_id), None)
        if shown is None:
            raise SlackRefusalError("not_found")
        if arguments.get("hash") not in (None, self._state.view_json(shown)["hash"]):
            raise SlackRefusalError("hash_conflict")
        updated = self._state.open_view(shown.owner, view, shown.previous, shown.id)
        return {"view": self._state.view_json(updated)}

    def _views_publish(self, arguments: Json) -> Json:
        user = arguments.get("user_id")
        if not user:
            raise missing("user_id")
        if "view" not in arguments:
            raise missing("view")
        view = checked_view(_decoded(arguments["view"], "invalid_arguments"), check_home)
        if user not in self._state.people:
            raise SlackRefusalError("user_not_found")
        before = self._state.homes.get(user)
        if arguments.get("hash") not in (None, before and before.hash):
            raise SlackRefusalError("hash_conflict")
        return {"view": self._state.view_json(self._state.put_home(user, view))}

    def _conversations_info(self, arguments: Json) -> Json:
        channel = self._visible_channel(arguments)
        if channel.id.startswith("D") and channel.members:
            return {"channel": {"id": channel.id, "is_im": True, "user": channel.members[0]}}
        found = {
            "id": channel.id,
            "name": channel.name,
            "is_channel": True,
            "is_private": channel.is_private,
            "is_member": channel.is_member,
            "is_archived": False,
        }
        return {"channel": found}

    def _conversations_open(self, arguments: Json) -> Json:
        user = arguments.get("users")
        if not user:
            raise missing("users")
        if all(member.slack_id != user for member in self._config.members):
            raise SlackRefusalError("user_not_found")
        return {"channel": {"id": f"D{user[1:]}"}}

    def _users_info(self, arguments: Json) -> Json:
        wanted = arguments.get("user")
        if not wanted:
            raise missing("user")
        if wanted == self._config.slack_bot_user_id:
            return {"user": bot_json(self._config)}
        if (member := self._state.people.get(wanted)) is not None:
            return {"user": user_json(member, self._config)}
        raise SlackRefusalError("user_not_found")

    def _usergroups_list(self, arguments: Json) -> Json:
        with_users = str(arguments.get("include_users", "")).lower() in ("1", "true")
        groups = []
        for group in self._state.groups.values():
            users = {"users": list(group.members)} if with_users else {}
            groups.append({**group_json(group, self._config), **users})
        return {"usergroups": groups}

    def _usergroups_users_list(self, arguments: Json) -> Json:
        wanted = arguments.get("usergroup")
        if not wanted:
            raise missing("usergroup")
        if (group := self._state.groups.get(wanted)) is not None:
            return {"users": list(group.members)}
        raise SlackRefusalError("no_such_subteam")

    def _visible_channel(self, arguments: Json) -> SlackChannel:
        wanted = arguments.get("channel")
        if not wanted:
            raise missing("channel")
        channel = self._state.channels.get(wanted)
        if channel is None or (channel.is_private and not channel.is_member):
            raise SlackRefusalError("channel_not_found")
        return channel

    def _writable_channel(self, arguments: Json) -> SlackChannel:
        """A user id stands for the direct message with that person, ``#name`` for a channel."""
        wanted = str(arguments.get("channel") or "")
        if re.match("[UW]", wanted):
            arguments = {**arguments, "channel": f"D{wanted[1:]}"}
        for channel in self._state.channels.values():
            if wanted == f"#{channel.name}":
                arguments = {**arguments, "channel": channel.id}
        found = self._visible_channel(arguments)
        if not found.is_member:
            raise SlackRefusalError("not_in_channel")
        return found

    def _owner(self, arguments: Json) -> str:
        trigger_id = arguments.get("trigger_id")
        if not trigger_id:
            raise missing("trigger_id")
        member = self._state.use_trigger(trigger_id)
        if isinstance(member, str):
            raise SlackRefusalError(member)
        return member.slack_id

    def _checked_view(self, arguments: Json) -> Json:
        if "view" not in arguments:
            raise missing("view")
        return checked_view(_decoded(arguments["view"], "invalid_arguments"))

    def _content(self, arguments: Json) -> tuple[str, list[Json] | None]:
        text = arguments.get("text") or ""
        blocks = None
        if arguments.get("blocks") is not None:
            blocks = checked_blocks(_decoded(arguments["blocks"], "invalid_blocks_format"))
        if not isinstance(text, str) or not (text.strip() or blocks):
            raise SlackRefusalError("no_text")
        return text, blocks


def checked_blocks(blocks: Any) -> list[Json]:
    """The blocks of a message, if Slack takes them.

    Raises:
        SlackRefusalError: invalid_blocks_format, invalid_blocks or msg_blocks_too_long.
    """
    if not isinstance(blocks, list):
        raise SlackRefusalError("invalid_blocks_format")
    found = check_blocks(blocks)
    if found.errors:
        metadata = {"messages": found.messages}
        raise SlackRefusalError("invalid_blocks", errors=found.errors, response_metadata=metadata)
    if characters(blocks) > MOST_CHARACTERS_IN_ALL_BLOCKS:
        raise SlackRefusalError("msg_blocks_too_long")
    return blocks


def checked_view(view: Any, check: Callable[[Any], Findings] = check_view) -> Json:
    """The view, if Slack takes it.

    Raises:
        SlackRefusalError: invalid_arguments or view_too_large (docs.slack.dev: 250 kB).
    """
    found = check(view)
    if found.errors:
        metadata = {"messages": found.messages}
        raise SlackRefusalError("invalid_arguments", response_metadata=metadata)
    if len(json.dumps(view)) > 250_000:
        raise SlackRefusalError("view_too_large")
    checked: Json = view
    return checked


def _decoded(value: Any, error: str) -> Any:
    """Blocks and views come as JSON text in a form, as they are in a JSON body."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise SlackRefusalError(error) from None


def _has_rich_text(blocks: Any) -> bool:
    return any(block["type"] == "rich_text" for block in blocks)
