"""Revoking: what a card stored is taken back by those who may approve, wherever they do it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from gettext import NullTranslations

from sayso.chats.places import Answer, Answered, Press
from sayso.locales import ENGLISH
from sayso.stores.protocols import Found, KeptRule
from sayso.worker.authorization import Authorization
from sayso.worker.context import WorkerContext
from sayso.worker.request_log import log_revoked


class RuleRevoker:
    """Takes back rules: at once for all processes, audited with who did it, told on the cards.

    Whoever may decide on the request that stored a rule may take the rule back. Who asked
    for it may take back what allows, and not what denies: nobody makes room for their own.
    """

    def __init__(self, parts: WorkerContext) -> None:
        self._parts = parts

    async def take(self, press: Press, found: Found) -> Answer:
        """Revoke what an ended card stored; what to tell the presser.

        Raises:
            StoreUnreachableError: nothing was revoked: do not acknowledge the press.
        """
        ending, translations = found.ending, self._parts.maker.translations(found)
        if ending is None or not ending.rule_kept:
            self._parts.refused.press(found.request, press, "not_offered")
            return Answer(Answered.REFUSED, translations.gettext("This card has no such button."))
        standing = await self._parts.approvers.standing(press.actor, found.request)
        if not _may(standing, allows=ending.approves_a_call):
            self._parts.refused.press(found.request, press, standing.refusal)
            return Answer(Answered.REFUSED, translations.gettext("You may not revoke this one."))
        request_id = found.request.question_id
        answer = await self._revoke(ending.rule_kept, request_id, press.actor, translations)
        if answer.kind is Answered.LATE:
            # It expired, or this card is older than what somebody else has done.
            self._parts.background.start(self._parts.delivery.update(found))
        return answer

    async def by_id(
        self, rule_id: str, *, by: str, translations: NullTranslations = ENGLISH
    ) -> Answer:
        """Revoke a rule where there is no card, as on a list; what to tell whoever does it.

        Raises:
            StoreUnreachableError: nothing was revoked.
        """
        kept = await self._parts.backend.rules.all()
        rule = next((one for one in kept if one.remembered.rule_id == rule_id), None)
        if rule is None:
            return Answer(
                Answered.LATE,
                translations.gettext(
                    "This is not in force any more: it has expired, or was revoked before."
                ),
            )
        if not await self._may_revoke(by, rule):
            return Answer(Answered.REFUSED, translations.gettext("You may not revoke this one."))
        return await self._revoke(rule_id, rule.question_id, by, translations)

    async def revocable_by(self, actor: str) -> Sequence[KeptRule]:
        """The rules in force that somebody may take back, the oldest first.

        Raises:
            StoreUnreachableError: they cannot be read.
        """
        kept = await self._parts.backend.rules.all()
        may = await asyncio.gather(*(self._may_revoke(actor, one) for one in kept))
        return [one for one, is_theirs in zip(kept, may, strict=True) if is_theirs]

    async def _may_revoke(self, actor: str, kept: KeptRule) -> bool:
        approvers, remembered = self._parts.approvers, kept.remembered
        standing = await approvers.standing_on(actor, kept.agent_id, remembered.rule.tool)
        if standing is not Authorization.APPROVER or remembered.effect == "allow":
            return standing is not Authorization.STRANGER
        # Who asked is known of the request alone. What is gone was asked by nobody in particular.
        record = await self._parts.backend.store.get(kept.question_id)
        if record is not None:
            standing = await approvers.standing(actor, record.request)
        return _may(standing, allows=False)

    async def _revoke(
        self, rule_id: str, request_id: str, by: str, translations: NullTranslations
    ) -> Answer:
        if await self._parts.backend.rules.revoke(rule_id, by=by):
            log_revoked(request_id, rule_id, by=by)
            return Answer(
                Answered.RECORDED, translations.gettext("Revoked. Its calls are asked about again.")
            )
        return Answer(
            Answered.LATE,
            translations.gettext(
                "This is not in force any more: it has expired, or was revoked before."
            ),
        )


def _may(standing: Authorization, *, allows: bool) -> bool:
    return standing is Authorization.APPROVER or (allows and standing is Authorization.ASKER)
