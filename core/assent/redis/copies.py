"""Card handles, and what sessions remember, in Redis."""

from __future__ import annotations

from pydantic import TypeAdapter

from assent.calls import RunRef
from assent.errors import ReplayedCallbackError, UnknownRequestError
from assent.events import RequestEnding
from assent.ports import Copy, Found
from assent.redis.client import Client, Script
from assent.redis.keys import session_key
from assent.redis.records import read_copy, stored_copy, stored_request
from assent.rules import RememberedRule, RuleBook
from assent.wire import decode_ending

_ISSUE, _FIND, _MARK, _BOOK = Script("issue"), Script("find"), Script("mark"), Script("book")
_RULE: TypeAdapter[RememberedRule] = TypeAdapter(RememberedRule)


class RedisCopies:
    """Handles live as long as their request; deliveries are remembered for ten minutes."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def issue(self, copy: Copy) -> None:
        """Bind a new handle to its request and place.

        Raises:
            UnknownRequestError: no such request.
        """
        if not await self._client.run(_ISSUE, copy.question_id, copy.handle, stored_copy(copy)):
            raise UnknownRequestError(copy.question_id)

    async def find(self, handle: str, *, delivery: str = "") -> Found | None:
        """What the handle is bound to; None when it is unknown."""
        said, *rest = await self._client.run(_FIND, handle, delivery, self._client.token())
        if said == b"replayed":
            raise ReplayedCallbackError("this callback was handled before")
        if said == b"unknown":
            return None
        question_id, request, deadline, copy, ending = rest
        return Found(
            read_copy(question_id.decode(), handle, copy),
            stored_request(request, deadline),
            None if ending is None else decode_ending(ending),
        )

    async def mark(self, copy: Copy) -> RequestEnding | None:
        """Note the message a copy became and whether all of it was shown.

        Raises:
            UnknownRequestError: no such request.
        """
        said = await self._client.run(_MARK, copy.question_id, copy.handle, stored_copy(copy))
        if said == 0:
            raise UnknownRequestError(copy.question_id)
        return None if said == 1 else decode_ending(said)


class RedisRules:
    """Rules of sessions, until they expire by the server's clock."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def book(self, run: RunRef) -> RuleBook:
        """The rules remembered for the run's session, without those that expired."""
        version, *rules = await self._client.run(_BOOK, session_key(run))
        remembered = (_RULE.validate_json(rule) for rule in rules)
        in_order = sorted(remembered, key=lambda rule: (rule.stored_at, rule.rule_id))
        return RuleBook(version.decode(), tuple(in_order))
