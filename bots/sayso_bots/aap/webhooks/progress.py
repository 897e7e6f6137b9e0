"""How often a notification was tried in vain, and whether it is over."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from sayso.stores.ports import Documents
from sayso_bots.aap.webhooks.pace import GIVEN_UP_AFTER
from sayso_bots.aap.webhooks.receiver import Receiver

_KEPT_SECONDS = GIVEN_UP_AFTER.total_seconds() + 86_400


class _Kept(BaseModel):
    """``receiver`` is a digest: with another receiver the count begins anew."""

    receiver: str
    tries: int
    is_over: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """What was found; ``text`` as it is kept, None where nothing is."""

    text: str | None = None
    tries: int = 0
    is_over: bool = False


class Progresses:
    """What is kept of each notification, for a day longer than it is tried."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def find(self, event_id: str, receiver: Receiver) -> Progress:
        """How often this receiver was tried in vain, and whether somebody was told already."""
        text = await self._documents.read(_key(event_id))
        if text is None:
            return Progress()
        try:
            kept = _Kept.model_validate_json(text)
        except ValidationError:  # of another version of ours: it begins anew
            return Progress(text)
        tries = kept.tries if kept.receiver == _digest(receiver) else 0
        return Progress(text, tries, kept.is_over)

    async def failed(self, event_id: str, receiver: Receiver, before: Progress) -> None:
        """Keep that it was tried once more."""
        await self._keep(event_id, receiver, before, before.tries + 1, is_over=False)

    async def over(self, event_id: str, receiver: Receiver, before: Progress) -> None:
        """Keep that it was delivered, or given up."""
        await self._keep(event_id, receiver, before, before.tries, is_over=True)

    async def _keep(
        self, event_id: str, receiver: Receiver, before: Progress, tries: int, *, is_over: bool
    ) -> None:
        kept = _Kept(receiver=_digest(receiver), tries=tries, is_over=is_over)
        text = kept.model_dump_json()
        await self._documents.swap(_key(event_id), before.text, text, seconds=_KEPT_SECONDS)


def _key(event_id: str) -> str:
    return f"aap-notification:{event_id}"


def _digest(receiver: Receiver) -> str:
    words = f"{receiver.registration_id} {receiver.url} ".encode() + receiver.key
    return hashlib.sha256(words).hexdigest()[:32]
