"""Overviews: what waits for one person, which rules they may take back, what was decided last."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from gettext import NullTranslations

from sayso.always.dangers import is_the_tool
from sayso.always.descriptions import button_label
from sayso.chats.caller import Caller, Waiting
from sayso.chats.overview import Decided, Overview, Remembered
from sayso.chats.places import Answer, Answered, Place
from sayso.digests import short_digest
from sayso.locales import locale_of
from sayso.rules.rule import Rule
from sayso.stores.audit import AuditEntry, refused
from sayso.stores.protocols import KeptRule, Record
from sayso.text.secrets import redacted
from sayso.worker.authorization import Authorization
from sayso.worker.context import WorkerContext
from sayso.worker.reminders import line_of, link_of, waiting_of
from sayso.worker.request_log import log_refused
from sayso.worker.revoke import RuleRevoker
from sayso.worker.routing import Routes

MOST_WAITING, MOST_RULES, MOST_DECISIONS = 20, 20, 10
_ENTRIES_READ = 500
_DECISIONS = ("approved", "denied", "answered", "expired", "cancelled", "undeliverable")
_FIRST = datetime.min.replace(tzinfo=UTC)
_MOST_REFUSALS = 4_096
_WHAT = 80


class Overviews:
    """Tells one person what they may know: all of it is of routes that they approve on.

    It is looked up at the moment it is asked for, and who may not decide sees nothing.
    """

    def __init__(
        self,
        parts: WorkerContext,
        routes: Routes,
        callers: Mapping[str, Caller],
        revoking: RuleRevoker,
    ) -> None:
        self._parts = parts
        self._routes = routes
        self._callers = callers
        self._revoking = revoking
        self._refused: set[tuple[str, str]] = set()

    async def of(self, actor: str, place: Place, *, whole: bool = True) -> Overview:
        """The overview of one person, in the language of the place where they ask for it.

        Without ``whole`` it is only what waits for them.

        Raises:
            StoreUnreachableError: it cannot be told.
        """
        pending = await self._parts.backend.store.list_requests()
        theirs = [record for record in pending if await self._may_approve(actor, record)]
        translations = self._parts.speech.at(place, actor)
        theirs.sort(key=lambda record: record.opened_at or _FIRST)
        shown = theirs[:MOST_WAITING]
        waiting = tuple(await asyncio.gather(*(self._waiting(actor, record) for record in shown)))
        more = len(theirs) - len(shown)
        if not whole:
            return Overview(waiting, more, language=locale_of(translations))
        kept = await self._revoking.revocable_by(actor)
        decided = await self._decided(actor)
        newest = list(reversed(kept))[:MOST_RULES]
        return Overview(
            waiting,
            more,
            tuple(self._remembered(one, translations) for one in newest),
            len(kept) - len(newest),
            decided,
            locale_of(translations),
        )

    async def revoke(self, actor: str, rule_id: str, place: Place) -> Answer:
        """Take back a rule that stands on somebody's list; what to tell them.

        Raises:
            StoreUnreachableError: nothing was revoked: do not acknowledge the press.
        """
        translations = self._parts.speech.at(place, actor)
        answer = await self._revoking.by_id(rule_id, by=actor, translations=translations)
        if answer.kind is Answered.REFUSED and (actor, rule_id) not in self._refused:
            if len(self._refused) >= _MOST_REFUSALS:
                self._refused.clear()
            self._refused.add((actor, rule_id))
            said = refused("not_approver", by=actor, place=str(place), choice="revoke")
            log_refused(
                "-", "not_approver", by=actor, place=str(place), choice="revoke", rule_id=rule_id
            )
            await self._parts.backend.audit.note({**said, "rule_id": rule_id})
        return answer

    async def _may_approve(self, actor: str, record: Record) -> bool:
        standing = await self._parts.approvers.standing(actor, record.request)
        return standing is Authorization.APPROVER

    async def _waiting(self, actor: str, record: Record) -> Waiting:
        platform, _, account = actor.partition(":")
        here = [one for one in record.copies if one.stands and one.place.platform == platform]
        if not here:
            return await waiting_of(self._parts.maker, record, Place(platform, account))
        link = await link_of(self._callers.get(platform), here[0])
        return await waiting_of(self._parts.maker, record, here[0].target, here[0], link)

    def _remembered(self, kept: KeptRule, translations: NullTranslations) -> Remembered:
        remembered = kept.remembered
        by = remembered.stored_by
        return Remembered(
            rule_id=remembered.rule_id,
            tool=line_of(remembered.rule.tool),
            what=line_of(_what(remembered.rule, translations)),
            agent=line_of(kept.agent_id),
            allows=remembered.effect == "allow",
            stored_by=self._routes.name(by) or by,
            expires_at=remembered.expires_at,
        )

    async def _decided(self, actor: str) -> tuple[Decided, ...]:
        """The newest first, of what they may decide themselves."""
        found: list[Decided] = []
        known: dict[tuple[str, str], bool] = {}
        for entry in reversed(await self._parts.backend.audit.read(_ENTRIES_READ)):
            if entry.kind not in _DECISIONS or len(found) == MOST_DECISIONS:
                continue
            about = entry.agent_id, entry.subject
            if about not in known:
                standing = await self._parts.approvers.standing_on(actor, *about)
                known[about] = standing is Authorization.APPROVER
            if known[about]:
                found.append(self._as_decided(entry))
        return tuple(found)

    def _as_decided(self, entry: AuditEntry) -> Decided:
        return Decided(
            at=entry.at,
            outcome=entry.kind,
            subject=line_of(entry.subject),
            agent=line_of(entry.agent_id),
            by=self._routes.name(entry.by) or entry.by,
        )


def _what(rule: Rule, translations: NullTranslations) -> str:
    """Which calls of its tool a rule means, in one line; empty where it is all of them."""
    if is_the_tool(rule):
        return ""
    if rule.arguments_digest is None:
        return button_label(rule, translations, _WHAT)
    plain = {name: text.replace("\\", "") for name, text in rule.params.items()}
    values = ", ".join(f"{name}: {text}" for name, text in redacted(plain).items())
    return values or short_digest(rule.arguments_digest)
