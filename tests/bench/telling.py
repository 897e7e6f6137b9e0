"""A card as somebody writes it by hand, as long as ours: what floors and peers send to chats."""

from __future__ import annotations

from typing import Any

_COMMAND = "terraform apply -auto-approve -var environment=production -var region=eu-west-1"
_TARGETS = tuple(f"-target=module.service_{number}.aws_instance.web" for number in range(4))
ARGUMENTS = {"command": " ".join((_COMMAND, *_TARGETS)), "folder": "infra/production"}
"""What is asked about."""


def text_of(number: int) -> str:
    """What a card says of the question of this number."""
    return "\n".join((f"Reason given: question-{number}-of-many", *ARGUMENTS.values()))


def slack_message(handle: str, number: int) -> dict[str, Any]:
    """For Slack; without a handle it has no buttons any more."""
    said = text_of(number)
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "*deploy-bot* asks: `run_command`"}},
        {
            "type": "rich_text",
            "elements": [
                {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": said}]}
            ],
        },
        {
            "type": "context",
            "elements": [{"type": "mrkdwn", "text": "Allowed by alice" if not handle else "Waits"}],
        },
    ]
    if handle:
        blocks.append(
            {
                "type": "actions",
                "block_id": f"sayso:{handle}",
                "elements": [
                    _slack_button("sayso:allow", "Allow", "primary", handle),
                    _slack_button("sayso:deny", "Deny", "danger", handle),
                ],
            }
        )
    return {"channel": "C0OPS", "text": "deploy-bot asks", "blocks": blocks}


def _slack_button(action: str, label: str, style: str, value: str) -> dict[str, Any]:
    text = {"type": "plain_text", "text": label, "emoji": False}
    return {"type": "button", "action_id": action, "text": text, "style": style, "value": value}


def telegram_message(handle: str, number: int) -> dict[str, Any]:
    """For Telegram; without a handle it has no buttons any more."""
    head = "deploy-bot asks: run_command\n"
    said = text_of(number)
    message: dict[str, Any] = {
        "chat_id": -1001234567890,
        "text": head + said,
        "entities": [
            {"type": "bold", "offset": 0, "length": 10},
            {"type": "pre", "offset": len(head), "length": len(said)},
        ],
    }
    if handle:
        buttons = [
            {"text": "Allow", "callback_data": f"p1:{handle}:allow"},
            {"text": "Deny", "callback_data": f"p1:{handle}:deny"},
        ]
        message["reply_markup"] = {"inline_keyboard": [buttons]}
    return message
