"""Texts with entities on their way to Telegram."""

from __future__ import annotations

import logging
from typing import Any

from telegram import ForceReply
from telegram.error import BadRequest

from sayso_telegram.addresses import number_of
from sayso_telegram.card.formatted import Formatted
from sayso_telegram.card.keyboard import Keyboard
from sayso_telegram.client import Client
from sayso_telegram.failures import is_about_entities, is_unchanged

_log = logging.getLogger(__name__)

_NO_PREVIEW = {"is_disabled": True}


def reply_to(message_id: str) -> dict[str, Any]:
    """ReplyParameters: in reply to a message where that still stands."""
    return {"message_id": number_of(message_id), "allow_sending_without_reply": True}


def written(markup: Keyboard | ForceReply | None) -> dict[str, Any] | None:
    """What Telegram takes for the buttons of ours, or for the reply that it opens."""
    return None if markup is None else markup.to_dict()


async def sent(client: Client, text: Formatted, **arguments: Any) -> str:
    """Send a message; its number."""
    message = await _formatted(client, "sendMessage", text, arguments)
    number: int = message["message_id"]
    return f"{number:d}"


async def edited(client: Client, text: Formatted, **arguments: Any) -> None:
    """Change a message; that it shows this already is success."""
    try:
        await _formatted(client, "editMessageText", text, arguments)
    except BadRequest as error:
        if not is_unchanged(error):
            raise


async def _formatted(
    client: Client, method: str, text: Formatted, arguments: dict[str, Any]
) -> Any:
    """Make the call; if Telegram cannot read the formatting, once more without, same buttons."""
    arguments["link_preview_options"] = _NO_PREVIEW
    arguments["reply_markup"] = written(arguments.get("reply_markup"))
    entities = [entity.to_dict() for entity in text.entities]
    try:
        return await client.call(method, text=text.text, entities=entities, **arguments)
    except BadRequest as error:
        if not is_about_entities(error):
            raise
        _log.warning("Telegram refused a card's formatting; it is shown without")
        return await client.call(method, text=text.without_entities, **arguments)
