"""Forms: put to the presser, and what counts when nobody fills them in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from gettext import NullTranslations

from sayso.cards.card import Card, Choice, Open
from sayso.cards.outcomes import outcome_text
from sayso.chats.places import Answer, Answered, Press
from sayso.errors import DeliveryError, SaysoError
from sayso.events import Resolution, UserInputRequest
from sayso.stores.protocols import Found
from sayso.worker.context import WorkerContext

_log = logging.getLogger(__name__)

# Adapters end in time by themselves, each as its platform wants it. This is for one that does not.
_PUT_SECONDS = 15.0


class FormInteractions:
    """Puts the form of a choice to the presser. What it falls back to is stored before."""

    def __init__(
        self, parts: WorkerContext, *, late: Callable[[Press, Found, Resolution], Answer]
    ) -> None:
        self._parts = parts
        self._late = late

    async def ask(self, press: Press, found: Found, card: Card, choice: Choice) -> Answer:
        """Ask for what the choice needs; what to tell the presser.

        A choice that falls back to another one is decided with this press:
        only the words for it are still to come, and nobody waits for them long.
        No form is shown for what is not stored, and what is stored ends at
        once where no form can be shown.

        Raises:
            StoreUnreachableError: nothing was stored: do not acknowledge the press.
            RequestNotFoundError: the request is gone.
        """
        request, translations = found.request, self._parts.maker.translations(found)
        adapter = self._parts.adapters[press.message.place.platform]
        fallback = card.choice(choice.falls_back)
        if fallback is None:
            problem = await put(adapter.ask(press, card, choice), translations)
            if problem:
                return Answer(
                    Answered.REFUSED,
                    translations.gettext("You could not be asked for it: {problem}.").format(
                        problem=problem
                    ),
                )
            return Answer(Answered.ASKED, "")
        ending = self._parts.maker.spoken(found).answer(
            fallback, by=press.actor, at=self._parts.clock()
        )
        seconds = self._parts.refusals.wait.total_seconds()
        store = self._parts.backend.store
        ended = await store.settle_later(request.question_id, ending, seconds=seconds)
        if ended is not None:
            return self._late(press, found, ended)
        if problem := await put(adapter.ask(press, card, choice), translations):
            return await self._without_form(press, found, ending, problem)
        self._parts.maker.note_denier(request, self._parts.maker.ended(found, ending).who)
        self._parts.background.start(self._show_it(request))
        return Answer(Answered.ASKED, self._parts.refusals.without_reason(translations))

    async def _without_form(
        self, press: Press, found: Found, ending: Resolution, problem: str
    ) -> Answer:
        settled = await self._parts.backend.store.settle(found.request.question_id, ending)
        if not settled.first:
            return self._late(press, found, settled.ending)
        translations = self._parts.maker.translations(found)
        outcome = outcome_text(translations, ending.outcome.value).capitalize()
        text = translations.gettext("{outcome}; no reason could be asked for: {problem}.").format(
            outcome=outcome, problem=problem
        )
        if settled.heard == 0:
            return Answer(
                Answered.UNHEARD,
                translations.gettext("{said} Nobody is waiting for it right now.").format(
                    said=text
                ),
            )
        return Answer(Answered.RECORDED, text)

    async def _show_it(self, request: UserInputRequest) -> None:
        """Let all copies say what is being written."""
        try:
            record = await self._parts.backend.store.get(request.question_id)
        except SaysoError as error:
            _log.warning("cards do not say that a reason is being written: %s", error)
            return
        for copy in record.copies if record is not None else ():
            self._parts.background.start(
                self._parts.delivery.update(Found(copy, request, None), Open())
            )


async def put(showing: Awaitable[None], translations: NullTranslations) -> str:
    """What kept an adapter from showing something to the presser; empty when nothing did."""
    try:
        async with asyncio.timeout(_PUT_SECONDS):
            await showing
    except DeliveryError as error:
        return error.reason
    except TimeoutError:
        return translations.gettext("it took too long")
    return ""
