"""Dialogues at work: replies and presses of forms become moves, and the last one a press."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from sayso.calls import new_id
from sayso.chats.adapter import PressTaker
from sayso.chats.places import Answer, Answered, MessageRef, Press
from sayso.dialogues.chat import FormPress, Outcome, Reply, Taken
from sayso.dialogues.dialogue import Asking, Dialogue, Ended, Filled, LeftOut, Sending
from sayso.dialogues.drafts import MOVE_SECONDS, Asked, DialogueDrafts
from sayso.dialogues.messages import Messages
from sayso.dialogues.moves import over, pressed, stumbled, typed
from sayso.errors import CallbackError, DeliveryError, PlaceMovedError
from sayso.stores.ports import Leases

_log = logging.getLogger(__name__)

_AGAIN_SECONDS = 0.1
_TRIES = 20
# A lease cannot be given back: it is kept for one more moment instead.
_LAST_MOMENT_SECONDS = 0.001
_FINE = (Answered.RECORDED,)


class Dialogues:
    """Makes one move of a dialogue at a time, whichever process gets the update.

    A move is made under a lease that no two processes hold and is kept last:
    an update that comes twice finds the move made, one that came to a process
    that died makes it again. Every method raises StoreUnreachableError when
    nothing could be kept, and TimeoutError while another process makes a move
    all the time: then the update must come again.
    """

    def __init__(
        self,
        drafts: DialogueDrafts,
        messages: Messages,
        leases: Leases,
        desk: PressTaker,
        *,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._drafts = drafts
        self._messages = messages
        self._leases = leases
        self._desk = desk
        self._pause = pause

    async def reply(self, reply: Reply) -> Taken:
        """Take what somebody wrote in reply to a message of the bot."""
        if reply.is_edit:
            return await self._edit(reply)
        asked = await self._asked_by(reply)
        if asked is None:
            return Taken(Outcome.NOT_OURS)
        words = self._messages.words(asked.language)
        if reply.actor is None:
            return await self._told_once(Outcome.NOBODYS, reply, words.nobodys, asked.language)
        if reply.actor != asked.actor:
            told = words.not_their_question.format(name=asked.name, label=asked.label)
            return await self._told_once(Outcome.NOT_THEIRS, reply, told, asked.language)
        if reply.text is None:
            return await self._told_once(Outcome.NOT_TEXT, reply, words.not_text, asked.language)
        return await self._answer(reply, reply.text, asked)

    async def press(self, press: FormPress) -> Taken:
        """Take a press of a button of a form."""
        async with self._turn(press.button.dialogue) as dialogue:
            if dialogue is None:
                return await self._too_late(press)
            words = self._messages.words(dialogue.language)
            if press.actor != dialogue.actor:
                label = dialogue.purpose.label
                told = words.not_their_form.format(name=dialogue.name, label=label)
                return Taken(Outcome.NOT_THEIRS, told, is_alert=True)
            if not _is_same(press.message, dialogue.message(dialogue.board)):
                return Taken(Outcome.NOT_OUR_BUTTON, words.cards.elsewhere, is_alert=True)
            if dialogue.ended:
                await self._messages.close_board(press.message, dialogue.ended, dialogue.language)
                return Taken(Outcome.TOO_LATE, dialogue.ended, is_alert=True)
            moved = pressed(dialogue, press.button, words)
            if moved is None:
                return Taken(Outcome.SEEN_BEFORE, words.changed)
            try:
                _, answer = await self._move(dialogue, moved)
            except DeliveryError as error:
                return _not_shown(error)
        if answer is None:
            return Taken(Outcome.PRESSED)
        return Taken(answer.kind, answer.text, is_alert=answer.kind not in _FINE)

    async def _asked_by(self, reply: Reply) -> Asked | None:
        if reply.reply_to is None:
            return None
        return await self._drafts.bound(replace(reply.message, message_id=reply.reply_to))

    async def _too_late(self, press: FormPress) -> Taken:
        """Take the buttons off the board of a dialogue that is gone.

        Clients can send any data: a message that is not the board of that
        dialogue, a card for one, is left alone.
        """
        board = await self._drafts.bound(press.message)
        why = self._messages.words(self._language(press, board)).over
        if board is not None and board.dialogue_id == press.button.dialogue:
            why = await self._why_over(board)
            await self._messages.close_board(press.message, why, board.language)
        return Taken(Outcome.TOO_LATE, why, is_alert=True)

    async def _why_over(self, asked: Asked) -> str:
        """Why a dialogue that is gone is over: how its question ended, where that is known."""
        words = self._messages.words(asked.language)
        return await self._drafts.ended(asked.dialogue_id) or words.over

    def _language(self, press: FormPress, board: Asked | None) -> str:
        return board.language if board is not None else self._desk.language(press.message.place)

    async def _answer(self, reply: Reply, text: str, asked: Asked) -> Taken:
        message_id = reply.message.message_id
        async with self._turn(asked.dialogue_id) as dialogue:
            if dialogue is None:
                why = await self._why_over(asked)
                return await self._told_once(Outcome.TOO_LATE, reply, why, asked.language)
            words = self._messages.words(dialogue.language)
            if message_id in dialogue.seen:
                return Taken(Outcome.SEEN_BEFORE)
            if dialogue.ended:
                return await self._told_once(
                    Outcome.TOO_LATE, reply, dialogue.ended, asked.language
                )
            if asked.visit not in (None, dialogue.visit) or not dialogue.is_typed:
                return await self._told_once(
                    Outcome.ANSWERED_BEFORE, reply, words.answered, asked.language
                )
            await self._drafts.bind(dialogue, message_id, None)
            moved = typed(dialogue, text, message_id, words)
            try:
                after, answer = await self._move(dialogue, moved, reply_to=message_id)
            except DeliveryError as error:
                return _not_shown(error)
        if answer is None:
            return Taken(Outcome.ANSWERED)
        if answer.kind not in _FINE and not after.prompt:
            await self._messages.tell(reply.message, answer.text, after.language)
        return Taken(answer.kind)

    async def _edit(self, reply: Reply) -> Taken:
        """What was answered stays; whoever wrote it is told so once."""
        mine = await self._drafts.bound(reply.message) or await self._asked_by(reply)
        if mine is None or mine.actor != reply.actor:
            return Taken(Outcome.NOT_OURS)
        own = replace(reply, reply_to=reply.message.message_id)
        words = self._messages.words(mine.language)
        return await self._told_once(Outcome.EDITED, own, words.edited, mine.language)

    async def _move(
        self, before: Dialogue, after: Dialogue, *, reply_to: str = ""
    ) -> tuple[Dialogue, Answer | None]:
        """Show the move and keep it; what the desk says of it if it was the last one."""
        answer = None
        if isinstance(after.state, Filled | LeftOut):
            answer, after = await self._sent(before, after)
        after = await self._shown(after, was_typed=bool(reply_to))
        if after.visit != before.visit or after.ended:
            after = replace(after, prompt="")
            if after.is_typed:
                has_problem = isinstance(after.state, Asking) and bool(after.state.problem)
                to = reply_to if reply_to and has_problem else after.card.message_id
                after = replace(after, prompt=await self._messages.post_prompt(after, to))
                await self._drafts.bind(after, after.prompt, after.visit)
        await self._drafts.keep(over(after, after.ended) if after.ended else after)
        for gone in {before.prompt, before.board} - {"", after.prompt, after.board}:
            await self._messages.take_away(before.message(gone))
        return after, answer

    async def _shown(self, after: Dialogue, *, was_typed: bool) -> Dialogue:
        """The board brought up to date.

        It is posted again below a typed answer when its buttons are wanted
        next, and where somebody took it away.
        """
        words = self._messages.words(after.language)
        if not (was_typed and after.wants_buttons):
            try:
                await self._messages.change_board(after)
            except PlaceMovedError:
                # Nothing in the old group can be reached: the card is posted in the new one.
                return over(after, words.over)
            except DeliveryError as error:
                if after.ended:
                    _log.info("a board does not show its end: %s", error.reason)
                    return after
                if not error.permanent:
                    raise
            else:
                return after
        try:
            message_id = await self._messages.post_board(after)
        except DeliveryError as error:
            if not error.permanent:
                raise
            _log.warning("a form cannot go on: %s", error.reason)
            return over(after, words.over)
        after = replace(after, board=message_id)
        await self._drafts.bind(after, message_id, None)
        return after

    async def _sent(self, before: Dialogue, after: Dialogue) -> tuple[Answer, Dialogue]:
        """Hand the values to the desk; its answer, and the dialogue after it.

        That they are with the desk is noted first: whoever ends the card
        leaves this board to us. When the desk fails, the answer is not taken.
        """
        if isinstance(before.state, Asking):
            await self._drafts.keep(self._drafts.sending(before, before.state))
        purpose, left_out = after.purpose, isinstance(after.state, LeftOut)
        words = self._messages.words(after.language)
        press = Press(
            handle=purpose.handle,
            choice=purpose.falls_back if left_out else purpose.choice,
            actor=after.actor,
            message=after.card,
            confirmed=purpose.confirmed,
            inputs=None if left_out else after.values,
        )
        try:
            answer = await self._desk.press(press)
        except CallbackError:
            answer = Answer(Answered.LATE, words.seen_before)
        if answer.kind is Answered.INVALID:
            return answer, stumbled(after, answer.problems, words)
        return answer, replace(after, state=Ended(answer.text or words.sent))

    @asynccontextmanager
    async def _turn(self, dialogue_id: str) -> AsyncIterator[Dialogue | None]:
        """The dialogue, whose next move is ours alone; None when its time is over.

        Raises:
            TimeoutError: another process has been making a move all the while.
        """
        lease, owner = self._drafts.lease(dialogue_id), new_id()
        for _ in range(_TRIES):
            if await self._leases.hold(lease, owner, seconds=MOVE_SECONDS):
                break
            await self._pause(_AGAIN_SECONDS)
        else:
            raise TimeoutError("another process is making a move in this form")
        try:
            dialogue = await self._drafts.read(dialogue_id)
            if dialogue is None:
                yield None
                return
            if isinstance(dialogue.state, Sending):
                dialogue = replace(dialogue, state=dialogue.state.before)
            ended = await self._drafts.ended(dialogue_id)
            yield over(dialogue, ended) if ended else dialogue
        finally:
            await self._leases.hold(lease, owner, seconds=_LAST_MOMENT_SECONDS)

    async def _told_once(self, why: Outcome, reply: Reply, said: str, language: str) -> Taken:
        """Say it once to each person about each message: nobody can make the bot flood a chat."""
        about = replace(reply.message, message_id=reply.reply_to or reply.message.message_id)
        if await self._drafts.is_news(about, f"{why.value}:{reply.actor or ''}"):
            await self._messages.tell(reply.message, said, language)
        return Taken(why)


def _is_same(one: MessageRef, other: MessageRef) -> bool:
    """Whether they are the same message, whatever thread each place names."""
    return (one.place.address, one.message_id) == (other.place.address, other.message_id)


def _not_shown(error: DeliveryError) -> Taken:
    _log.warning("a form does not go on yet: %s", error)
    return Taken(Outcome.NOT_STORED, is_alert=True, retry_after=error.retry_after)
