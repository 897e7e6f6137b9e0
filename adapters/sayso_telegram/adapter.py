"""The Telegram adapter: shows cards, keeps them up to date, answers presses."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from gettext import NullTranslations
from typing import Any, Self

from telegram import Bot, InlineKeyboardMarkup, InputFile

from sayso.cards.card import Card, CardBody, Choice, Ended
from sayso.cards.truncation import Room
from sayso.chats.limits import Limits
from sayso.chats.places import MessageRef, Place, Press
from sayso.clock import Clock, utc_now
from sayso.errors import ChannelMigratedError, DeliveryError
from sayso.forms.form import Form
from sayso.platforms.bot import NotLooked
from sayso.platforms.conversation import OPEN_SECONDS, ConversationMessages, Conversations
from sayso.platforms.conversation_steps import MAX_OPTIONS
from sayso.platforms.conversation_store import ConversationStore
from sayso.stores.protocols import KeyValueStore
from sayso_telegram.batch_message import (
    MAX_STORED_IN_BATCH,
    batch_capacity,
    build_batch_keyboard,
    build_batch_message,
)
from sayso_telegram.client import (
    Client,
    edit_text,
    parse_number,
    parse_place,
    parse_user_id,
    reply_parameters,
    send_text,
)
from sayso_telegram.config import PLATFORM, TelegramConfig, rate_limits
from sayso_telegram.conversation_chat import (
    MAX_DEFAULT_UNITS,
    MAX_OPTION_UNITS,
    KnownNames,
    TelegramConversationChat,
    display_name,
    find_long_options,
)
from sayso_telegram.errors import UNKNOWN_CHAT, UNKNOWN_USER
from sayso_telegram.formatted_text import Formatted, count_units, replace_surrogates, truncate
from sayso_telegram.keyboard import MAX_STORED, keyboard
from sayso_telegram.message_text import CONTENT_LIMIT, LINES, add_mentions, message
from sayso_telegram.parse_update import ALLOWED_UPDATES
from sayso_telegram.permissions import is_private, member_problem, problem_of

_log = logging.getLogger(__name__)

# sendDocument takes 50 MB; this is what people and their phones can open.
REVEAL_LIMIT = 1_000_000
# What a form begins with stands in a message, as does what a choice would store: they count as
# messages do, and a wording that fits beside other cards is the better one.
LIMITS = Limits(
    content=CONTENT_LIMIT,
    reveal=REVEAL_LIMIT,
    lines=LINES,
    lengths=True,
    dialog=MAX_STORED_IN_BATCH,
    stores=MAX_STORED,
    options=MAX_OPTIONS,
    option=MAX_OPTION_UNITS,
    text=MAX_DEFAULT_UNITS,
    measure=count_units,
)
_FILE_NAME = "complete.txt"
# answerCallbackQuery, text: 0-200 characters.
_MOST_TOAST_UNITS = 200


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """The bot's number and name."""

    bot_id: int
    username: str


class TelegramAdapter:
    """Cards in Telegram. It works inside its ``async with`` block; entering it needs no network.

    ``key_value`` keeps forms that are being filled in: any process on the same
    store can go on with them. The listener of the same bot works with ``conversations`` and
    ``people``. A form that is not in the
    chat after ``open_seconds`` is taken back.
    """

    def __init__(
        self,
        config: TelegramConfig,
        key_value: KeyValueStore,
        *,
        clock: Clock = utc_now,
        open_seconds: float = OPEN_SECONDS,
    ) -> None:
        self._config = config
        self._limits = replace(LIMITS, budgets=rate_limits(config), form_problem=_form_problem)
        self._client = Client(config)
        self._username = ""
        self._open = AsyncExitStack()
        self.people = KnownNames()
        self.conversations = Conversations(
            ConversationStore(key_value, f"{PLATFORM}:{config.bot_id}", clock),
            ConversationMessages(TelegramConversationChat(self._client)),
            self._name,
            open_seconds=open_seconds,
        )

    async def __aenter__(self) -> Self:
        await self._open.enter_async_context(self._client.opened())
        self._open.push_async_callback(self.conversations.finish)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    @property
    def platform(self) -> str:
        """``telegram``."""
        return PLATFORM

    @property
    def limits(self) -> Limits:
        """The most that a message shows, that a file reveals, and that goes out in a time."""
        return self._limits

    def room(self, body: CardBody, count: int) -> Room | None:
        """The room for this card in a message with so many; None: it must stand alone."""
        return batch_capacity(body, count)

    async def show(self, cards: Sequence[Card], place: Place) -> MessageRef:
        """Post one message with these cards.

        A timeout may have posted it nevertheless: Telegram has no way to say
        that two calls mean the same message.

        Raises:
            ChannelMigratedError: the group became a supergroup.
            DeliveryError: Telegram did not take the message.
        """
        chat_id, thread_id = parse_place(place)
        text, markup = _rendered(cards)
        where: dict[str, Any] = {"chat_id": chat_id, "message_thread_id": thread_id}
        if any(card.call.quietly for card in cards):
            where["disable_notification"] = True
        number = await send_text(self._client, text, reply_markup=markup, **where)
        return MessageRef(Place(PLATFORM, str(chat_id), place.thread), number)

    async def say(self, place: Place, text: Formatted, *, reply_to: str = "") -> None:
        """Post a message that is no card, in reply to one where that still stands.

        Raises:
            ChannelMigratedError: the group became a supergroup.
            DeliveryError: Telegram did not take it.
        """
        chat_id, thread_id = parse_place(place)
        where: dict[str, Any] = {"chat_id": chat_id, "message_thread_id": thread_id}
        if reply_to:
            where["reply_parameters"] = reply_parameters(reply_to)
        await send_text(self._client, text, **where)

    async def update(self, ref: MessageRef, cards: Sequence[Card]) -> None:
        """Make the message show its cards as they are now. Repeating it changes nothing.

        The forms that people fill in for a card are closed once it has ended, after it, whether or
        not Telegram took the change.

        Raises:
            DeliveryError: Telegram did not take the change.
        """
        try:
            await self._edit(ref, cards)
        finally:
            for card in cards:
                if isinstance(card.state, Ended):
                    await self.conversations.close(card.handle, card.state, card.translations)

    async def reveal(self, press: Press, card: Card) -> None:
        """Send everything as a text file in reply to the card, visible to the whole chat.

        Raises:
            DeliveryError: Telegram did not take it.
        """
        ref = press.message
        chat_id, thread_id = parse_place(ref.place)
        content = replace_surrogates(card.everything).encode()
        with self._client.errors():
            await self._bot.send_document(
                chat_id,
                InputFile(content, filename=_FILE_NAME),
                caption=card.translations.gettext("Everything, complete."),
                message_thread_id=thread_id,
                reply_parameters=reply_parameters(ref.message_id),
            )

    async def ask(self, press: Press, card: Card, choice: Choice) -> None:
        """Ask the presser for the form's values, one after the other, in reply to the card.

        Raises:
            DeliveryError: Telegram did not take it, or not in time, or nobody can answer there.
            StoreUnreachableError: the conversation could not be kept.
        """
        await self.conversations.open(press, card, choice)

    async def members(self, group: str) -> Collection[str]:
        """Nobody: Telegram has no groups of users that a bot can read.

        Raises:
            DeliveryError: always.
        """
        reason = f"it has no user groups: list people instead of telegram:@{group}"
        raise DeliveryError(PLATFORM, reason, permanent=True)

    async def counts_in_groups(self, actor: str) -> bool:  # noqa: ARG002
        """Nobody does: there are no groups."""
        return False

    async def toast(self, query_id: str, text: str, alert: bool) -> None:
        """Tell the presser, and nobody else. Never raises: an answer that comes late is lost."""
        shown = truncate(replace_surrogates(text), _MOST_TOAST_UNITS) or None
        try:
            with self._client.errors():
                await self._bot.answer_callback_query(query_id, text=shown, show_alert=alert)
        except DeliveryError as error:
            late = "query is too old" in error.reason.lower()
            level = logging.DEBUG if late else logging.WARNING
            _log.log(level, "a press was not answered: %s", error.reason)

    async def identity(self) -> BotIdentity:
        """Ask whose the token is.

        Raises:
            DeliveryError: Telegram does not know the token, or did not answer.
        """
        with self._client.errors():
            me = await self._bot.get_me()
        self._username = me.username or ""
        return BotIdentity(me.id, self._username)

    def is_me(self, username: str) -> bool:
        """True for a command to this bot, or to no bot, and for all until our name is known."""
        return not (username and self._username) or username.lower() == self._username.lower()

    async def can_post(self, place: Place) -> str | NotLooked | None:
        """Find a reason that prevents cards from being shown there; None when there is none.

        It looks and does not post. What getChatMember does not tell of the bot
        in a group or a channel is not known.

        Raises:
            DeliveryError: Telegram did not say.
        """
        chat_id = 0
        try:
            chat_id, thread_id = parse_place(place)
            chat = await self._client.fetch("getChat", chat_id=chat_id)
        except DeliveryError as error:
            if not error.permanent:
                raise
            is_person = error.code == UNKNOWN_CHAT and chat_id > 0
            hint = "; ids of groups begin with a minus" if is_person else ""
            return f"{place} — {error.reason}{hint}"
        unknown = None
        try:
            who = {"chat_id": chat_id, "user_id": self._config.bot_id}
            me = await self._client.fetch("getChatMember", **who)
        except DeliveryError as error:
            me, unknown = None, NotLooked(error.reason)
        if problem := problem_of(chat, me, thread_id):
            return f"{place} — {problem}"
        return None if is_private(chat) else unknown

    async def can_approve(self, account: str, places: Collection[Place]) -> str | NotLooked | None:
        """Find a reason that keeps a person from answering in these places; else None.

        getChatMember is promised only where the bot is an administrator; whoever it
        knows in one of the chats can answer.
        """
        user_id = int(account.removeprefix(f"{PLATFORM}:"))
        problem = None
        unknown = None if places else NotLooked("no card that they may answer is shown in Telegram")
        for place in places:
            chat_id, _ = parse_place(place)
            if chat_id == user_id:
                return None  # the person's own chat with the bot, which can_post looks at
            try:
                who = {"chat_id": chat_id, "user_id": user_id}
                member = await self._client.fetch("getChatMember", **who)
            except DeliveryError as error:
                if error.code == UNKNOWN_USER:
                    problem = f"Telegram knows no such user in {place}; check the number"
                else:
                    unknown = NotLooked(error.reason)
                continue
            found = member_problem(member)
            if found is None:
                return None
            problem = f"{found} {place}; add them, or name somebody else"
        return unknown or problem

    async def updates(self, offset: int, seconds: int) -> list[Any]:
        """The updates from ``offset`` on as raw JSON values, waiting up to ``seconds`` for one.

        Bot.get_updates builds all of them before it hands out one, so that a
        single update it cannot read would end polling for good.

        Raises:
            DeliveryError: Telegram did not answer, or somebody else polls.
        """
        wanted: dict[str, Any] = {"timeout": seconds, "allowed_updates": list(ALLOWED_UPDATES)}
        if offset:
            wanted["offset"] = offset
        found = await self._client.fetch("getUpdates", wait_seconds=seconds, **wanted)
        return found if isinstance(found, list) else []

    async def _edit(self, ref: MessageRef, cards: Sequence[Card]) -> None:
        chat_id, _ = parse_place(ref.place)
        text, markup = _rendered(cards)
        where = {"chat_id": chat_id, "message_id": parse_number(ref.message_id)}
        try:
            await edit_text(self._client, text, reply_markup=markup, **where)
        except ChannelMigratedError as moved:
            # Messages of the old group cannot be reached under its new address.
            raise DeliveryError(PLATFORM, moved.reason, permanent=True) from moved

    def _name(self, actor: str, translations: NullTranslations) -> str:
        user_id = parse_user_id(actor)
        return display_name(self.people.name(user_id), user_id, translations)

    @property
    def _bot(self) -> Bot:
        return self._client.bot


def _form_problem(form: Form, translations: NullTranslations) -> str:
    if not (label := find_long_options(form)):
        return ""
    text = translations.gettext("the options of {label} are too long together")
    return text.format(label=label)


def _rendered(cards: Sequence[Card]) -> tuple[Formatted, InlineKeyboardMarkup | None]:
    try:
        if len(cards) == 1:
            return add_mentions(message(cards[0]), cards), keyboard(cards[0])
        return add_mentions(build_batch_message(cards), cards), build_batch_keyboard(cards)
    except ValueError as error:
        raise DeliveryError(PLATFORM, str(error), permanent=True) from error
