"""Where dialogues begin, with a press on a card, and where they end with the card."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from sayso.calls import new_id
from sayso.cards.card import Card, Choice, Ended
from sayso.cards.gist import begins
from sayso.cards.words import ENGLISH, CardWords
from sayso.chats.places import Press
from sayso.dialogues.dialogue import Dialogue, Purpose, portable, typing_is_needed
from sayso.dialogues.drafts import MOVE_SECONDS, Begun, DialogueDrafts
from sayso.dialogues.messages import Messages
from sayso.dialogues.moves import begun
from sayso.dialogues.words import DialogueWords
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.tasks import Background

_log = logging.getLogger(__name__)

OPEN_SECONDS = 8.0
"""How long a presser waits for a form: no adapter may take longer than 10 seconds."""

# Whoever closes the adapter waits this long for boards that are being taken back.
_FINISH_SECONDS = 5.0


class Openings:
    """Begins and closes the dialogues of one bot. ``finish`` ends what is still under way.

    ``name`` says what people are called, by their actor, in a language; it never says nothing.
    """

    def __init__(
        self,
        drafts: DialogueDrafts,
        messages: Messages,
        name: Callable[[str, DialogueWords], str],
        *,
        open_seconds: float = OPEN_SECONDS,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._drafts = drafts
        self._messages = messages
        self._name = name
        self._open_seconds = open_seconds
        self._pause = pause
        self._errands = Background("the end of a form", patience=_FINISH_SECONDS)
        self._watches = Background("the end of a form")

    async def open(self, press: Press, card: Card, choice: Choice) -> None:
        """Ask the presser the first question; what they began on this card before is over.

        Whoever is told that it failed sees no form: what was posted is taken
        away, also when this is cancelled while the platform is still at it.

        Raises:
            DeliveryError: the platform did not take it, or not in time, or nobody can answer
                there.
            StoreUnreachableError: the dialogue could not be kept.
        """
        dialogue_id = new_id()
        opening = asyncio.create_task(self._open(dialogue_id, press, card, choice))
        try:
            async with asyncio.timeout(self._open_seconds):
                await asyncio.shield(opening)
        except (TimeoutError, asyncio.CancelledError) as error:
            # Only the answer to the call under way says which message is to be taken away.
            why = self._messages.words(card.words.tag).could_not_ask
            self._errands.start(self._taken_back(dialogue_id, opening, why))
            if isinstance(error, TimeoutError):
                raise DeliveryError(
                    press.message.place.platform, card.words.took_too_long
                ) from None
            raise

    async def finish(self) -> None:
        """Return when nothing is under way any more, within seconds."""
        await self._watches.cancel()
        await self._errands.finish()

    async def close(self, handle: str, ended: Ended, words: CardWords = ENGLISH) -> None:
        """Close what was begun on a card that has ended. Never raises: the card goes first."""
        why = words.late.format(how=words.how(ended.outcome, ended.who))
        try:
            open_ones = await self._drafts.begun(handle)
            left = [one for one in open_ones if not await self._end(one, why, words.tag)]
            for one in left:
                self._watches.start(self._end_later(one, why, words.tag))
            if open_ones and not left:
                await self._drafts.forget(handle)
        except StoreUnreachableError as error:
            _log.warning("forms on an ended card stay open, and decide nothing: %s", error)

    async def _open(self, dialogue_id: str, press: Press, card: Card, choice: Choice) -> Dialogue:
        dialogue = await self._first(dialogue_id, press, card, choice)
        dialogue = replace(dialogue, board=await self._messages.post_board(dialogue))
        posted, words = [dialogue.board], self._messages.words(dialogue.language)
        try:
            await self._drafts.keep(dialogue)
            await self._drafts.bind(dialogue, dialogue.board, None)
            before = await self._drafts.begin(dialogue)
            if dialogue.is_typed:
                prompt = await self._messages.post_prompt(dialogue, dialogue.card.message_id)
                posted.append(prompt)
                await self._drafts.bind(dialogue, prompt, dialogue.visit)
                dialogue = replace(dialogue, prompt=prompt)
                await self._drafts.keep(dialogue)
            for one in before:
                await self._end(one, words.begun_anew, dialogue.language)
        except BaseException:
            await asyncio.shield(self._take_away(dialogue, posted))
            raise
        return dialogue

    async def _first(self, dialogue_id: str, press: Press, card: Card, choice: Choice) -> Dialogue:
        place, words = press.message.place, self._messages.words(card.words.tag)
        if choice.form is None:
            reason = words.no_form.format(label=choice.label)
            raise DeliveryError(place.platform, reason, permanent=True)
        form, initial = portable(choice.form)
        dialogue = Dialogue(
            dialogue_id=dialogue_id,
            actor=press.actor,
            name=self._name(press.actor, words),
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
            initial=initial,
            can_type=await self._messages.can_type(place),
            language=card.words.tag,
        )
        if not dialogue.can_type and typing_is_needed(dialogue):
            raise DeliveryError(place.platform, words.nobody_can_type, permanent=True)
        return begun(dialogue)

    async def _taken_back(
        self, dialogue_id: str, opening: asyncio.Task[Dialogue], why: str
    ) -> None:
        """Take away what nobody waits for any more, as soon as it is known what there is."""
        await self._close_off(dialogue_id, why)
        await asyncio.wait({opening})
        if opening.cancelled() or opening.exception():
            return  # it took away what it had posted
        dialogue = opening.result()
        await self._take_away(dialogue, [dialogue.board, dialogue.prompt])

    async def _close_off(self, dialogue_id: str, why: str) -> None:
        try:
            await self._drafts.end(dialogue_id, why)
        except StoreUnreachableError as error:
            _log.warning("a form that could not be begun is only taken away: %s", error)

    async def _take_away(self, dialogue: Dialogue, posted: Sequence[str]) -> None:
        words = self._messages.words(dialogue.language)
        await self._close_off(dialogue.dialogue_id, words.could_not_ask)
        for message_id in filter(None, posted):
            await self._messages.take_away(dialogue.message(message_id))

    async def _end(self, one: Begun, why: str, language: str) -> bool:
        """Close a dialogue unless it is over; False while its values are with the desk."""
        dialogue = await self._drafts.read(one.dialogue_id)
        if dialogue is not None and dialogue.ended:
            return True
        if dialogue is not None and self._drafts.is_sending(dialogue):
            return False
        await self._drafts.end(one.dialogue_id, why)
        board = dialogue.message(dialogue.board) if dialogue else one.board
        await self._messages.close_board(board, why, language)
        if dialogue is not None and dialogue.prompt:
            await self._messages.take_away(dialogue.message(dialogue.prompt))
        return True

    async def _end_later(self, one: Begun, why: str, language: str) -> None:
        """Close a dialogue whose process died before it could say what the desk answered."""
        await self._pause(MOVE_SECONDS)
        try:
            await self._end(one, why, language)
        except StoreUnreachableError as error:
            _log.warning("a form on an ended card stays open, and decides nothing: %s", error)
