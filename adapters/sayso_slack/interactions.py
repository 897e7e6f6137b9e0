"""Decoded payloads as presses of our buttons and submissions of our forms."""

from __future__ import annotations

import json
import re
from typing import Any

from sayso.cards.buttons import is_key, read_button
from sayso.cards.card import MORE
from sayso.chats.places import MessageRef, Place, Press
from sayso.errors import CallbackError
from sayso.forms.form_values import Raw
from sayso_slack.blocks import ACTION_PREFIX
from sayso_slack.callback_guard import Payload, as_object, as_text, check_unicode
from sayso_slack.form_inputs import INPUT, READY_MADE, decode_id, format_moment, read_states
from sayso_slack.modal import CALLBACK, FALLS_BACK, LANGUAGE

# docs.slack.dev: channels begin with C, groups with G, direct messages with D.
_CHANNEL = re.compile(r"[CDG][A-Z0-9]{1,30}", re.ASCII)
_TS = re.compile(r"[0-9]{1,20}\.[0-9]{1,20}", re.ASCII)
USER = re.compile(r"[UW][A-Z0-9]{1,30}", re.ASCII)  # docs.slack.dev: users begin with U or W
_BELOW = re.compile(rf"{ACTION_PREFIX}{MORE.key}(?:-[0-9]{{1,2}}){{0,2}}", re.ASCII)
HANDLE_LENGTH = 240  # with its prefix a block_id, of at most 255 characters


def parse_press(payload: Payload, *, delivery: str) -> Press | None:
    """Parse a press of one of our buttons; None for anybody else's.

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
        actor=parse_actor(payload),
        message=_message(payload),
        confirmed=confirmed,
        delivery=delivery,
        ticket=as_text(payload.get("trigger_id")),
    )


def parse_actor(payload: Payload) -> str:
    """Parse the presser.

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
    """Parse a button a level down by its value."""
    button = read_button(value)
    if button is None or button.confirmed or not _BELOW.fullmatch(as_text(action.get("action_id"))):
        return None
    return button.key, button.handle, False


def _message(payload: Payload) -> MessageRef:
    """Find the button's message: in the container, or else in the message.

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
    if not _CHANNEL.fullmatch(channel) or not all(map(_TS.fullmatch, filter(None, (ts, thread)))):
        raise CallbackError("Slack press names a message that cannot be one")
    return MessageRef(Place("slack", channel, "" if thread == ts else thread), ts)


_NOTHING = type(None)
_PICKED_ONE = ("radio_buttons", "static_select")
_PICKED_SEVERAL = ("checkboxes", "multi_static_select")
_WRITTEN = ("plain_text_input", "number_input", "email_text_input", "url_text_input")


def is_form(payload: Payload) -> bool:
    """Return True if somebody sent off or closed one of our forms."""
    if payload.get("type") not in ("view_submission", "view_closed"):
        return False
    return as_object(payload.get("view")).get("callback_id") == CALLBACK


def parse_submission(payload: Payload, *, delivery: str) -> Press | None:
    """The press that a form was filled in for, with its raw inputs; None where nobody pressed.

    A form is opened after the second step of its choice, so it counts as
    confirmed. A dialog that was closed presses what its choice falls back to;
    of any other choice it decides nothing, it only went away.

    Raises:
        CallbackError: it is our form, and what it belongs to, its
            sender or an input is missing or of no known shape.
    """
    view = as_object(payload.get("view"))
    said = _metadata(as_text(view.get("private_metadata")))
    is_sent = payload.get("type") == "view_submission"
    if not is_sent and not said.get(FALLS_BACK):
        return None
    handle, choice, message = _origin(said, "choice" if is_sent else FALLS_BACK)
    return Press(
        handle=handle,
        choice=choice,
        actor=parse_actor(payload),
        message=message,
        confirmed=is_sent,
        delivery=delivery,
        ticket=as_text(payload.get("trigger_id")),
        inputs=_inputs(view) if is_sent else None,
    )


def parse_input(element: Any) -> Raw:
    """The raw value of one input; an empty one is null, and several options are a list.

    Raises:
        CallbackError: it does not have the shape of any input of ours.
    """
    state = as_object(element)
    kind = state.get("type")
    if kind in _WRITTEN and isinstance(state.get("value"), str | None):
        return state.get("value")
    if kind == "datepicker" and isinstance(state.get("selected_date"), str | None):
        return state.get("selected_date")
    if kind == "datetimepicker" and type(at := state.get("selected_date_time")) in (int, _NOTHING):
        return None if at is None else _moment(at)
    if kind in _PICKED_ONE:
        option = state.get("selected_option")
        return None if option is None else _value(option)
    if kind in _PICKED_SEVERAL and isinstance(state.get("selected_options") or [], list):
        return [_value(option) for option in state.get("selected_options") or []]
    raise CallbackError("Slack form has an input of an unknown shape")


def _moment(seconds: int) -> Raw:
    try:
        return format_moment(seconds)
    except (ValueError, OverflowError, OSError):
        raise CallbackError("Slack form has a moment that is none") from None


def _inputs(view: Payload) -> dict[str, Raw]:
    """By the names of fields; what was written counts before a ready-made answer."""
    inputs: dict[str, Raw] = {}
    ready_made: dict[str, Raw] = {}
    for block_id, state in read_states(view).items():
        if block_id.startswith(INPUT):
            inputs[decode_id(block_id.removeprefix(INPUT))] = parse_input(state)
        elif block_id.startswith(READY_MADE):
            ready_made[decode_id(block_id.removeprefix(READY_MADE))] = parse_input(state)
    for name, text in ready_made.items():
        inputs[name] = inputs.get(name) or (decode_id(text) if isinstance(text, str) else None)
    return inputs


def _metadata(text: str) -> Payload:
    try:
        found = as_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}
    # It was checked as a string: an escape within it is read only here.
    return check_unicode(found)


def read_language(payload: Payload) -> str:
    """Return the language of the dialog; empty for English."""
    view = as_object(payload.get("view"))
    return as_text(_metadata(as_text(view.get("private_metadata"))).get(LANGUAGE))


def _origin(said: Payload, which: str) -> tuple[str, str, MessageRef]:
    """The card, its choice by this name, and the message that a dialog carried along."""
    handle, choice = as_text(said.get("handle")), as_text(said.get(which))
    channel, ts = as_text(said.get("channel")), as_text(said.get("message"))
    if not (0 < len(handle) <= HANDLE_LENGTH and is_key(choice) and channel and ts):
        raise CallbackError("Slack form does not say which card it belongs to")
    return handle, choice, MessageRef(Place("slack", channel, as_text(said.get("thread"))), ts)


def _value(option: Any) -> str:
    value = as_object(option).get("value")
    if not isinstance(value, str):
        raise CallbackError("Slack form has an option without a value")
    return value
