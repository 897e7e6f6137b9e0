"""Memory of the Slack double: messages, ephemerals, views, triggers and answer addresses."""

import copy
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sayso_playground.config import Member, PlaygroundConfig, SlackChannel
from sayso_playground.slack.shapes import echoed

Json = dict[str, Any]

TRIGGER_SECONDS = 3  # docs.slack.dev, modals: a trigger_id lives 3 seconds and works once
RESPONSE_URL_SECONDS = 30 * 60  # docs.slack.dev, handling user interaction
RESPONSE_URL_USES = 5


@dataclass(frozen=True, slots=True)
class SlackMessage:
    """A message as it stands now; one with ``only_for`` is ephemeral (a Slack user id)."""

    channel: str
    ts: str
    text: str
    blocks: tuple[Json, ...] = ()
    user: str = ""
    thread_ts: str | None = None
    only_for: str | None = None
    edited: bool = False

    @property
    def buttons(self) -> dict[str, str]:
        """The labels of the buttons, each with its action_id, in order."""
        return {
            element["text"]["text"]: element["action_id"]
            for _, element in interactive_elements(self.blocks)
            if element["type"] == "button"
        }

    @property
    def all_text(self) -> str:
        """Everything a person can read in it: the blocks' text, or else the text."""
        return "\n".join(texts_of(list(self.blocks))) if self.blocks else self.text


@dataclass(frozen=True, slots=True)
class SlackView:
    """A modal somebody has open, or their App Home.

    ``errors`` are shown beside its inputs, by block_id.
    ``hash`` is another one each time the app replaces the view.
    """

    id: str
    owner: str
    view: Json
    errors: Json = field(default_factory=dict)
    previous: "SlackView | None" = None
    hash: str = ""

    @property
    def callback_id(self) -> str:
        """The name the bot gave it."""
        return str(self.view.get("callback_id", ""))

    @property
    def depth(self) -> int:
        """The number of views in the stack, itself included."""
        return 1 + (self.previous.depth if self.previous else 0)


@dataclass(slots=True)
class _Trigger:
    member: Member
    made: float
    used: bool = False


@dataclass(slots=True)
class ResponseUrl:
    """An address at which a bot may answer one interaction without a token."""

    member: Member
    message: SlackMessage
    made: float
    uses: int = 0


def interactive_elements(blocks: tuple[Json, ...] | list[Json]) -> list[tuple[str, Json]]:
    """Every element a person can use, with the block_id it sits in."""
    found = []
    for block in blocks:
        candidates = block["elements"] if block["type"] == "actions" else []
        if block["type"] == "section" and "accessory" in block:
            candidates = [block["accessory"]]
        if block["type"] == "input":
            candidates = [block["element"]]
        found += [(block["block_id"], element) for element in candidates if "action_id" in element]
    return found


def texts_of(value: Any) -> list[str]:
    """All strings called ``text`` and ``@`` mentions, in reading order; paragraphs are joined."""
    if isinstance(value, list):
        if value and all(isinstance(item, dict) and "elements" not in item for item in value):
            parts = [texts_of(item) for item in value]
            if all(isinstance(item.get("text", ""), str) for item in value) and any(parts):
                return ["".join(text for part in parts for text in part)]
        return [text for item in value for text in texts_of(item)]
    if not isinstance(value, dict):
        return []
    if value.get("type") == "user" and "user_id" in value:
        return [f"@{value['user_id']}"]
    if value.get("type") == "usergroup" and "usergroup_id" in value:
        return [f"@{value['usergroup_id']}"]
    return [
        text
        for name, item in value.items()
        if name != "confirm"
        for text in ([item] if name == "text" and isinstance(item, str) else texts_of(item))
    ]


class SlackState:
    """The workspace: who is where, what was posted, what is open."""

    def __init__(self, config: PlaygroundConfig, changed: Callable[[], None]) -> None:
        self.config = config
        self.changed = changed
        self.people = {member.slack_id: member for member in config.members}
        self.groups = {group.id: group for group in config.slack_usergroups}
        self.channels = {channel.id: channel for channel in config.slack_channels}
        for member in config.members:
            dm = SlackChannel(
                f"D{member.slack_id[1:]}", "directmessage", members=(member.slack_id,)
            )
            self.channels[dm.id] = dm
        self.messages: dict[tuple[str, str], SlackMessage] = {}
        self.marks: dict[tuple[str, str], str] = {}
        self.views: dict[str, SlackView] = {}
        self.homes: dict[str, SlackView] = {}
        self.triggers: dict[str, _Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.uninstalled = False
        self._counter = 0

    def next_ts(self) -> str:
        """A message id: seconds, a dot, six digits; unique and rising."""
        self._counter += 1
        return f"{int(self.config.clock())}.{self._counter:06d}"

    def next_id(self, prefix: str) -> str:
        """An id in Slack's manner, such as V0123456789."""
        self._counter += 1
        return f"{prefix}0{self._counter:09d}"

    def post(self, message: SlackMessage) -> SlackMessage:
        """Store a new or changed message."""
        self.messages[message.channel, message.ts] = message
        self.changed()
        return message

    def delete(self, message: SlackMessage) -> None:
        """Take a message away."""
        self.messages.pop((message.channel, message.ts), None)
        self.changed()

    def mark(self, message: SlackMessage, error: str | None) -> None:
        """Show or take back the error mark beside a message."""
        key = (message.channel, message.ts)
        if error is None:
            self.marks.pop(key, None)
        else:
            self.marks[key] = error
        self.changed()

    def has_member(self, channel: SlackChannel, user: str) -> bool:
        """Return whether this user sees the channel."""
        known = any(member.slack_id == user for member in self.config.members)
        return known and (channel.members is None or user in channel.members)

    def with_ids(self, blocks: list[Json]) -> tuple[Json, ...]:
        """The blocks as Slack stores them: each block and element has an id."""
        stored = copy.deepcopy(blocks)
        for block in stored:
            block.setdefault("block_id", secrets.token_urlsafe(4)[:5])
            parts = block.get("elements", []) if block["type"] == "actions" else []
            for part in [*parts, block.get("accessory"), block.get("element")]:
                if isinstance(part, dict) and part.get("type") != "image":
                    part.setdefault("action_id", secrets.token_urlsafe(4)[:5])
        return tuple(stored)

    def new_trigger(self, member: Member) -> str:
        """A trigger_id for one interaction."""
        trigger_id = (
            f"{secrets.randbelow(10**12)}.{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        )
        self.triggers[trigger_id] = _Trigger(member, self.config.clock())
        return trigger_id

    def use_trigger(self, trigger_id: str) -> Member | str:
        """Return whose interaction it was, or the error that Slack answers with."""
        trigger = self.triggers.get(trigger_id)
        if trigger is None:
            return "invalid_trigger_id"
        if trigger.used:
            return "exchanged_trigger_id"
        if self.config.clock() - trigger.made > TRIGGER_SECONDS:
            return "expired_trigger_id"
        trigger.used = True
        return trigger.member

    def new_response_url(self, member: Member, message: SlackMessage) -> str:
        """The last part of a new answer address."""
        key = secrets.token_urlsafe(18)
        self.response_urls[key] = ResponseUrl(member, message, self.config.clock())
        return key

    def open_view(
        self, owner: str, view: Json, previous: SlackView | None = None, view_id: str = ""
    ) -> SlackView:
        """Show a modal to its owner, on top of another one if given."""
        stored = {**view, "blocks": list(self.with_ids(view["blocks"]))}
        opened = SlackView(
            view_id or self.next_id("V"), owner, stored, previous=previous, hash=self.next_ts()
        )
        self.put_view(opened)
        return opened

    def put_home(self, owner: str, view: Json) -> SlackView:
        """Make this the App Home that somebody sees."""
        stored = {**view, "blocks": list(self.with_ids(view["blocks"]))}
        known = self.homes.get(owner)
        view_id = known.id if known else self.next_id("V")
        self.homes[owner] = SlackView(view_id, owner, stored, hash=self.next_ts())
        self.changed()
        return self.homes[owner]

    def put_view(self, view: SlackView) -> None:
        """Make this the modal its owner sees."""
        self.views[view.owner] = view
        self.changed()

    def close_views(self, owner: str, *, all_of_them: bool = False) -> None:
        """Take the top modal away, or the whole stack."""
        view = self.views.pop(owner, None)
        if view and view.previous and not all_of_them:
            self.views[owner] = view.previous
        self.changed()

    def view_json(self, view: SlackView, values: Json | None = None) -> Json:
        """The view as payloads and answers of views.open carry it."""
        config, root = self.config, view
        while root.previous:
            root = root.previous
        defaults: Json = {
            "private_metadata": "",
            "callback_id": "",
            "submit": None,
            "close": None,
            "clear_on_close": False,
            "notify_on_close": False,
            "external_id": "",
        }
        return {
            **defaults,
            **echoed(view.view),
            "id": view.id,
            "team_id": config.slack_team_id,
            "state": {"values": echoed(values or {})},
            "hash": view.hash,
            "previous_view_id": view.previous.id if view.previous else None,
            "root_view_id": root.id,
            "app_id": config.slack_app_id,
            "app_installed_team_id": config.slack_team_id,
            "bot_id": config.slack_bot_id,
        }

    def message_json(self, message: SlackMessage) -> Json:
        """The message as payloads and answers of chat.postMessage carry it."""
        config = self.config
        found: Json = {"type": "message", "text": message.text, "ts": message.ts}
        found |= {"user": message.user, "team": config.slack_team_id}
        if message.user == config.slack_bot_user_id:
            found |= {"bot_id": config.slack_bot_id, "app_id": config.slack_app_id}
        if message.blocks:
            found["blocks"] = echoed(message.blocks)
        if message.thread_ts:
            found["thread_ts"] = message.thread_ts
        if message.edited:
            found["edited"] = {"user": message.user, "ts": message.ts}
        return found

    def edit(self, message: SlackMessage, text: str, blocks: list[Json]) -> SlackMessage:
        """Replace what a message says."""
        changed = replace(message, text=text, blocks=self.with_ids(blocks), edited=True)
        return self.post(changed)
