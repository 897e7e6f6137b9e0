"""Presses for all cards of a message: each of them authorised, settled and told on its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from gettext import NullTranslations

from sayso.cards.bundle import ALLOW_ALL, EACH, unseen_of
from sayso.cards.card import Open
from sayso.cards.outcomes import outcome_by
from sayso.chats.places import Answer, Answered, Press
from sayso.errors import RequestNotFoundError
from sayso.stores.protocols import Found, Settled
from sayso.text.visible import format_count
from sayso.worker.authorization import Authorization
from sayso.worker.context import WorkerContext


class BatchInteractions:
    """Decides on all that wait on one message.

    It decides exactly what was open when the press came, as if each of them
    had been pressed: what others were quicker with stays as they decided.
    """

    def __init__(self, parts: WorkerContext) -> None:
        self._parts = parts

    async def take(self, press: Press, pressed: Found) -> Answer:
        """Decide on all cards that wait on a card's message; what to tell the presser.

        Raises:
            StoreUnreachableError: not all of it was stored: do not acknowledge the press.
        """
        there = await self._parts.delivery.bundle(pressed)
        found = [replace(one, copy=replace(one.copy, closed_at=None)) for one in there]
        waiting = [one for one in found if one.ending is None]
        if not waiting:
            self._parts.refused.press(pressed.request, press, "late")
        mine, own, refused = await self._sorted(press, waiting)
        if waiting and not mine:
            return self._not_theirs(pressed, refused=refused)
        await self._parts.maker.prepare(pressed.copy.target, *(one.request for one in mine))
        if press.choice == ALLOW_ALL.key and (unseen := self._unseen(mine)):
            self._parts.refused.press(pressed.request, press, "not_offered")
            return self._not_yet(pressed, unseen)
        if any(not one.copy.message_id for one in found):
            # The desk that posted it did not live to say so: now it can be kept up to date.
            await self._parts.delivery.note_message(pressed, press.message)
        settled = await self._settle(press, mine)
        before = [one for one in found if one.ending is not None]
        if before or any(result is None or not _is_ours(result) for result in settled):
            # The presser saw an older state. What this press ended is shown through the outbox.
            self._parts.background.start(self._parts.delivery.update(pressed, Open()))
        for one, result in zip(mine, settled, strict=True):
            if result is not None and not _is_ours(result):
                self._parts.refused.press(one.request, press, "late")
        translations = self._parts.maker.translations(pressed)
        return self._told(translations, mine, settled, before, own=own, refused=refused)

    async def _sorted(self, press: Press, waiting: Sequence[Found]) -> tuple[list[Found], int, int]:
        """Those that the presser may decide so; how many they asked for, how many they may not."""
        mine, own, refused = [], 0, 0
        for one in waiting:
            standing = await self._parts.approvers.standing(press.actor, one.request)
            if standing is Authorization.STRANGER:
                refused += 1
                self._parts.refused.press(one.request, press, "not_approver")
            elif standing is Authorization.ASKER and press.choice == ALLOW_ALL.key:
                own += 1
                self._parts.refused.press(one.request, press, "own_request")
            else:
                mine.append(one)
        return mine, own, refused

    def _unseen(self, found: Sequence[Found]) -> int:
        return len(unseen_of([self._parts.maker.card(one) for one in found]))

    async def _settle(self, press: Press, found: Sequence[Found]) -> list[Settled | None]:
        """How each of them ended; None for one that is gone. All are tried before one fails."""
        results = await asyncio.gather(
            *(self._settle_one(press, one) for one in found), return_exceptions=True
        )
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return [result for result in results if not isinstance(result, BaseException)]

    async def _settle_one(self, press: Press, found: Found) -> Settled | None:
        card = self._parts.maker.card(found)
        choice = card.choice(EACH[press.choice])
        if choice is None:
            raise ValueError(f"this card has no {EACH[press.choice]!r}")
        answer = self._parts.maker.spoken(found).answer(
            choice, by=press.actor, at=self._parts.clock()
        )
        try:
            return await self._parts.backend.store.settle(found.request.question_id, answer)
        except RequestNotFoundError:
            return None

    def _not_theirs(self, pressed: Found, *, refused: int) -> Answer:
        translations = self._parts.maker.translations(pressed)
        text = translations.gettext(
            "You asked for these, so somebody else has to approve them. They stay open."
        )
        if refused:
            text = translations.gettext("You may not decide these. They stay open.")
        return Answer(Answered.REFUSED, text)

    def _not_yet(self, pressed: Found, unseen: int) -> Answer:
        translations = self._parts.maker.translations(pressed)
        text = format_count(
            translations,
            "Not yet: {count} call is cut. Press {show_all} there first.",
            "Not yet: {count} calls are cut. Press {show_all} there first.",
            unseen,
            show_all=translations.gettext("Show all"),
        )
        return Answer(Answered.REFUSED, text)

    def _told(
        self,
        translations: NullTranslations,
        mine: Sequence[Found],
        settled: Sequence[Settled | None],
        before: Sequence[Found],
        *,
        own: int,
        refused: int,
    ) -> Answer:
        """What this press decided, and what it did not."""
        decided: Counter[str] = Counter()
        others: Counter[str] = Counter()
        gone = unheard = ruled = 0
        for one, result in zip(mine, settled, strict=True):
            if result is None:
                gone += 1
            elif result.forbidden:
                ruled += 1
            elif result.first:
                decided[outcome_by(translations, result.ending.outcome.value)] += 1
                unheard += result.heard == 0
            else:
                others[self._parts.maker.how(one, result.ending)] += 1
        for one in before:
            if one.ending is not None:
                others[self._parts.maker.how(one, one.ending)] += 1
        kind = Answered.LATE if others or gone or own or refused else Answered.RECORDED
        if kind is Answered.RECORDED and (unheard or ruled):
            kind = Answered.FORBIDDEN if ruled else Answered.UNHEARD
        parts = [f"{count} {outcome}" for outcome, count in decided.items()]
        parts += _list_others(translations, others, ruled=ruled, gone=gone)
        parts += _list_own(translations, refused=refused, own=own)
        if unheard:
            text = translations.gettext("nobody is waiting for {count} of them right now")
            parts.append(text.format(count=unheard))
        return Answer(kind, f"{', '.join(parts)}.")


def _list_own(translations: NullTranslations, *, refused: int, own: int) -> Iterator[str]:
    """What this press did not decide, as the presser may not."""
    if refused:
        yield translations.gettext("{count} you may not decide").format(count=refused)
    if own:
        text = translations.gettext("{count} you asked for, so somebody else has to approve")
        yield text.format(count=own)


def _list_others(
    translations: NullTranslations, others: Counter[str], *, ruled: int, gone: int
) -> Iterator[str]:
    """What this press did not decide: a rule did, somebody else, or nobody knows it any more."""
    if ruled:
        yield format_count(
            translations, "{count} is denied by a rule", "{count} are denied by a rule", ruled
        )
    for how, count in others.items():
        yield format_count(
            translations, "{count} was already {how}", "{count} were already {how}", count, how=how
        )
    if gone:
        yield format_count(
            translations, "{count} was no longer known", "{count} were no longer known", gone
        )


def _is_ours(settled: Settled) -> bool:
    """Return True if this press ended it, as it wanted or as a rule does."""
    return settled.first or settled.forbidden
