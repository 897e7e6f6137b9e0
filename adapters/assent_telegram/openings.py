"""Where dialogues begin, with a press on a card, and where they end with the card."""

from __future__ import annotations

import logging
from dataclasses import replace

from assent.calls import new_id
from assent.cards import Card, Choice, Ended
from assent.errors import DeliveryError, StoreUnreachableError
from assent.places import Press
from assent_telegram.addresses import chat_of, number_of
from assent_telegram.dialogue import Dialogue, portable
from assent_telegram.dialogue_drafts import Begun, DialogueDrafts
from assent_telegram.dialogue_moves import begun
from assent_telegram.dialogue_view import shown_name, typing_is_needed
from assent_telegram.failures import PLATFORM
from assent_telegram.people import People
from assent_telegram.prompting import Prompter

_log = logging.getLogger(__name__)

_ANEW = "This was begun anew below."
_NOT_ASKED = "The question could not be shown: press the button on the card again."
_CHANNEL = "nobody can type an answer in a channel: route it to a group or to a person"


class Openings:
    """Begins and closes the dialogues of one bot."""

    def __init__(self, drafts: DialogueDrafts, prompter: Prompter, people: People) -> None:
        self._drafts = drafts
        self._prompter = prompter
        self._people = people

    async def open(self, press: Press, card: Card, choice: Choice) -> None:
        """Ask the presser the first question; what they began on this card before is over.

        Raises:
            DeliveryError: Telegram did not take it, or nobody can answer there.
            StoreUnreachableError: the dialogue could not be kept.
        """
        dialogue = await self._first(press, card, choice)
        dialogue = replace(dialogue, board=await self._prompter.post_board(dialogue))
        await self._drafts.keep(dialogue)
        await self._drafts.bind(dialogue, dialogue.board, None)
        before = await self._drafts.begin(dialogue)
        if dialogue.is_typed:
            await self._prompt(dialogue)
        for one in before:
            await self._end(one, _ANEW)

    async def close(self, handle: str, ended: Ended) -> None:
        """Close what was begun on a card that has ended. Never raises: the card goes first."""
        by = f" by {ended.who}" if ended.who else ""
        try:
            open_ones = await self._drafts.begun(handle)
            for one in open_ones:
                await self._end(one, f"Too late: this was already {ended.outcome}{by}.")
            if open_ones:
                await self._drafts.forget(handle)
        except StoreUnreachableError as error:
            _log.warning("forms on an ended card stay open, and decide nothing: %s", error)

    async def _first(self, press: Press, card: Card, choice: Choice) -> Dialogue:
        if choice.form is None:
            raise DeliveryError(PLATFORM, f"{choice.label} has no form", permanent=True)
        form, initial = portable(choice.form)
        chat_id, thread_id = chat_of(press.message.place)
        user_id = number_of(press.actor.removeprefix(f"{PLATFORM}:"))
        dialogue = Dialogue(
            dialogue_id=new_id(),
            user_id=user_id,
            name=shown_name(self._people.name(user_id), user_id),
            chat_id=chat_id,
            thread_id=thread_id,
            card_id=number_of(press.message.message_id),
            handle=press.handle,
            choice=choice.key,
            label=choice.label,
            confirmed=press.confirmed,
            counts_anyway=bool(choice.falls_back),
            expires_at=card.expires_at.timestamp(),
            form=form,
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

    async def _prompt(self, dialogue: Dialogue) -> None:
        try:
            number = await self._prompter.post_prompt(dialogue, dialogue.card_id)
        except DeliveryError:
            await self._drafts.end(dialogue.dialogue_id, _NOT_ASKED)
            await self._prompter.take_away(dialogue.chat_id, dialogue.board)
            raise
        await self._drafts.bind(dialogue, number, dialogue.visit)
        await self._drafts.keep(replace(dialogue, prompt=number))

    async def _end(self, one: Begun, why: str) -> None:
        """Close a dialogue, unless it is over or its values are with the desk right now."""
        dialogue = await self._drafts.read(one.dialogue_id)
        if dialogue is not None and (dialogue.ended or dialogue.sending):
            return
        await self._drafts.end(one.dialogue_id, why)
        board = dialogue.board if dialogue else one.board
        await self._prompter.close_board(one.chat_id, board, why)
        if dialogue is not None and dialogue.prompt:
            await self._prompter.take_away(one.chat_id, dialogue.prompt)
