"""A form asked in a chat, question by question, for platforms without a dialog that holds it.

A platform implements ``ConversationChat`` and renders the views. ``Conversations`` begins
and ends them; ``ConversationReplies`` takes the answers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from gettext import NullTranslations
from typing import Protocol

from sayso.calls import new_id
from sayso.cards.card import Card, Choice, Ended
from sayso.cards.gist import begins
from sayso.cards.outcomes import outcome_by
from sayso.chats.places import Answered, MessageRef, Place, Press
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.locales import ENGLISH, load_translations, locale_of
from sayso.platforms.conversation_steps import (
    Conversation,
    FormButton,
    Purpose,
    detach_values,
    go_to,
    needs_typing,
)
from sayso.platforms.conversation_store import Begun, ConversationStore
from sayso.platforms.conversation_view import Board, Note, Prompt, show_board, show_prompt
from sayso.tasks import Background

_log = logging.getLogger(__name__)

OPEN_SECONDS = 8.0
"""How long a presser waits for a form: no adapter may take longer than 10 seconds."""

# Closing the adapter waits this long for boards that are being taken back.
_FINISH_SECONDS = 5.0


class ConversationChat(Protocol):
    """One bot on one chat platform, as conversations speak through it."""

    async def post(self, view: Board | Prompt | Note, reply_to: MessageRef) -> MessageRef:
        """Post a message in reply to another, or beside it when that is gone.

        Raises:
            ChannelMigratedError: the chat has a new address.
            DeliveryError: the platform did not take the message.
        """
        ...

    async def change(self, message: MessageRef, view: Board | Note) -> None:
        """Make the message show this, and no buttons where the view has none.

        Raises:
            ChannelMigratedError: the chat has a new address.
            DeliveryError: the platform did not take the change.
        """
        ...

    async def take_back(self, message: MessageRef) -> None:
        """Delete a message of the bot.

        Raises:
            DeliveryError: the platform did not delete it.
        """
        ...

    async def can_type(self, place: Place) -> bool:
        """Return True if people can reply there.

        Raises:
            DeliveryError: the platform did not say.
        """
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to a message of the bot.

    ``reply_to`` is the id of that message, in the same chat. ``actor`` is None when nobody in
    particular wrote the reply: an anonymous admin, a channel, a bot. ``text`` is None
    for a photo, a sticker and the like.
    """

    message: MessageRef
    reply_to: str
    actor: str | None
    text: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class FormPress:
    """A press of a form's button. ``ticket`` is what the platform answers presses by."""

    button: FormButton
    actor: str
    message: MessageRef
    ticket: str = field(default="", repr=False)


class Outcome(Enum):
    """The outcome of a reply or a press that did not reach the worker."""

    PRESSED = "form_pressed"
    ANSWERED = "form_answered"
    NOT_STORED = "not_stored"
    NOT_OURS = "not_a_press"
    NOT_OUR_BUTTON = "not_our_button"
    NOT_THEIRS = "not_theirs"
    NOBODYS = "not_attributable"
    NOT_TEXT = "not_text"
    ANSWERED_BEFORE = "answered_before"
    SEEN_BEFORE = "seen_before"
    TOO_LATE = "too_late"


@dataclass(frozen=True, slots=True)
class Taken:
    """The outcome of a reply or a press.

    ``outcome`` is the worker's where it was asked. ``text`` is for the presser
    alone and ``is_alert`` says that they must not miss it. What is not stored
    must come again; ``retry_after`` says in how many seconds it is worth it,
    None where nobody said.
    """

    outcome: Outcome | Answered
    text: str = ""
    is_alert: bool = False
    retry_after: float | None = None

    @property
    def is_stored(self) -> bool:
        """True if the platform may forget it."""
        return self.outcome is not Outcome.NOT_STORED


class ConversationMessages:
    """The messages of conversations."""

    def __init__(
        self,
        chat: ConversationChat,
    ) -> None:
        self.chat = chat

    async def post_board(self, conversation: Conversation) -> str:
        """Post the board in reply to the card and return its id."""
        view = show_board(conversation, load_translations(conversation.language))
        return (await self.chat.post(view, conversation.card)).message_id

    async def change_board(self, conversation: Conversation) -> None:
        """Make the board show the conversation as it is now."""
        view = show_board(conversation, load_translations(conversation.language))
        await self.chat.change(conversation.message(conversation.board), view)

    async def post_prompt(self, conversation: Conversation, reply_to: str) -> str:
        """Ask for a typed answer and return the id of the message."""
        view = show_prompt(conversation, load_translations(conversation.language))
        return (await self.chat.post(view, conversation.message(reply_to))).message_id

    async def delete(self, message: MessageRef) -> None:
        """Delete a message of the bot. Never raises: one that stays does no harm."""
        try:
            await self.chat.take_back(message)
        except DeliveryError as error:
            _log.info("a message of a form stays in the chat: %s", error.reason)

    async def close_board(self, message: MessageRef, why: str, language: str) -> None:
        """Leave the reason and no buttons. Never raises: its buttons do nothing any more."""
        try:
            await self.chat.change(message, Note(why, load_translations(language)))
        except DeliveryError as error:
            _log.info("a board keeps its buttons: %s", error.reason)

    async def tell(self, message: MessageRef, text: str, language: str) -> None:
        """Reply with a sentence. Never raises: the conversation does not depend on it."""
        try:
            await self.chat.post(Note(text, load_translations(language)), message)
        except DeliveryError as error:
            _log.warning("a reply was not answered: %s", error.reason)


class Conversations:
    """Begins and ends the conversations of one bot. ``finish`` ends what is still under way.

    ``name`` returns what a person is called in a language, by their actor, and is never empty.
    """

    def __init__(
        self,
        store: ConversationStore,
        messages: ConversationMessages,
        name: Callable[[str, NullTranslations], str],
        *,
        open_seconds: float = OPEN_SECONDS,
    ) -> None:
        self.store = store
        self.messages = messages
        self._name = name
        self._open_seconds = open_seconds
        self._background = Background("the end of a form", patience=_FINISH_SECONDS)

    async def open(self, press: Press, card: Card, choice: Choice) -> None:
        """Ask the presser the first question; an earlier form of theirs on this card is over.

        Where this raises no form stays in the chat, also when it is cancelled while the
        platform is still at it.

        Raises:
            DeliveryError: the platform did not take it, or not in time, or nobody can answer
                there.
            StoreUnreachableError: the conversation could not be kept.
        """
        conversation_id = new_id()
        opening = asyncio.create_task(self._open(conversation_id, press, card, choice))
        try:
            async with asyncio.timeout(self._open_seconds):
                await asyncio.shield(opening)
        except (TimeoutError, asyncio.CancelledError) as error:
            # Only the reply to the call under way says which message is to be taken back.
            why = card.translations.gettext(
                "The question could not be shown: press the button on the card again."
            )
            self._background.start(self._take_back(conversation_id, opening, why))
            if isinstance(error, TimeoutError):
                platform = press.message.place.platform
                raise DeliveryError(
                    platform, card.translations.gettext("it took too long")
                ) from None
            raise

    async def finish(self) -> None:
        """Return when nothing is under way any more, within seconds."""
        await self._background.finish()

    async def close(
        self, handle: str, ended: Ended, translations: NullTranslations = ENGLISH
    ) -> None:
        """Close the forms on a card that has ended. Never raises: the card goes first."""
        why = translations.gettext("Too late: this was already {how}.").format(
            how=outcome_by(translations, ended.outcome, ended.who)
        )
        try:
            for one in await self.store.list_begun(handle):
                await self._end(one, why, locale_of(translations))
        except StoreUnreachableError as error:
            _log.warning("forms on an ended card stay open, and decide nothing: %s", error)

    async def _open(
        self, conversation_id: str, press: Press, card: Card, choice: Choice
    ) -> Conversation:
        conversation = await self._build(conversation_id, press, card, choice)
        board = await self.messages.post_board(conversation)
        conversation = replace(conversation, board=board)
        translations = load_translations(conversation.language)
        try:
            await self.store.keep(conversation)
            await self.store.bind(conversation, board)
            replaced = await self.store.begin(conversation)
            if conversation.is_typed:
                prompt = await self.messages.post_prompt(conversation, conversation.card.message_id)
                conversation = replace(conversation, prompt=prompt)
                await self.store.bind(conversation, prompt)
                await self.store.keep(conversation)
            for one in replaced:
                await self._end(
                    one,
                    translations.gettext("This was started again below."),
                    conversation.language,
                )
        except BaseException:
            await asyncio.shield(
                self._delete(
                    conversation,
                    translations.gettext(
                        "The question could not be shown: press the button on the card again."
                    ),
                )
            )
            raise
        return conversation

    async def _build(
        self, conversation_id: str, press: Press, card: Card, choice: Choice
    ) -> Conversation:
        place, translations = (
            press.message.place,
            card.translations,
        )
        if choice.form is None:
            reason = translations.gettext("{label} has no form").format(label=choice.label)
            raise DeliveryError(place.platform, reason, permanent=True)
        form, values = detach_values(choice.form)
        conversation = Conversation(
            conversation_id=conversation_id,
            actor=press.actor,
            name=self._name(press.actor, translations),
            card=press.message,
            purpose=Purpose(
                handle=press.handle,
                choice=choice.key,
                label=choice.label,
                confirmed=press.confirmed,
                falls_back=choice.falls_back,
                which=card.which,
                begins=begins(card),
            ),
            form=form,
            expires_at=card.expires_at.timestamp(),
            values=values,
            can_type=await self._can_type(place),
            language=locale_of(card.translations),
        )
        if not conversation.can_type and needs_typing(conversation):
            raise DeliveryError(
                place.platform,
                translations.gettext(
                    "nobody can type an answer there: route it to a group or to a person"
                ),
                permanent=True,
            )
        return go_to(conversation, 0)

    async def _can_type(self, place: Place) -> bool:
        try:
            return await self.messages.chat.can_type(place)
        except DeliveryError as error:
            _log.info("people may be able to reply in %s: %s", place, error.reason)
            return True

    async def _take_back(
        self, conversation_id: str, opening: asyncio.Task[Conversation], why: str
    ) -> None:
        """Delete a form that nobody waits for any more, as soon as its messages are known."""
        with suppress(StoreUnreachableError):
            await self.store.end(conversation_id, why)
        await asyncio.wait({opening})
        if not opening.cancelled() and not opening.exception():
            await self._delete(opening.result(), why)

    async def _delete(self, conversation: Conversation, why: str) -> None:
        with suppress(StoreUnreachableError):
            await self.store.end(conversation.conversation_id, why)
        for message_id in filter(None, (conversation.board, conversation.prompt)):
            await self.messages.delete(conversation.message(message_id))

    async def _end(self, one: Begun, why: str, language: str) -> None:
        """End a conversation unless it is over, or about to show the worker's answer."""
        conversation = await self.store.read(one.conversation_id)
        if conversation is not None and conversation.ended:
            return
        await self.store.end(one.conversation_id, why)
        if conversation is not None and self.store.is_sent(conversation):
            return
        board = conversation.message(conversation.board) if conversation else one.board
        await self.messages.close_board(board, why, language)
        if conversation is not None and conversation.prompt:
            await self.messages.delete(conversation.message(conversation.prompt))
