"""An audit during whose entry somebody denies what is being allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sayso.rules.floor import Floor
from sayso.stores.audit import AuditEntry, AuditPage, Facts, RefusalKind
from sayso.stores.backend import Backend


class LateFloor:
    """Lays a floor at the first entry: between the decision and its record."""

    def __init__(self, backend: Backend, floor: Floor) -> None:
        self._backend = backend
        self._floor = floor
        self.notes: list[Facts] = []

    async def refuse(
        self, question_id: str, refusal: RefusalKind, *, by: str, place: str, choice: str
    ) -> bool:
        """As the store does."""
        audit = self._backend.audit
        return await audit.refuse(question_id, refusal, by=by, place=place, choice=choice)

    async def read(
        self,
        count: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        wanted: Callable[[AuditEntry], bool] | None = None,
    ) -> Sequence[AuditEntry]:
        """As the store does."""
        return await self._backend.audit.read(count, since=since, until=until, wanted=wanted)

    async def read_page(self, since: datetime | None, *, count: int) -> AuditPage:
        """As the store does."""
        return await self._backend.audit.read_page(since, count=count)

    async def trim(self, keep: timedelta) -> None:
        """As the store does."""
        await self._backend.audit.trim(keep)

    async def note(self, facts: Facts) -> None:
        """As the store does, after the floor is laid."""
        if not self.notes:
            await self._backend.rules.set_guardrails(self._floor)
        self.notes.append(facts)
        await self._backend.audit.note(facts)


def late(backend: Backend, floor: Floor) -> tuple[Backend, LateFloor]:
    """The store, with the floor laid while the first allowed call is audited."""
    audit = LateFloor(backend, floor)
    return replace(backend, audit=audit), audit
