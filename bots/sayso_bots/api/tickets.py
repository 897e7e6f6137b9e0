"""Tickets let an EventSource, which cannot send headers, read one branch for a while."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from dataclasses import dataclass

from sayso.calls import RunRef
from sayso.stores.branch_log import branch_of
from sayso.stores.protocols import KeyValueStore

TICKET_SECONDS = 600
_FORM = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a ticket was given for, and to which token."""

    branch: tuple[str, str, str]
    token_name: str


def is_ticket(text: str) -> bool:
    """Whether it has the form of one."""
    return _FORM.fullmatch(text) is not None


class Tickets:
    """Tickets in the store, where only their hashes are. Each opens one branch, to read."""

    def __init__(self, key_value: KeyValueStore) -> None:
        self._key_value = key_value

    async def make(self, run: RunRef, token_name: str) -> str:
        """A new ticket for the run's branch.

        Raises:
            StoreUnreachableError: it could not be stored.
        """
        ticket = secrets.token_urlsafe(32)
        text = json.dumps([*branch_of(run), token_name])
        await self._key_value.set(_key(ticket), text, seconds=TICKET_SECONDS)
        return ticket

    async def read(self, ticket: str) -> Ticket | None:
        """What a ticket is for; None when there is none, or it is over.

        Raises:
            StoreUnreachableError: the store does not answer.
        """
        text = await self._key_value.get(_key(ticket))
        if text is None:
            return None
        agent_id, session_id, branch_id, token_name = json.loads(text)
        return Ticket((agent_id, session_id, branch_id), token_name)


def _key(ticket: str) -> str:
    return "draft:api-ticket:" + hashlib.sha256(ticket.encode()).hexdigest()
