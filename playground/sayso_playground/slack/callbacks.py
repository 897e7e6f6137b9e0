"""The payloads Slack sends when somebody uses a button or a form, and their signature."""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from sayso_playground.config import Member, PlaygroundConfig
from sayso_playground.slack.forms import form_state, option_of
from sayso_playground.slack.state import (
    Json,
    SlackMessage,
    SlackState,
    SlackView,
    interactive_elements,
)

VERIFICATION_TOKEN = "PLAYGROUND-verification-token"  # noqa: S105 - deprecated by Slack, protects nothing
FORM = "application/x-www-form-urlencoded"


def signed_headers(secret: str, body: bytes, timestamp: int) -> dict[str, str]:
    """The two headers that prove a body is Slack's (docs.slack.dev, verifying requests, v0)."""
    base = b"v0:" + str(timestamp).encode() + b":" + body
    signature = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(timestamp), "X-Slack-Signature": f"v0={signature}"}


def form_body(payload: Json) -> bytes:
    """An interaction as it travels: a form with the single field ``payload``."""
    return urlencode({"payload": json.dumps(payload)}).encode()


def button_of(shown: SlackMessage | SlackView, wanted: str) -> tuple[str, Json]:
    """The element with this label, action_id or ``block_id/action_id``, and its block_id.

    Raises:
        LookupError: there is none, or more than one; the message lists what there is.
    """
    blocks = shown.blocks if isinstance(shown, SlackMessage) else shown.view["blocks"]
    elements = interactive_elements(blocks)
    found = [
        (block_id, element)
        for block_id, element in elements
        for its in [element["action_id"]]
        if wanted in (its, label_of(element), f"{block_id}/{its}")
    ]
    if len(found) == 1:
        return found[0]
    there = ", ".join(repr(label_of(element)) for _, element in elements) or "none"
    many = "more than one" if found else "no"
    raise LookupError(f"{many} button {wanted!r} in the message; buttons are {there}")


def label_of(element: Json) -> str:
    """Return the words on an element."""
    text = element.get("text") or element.get("placeholder") or {}
    return str(text.get("text", ""))


class Payloads:
    """Builds interaction payloads with every field Slack sends."""

    def __init__(self, state: SlackState, base_url: Callable[[], str]) -> None:
        self._state = state
        self._config: PlaygroundConfig = state.config
        self._base_url = base_url

    def block_actions(
        self,
        shown: SlackMessage | SlackView,
        block_id: str,
        element: Json,
        member: Member,
        choose: str | None = None,
    ) -> Json:
        """Somebody used an element; ``choose`` is the value picked in a menu."""
        payload = self._common("block_actions", member)
        payload["trigger_id"] = self._state.new_trigger(member)
        if isinstance(shown, SlackView):
            payload["container"] = {"type": "view", "view_id": shown.id}
            payload["view"] = self._state.view_json(shown)
        else:
            payload |= self._message_part(shown, member)
        action = _action(block_id, element, choose)
        action["action_ts"] = f"{self._config.clock():.6f}"
        values = {block_id: {element["action_id"]: action}} if "selected_option" in action else {}
        return {**payload, "state": {"values": values}, "actions": [action]}

    def view_submission(self, view: SlackView, values: Mapping[str, Any], member: Member) -> Json:
        """Somebody sent a form; the ``values`` are those of ``form_state``."""
        payload = self._common("view_submission", member)
        payload["trigger_id"] = self._state.new_trigger(member)
        state = form_state(view.view["blocks"], values)
        return {**payload, "view": self._state.view_json(view, state), "response_urls": []}

    def view_closed(self, view: SlackView, member: Member, *, whole_stack: bool) -> Json:
        """Somebody closed a form that asked for ``notify_on_close``."""
        payload = self._common("view_closed", member)
        return {**payload, "view": self._state.view_json(view), "is_cleared": whole_stack}

    def event(self, event: Json) -> Json:
        """An Events API callback."""
        return {
            "token": VERIFICATION_TOKEN,
            "team_id": self._config.slack_team_id,
            "api_app_id": self._config.slack_app_id,
            "event": event,
            "type": "event_callback",
            "event_id": self._state.next_id("Ev"),
            "event_time": int(self._config.clock()),
        }

    def command(self, command: str, text: str, channel: str, member: Member) -> Json:
        """Somebody gave a slash command: flat fields, as docs.slack.dev lists them."""
        config, message = self._config, SlackMessage(channel, "", "")
        key = self._state.new_response_url(member, message)
        return {
            "token": VERIFICATION_TOKEN,
            "team_id": member.slack_team_id or config.slack_team_id,
            "team_domain": config.slack_team_domain,
            "channel_id": channel,
            "channel_name": self._state.channels[channel].name,
            "user_id": member.slack_id,
            "user_name": member.username,
            "command": command,
            "text": text,
            "api_app_id": config.slack_app_id,
            "is_enterprise_install": "false",
            "response_url": f"{self._base_url()}/slack/response/{key}",
            "trigger_id": self._state.new_trigger(member),
        }

    def _common(self, kind: str, member: Member) -> Json:
        config = self._config
        user = {
            "id": member.slack_id,
            "username": member.username,
            "name": member.username,
            "team_id": member.slack_team_id or config.slack_team_id,
        }
        return {
            "type": kind,
            "user": user,
            "api_app_id": config.slack_app_id,
            "token": VERIFICATION_TOKEN,
            "team": {"id": config.slack_team_id, "domain": config.slack_team_domain},
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def _message_part(self, message: SlackMessage, member: Member) -> Json:
        """docs.slack.dev, block_actions: ``message`` is absent when it is ephemeral."""
        channel = self._state.channels[message.channel]
        container: Json = {
            "type": "message",
            "message_ts": message.ts,
            "channel_id": channel.id,
            "is_ephemeral": message.only_for is not None,
        }
        if message.thread_ts:
            container["thread_ts"] = message.thread_ts
        key = self._state.new_response_url(member, message)
        name = "privategroup" if channel.is_private else channel.name
        part: Json = {
            "container": container,
            "channel": {"id": channel.id, "name": name},
            "response_url": f"{self._base_url()}/slack/response/{key}",
        }
        if message.only_for is None:
            current = self._state.messages.get((message.channel, message.ts), message)
            part["message"] = self._state.message_json(current)
        return part


def _action(block_id: str, element: Json, choose: str | None) -> Json:
    kept = ("type", "action_id", "text", "value", "style", "confirm", "placeholder")
    action = {name: element[name] for name in kept if name in element}
    if "options" in element:
        action["selected_option"] = option_of(element, choose)
    return {**action, "block_id": block_id}
