"""Texts with entities on their way to Telegram."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from telegram import Bot, LinkPreviewOptions
from telegram.error import BadRequest

from sayso_telegram.card.formatted import Formatted
from sayso_telegram.failures import is_about_entities, is_unchanged

_log = logging.getLogger(__name__)

_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


async def edited(bot: Bot, text: Formatted, **arguments: Any) -> None:
    """Change a message; that it shows this already is success."""
    try:
        await formatted(bot.edit_message_text, text, **arguments)
    except BadRequest as error:
        if not is_unchanged(error):
            raise


async def formatted(call: Callable[..., Awaitable[Any]], text: Formatted, **arguments: Any) -> Any:
    """Make the call; if Telegram cannot read the formatting, once more without, same buttons."""
    arguments["link_preview_options"] = _NO_PREVIEW
    try:
        return await call(text=text.text, entities=text.entities, **arguments)
    except BadRequest as error:
        if not is_about_entities(error):
            raise
        _log.warning("Telegram refused a card's formatting; it is shown without")
        return await call(text=text.without_entities, **arguments)
