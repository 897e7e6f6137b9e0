"""Telegram as a test or a person uses it: look at messages, press buttons, write replies."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sayso_playground.config import Member, PlaygroundConfig
from sayso_playground.faults import PATIENCE_SECONDS, Changes, Delivery, Double
from sayso_playground.telegram.api import TelegramApi
from sayso_playground.telegram.methods import TelegramMethods
from sayso_playground.telegram.state import (
    Chat,
    Json,
    Query,
    TelegramMessage,
    TelegramState,
)
from sayso_playground.telegram.updates import Update, Updates

Who = str | int | Member
Alter = Callable[[Json], None]
"""Changes an update's content in place before it is queued."""

_ANONYMOUS_ADMIN = 1087968824  # core.telegram.org, Message: GroupAnonymousBot


class TelegramDouble(Double):
    """One bot in a few chats.

    ``calls`` holds every API call, ``queries`` every press by callback query id.
    """

    def __init__(self, config: PlaygroundConfig, changes: Changes) -> None:
        super().__init__(config, changes)
        self.state = TelegramState(config, changes.ring)
        methods = TelegramMethods(self.state)
        self.updates = Updates(config, self.faults, changes.ring, self._perform_reply)
        self.api = TelegramApi(self.state, self.faults, self.calls, methods, self.updates)

    @property
    def queries(self) -> dict[str, Query]:
        """Every press so far, by the id of its callback query."""
        return self.state.queries

    async def close(self) -> None:
        """Stop delivering updates."""
        await self.updates.close()

    def deliver_to(self, url: str, *, secret_token: str = "") -> None:
        """Set the webhook as the bot would with setWebhook."""
        self.updates.set_webhook({"url": url, "secret_token": secret_token})

    def messages(self, chat: int | None = None) -> list[TelegramMessage]:
        """The messages of one chat or of all, oldest first."""
        found = self.state.messages.values()
        return [message for message in found if chat in (None, message.chat)]

    async def message_where(
        self, wanted: Callable[[TelegramMessage], bool], timeout: float = PATIENCE_SECONDS
    ) -> TelegramMessage:
        """Wait for a message; the newest that fits.

        Raises:
            TimeoutError: none came in time.
        """
        return await self._changes.until(
            lambda: next(filter(wanted, reversed(self.messages())), None),
            "Telegram message",
            timeout,
        )

    async def press(
        self,
        message: TelegramMessage,
        button: str,
        *,
        by: Who,
        timeout: float = PATIENCE_SECONDS,
        alter: Alter | None = None,
    ) -> Delivery:
        """Press the button with this label or callback data, as it was on this message.

        Returns when the bot has taken the update and answered the query, when delivery was
        given up, or after ``timeout`` seconds: then the person still sees it spinning.
        """
        buttons = message.buttons
        data = buttons.get(button, button if button in buttons.values() else None)
        if data is None:
            there = ", ".join(map(repr, buttons)) or "none"
            raise LookupError(f"no button {button!r} in the message; buttons are {there}")
        return await self.press_data(message, data, by=by, timeout=timeout, alter=alter)

    async def press_data(
        self,
        message: TelegramMessage,
        data: str,
        *,
        by: Who,
        timeout: float = PATIENCE_SECONDS,
        alter: Alter | None = None,
        inaccessible: bool = False,
    ) -> Delivery:
        """Send this callback data, which need not be on any button: clients can do that.

        ``inaccessible`` leaves out what the message says, as Telegram does for old ones.
        """
        member = self.config.member(by)
        query_id = self.state.new_query(member, message)
        current = self.state.messages.get((message.chat, message.id), message)
        shown = self.state.message_json(current)
        if inaccessible:
            shown = {"chat": shown["chat"], "message_id": message.id, "date": 0}
        content: Json = {
            "id": query_id,
            "from": self.state.user_json(member.telegram_id),
            "message": shown,
            "chat_instance": str(message.chat * 7919),
            "data": data,
        }
        if alter:
            alter(content)
        update = self.updates.add("callback_query", content, f"user:{member.telegram_id}")
        return await self._outcome(update, self.queries[query_id], timeout)

    def say(
        self,
        chat: int,
        text: str,
        *,
        by: Who,
        reply_to: TelegramMessage | int | None = None,
        thread_id: int | None = None,
        anonymous: bool = False,
        attached: Json | None = None,
    ) -> TelegramMessage:
        """Write a message as a person, or as an anonymous admin; the bot gets an update.

        ``attached`` is what it is besides or in place of a text: ``{"sticker": {...}}``.
        """
        member = self.config.member(by)
        if chat == member.telegram_id:
            self._chat(chat).started = True
        if isinstance(reply_to, TelegramMessage):
            thread_id = thread_id or reply_to.thread_id
            reply_to = reply_to.id
        message = TelegramMessage(
            chat,
            self.state.next_message_id(),
            member.telegram_id,
            self.state.now(),
            text,
            thread_id=thread_id,
            reply_to=reply_to,
            attached=attached or {},
        )
        self.state.post(message)
        content = self.state.message_json(message)
        if anonymous:
            content["from"] = {
                "id": _ANONYMOUS_ADMIN,
                "is_bot": True,
                "first_name": "Group",
                "username": "GroupAnonymousBot",
            }
            content["sender_chat"] = content["chat"]
        self.updates.add("message", content, f"chat:{chat}")
        return message

    def reply(self, message: TelegramMessage, text: str, *, by: Who) -> TelegramMessage:
        """Write a reply to a message, where that stands; the bot gets an update.

        Raises:
            LookupError: the message is gone: no client lets anybody reply to it.
        """
        if (message.chat, message.id) not in self.state.messages:
            raise LookupError("the message was deleted; nobody can reply to it")
        return self.say(message.chat, text, by=by, reply_to=message)

    def correct(self, message: TelegramMessage, text: str) -> TelegramMessage:
        """Edit a person's message; the bot gets an ``edited_message``.

        What it replies to is left out when that is gone by now.

        Raises:
            ValueError: the bot wrote it.
        """
        if message.sender == self.state.bot_id:
            raise ValueError("people edit their own messages only")
        edited = self.state.edit(message, text=text)
        self.updates.add("edited_message", self.state.message_json(edited), f"chat:{edited.chat}")
        return edited

    def delete(self, message: TelegramMessage) -> None:
        """Take a message away, as an admin can; the bot is not told."""
        self.state.messages.pop((message.chat, message.id), None)
        self._changes.ring()

    def block(self, who: Who) -> None:
        """Block the bot in a private chat; the bot gets a ``my_chat_member``."""
        self._set_membership(self.config.member(who), blocked=True)

    def unblock(self, who: Who) -> None:
        """Start the bot again in a private chat."""
        self._set_membership(self.config.member(who), blocked=False)

    def kick(self, chat: int) -> None:
        """Remove the bot from a group."""
        self._chat(chat).bot_is_member = False
        self._changes.ring()

    def migrate_group(self, chat: int) -> int:
        """Turn a basic group into a supergroup; returns its new id.

        The bot gets both service messages; messages of the old chat stay behind.
        """
        old = self._chat(chat)
        new_id = -1000000000000 + chat - 5_000_000
        self.state.chats[new_id] = Chat(new_id, "supergroup", old.title)
        old.migrated_to = new_id
        sender = self.config.members[0].telegram_id
        for place, service in (
            (chat, {"migrate_to_chat_id": new_id}),
            (new_id, {"migrate_from_chat_id": chat}),
        ):
            message = TelegramMessage(
                place, self.state.next_message_id(), sender, self.state.now(), service=service
            )
            self.state.post(message)
            self.updates.add("message", self.state.message_json(message), f"chat:{place}")
        return new_id

    def add_update(self, kind: str, content: Json) -> None:
        """Queue any other update, known or unknown to the bot."""
        self.updates.add(kind, content, "other")

    def _chat(self, chat: int) -> Chat:
        if chat not in self.state.chats:
            raise LookupError(f"there is no chat {chat}; chats are {list(self.state.chats)}")
        return self.state.chats[chat]

    def _set_membership(self, member: Member, *, blocked: bool) -> None:
        chat = self._chat(member.telegram_id)
        chat.blocked, chat.started = blocked, True
        bot = self.state.bot_json()
        inside = {"user": bot, "status": "member"}
        outside = {"user": bot, "status": "kicked", "until_date": 0}
        old, new = (inside, outside) if blocked else (outside, inside)
        change = {
            "chat": self.state.chat_json(chat.id),
            "from": self.state.user_json(member.telegram_id),
            "date": self.state.now(),
            "old_chat_member": old,
            "new_chat_member": new,
        }
        self.updates.add("my_chat_member", change, f"chat:{chat.id}")
        self._changes.ring()

    async def _outcome(self, update: Update, query: Query, seconds: float) -> Delivery:
        def find() -> bool | None:
            done = update.settled and (query.answered or not update.delivered)
            return True if done else None

        try:
            await self._changes.until(find, "answer", seconds)
            error = None if update.delivered else "the bot did not take the press"
        except TimeoutError:
            error = "the button keeps spinning: no answerCallbackQuery"
        status = update.statuses[-1] if update.statuses else None
        delivery = Delivery(status, update.body, update.seconds, error, tuple(update.statuses))
        return replace(delivery, answered=query.answered, toast=query.toast, alert=query.alert)

    def _perform_reply(self, method: str, arguments: Json) -> Any:
        self.api.perform_reply(method, arguments)
