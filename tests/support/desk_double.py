"""A desk that answers what a test says: what listeners are tried against."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from sayso.chats.overview import Overview
from sayso.chats.places import Answer, Answered, Place, Press


class DeskDouble:
    """Takes presses; the next of ``answers`` is said or raised, afterwards always ``answer``.

    ``presses`` are those that arrived, ``taken`` those among them that it did
    not raise at. ``meanwhile`` runs before it answers, ``error`` is raised for
    as long as it is set, and so is ``refuses[actor]`` for each of that actor.
    """

    def __init__(self) -> None:
        self.answer = Answer(Answered.RECORDED, "Approved.")
        self.answers: list[Answer | Exception] = []
        self.error: Exception | None = None
        self.refuses: dict[str, Exception] = {}
        self.meanwhile: Callable[[], Awaitable[object]] | None = None
        self.presses: list[Press] = []
        self.taken: list[Press] = []
        self.moves: list[tuple[Place, Place]] = []
        self.changes: list[str] = []
        self.pressed = asyncio.Event()
        self.shown = Overview()
        self.looks: list[tuple[str, bool]] = []
        self.revoked: list[tuple[str, str]] = []
        self.languages: dict[str, str] = {}

    async def press(self, press: Press) -> Answer:
        self.presses.append(press)
        self.pressed.set()
        if self.meanwhile is not None:
            await self.meanwhile()
        said = self._next(press.actor)
        self.taken.append(press)
        return said

    async def moved(self, old: Place, new: Place) -> None:
        self._next("")
        self.moves.append((old, new))

    async def members_changed(self, platform: str) -> None:
        self._next("")
        self.changes.append(platform)

    def language(self, place: Place) -> str:
        return self.languages.get(place.address, "en")

    async def overview(self, actor: str, place: Place, *, whole: bool = True) -> Overview:
        del place
        self._next(actor)
        self.looks.append((actor, whole))
        return self.shown

    async def revoke(self, actor: str, rule_id: str, place: Place) -> Answer:
        del place
        said = self._next(actor)
        self.revoked.append((actor, rule_id))
        return said

    def _next(self, actor: str) -> Answer:
        if (error := self.error or self.refuses.get(actor)) is not None:
            raise error
        said = self.answers.pop(0) if self.answers else self.answer
        if isinstance(said, Exception):
            raise said
        return said
