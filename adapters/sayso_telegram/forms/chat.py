"""Telegram as the chat that conversations speak through."""

from __future__ import annotations

from sayso.chats.places import MessageRef, Place
from sayso.errors import DeliveryError
from sayso.platforms.conversation_view import Board, Note, Prompt
from sayso_telegram.addresses import chat_of, number_of
from sayso_telegram.card.formatted import Formatted
from sayso_telegram.card.sending import Markup, edit_text, reply_parameters, send_text
from sayso_telegram.client import Client
from sayso_telegram.failures import PLATFORM
from sayso_telegram.forms.view import rendered


class FormChat:
    """Posts and changes the messages of conversations: the core's ConversationChat."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._channels: dict[int, bool] = {}

    async def post(self, view: Board | Prompt | Note, reply_to: MessageRef) -> MessageRef:
        """Post a message in reply to another, or beside it when that is gone.

        Raises:
            ChannelMigratedError: the group became a supergroup.
            DeliveryError: Telegram did not take the message.
        """
        chat_id, thread_id = chat_of(reply_to.place)
        text, markup = _rendered(view)
        number = await send_text(
            self._client,
            text,
            chat_id=chat_id,
            message_thread_id=thread_id,
            reply_parameters=reply_parameters(reply_to.message_id),
            reply_markup=markup,
            disable_notification=isinstance(view, Board) and view.is_quiet,
        )
        return MessageRef(reply_to.place, number)

    async def change(self, message: MessageRef, view: Board | Note) -> None:
        """Make the message show this, and no buttons where the view has none.

        Raises:
            ChannelMigratedError: the group became a supergroup.
            DeliveryError: Telegram did not take the change.
        """
        chat_id, _ = chat_of(message.place)
        text, markup = _rendered(view)
        where = {"chat_id": chat_id, "message_id": number_of(message.message_id)}
        await edit_text(self._client, text, reply_markup=markup, **where)

    async def take_back(self, message: MessageRef) -> None:
        """Delete a message of the bot.

        Telegram edits no message that was sent with a ForceReply
        (MessagesManager::can_edit_message), so a prompt can only be deleted.

        Raises:
            DeliveryError: Telegram did not delete it.
        """
        chat_id, _ = chat_of(message.place)
        with self._client.errors():
            await self._client.bot.delete_message(chat_id, number_of(message.message_id))

    async def can_type(self, place: Place) -> bool:
        """Whether people can reply there: in a channel nobody can.

        Raises:
            DeliveryError: Telegram did not say.
        """
        chat_id, _ = chat_of(place)
        if chat_id > 0:
            return True
        if chat_id not in self._channels:
            chat = await self._client.fetch("getChat", chat_id=chat_id)
            kind = chat.get("type") if isinstance(chat, dict) else None
            self._channels[chat_id] = kind == "channel"
        return not self._channels[chat_id]


def _rendered(view: Board | Prompt | Note) -> tuple[Formatted, Markup]:
    try:
        return rendered(view)
    except ValueError as error:
        raise DeliveryError(PLATFORM, str(error), permanent=True) from error
