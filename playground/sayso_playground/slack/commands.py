"""What becomes of the answer to a slash command."""

import json

from sayso_playground.slack.methods import SlackRefusalError, checked_blocks
from sayso_playground.slack.state import Json, SlackMessage, SlackState

TROUBLE = 'failed with the error "invalid_payload"'
"""What Slackbot tells whoever gave a command when it cannot make sense of the answer."""


def after_command(state: SlackState, channel: str, user: str, body: str) -> None:
    """Show the answer; docs.slack.dev, slash commands: to its giver alone unless told otherwise."""
    try:
        answer = json.loads(body)
        blocks: list[Json] = checked_blocks(answer.get("blocks") or [])
        text = str(answer.get("text") or "")
    except (ValueError, AttributeError, SlackRefusalError) as error:
        extra = error.extra if isinstance(error, SlackRefusalError) else ""
        answer, text, blocks = {}, f"{TROUBLE} {extra}".rstrip(), []
    if not (text or blocks):
        text = TROUBLE
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
