"""Which instances there are, for whoever lists them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import timedelta

from sayso.stores.ports import Documents
from sayso_bots.aap.errors import AapError

_KEPT = timedelta(days=3650)
_MOST_TRIES = 50
# Instances may be made and deleted all day long: so each change touches a part of them alone.
_PARTS = [f"{number:02x}" for number in range(256)]


class Directory:
    """The ids of instances, those that were made since there is a directory."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add(self, instance_id: str) -> None:
        """Note that there is, or soon will be, an instance of this id."""
        await self._change(instance_id, lambda ids: {*ids, instance_id})

    async def remove(self, instance_id: str) -> None:
        """Note that there is none any more."""
        await self._change(instance_id, lambda ids: ids - {instance_id})

    async def ids(self) -> Sequence[str]:
        """All of them."""
        texts = await asyncio.gather(*(self._documents.read(_key(part)) for part in _PARTS))
        return [one for text in texts for one in _read(text)]

    async def _change(self, instance_id: str, change: Callable[[set[str]], set[str]]) -> None:
        key = _key(instance_id[:2])
        for _ in range(_MOST_TRIES):
            before = await self._documents.read(key)
            after = json.dumps(sorted(change(set(_read(before)))))
            if await self._documents.swap(key, before, after, seconds=_KEPT.total_seconds()):
                return
        message = "others are making instances; try again"
        raise AapError(503, "busy", message, headers={"Retry-After": "1"})


def _key(part: str) -> str:
    return f"aap-instances:{part}"


def _read(text: str | None) -> Sequence[str]:
    ids: Sequence[str] = json.loads(text) if text else []
    return ids
