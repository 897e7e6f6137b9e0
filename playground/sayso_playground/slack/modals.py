"""Answers of the app: to the submission of a modal, and to a slash command."""

import json
from dataclasses import replace
from typing import Any

from sayso_playground.slack.methods import SlackRefusalError, checked_blocks, checked_view
from sayso_playground.slack.state import Json, SlackMessage, SlackState, SlackView

TROUBLE = "We had some trouble connecting. Try again?"
"""Slack shows it above the buttons of a modal when it cannot make sense of the app."""

_MOST_VIEWS = 3  # docs.slack.dev, modals: at most three views in a stack
_ACTIONS = ("errors", "update", "push", "clear")


class AnswerError(ValueError):
    """The app answered with 200 and something that Slack does not understand."""


def after_submission(state: SlackState, view: SlackView, body: str) -> None:
    """Close, replace or keep the modal; docs.slack.dev, modals: an empty answer closes it.

    What Slack does not understand keeps the modal with an error under "".
    """
    try:
        action, answer = _read(body)
        if action == "errors":
            state.put_view(replace(view, errors=_errors(view, answer.get("errors"))))
        elif action in ("update", "push"):
            _show(state, view, answer.get("view"), push=action == "push")
        else:
            state.close_views(view.owner, all_of_them=action == "clear")
    except (AnswerError, SlackRefusalError) as error:
        about = error.extra if isinstance(error, SlackRefusalError) else error
        state.put_view(replace(view, errors={"": f"{TROUBLE} ({about})"}))


def _read(body: str) -> tuple[str, Json]:
    """The response_action and all of the answer; nothing for an empty body."""
    if not body.strip():
        return "", {}
    try:
        answer = json.loads(body)
    except ValueError:
        raise AnswerError("the answer is not JSON") from None
    if not isinstance(answer, dict):
        raise AnswerError("the answer is not an object")
    action = answer.get("response_action")
    if not answer:
        return "", {}
    if action not in _ACTIONS:
        raise AnswerError(f"there is no response_action {action!r}")
    return str(action), answer


def _errors(view: SlackView, errors: Any) -> dict[str, str]:
    """Errors stand beside inputs that exist, in words."""
    inputs = {block["block_id"] for block in view.view["blocks"] if block["type"] == "input"}
    if not isinstance(errors, dict) or not errors:
        raise AnswerError("errors are missing")
    for block_id, text in errors.items():
        if block_id not in inputs:
            raise AnswerError(f"there is no input block {block_id!r} to show an error at")
        if not isinstance(text, str) or not text:
            raise AnswerError(f"the error of {block_id!r} is no text")
    return errors


def _show(state: SlackState, view: SlackView, new: Any, *, push: bool) -> None:
    checked = checked_view(new)
    if push and view.depth >= _MOST_VIEWS:
        raise AnswerError("push_limit_reached")
    state.open_view(view.owner, checked, *((view, "") if push else (view.previous, view.id)))


COMMAND_TROUBLE = 'failed with the error "invalid_payload"'
"""Slackbot tells it whoever gave a command when it cannot make sense of the answer."""


def after_command(state: SlackState, channel: str, user: str, body: str) -> None:
    """Show the answer; docs.slack.dev, slash commands: to its giver alone unless told otherwise."""
    try:
        answer = json.loads(body)
        blocks: list[Json] = checked_blocks(answer.get("blocks") or [])
        text = str(answer.get("text") or "")
    except (ValueError, AttributeError, SlackRefusalError) as error:
        extra = error.extra if isinstance(error, SlackRefusalError) else ""
        answer, text, blocks = {}, f"{COMMAND_TROUBLE} {extra}".rstrip(), []
    if not (text or blocks):
        text = COMMAND_TROUBLE
    in_channel = answer.get("response_type") == "in_channel"
    state.post(
        SlackMessage(
            channel,
            state.next_ts(),
            text,
            state.with_ids(blocks),
            state.config.slack_bot_user_id,
            only_for=None if in_channel else user,
        )
    )
