"""Replies and presses of a form: each is a step of its conversation, the last one a press."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from sayso.chats.adapter import PressTaker
from sayso.chats.places import Answer, Answered, MessageRef, Press
from sayso.errors import CallbackError, ChannelMigratedError, DeliveryError
from sayso.locales import load_translations
from sayso.platforms.conversation import (
    ConversationMessages,
    Conversations,
    FormPress,
    Outcome,
    Reply,
    Taken,
)
from sayso.platforms.conversation_steps import (
    Conversation,
    correct,
    end,
    press_button,
    type_answer,
)
from sayso.platforms.conversation_store import Asked

_log = logging.getLogger(__name__)


class ConversationReplies:
    """Makes one step of a conversation at a time, in whichever process gets the update.

    A step is made under a lease that no two processes hold and is kept last:
    an update that comes twice finds the step made, one that came to a process
    that died makes it again. Every method raises StoreUnreachableError when
    nothing could be kept, and TimeoutError while another process makes a step
    all the time: then the update must come again.
    """

    def __init__(
        self,
        conversations: Conversations,
        worker: PressTaker,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._store = conversations.store
        self._messages: ConversationMessages = conversations.messages
        self._worker = worker
        self._sleep = sleep

    async def reply(self, reply: Reply) -> Taken:
        """Take a reply to a message of the bot."""
        asked = await self._store.find(replace(reply.message, message_id=reply.reply_to))
        if asked is None:
            return Taken(Outcome.NOT_OURS)
        translations = load_translations(asked.language)
        if reply.actor is None:
            return await self._tell_once(
                Outcome.NOBODYS,
                reply,
                translations.gettext(
                    "This was sent in the name of a chat or an anonymous admin, so nobody can "
                    "tell whose answer it is. It decides nothing: reply as yourself."
                ),
                asked,
            )
        if reply.actor != asked.actor:
            text = translations.gettext(
                "This question is {name}'s: your reply decides nothing. To answer it yourself, "
                "press {label} on the card."
            ).format(name=asked.name, label=asked.label)
            return await self._tell_once(Outcome.NOT_THEIRS, reply, text, asked)
        if reply.text is None:
            return await self._tell_once(
                Outcome.NOT_TEXT,
                reply,
                translations.gettext(
                    "Only text can be an answer here: reply to the question with text."
                ),
                asked,
            )
        return await self._take_answer(reply, reply.text, asked)

    async def press(self, press: FormPress) -> Taken:
        """Take a press of a button of a form."""
        async with self._store.step(press.button.conversation, self._sleep) as now:
            if now is None:
                return await self._refuse_late(press)
            translations = load_translations(now.language)
            if press.actor != now.actor:
                text = translations.gettext(
                    "This form is {name}'s: press {label} on the card."
                ).format(name=now.name, label=now.purpose.label)
                return Taken(Outcome.NOT_THEIRS, text, is_alert=True)
            if not _is_same(press.message, now.message(now.board)):
                return Taken(
                    Outcome.NOT_OUR_BUTTON,
                    translations.gettext("This button does not belong to this message."),
                    is_alert=True,
                )
            if now.ended:
                await self._messages.close_board(press.message, now.ended, now.language)
                return Taken(Outcome.TOO_LATE, now.ended, is_alert=True)
            after = press_button(now, press.button, translations)
            if after is None:
                return Taken(
                    Outcome.SEEN_BEFORE,
                    translations.gettext("The form has changed in the meantime."),
                )
            try:
                answer = await self._make_step(now, after)
            except DeliveryError as error:
                return _not_shown(error)
        if answer is None:
            return Taken(Outcome.PRESSED)
        return Taken(answer.kind, answer.text, is_alert=answer.kind is not Answered.RECORDED)

    async def _take_answer(self, reply: Reply, text: str, asked: Asked) -> Taken:
        message_id = reply.message.message_id
        async with self._store.step(asked.conversation_id, self._sleep) as now:
            translations = load_translations(asked.language)
            if now is None:
                why = await self._explain_end(asked)
                return await self._tell_once(Outcome.TOO_LATE, reply, why, asked)
            if message_id in now.seen:
                return Taken(Outcome.SEEN_BEFORE)
            if now.ended:
                return await self._tell_once(Outcome.TOO_LATE, reply, now.ended, asked)
            if reply.reply_to not in (now.prompt, now.board) or not now.is_typed:
                return await self._tell_once(
                    Outcome.ANSWERED_BEFORE,
                    reply,
                    translations.gettext(
                        "This was answered already: the form above shows where it stands."
                    ),
                    asked,
                )
            after = type_answer(now, text, message_id, translations)
            try:
                answer = await self._make_step(now, after, reply_to=message_id)
            except DeliveryError as error:
                return _not_shown(error)
        if answer is None:
            return Taken(Outcome.ANSWERED)
        if answer.kind not in (Answered.RECORDED, Answered.INVALID):
            await self._messages.tell(reply.message, answer.text, asked.language)
        return Taken(answer.kind)

    async def _refuse_late(self, press: FormPress) -> Taken:
        """Take the buttons off the board of a conversation that is gone.

        Clients can send any data: a message that is not the board of that
        conversation, a card for one, is left alone.
        """
        asked = await self._store.find(press.message)
        if asked is None or asked.conversation_id != press.button.conversation:
            translations = load_translations(self._worker.language(press.message.place))
            return Taken(
                Outcome.TOO_LATE,
                translations.gettext(
                    "The time for this is over: press the button on the card again."
                ),
                is_alert=True,
            )
        why = await self._explain_end(asked)
        await self._messages.close_board(press.message, why, asked.language)
        return Taken(Outcome.TOO_LATE, why, is_alert=True)

    async def _explain_end(self, asked: Asked) -> str:
        """Return how the request of a conversation that is gone ended, where that is known."""
        over = load_translations(asked.language).gettext(
            "The time for this is over: press the button on the card again."
        )
        return await self._store.read_end(asked.conversation_id) or over

    async def _make_step(
        self, before: Conversation, after: Conversation, *, reply_to: str = ""
    ) -> Answer | None:
        """Show the step and keep it; return the worker's answer if it was the last one."""
        answer = None
        if after.state in ("filled", "left_out"):
            answer, after = await self._send(before, after)
        after = await self._show_board(after, was_typed=bool(reply_to))
        if reply_to or after.step != before.step or not after.is_typed or after.problem:
            after = await self._ask(before, replace(after, prompt=""), reply_to)
        await self._store.keep(end(after, after.ended) if after.ended else after)
        for gone in {before.prompt, before.board} - {"", after.prompt, after.board}:
            await self._messages.delete(before.message(gone))
        return answer

    async def _ask(self, before: Conversation, after: Conversation, reply_to: str) -> Conversation:
        """Post the prompt of a question that is answered by typing."""
        if not after.is_typed:
            return after
        to = reply_to if reply_to and after.problem else after.card.message_id
        try:
            after = replace(after, prompt=await self._messages.post_prompt(after, to))
        except DeliveryError:
            if after.board != before.board:
                await self._messages.delete(after.message(after.board))
            raise
        await self._store.bind(after, after.prompt)
        return after

    async def _show_board(self, after: Conversation, *, was_typed: bool) -> Conversation:
        """Change the board after a press; post it again below a typed answer."""
        try:
            if not was_typed:
                await self._messages.change_board(after)
                return after
            after = replace(after, board=await self._messages.post_board(after))
        except DeliveryError as error:
            moved = isinstance(error, ChannelMigratedError)
            if not error.permanent and not moved and not after.ended:
                raise
            _log.warning("a form cannot go on: %s", error.reason)
            # A card of a group that moved is posted in the new one.
            over = load_translations(after.language).gettext(
                "The time for this is over: press the button on the card again."
            )
            return after if after.ended else end(after, over)
        await self._store.bind(after, after.board)
        return after

    async def _send(self, before: Conversation, after: Conversation) -> tuple[Answer, Conversation]:
        """Hand the values to the worker; return its answer and the conversation after it.

        The store knows first that they are with the worker: ending the card leaves
        this board alone then. When the worker fails, the answer is not taken.
        """
        await self._store.keep(replace(before, sent_at=self._store.now()))
        purpose, is_left_out = after.purpose, after.state == "left_out"
        translations = load_translations(after.language)
        press = Press(
            handle=purpose.handle,
            choice=purpose.falls_back if is_left_out else purpose.choice,
            actor=after.actor,
            message=after.card,
            confirmed=purpose.confirmed,
            inputs=None if is_left_out else after.values,
        )
        try:
            answer = await self._worker.press(press)
        except CallbackError:
            answer = Answer(Answered.LATE, translations.gettext("This was taken before."))
        if answer.kind is Answered.INVALID:
            return answer, correct(after, answer.problems, translations)
        return answer, replace(
            after, state="ended", ended=answer.text or translations.gettext("Sent.")
        )

    async def _tell_once(self, why: Outcome, reply: Reply, text: str, asked: Asked) -> Taken:
        """Say it once to each person about each message: nobody can make the bot flood a chat."""
        about = replace(reply.message, message_id=reply.reply_to)
        if await self._store.is_news(about, f"{why.value}:{reply.actor or ''}"):
            await self._messages.tell(reply.message, text, asked.language)
        return Taken(why)


def _is_same(one: MessageRef, other: MessageRef) -> bool:
    """Return True if they are the same message, whatever thread each place names."""
    return (one.place.address, one.message_id) == (other.place.address, other.message_id)


def _not_shown(error: DeliveryError) -> Taken:
    _log.warning("a form does not go on yet: %s", error)
    return Taken(Outcome.NOT_STORED, is_alert=True, retry_after=error.retry_after)
