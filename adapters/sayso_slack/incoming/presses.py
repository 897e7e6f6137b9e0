"""From a decoded payload to the press of one of our buttons."""

from __future__ import annotations

import re
from typing import Any

from sayso.cards.buttons import is_key, read_button
from sayso.cards.card import MORE
from sayso.chats.places import MessageRef, Place, Press
from sayso.errors import CallbackError
from sayso_slack.callback_guard import Payload, as_object, as_text
from sayso_slack.card.blocks import ACTION_PREFIX

USER = re.compile(r"[UW][A-Z0-9]{1,30}", re.ASCII)  # docs.slack.dev: users begin with U or W
_BELOW = re.compile(rf"{ACTION_PREFIX}{MORE.key}(?:-[0-9]{{1,2}}){{0,2}}", re.ASCII)
HANDLE_LENGTH = 240  # with its prefix a block_id, of at most 255 characters


def press_of(payload: Payload, *, delivery: str) -> Press | None:
    """Who pressed which of our buttons where; None when it is not one of ours.

    The confirmation dialog of a button was agreed to before Slack sends the
    press, so every press of one counts as confirmed; a choice a level down, where
    there is no dialog, does not. A payload with several actions is nobody's single
    decision and not a press.

    Raises:
        CallbackError: it is our button, and the presser or the
            message is missing.
    """
    button = _our_button(payload)
    if button is None:
        return None
    choice, handle, confirmed = button
    return Press(
        handle=handle,
        choice=choice,
        actor=actor_of(payload),
        message=_message(payload),
        confirmed=confirmed,
        delivery=delivery,
        ticket=as_text(payload.get("trigger_id")),
    )


def actor_of(payload: Payload) -> str:
    """Who did it.

    Raises:
        CallbackError: that is not said.
    """
    user = as_text(as_object(payload.get("user")).get("id"))
    if not USER.fullmatch(user):
        raise CallbackError("Slack press does not say who pressed")
    return f"slack:{user}"


def _our_button(payload: Payload) -> tuple[str, str, bool] | None:
    """Which choice of which card, and whether a dialog was agreed to."""
    actions = payload.get("actions")
    if payload.get("type") != "block_actions" or not isinstance(actions, list) or len(actions) != 1:
        return None
    action = as_object(actions[0])
    if action.get("type") == "overflow":  # on messages of an earlier version
        return _below(action, as_text(as_object(action.get("selected_option")).get("value")))
    if action.get("type") == "button" and ":" in as_text(action.get("value")):
        return _below(action, as_text(action.get("value")))
    action_id, handle = as_text(action.get("action_id")), as_text(action.get("value"))
    key = action_id.removeprefix(ACTION_PREFIX)
    is_ours = action.get("type") == "button" and action_id.startswith(ACTION_PREFIX)
    if not (is_ours and is_key(key) and 0 < len(handle) <= HANDLE_LENGTH):
        return None
    return key, handle, True


def _below(action: dict[str, Any], value: str) -> tuple[str, str, bool] | None:
    """What was picked a level down, by what stands for it."""
    button = read_button(value)
    if button is None or button.confirmed or not _BELOW.fullmatch(as_text(action.get("action_id"))):
        return None
    return button.key, button.handle, False


def _message(payload: Payload) -> MessageRef:
    """Where the button stands: what the container says, or else the message.

    ``message`` is absent for ephemeral messages and ``thread_ts`` of a thread's
    first message is its own: only a reply stands in a thread.
    """
    container, message = as_object(payload.get("container")), as_object(payload.get("message"))
    channel = as_text(container.get("channel_id")) or as_text(
        as_object(payload.get("channel")).get("id")
    )
    ts = as_text(container.get("message_ts")) or as_text(message.get("ts"))
    if not channel or not ts:
        raise CallbackError("Slack press does not say on which message")
    thread = as_text(container.get("thread_ts")) or as_text(message.get("thread_ts"))
    return MessageRef(Place("slack", channel, "" if thread == ts else thread), ts)
