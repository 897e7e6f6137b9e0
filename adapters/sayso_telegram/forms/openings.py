"""Where dialogues begin, with a press on a card, and where they end with the card."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from sayso.calls import new_id
from sayso.cards.card import Card, Choice, Ended
from sayso.chats.places import Press
from sayso.errors import DeliveryError, StoreUnreachableError
from sayso.tasks import Background
from sayso_telegram.addresses import chat_of, number_of
from sayso_telegram.failures import PLATFORM
from sayso_telegram.forms.dialogue import Dialogue, portable
from sayso_telegram.forms.drafts import MOVE_SECONDS, Begun, DialogueDrafts
from sayso_telegram.forms.moves import begun
from sayso_telegram.forms.prompting import Prompter
from sayso_telegram.forms.view import shown_name, typing_is_needed
from sayso_telegram.people import People

_log = logging.getLogger(__name__)

OPEN_SECONDS = 8.0
"""How long a presser waits for a form: Telegram takes an answer to a press for about 15 s."""

# Whoever closes the adapter waits this long for boards that are being taken back.
_FINISH_SECONDS = 5.0
_ANEW = "This was begun anew below."
_NOT_ASKED = "The question could not be shown: press the button on the card again."
_CHANNEL = "nobody can type an answer in a channel: route it to a group or to a person"


class Openings:
    """Begins and closes the dialogues of one bot. ``finish`` ends what is still under way."""

    def __init__(
        self,
        drafts: DialogueDrafts,
        prompter: Prompter,
        people: People,
        *,
        open_seconds: float = OPEN_SECONDS,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._drafts = drafts
        self._prompter = prompter
        self._people = people
        self._open_seconds = open_seconds
        self._pause = pause
        self._errands = Background("the end of a form in Telegram", patience=_FINISH_SECONDS)
        self._watches = Background("the end of a form in Telegram")

    async def open(self, press: Press, card: Card, choice: Choice) -> None:
        """Ask the presser the first question; what they began on this card before is over.

        Who is told that it failed sees no form: what was posted is taken away,
        also when this is cancelled while Telegram is still at it.

        Raises:
            DeliveryError: Telegram did not take it, or not in time, or nobody can answer there.
            StoreUnreachableError: the dialogue could not be kept.
        """
        dialogue_id = new_id()
        opening = asyncio.create_task(self._open(dialogue_id, press, card, choice))
        try:
            async with asyncio.timeout(self._open_seconds):
                await asyncio.shield(opening)
        except (TimeoutError, asyncio.CancelledError) as error:
            # Only the answer to the call under way says which message is to be taken away.
            self._errands.start(self._taken_back(dialogue_id, opening))
            if isinstance(error, TimeoutError):
                raise DeliveryError(PLATFORM, "it took too long") from None
            raise

    async def finish(self) -> None:
        """Return when nothing is under way any more, within seconds."""
        await self._watches.cancel()
        await self._errands.finish()

    async def close(self, handle: str, ended: Ended) -> None:
        """Close what was begun on a card that has ended. Never raises: the card goes first."""
        by = f" by {ended.who}" if ended.who else ""
        try:
            open_ones = await self._drafts.begun(handle)
            why = f"Too late: this was already {ended.outcome}{by}."
            left = [one for one in open_ones if not await self._end(one, why)]
            for one in left:
                self._watches.start(self._end_later(one, why))
            if open_ones and not left:
                await self._drafts.forget(handle)
        except StoreUnreachableError as error:
            _log.warning("forms on an ended card stay open, and decide nothing: %s", error)

    async def _open(self, dialogue_id: str, press: Press, card: Card, choice: Choice) -> Dialogue:
        dialogue = await self._first(dialogue_id, press, card, choice)
        dialogue = replace(dialogue, board=await self._prompter.post_board(dialogue))
        posted = [dialogue.board]
        try:
            await self._drafts.keep(dialogue)
            await self._drafts.bind(dialogue, dialogue.board, None)
            before = await self._drafts.begin(dialogue)
            if dialogue.is_typed:
                posted.append(await self._prompter.post_prompt(dialogue, dialogue.card_id))
                await self._drafts.bind(dialogue, posted[-1], dialogue.visit)
                dialogue = replace(dialogue, prompt=posted[-1])
                await self._drafts.keep(dialogue)
            for one in before:
                await self._end(one, _ANEW)
        except BaseException:
            await asyncio.shield(self._take_away(dialogue, posted))
            raise
        return dialogue

    async def _first(self, dialogue_id: str, press: Press, card: Card, choice: Choice) -> Dialogue:
        if choice.form is None:
            raise DeliveryError(PLATFORM, f"{choice.label} has no form", permanent=True)
        form, initial = portable(choice.form)
        chat_id, thread_id = chat_of(press.message.place)
        user_id = number_of(press.actor.removeprefix(f"{PLATFORM}:"))
        dialogue = Dialogue(
            dialogue_id=dialogue_id,
            user_id=user_id,
            name=shown_name(self._people.name(user_id), user_id),
            chat_id=chat_id,
            thread_id=thread_id,
            card_id=number_of(press.message.message_id),
            handle=press.handle,
            choice=choice.key,
            label=choice.label,
            confirmed=press.confirmed,
            falls_back=choice.falls_back,
            expires_at=card.expires_at.timestamp(),
            form=form,
            which=card.which,
            begins=card.begins,
            initial=initial,
            can_type=not await self._is_channel(chat_id),
        )
        if not dialogue.can_type and typing_is_needed(dialogue):
            raise DeliveryError(PLATFORM, _CHANNEL, permanent=True)
        return begun(dialogue)

    async def _is_channel(self, chat_id: int) -> bool:
        try:
            return await self._prompter.is_channel(chat_id)
        except DeliveryError as error:
            _log.info("whether people can reply in %s is not known: %s", chat_id, error.reason)
            return False

    async def _taken_back(self, dialogue_id: str, opening: asyncio.Task[Dialogue]) -> None:
        """Take away what nobody waits for any more, as soon as it is known what there is."""
        await self._close_off(dialogue_id)
        await asyncio.wait({opening})
        if opening.cancelled() or opening.exception():
            return  # it took away what it had posted
        dialogue = opening.result()
        await self._take_away(dialogue, [dialogue.board, dialogue.prompt])

    async def _close_off(self, dialogue_id: str) -> None:
        try:
            await self._drafts.end(dialogue_id, _NOT_ASKED)
        except StoreUnreachableError as error:
            _log.warning("a form that could not be begun is taken away only: %s", error)

    async def _take_away(self, dialogue: Dialogue, posted: Sequence[int]) -> None:
        await self._close_off(dialogue.dialogue_id)
        for message_id in filter(None, posted):
            await self._prompter.take_away(dialogue.chat_id, message_id)

    async def _end(self, one: Begun, why: str) -> bool:
        """Close a dialogue unless it is over; False while its values are with the desk."""
        dialogue = await self._drafts.read(one.dialogue_id)
        if dialogue is not None and dialogue.ended:
            return True
        if dialogue is not None and self._drafts.is_sending(dialogue):
            return False
        await self._drafts.end(one.dialogue_id, why)
        board = dialogue.board if dialogue else one.board
        await self._prompter.close_board(one.chat_id, board, why)
        if dialogue is not None and dialogue.prompt:
            await self._prompter.take_away(one.chat_id, dialogue.prompt)
        return True

    async def _end_later(self, one: Begun, why: str) -> None:
        """Close a dialogue whose process died before it could say what the desk answered."""
        await self._pause(MOVE_SECONDS)
        try:
            await self._end(one, why)
        except StoreUnreachableError as error:
            _log.warning("a form on an ended card stays open, and decides nothing: %s", error)
