"""Attempts at the same thing at once: one is made, and all hear how it went."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable

from sayso.stores.ports import Documents

_HELD_SECONDS = 15.0
_TOLD_SECONDS = 1.0
_LOOK_SECONDS = 0.1
_HELD, _FAILED, _DONE, _DIED = "held ", "failed ", "done", "died"


class SharedFailureError(Exception):
    """The attempt of somebody else failed; the text is that of its error."""


class Shared:
    """Attempts by name, in any number of processes."""

    def __init__(self, documents: Documents, *, look_seconds: float = _LOOK_SECONDS) -> None:
        self._documents = documents
        self._look_seconds = look_seconds

    async def once(
        self,
        name: str,
        attempt: Callable[[], Awaitable[None]],
        *,
        failures: tuple[type[Exception], ...],
    ) -> None:
        """Make the attempt, or wait for the one under way. One that died is made by another.

        Raises:
            SharedFailureError: another attempt was under way, and failed with one of ``failures``.
        """
        key, own = f"aap:attempt:{name}", _HELD + uuid.uuid4().hex
        waited = False
        while True:
            there = await self._documents.read(key)
            if waited and there == _DONE:
                return None
            if waited and there is not None and there.startswith(_FAILED):
                raise SharedFailureError(there.removeprefix(_FAILED))
            if there is not None and there.startswith(_HELD):
                waited = True
                await asyncio.sleep(self._look_seconds)
                continue
            if await self._documents.swap(key, there, own, seconds=_HELD_SECONDS):
                return await self._made(key, own, attempt, failures)

    async def _made(
        self,
        key: str,
        own: str,
        attempt: Callable[[], Awaitable[None]],
        failures: tuple[type[Exception], ...],
    ) -> None:
        ended = _DIED
        try:
            await attempt()
            ended = _DONE
        except failures as error:
            ended = f"{_FAILED}{error}"
            raise
        finally:
            await self._documents.swap(key, own, ended, seconds=_TOLD_SECONDS)
