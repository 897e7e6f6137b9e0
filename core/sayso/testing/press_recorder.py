"""A desk for tests of adapters: it takes what is handed in, and decides nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from sayso.chats.overview import Overview
from sayso.chats.places import Answer, Answered, Place, Press


class PressRecorder:
    """A desk that takes every press and says ``answer``; ``meanwhile`` runs before it does."""

    def __init__(self) -> None:
        self.presses: list[Press] = []
        self.answer = Answer(Answered.RECORDED, "Approved.")
        self.meanwhile: Callable[[Press], Awaitable[None]] | None = None

    async def press(self, press: Press) -> Answer:
        """Take it."""
        self.presses.append(press)
        if self.meanwhile is not None:
            await self.meanwhile(press)
        return self.answer

    async def moved(self, old: Place, new: Place) -> None:
        """Nobody waits here for a card that moves."""

    async def members_changed(self, platform: str) -> None:
        """Nobody here remembers who is in a group."""

    async def overview(self, actor: str, place: Place, *, whole: bool = True) -> Overview:
        """Nothing waits here for anybody."""
        del actor, place, whole
        return Overview()

    def language(self, place: Place) -> str:
        """English."""
        del place
        return "en"

    async def revoke(self, actor: str, rule_id: str, place: Place) -> Answer:
        """Nothing is remembered here."""
        del actor, rule_id, place
        return self.answer
