"""Dialogues at work: replies and presses of forms become moves, and the last one a press."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from sayso.calls import new_id
from sayso.chats.adapter import PressTaker
from sayso.chats.places import Answer, Answered, MessageRef, Press
from sayso.errors import CallbackError, DeliveryError, PlaceMovedError
from sayso.stores.ports import Leases
from sayso_telegram.forms.dialogue import Dialogue
from sayso_telegram.forms.drafts import MOVE_SECONDS, Asked, DialogueDrafts
from sayso_telegram.forms.moves import over, pressed, stumbled, typed
from sayso_telegram.forms.prompting import Prompter
from sayso_telegram.reading.ids import actor_of, chat_place
from sayso_telegram.reading.replies import Reply
from sayso_telegram.reading.updates import FormPress
from sayso_telegram.taken import Taken
from sayso_telegram.toasts import Toast

_log = logging.getLogger(__name__)

_AGAIN_SECONDS = 0.1
_TRIES = 20
# A lease cannot be given back: it is kept for one more moment instead.
_LAST_MOMENT_SECONDS = 0.001
_OVER = "The time for this is over: press the button on the card again."
_ANSWERED = "This was answered already: the form above shows where it stands."
_CHANGED = "The form has changed meanwhile."
_EDIT = "Editing a message changes nothing: what was sent first counts. Reply to a question anew."
_NOT_TEXT = "Only a text can be an answer here: reply to the question with one."
_NOBODY = (
    "This was sent in the name of a chat or an anonymous admin, so nobody can tell whose answer "
    "it is. It decides nothing: reply as yourself."
)
_ELSEWHERE = "This button does not belong to this message."
_SEEN_BEFORE = "It was taken before."
_SLOW = "Telegram or the store does not answer: it is tried again for two minutes."
_FINE = (Answered.RECORDED,)


class Dialogues:
    """Makes one move of a dialogue at a time, whichever process gets the update.

    A move is made under a lease that no two processes hold and is kept last:
    an update that comes twice finds the move made, one that came to a process
    that died makes it again. Every method raises StoreUnreachableError when
    nothing could be kept, and then the update must come again.
    """

    def __init__(
        self,
        drafts: DialogueDrafts,
        prompter: Prompter,
        leases: Leases,
        desk: PressTaker,
        counters: Counter[str],
    ) -> None:
        self._drafts = drafts
        self._prompter = prompter
        self._leases = leases
        self._desk = desk
        self._counters = counters

    async def reply(self, reply: Reply) -> Taken:
        """Take what somebody wrote in reply to a message of the bot."""
        if reply.is_edit:
            return await self._edit(reply)
        asked = await self._drafts.bound(reply.chat_id, reply.reply_to or 0)
        if asked is None:
            self._counters["not_a_press"] += 1
            return Taken(stored=True)
        if reply.user_id is None:
            return await self._told_once("not_attributable", reply, _NOBODY)
        if reply.user_id != asked.user_id:
            words = (
                f"This question is {asked.name}'s, your reply decides nothing. "
                f"To answer it yourself, press {asked.label} on the card."
            )
            return await self._told_once("not_theirs", reply, words)
        if reply.text is None:
            return await self._told_once("not_text", reply, _NOT_TEXT)
        return await self._answer(reply, reply.text, asked)

    async def press(self, press: FormPress) -> Taken:
        """Take a press of a button of a form."""
        async with self._turn(press.button.dialogue) as dialogue:
            if dialogue is None:
                return await self._over(press)
            if press.user_id != dialogue.user_id:
                words = f"This form is {dialogue.name}'s: press {dialogue.label} on the card."
                return self._toast("not_theirs", press, words, alert=True)
            if (press.chat_id, press.message_id) != (dialogue.chat_id, dialogue.board):
                return self._toast("not_our_button", press, _ELSEWHERE, alert=True)
            if dialogue.ended:
                await self._prompter.close_board(press.chat_id, press.message_id, dialogue.ended)
                return self._toast("too_late", press, dialogue.ended, alert=True)
            moved = pressed(dialogue, press.button)
            if moved is None:
                return self._toast("seen_before", press, _CHANGED)
            try:
                _, answer = await self._move(dialogue, moved)
            except DeliveryError as error:
                return self._not_shown(error, Toast(press.query_id, _SLOW, alert=True))
        if answer is None:
            return self._toast("form_pressed", press, "")
        return self._toast(answer.kind.value, press, answer.text, alert=answer.kind not in _FINE)

    async def _over(self, press: FormPress) -> Taken:
        """Take the buttons off the board of a dialogue that is gone.

        Clients can send any data: what is no board of that dialogue, a card
        for one, is left alone.
        """
        board = await self._drafts.bound(press.chat_id, press.message_id)
        if board is not None and board.dialogue_id == press.button.dialogue:
            await self._prompter.close_board(press.chat_id, press.message_id, _OVER)
        return self._toast("too_late", press, _OVER, alert=True)

    async def _answer(self, reply: Reply, text: str, asked: Asked) -> Taken:
        async with self._turn(asked.dialogue_id) as dialogue:
            if dialogue is None:
                return await self._told_once("too_late", reply, _OVER)
            if reply.message_id in dialogue.seen:
                self._counters["seen_before"] += 1
                return Taken(stored=True)
            if dialogue.ended:
                return await self._told_once("too_late", reply, dialogue.ended)
            if asked.visit not in (None, dialogue.visit) or not dialogue.is_typed:
                return await self._told_once("answered_before", reply, _ANSWERED)
            await self._drafts.bind(dialogue, reply.message_id, None)
            moved = typed(dialogue, text, reply.message_id)
            try:
                after, answer = await self._move(dialogue, moved, reply.message_id)
            except DeliveryError as error:
                return self._not_shown(error)
        if answer is not None and answer.kind not in _FINE and not after.prompt:
            where = reply.chat_id, reply.thread_id, reply.message_id
            await self._prompter.tell(*where, answer.text)
        self._counters[answer.kind.value if answer else "form_answered"] += 1
        return Taken(stored=True)

    async def _edit(self, reply: Reply) -> Taken:
        """What was answered stays; whoever wrote it is told so once."""
        mine = await self._drafts.bound(reply.chat_id, reply.message_id)
        if mine is None and reply.reply_to is not None:
            mine = await self._drafts.bound(reply.chat_id, reply.reply_to)
        if mine is None or mine.user_id != reply.user_id:
            self._counters["not_a_press"] += 1
            return Taken(stored=True)
        return await self._told_once("edited", replace(reply, reply_to=reply.message_id), _EDIT)

    async def _move(
        self, before: Dialogue, after: Dialogue, reply_to: int | None = None
    ) -> tuple[Dialogue, Answer | None]:
        """Show the move and keep it; what the desk says of it if it was the last one."""
        answer = None
        if after.ready:
            answer, after = await self._sent(before, after)
        after = await self._shown(after, was_typed=reply_to is not None)
        if after.visit != before.visit or after.ended:
            after = replace(after, prompt=0)
            if after.is_typed and not after.ended:
                to = reply_to if reply_to and after.problem else after.card_id
                number = await self._prompter.post_prompt(after, to)
                after = replace(after, prompt=number)
                await self._drafts.bind(after, number, after.visit)
        await self._drafts.keep(over(after, after.ended) if after.ended else after)
        for gone in {before.prompt, before.board} - {0, after.prompt, after.board}:
            await self._prompter.take_away(before.chat_id, gone)
        return after, answer

    async def _shown(self, after: Dialogue, *, was_typed: bool) -> Dialogue:
        """The board brought up to date.

        It is posted anew below a typed answer when its buttons are wanted
        next, and where somebody took it away.
        """
        if not (was_typed and after.wants_buttons):
            try:
                await self._prompter.change_board(after)
            except PlaceMovedError:
                # Nothing in the old group can be reached: the card is posted in the new one.
                return over(after, _OVER)
            except DeliveryError as error:
                if after.ended:
                    _log.info("a board does not show its end: %s", error.reason)
                    return after
                if not error.permanent:
                    raise
            else:
                return after
        try:
            number = await self._prompter.post_board(after)
        except DeliveryError as error:
            if not error.permanent:
                raise
            _log.warning("a form cannot be gone on with: %s", error.reason)
            return over(after, _OVER)
        after = replace(after, board=number)
        await self._drafts.bind(after, number, None)
        return after

    async def _sent(self, before: Dialogue, after: Dialogue) -> tuple[Answer, Dialogue]:
        """Hand the values to the desk; its answer, and the dialogue after it.

        That they are with the desk is noted first: whoever ends the card
        leaves this board to us. When the desk fails, the answer is not taken.
        """
        await self._drafts.keep(self._drafts.sent_now(before))
        press = Press(
            handle=after.handle,
            choice=after.falls_back if after.left_out else after.choice,
            actor=actor_of(after.user_id),
            message=MessageRef(chat_place(after.chat_id, after.thread_id), str(after.card_id)),
            confirmed=after.confirmed,
            inputs=None if after.left_out else after.values,
        )
        try:
            answer = await self._desk.press(press)
        except CallbackError:
            answer = Answer(Answered.LATE, _SEEN_BEFORE)
        if answer.kind is Answered.INVALID:
            return answer, stumbled(after, answer.problems)
        return answer, replace(after, ended=answer.text or "Sent.")

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
            await asyncio.sleep(_AGAIN_SECONDS)
        else:
            raise TimeoutError("another process makes a move in this form")
        try:
            dialogue = await self._drafts.read(dialogue_id)
            if dialogue is None:
                yield None
                return
            dialogue = replace(dialogue, sent_at=0.0)
            ended = await self._drafts.ended(dialogue_id)
            yield over(dialogue, ended) if ended else dialogue
        finally:
            await self._leases.hold(lease, owner, seconds=_LAST_MOMENT_SECONDS)

    def _not_shown(self, error: DeliveryError, toast: Toast | None = None) -> Taken:
        _log.warning("a form does not go on yet: %s", error)
        self._counters["not_stored"] += 1
        return Taken(stored=False, toast=toast, retry_after=error.retry_after)

    def _toast(self, counter: str, press: FormPress, words: str, *, alert: bool = False) -> Taken:
        self._counters[counter] += 1
        return Taken(stored=True, toast=Toast(press.query_id, words, alert))

    async def _told_once(self, why: str, reply: Reply, words: str) -> Taken:
        """Say it once to each person about each message: nobody can make the bot flood a chat."""
        self._counters[why] += 1
        what = f"{why}:{reply.user_id or 0}"
        if await self._drafts.is_news(reply.chat_id, reply.reply_to or reply.message_id, what):
            where = reply.chat_id, reply.thread_id, reply.message_id
            await self._prompter.tell(*where, words)
        return Taken(stored=True)
