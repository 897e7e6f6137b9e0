"""Presses: found by their handle, authorised, settled, and only then answered."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from sayso.cards.bundle import EACH
from sayso.cards.card import BACK, MORE, SHOW_ALL, Card, Choice, Open
from sayso.chats.adapter import Adapter
from sayso.chats.places import Answer, Answered, Press
from sayso.clock import Clock
from sayso.desk.approvers import Approvers
from sayso.desk.bundle_presses import BundlePresses
from sayso.desk.card_maker import CardMaker
from sayso.desk.delivery import Delivery
from sayso.desk.forms import Forms, put
from sayso.desk.notices import Notices
from sayso.desk.words import DeskWords
from sayso.errors import InvalidInputError, UnknownRequestError
from sayso.events import RequestEnding, UserInputResponse
from sayso.forms.form import NO_INPUTS
from sayso.questions.refusals import Refusals
from sayso.stores.backend import Backend
from sayso.stores.ports import Copy, Found, Settled
from sayso.tasks import Background


class Presses:
    """Decides on presses, in this order.

    Find the request by its handle, see that handle, place and message belong
    together, authorise the actor, settle, and only then answer and update the
    cards. A refused press consumes nothing.
    """

    def __init__(
        self,
        backend: Backend,
        adapters: Mapping[str, Adapter],
        approvers: Approvers,
        delivery: Delivery,
        maker: CardMaker,
        notices: Notices,
        *,
        refusals: Refusals,
        clock: Clock,
        background: Background,
        words: DeskWords,
    ) -> None:
        self._backend = backend
        self._adapters = adapters
        self._approvers = approvers
        self._delivery = delivery
        self._maker = maker
        self._notices = notices
        self._clock = clock
        self._background = background
        self._words = words
        self._all = BundlePresses(
            backend,
            approvers,
            delivery,
            maker,
            notices,
            clock=clock,
            background=background,
            words=words,
        )
        self._forms = Forms(
            backend,
            adapters,
            delivery,
            maker,
            refusals=refusals,
            clock=clock,
            background=background,
            words=words,
            late=self._late,
        )

    async def take(self, press: Press) -> Answer:
        """Decide on a press; what to tell the presser.

        Raises:
            ReplayedCallbackError: the same callback was here before.
            StoreUnreachableError: nothing was stored: do not acknowledge the press.
        """
        shown = self._delivery.shown(press.handle)
        if shown is None or not _stands_there(shown.copy, press):
            return await self._look_closer(press, may=None)
        # This desk posted the card: all of the order but settling needs no look in the store, and
        # settling looks there at the handle, the delivery and the ending in one step.
        may = await self._approvers.include(press.actor, shown.request)
        if may and (choice := self._decision(press, shown)):
            # What does not fit may also be too late, which comes first.
            with suppress(UnknownRequestError, InvalidInputError):
                return await self._answer(press, shown, choice, looked_up=False)
        return await self._look_closer(press, may=may)

    async def _look_closer(self, press: Press, *, may: bool | None) -> Answer:
        """Decide on a press with what the store knows; ``may`` where the actor was looked up."""
        found = await self._backend.copies.find(press.handle, delivery=press.delivery)
        if found is None:
            return Answer(Answered.UNKNOWN, self._words.unknown)
        if not _stands_there(found.copy, press):
            return Answer(Answered.REFUSED, self._words.cards.elsewhere)
        noted = bool(found.copy.message_id)
        found = replace(found, copy=replace(found.copy, message_id=press.message.message_id))
        if found.copy.bundle and press.choice in EACH:
            return await self._all.take(press, found)
        if found.ending is not None:
            return self._late(found, found.ending)
        if may is None:
            may = await self._approvers.include(press.actor, found.request)
        if not may:
            self._notices.pressed(found.request, press, "refused")
            return Answer(Answered.REFUSED, self._words.not_allowed)
        if not noted:
            # The desk that posted it did not live to say so: now the card can be kept up to date.
            await self._delivery.note_message(found)
        try:
            return await self._take(press, found)
        except UnknownRequestError:
            return Answer(Answered.UNKNOWN, self._words.unknown)

    async def _take(self, press: Press, found: Found) -> Answer:
        """Do what was pressed on an open card by somebody who may decide it."""
        card = self._maker.card(found)
        if press.choice == BACK.key:
            return self._step(found, Open())
        if press.choice == MORE.key and card.more:
            return self._step(found, Open(more=True))
        choice = card.choice(press.choice)
        if choice is None:
            return self._not_offered(card, press)
        if choice.key == SHOW_ALL.key:
            return await self._reveal(press, found, card)
        if choice.stores and not press.confirmed:
            text = self._words.second_press.format(choice=choice.label)
            return self._step(found, Open(confirming=choice), text)
        if choice.form is not None and press.inputs is None:
            answer = await self._forms.ask(press, found, card, choice)
            if answer.kind is Answered.ASKED:
                self._notices.pressed(found.request, press, "form_opened")
            return answer
        try:
            return await self._answer(press, found, choice, looked_up=True)
        except InvalidInputError as error:
            return Answer(Answered.INVALID, self._words.invalid, error.problems)

    def _step(self, found: Found, view: Open, text: str = "") -> Answer:
        self._background.start(self._delivery.update(found, view))
        return Answer(Answered.CONFIRM, text)

    def _decision(self, press: Press, shown: Found) -> Choice | None:
        """The choice, when this press on a card shown here ends the request; None: look closer."""
        choice = self._maker.card(shown).choice(press.choice)
        if choice is None or choice.key == SHOW_ALL.key or (choice.stores and not press.confirmed):
            return None
        return None if choice.form is not None and press.inputs is None else choice

    async def _answer(
        self, press: Press, found: Found, choice: Choice, *, looked_up: bool
    ) -> Answer:
        now = self._clock()
        inputs = NO_INPUTS
        if choice.form is not None:
            inputs = choice.form.read(press.inputs or {}, self._words.cards.forms)
        request = self._maker.spoken(found.request)
        answer = request.answer(choice, by=press.actor, at=now, inputs=inputs)
        rule = None
        if choice.lasts is not None:
            until = now + choice.lasts
            rule = request.to_remember(choice, by=press.actor, at=now, until=until)
        settled = await self._backend.store.settle(
            found.request.question_id,
            answer,
            remember=rule,
            handle="" if looked_up else found.copy.handle,
            delivery="" if looked_up else press.delivery,
        )
        return self._settled(found, answer, settled)

    def _settled(self, found: Found, answer: UserInputResponse, settled: Settled) -> Answer:
        if not settled.first:
            return self._late(found, settled.ending)
        outcome = self._words.outcome(answer.outcome)
        if settled.heard == 0:
            return Answer(Answered.UNHEARD, self._words.unheard.format(outcome=outcome))
        return Answer(Answered.RECORDED, self._words.recorded.format(outcome=outcome))

    async def _reveal(self, press: Press, found: Found, card: Card) -> Answer:
        adapter = self._adapters[found.copy.place.platform]
        if problem := await put(adapter.reveal(press, card), self._words):
            return Answer(Answered.REFUSED, self._words.not_shown.format(problem=problem))
        self._notices.pressed(found.request, press, "shown_in_full")
        seen = replace(found.copy, revealed=True)
        await self._backend.copies.mark(seen)
        self._background.start(self._delivery.update(replace(found, copy=seen), Open()))
        return Answer(Answered.SHOWN, "")

    def _late(self, found: Found, ending: RequestEnding) -> Answer:
        self._background.start(self._delivery.update(replace(found, ending=ending)))
        how = self._maker.how(found.request, ending)
        return Answer(Answered.LATE, self._words.cards.late.format(how=how))

    def _not_offered(self, card: Card, press: Press) -> Answer:
        known = (*card.body.choices, *card.body.more, *([MORE] if card.body.more else []))
        if any(choice.key == press.choice for choice in known):
            return Answer(Answered.REFUSED, self._words.not_yet.format(why=card.cut_notice))
        return Answer(Answered.REFUSED, self._words.no_such_button)


def _stands_there(copy: Copy, press: Press) -> bool:
    pressed = press.message
    return (
        copy.place.platform == pressed.place.platform
        and copy.place.address == pressed.place.address
        and copy.message_id in ("", pressed.message_id)
    )
