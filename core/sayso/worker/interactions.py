"""Presses: found by their handle, authorised, settled, and only then answered."""

from __future__ import annotations

from dataclasses import replace
from gettext import NullTranslations

from sayso.cards.bundle import EACH
from sayso.cards.card import (
    BACK,
    DETAILS,
    MORE,
    REVOKE,
    SHORTER,
    SHOW_ALL,
    WHOLE,
    Card,
    Choice,
    Open,
)
from sayso.cards.outcomes import outcome_text
from sayso.cards.truncation import cut_notice
from sayso.chats.places import Answer, Answered, Press
from sayso.errors import InvalidInputError, ReplayedCallbackError, RequestNotFoundError
from sayso.events import Resolution, UserInputResponse
from sayso.forms.form_values import NO_INPUTS
from sayso.stores.protocols import Copy, Found, Settled
from sayso.worker.authorization import Authorization, approves
from sayso.worker.batch_interactions import BatchInteractions
from sayso.worker.context import WorkerContext
from sayso.worker.form_interactions import FormInteractions, put
from sayso.worker.request_log import UnknownLog
from sayso.worker.revoke import RuleRevoker
from sayso.worker.rule_preview import RulePreview

# What a card offers once it has ended, in whatever process it was opened up: no key of these is
# one of an open card, so that a press on that comes too late.
_AFTERWARDS = frozenset({DETAILS.key, WHOLE.key, SHORTER.key})


class InteractionHandler:
    """Decides on presses, in this order.

    Find the request by its handle, see that handle, place and message belong
    together, authorise the actor, settle, and only then answer and update the
    cards. A refused press consumes nothing.
    """

    def __init__(self, parts: WorkerContext, revoking: RuleRevoker) -> None:
        self._parts = parts
        self._revoking = revoking
        self._unknown = UnknownLog()
        self._coverage = RulePreview(parts.backend.store)
        self._all = BatchInteractions(parts)
        self._forms = FormInteractions(parts, late=self._late)

    async def take(self, press: Press) -> Answer:
        """Decide on a press; what to tell the presser.

        Raises:
            ReplayedCallbackError: the same callback was here before.
            StoreUnreachableError: nothing was stored: do not acknowledge the press.
        """
        with self._parts.calm.press():
            found = await self._find(press)
            if found is None:
                self._unknown.say(press)
                return _unknown_card(self._parts.speech.at(press.message.place))
            return await self._decide(press, found)

    async def _find(self, press: Press) -> Found | None:
        """Look the card up; a callback that was here before is noted where its card is known."""
        copies = self._parts.backend.copies
        try:
            return await copies.find(press.handle, delivery=press.delivery)
        except ReplayedCallbackError:
            if (found := await copies.find(press.handle)) is not None:
                self._parts.refused.press(found.request, press, "replay")
            raise

    async def _decide(self, press: Press, found: Found) -> Answer:
        """Decide on a press on a card that the store knows."""
        if not _stands_there(found.copy, press):
            self._parts.refused.press(found.request, press, "foreign")
            translations = self._parts.speech.at(press.message.place)
            text = translations.gettext("This button does not belong to this message.")
            return Answer(Answered.REFUSED, text)
        noted = bool(found.copy.message_id)
        found = replace(found, copy=replace(found.copy.at(press.message), closed_at=None))
        if found.copy.bundle and press.choice in EACH:
            return await self._all.take(press, found)
        if found.ending is not None:
            return await self._after_the_end(press, found, found.ending)
        standing = await self._parts.approvers.standing(press.actor, found.request)
        if standing is Authorization.STRANGER:
            self._parts.refused.press(found.request, press, "not_approver")
            text = self._translations(found).gettext("You may not decide this one. It stays open.")
            return Answer(Answered.REFUSED, text)
        if not noted:
            # The desk that posted it did not live to say so: now the card can be kept up to date.
            await self._parts.delivery.note_message(found, press.message)
        try:
            return await self._take(press, found, standing)
        except RequestNotFoundError:
            return _unknown_card(self._translations(found))

    async def _after_the_end(self, press: Press, found: Found, ending: Resolution) -> Answer:
        if press.choice == REVOKE.key:
            return await self._revoking.take(press, found)
        if press.choice in _AFTERWARDS:
            return await self._afterwards(press, found)
        return self._late(press, found, ending)

    async def _take(self, press: Press, found: Found, standing: Authorization) -> Answer:
        """Do what was pressed on an open card by somebody who may decide it."""
        await self._parts.maker.prepare(found.copy.target, found.request)
        card = self._parts.maker.card(found)
        if press.choice == BACK.key:
            return self._step(found, Open())
        if press.choice == MORE.key and card.leads_on:
            return self._step(found, Open(more=True))
        choice = card.choice(press.choice)
        if choice is None:
            return self._not_offered(found, card, press)
        if choice.key == SHOW_ALL.key:
            return await self._reveal(press, found, card)
        if standing is Authorization.ASKER and self._approves(found, card, choice, press):
            return self._own(found, press)
        if choice.stores and not press.confirmed:
            text = (
                self._translations(found)
                .gettext("{choice} needs a second press: see the card.")
                .format(choice=choice.label)
            )
            self._parts.background.start(self._confirm(found, choice))
            return Answer(Answered.CONFIRM, text)
        if choice.form is not None and press.inputs is None:
            answer = await self._forms.ask(press, found, card, choice)
            if answer.kind is Answered.ASKED:
                self._parts.notices.pressed(found.request, press, "form_opened")
            return answer
        try:
            return await self._answer(press, found, choice, standing)
        except InvalidInputError as error:
            return Answer(
                Answered.INVALID,
                self._translations(found).gettext("Some answers do not fit."),
                error.problems,
            )

    def _translations(self, found: Found) -> NullTranslations:
        return self._parts.maker.translations(found)

    async def _afterwards(self, press: Press, found: Found) -> Answer:
        """Show more of an ended card: to whoever presses, where nobody else sees it.

        Elsewhere the card itself opens. What is longer than that is shown to nobody but those
        who may decide: as while the card was open, others see what is on it.
        """
        await self._parts.maker.prepare(found.copy.target, found.request)
        translations, view = self._translations(found), Open(details=press.choice != SHORTER.key)
        if press.choice == SHORTER.key:
            return self._step(found, view)
        card = self._parts.maker.card(found, view)
        adapter = self._parts.adapters[found.copy.place.platform]
        is_withheld = card.is_cut and await self._is_stranger(press, found)
        if press.choice == WHOLE.key:
            if is_withheld or not card.can_reveal:
                return self._not_offered(found, card, press)
            problem = await put(adapter.reveal(press, card), translations)
            return self._not_shown(found, problem) if problem else Answer(Answered.SHOWN, "")
        is_private = adapter.limits.private and not is_withheld
        if is_private and not await put(adapter.reveal(press, card), translations):
            return Answer(Answered.SHOWN, "")
        return self._step(found, view)

    async def _is_stranger(self, press: Press, found: Found) -> bool:
        standing = await self._parts.approvers.standing(press.actor, found.request)
        return standing is Authorization.STRANGER

    def _approves(self, found: Found, card: Card, choice: Choice, press: Press) -> bool:
        now = self._parts.clock()
        return approves(found.request, card.body, choice, by=press.actor, at=now)

    def _own(self, found: Found, press: Press) -> Answer:
        self._parts.refused.press(found.request, press, "own_request")
        return Answer(
            Answered.REFUSED,
            self._translations(found).gettext(
                "You asked for this, so somebody else has to approve it. It stays open."
            ),
        )

    def _step(self, found: Found, view: Open, text: str = "") -> Answer:
        self._parts.background.start(self._parts.delivery.update(found, view))
        return Answer(Answered.CONFIRM, text)

    async def _confirm(self, found: Found, choice: Choice) -> None:
        """Show the second step of a choice, with what it would have saved lately."""
        request, now = self._parts.maker.spoken(found), self._parts.clock()
        rule = request.to_remember(choice, by="", at=now, until=now)
        covered = await self._coverage.told(request, rule, self._translations(found))
        noted = ". ".join(filter(None, (covered, choice.warning)))
        await self._parts.delivery.update(found, Open(confirming=replace(choice, warning=noted)))

    async def _answer(
        self,
        press: Press,
        found: Found,
        choice: Choice,
        standing: Authorization,
    ) -> Answer:
        """Settle, and say what came of it."""
        now = self._parts.clock()
        inputs = NO_INPUTS
        if choice.form is not None:
            inputs = choice.form.read(press.inputs or {}, self._translations(found))
        request = self._parts.maker.spoken(found)
        answer = request.answer(choice, by=press.actor, at=now, inputs=inputs)
        if not standing.allows(answer):
            return self._own(found, press)
        rule = None
        if choice.lasts is not None:
            until = now + choice.lasts
            rule = request.to_remember(choice, by=press.actor, at=now, until=until)
        settled = await self._parts.backend.store.settle(
            found.request.question_id, answer.keeping(rule), remember=rule
        )
        return self._settled(press, found, answer, settled)

    def _settled(
        self, press: Press, found: Found, answer: UserInputResponse, settled: Settled
    ) -> Answer:
        translations = self._translations(found)
        if settled.forbidden:
            text = translations.gettext("Not approved: {reason}.").format(
                reason=settled.ending.reason
            )
            return Answer(Answered.FORBIDDEN, text)
        if not settled.first:
            return self._late(press, found, settled.ending)
        outcome = outcome_text(translations, answer.outcome.value).capitalize()
        if settled.heard == 0:
            return Answer(
                Answered.UNHEARD,
                translations.gettext(
                    "{outcome} and recorded, but nobody is waiting for it right now."
                ).format(outcome=outcome),
            )
        return Answer(Answered.RECORDED, f"{outcome}.")

    async def _reveal(self, press: Press, found: Found, card: Card) -> Answer:
        adapter = self._parts.adapters[found.copy.place.platform]
        if problem := await put(adapter.reveal(press, card), self._translations(found)):
            return self._not_shown(found, problem)
        self._parts.notices.pressed(found.request, press, "shown_in_full")
        seen = replace(found.copy, revealed=True)
        await self._parts.backend.copies.mark(seen)
        self._parts.background.start(self._parts.delivery.update(replace(found, copy=seen), Open()))
        return Answer(Answered.SHOWN, "")

    def _not_shown(self, found: Found, problem: str) -> Answer:
        return Answer(
            Answered.REFUSED,
            self._translations(found)
            .gettext("It could not be shown in full: {problem}.")
            .format(problem=problem),
        )

    def _late(self, press: Press, found: Found, ending: Resolution) -> Answer:
        self._parts.refused.press(found.request, press, "late")
        self._parts.background.start(self._parts.delivery.update(replace(found, ending=ending)))
        how = self._parts.maker.how(found, ending)
        return Answer(
            Answered.LATE,
            self._translations(found).gettext("Too late: this was already {how}.").format(how=how),
        )

    def _not_offered(self, found: Found, card: Card, press: Press) -> Answer:
        self._parts.refused.press(found.request, press, "not_offered")
        known = (*card.body.choices, *card.body.more, *([MORE] if card.body.more else []))
        if any(choice.key == press.choice for choice in known):
            return Answer(
                Answered.REFUSED,
                self._translations(found).gettext("Not yet: {why}").format(why=cut_notice(card)),
            )
        return Answer(
            Answered.REFUSED, self._translations(found).gettext("This card has no such button.")
        )


def _unknown_card(translations: NullTranslations) -> Answer:
    text = translations.gettext("This card is no longer known. Nothing was decided.")
    return Answer(Answered.UNKNOWN, text)


def _stands_there(copy: Copy, press: Press) -> bool:
    pressed = press.message
    if not copy.message_id and press.actor == f"{copy.place.platform}:{copy.place.address}":
        # It was sent to this very person, and where their own chat is was not noted.
        return pressed.place.platform == copy.place.platform
    return (
        copy.place.platform == pressed.place.platform
        and copy.place.address == pressed.place.address
        and copy.message_id in ("", pressed.message_id)
    )
