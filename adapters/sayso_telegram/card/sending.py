"""Texts with entities on their way to Telegram."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from telegram import ForceReply, InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters
from telegram.error import BadRequest

from sayso_telegram.addresses import number_of
from sayso_telegram.card.formatted import Formatted
from sayso_telegram.client import Client
from sayso_telegram.failures import is_about_entities, is_unchanged

_log = logging.getLogger(__name__)

_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)

Markup = InlineKeyboardMarkup | ForceReply | None


def reply_parameters(message_id: str) -> ReplyParameters:
    """Reply to a message where that still stands.

    Raises:
        DeliveryError: it is not a number of Telegram's.
    """
    return ReplyParameters(number_of(message_id), allow_sending_without_reply=True)


async def send_text(client: Client, text: Formatted, **arguments: Any) -> str:
    """Send a message and return its number; ``arguments`` are those of ``Bot.send_message``.

    Raises:
        DeliveryError: Telegram did not take it.
    """
    with client.errors():
        message = await _call_formatted(client.bot.send_message, text, arguments)
        return f"{message.message_id:d}"


async def edit_text(client: Client, text: Formatted, **arguments: Any) -> None:
    """Change a message; that it shows this already is success.

    Raises:
        DeliveryError: Telegram did not take it.
    """
    with client.errors():
        try:
            await _call_formatted(client.bot.edit_message_text, text, arguments)
        except BadRequest as error:
            if not is_unchanged(error):
                raise


async def _call_formatted(
    call: Callable[..., Awaitable[Any]], text: Formatted, arguments: dict[str, Any]
) -> Any:
    """Make the call; if Telegram cannot read the formatting, once more without, same buttons."""
    arguments["link_preview_options"] = _NO_PREVIEW
    try:
        return await call(text=text.text, entities=text.entities, **arguments)
    except BadRequest as error:
        if not is_about_entities(error):
            raise
        _log.warning("Telegram refused a card's formatting; it is shown without")
        return await call(text=text.without_entities, **arguments)
