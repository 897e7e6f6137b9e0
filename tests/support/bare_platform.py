"""A platform that overrides only what it must."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from support.chat_double import ChatDouble

from sayso.chats.adapter import Adapter, PressTaker
from sayso.chats.places import Place
from sayso.errors import DeliveryError
from sayso.platforms import Bot, Listening, Platform, PlatformSettings, Section
from sayso.stores.protocols import KeyValueStore


class BareBot(Bot):
    """A bot that overrides only what it must."""

    def __init__(self, away: str = "") -> None:
        self._away = away

    @property
    def adapter(self) -> Adapter:
        return ChatDouble("chat")

    async def introduce(self) -> str:
        if self._away:
            raise DeliveryError("chat", self._away)
        return "a bare bot"

    @asynccontextmanager
    async def listening(
        self, desk: PressTaker, key_value: KeyValueStore, *, owner: str
    ) -> AsyncIterator[Listening]:
        yield Listening()


class BarePlatform(Platform[Section]):
    """A platform of one's own, with the section that is given to it."""

    name = "chat"
    title = "Chat"
    place_example = "chat:ops"
    account_example = "chat:alice"

    def __init__(self, section: type[Section]) -> None:
        self.section = section

    def check_place(self, place: Place) -> None:
        """Any address will do."""

    def account(self, written: object) -> str:
        return str(written)

    @asynccontextmanager
    async def open(
        self, settings: PlatformSettings[Section], key_value: KeyValueStore
    ) -> AsyncIterator[Bot]:
        yield BareBot()
