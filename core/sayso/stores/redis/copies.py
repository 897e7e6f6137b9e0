"""Card handles in Redis."""

from __future__ import annotations

from sayso.errors import ReplayedCallbackError, UnknownRequestError
from sayso.events import RequestEnding
from sayso.questions.wire import decode_ending
from sayso.stores.ports import Copy, Found
from sayso.stores.redis.client import Client, Script
from sayso.stores.redis.records import read_copy, stored_bundle, stored_copy, stored_request

_ISSUE, _FIND, _MARK = Script("issue"), Script("find"), Script("mark")


class RedisCopies:
    """Handles live as long as their request; deliveries are remembered for ten minutes."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def issue(self, copy: Copy) -> None:
        """Bind a new handle to its request and place.

        Raises:
            UnknownRequestError: no such request.
        """
        kept = (stored_copy(copy), stored_bundle(copy))
        if not await self._client.run(_ISSUE, copy.question_id, copy.handle, *kept):
            raise UnknownRequestError(copy.question_id)

    async def find(self, handle: str, *, delivery: str = "") -> Found | None:
        """What the handle is bound to; None when it is unknown."""
        said, *rest = await self._client.run(_FIND, handle, delivery, self._client.token())
        if said == b"replayed":
            raise ReplayedCallbackError("this callback was handled before")
        if said == b"unknown":
            return None
        question_id, request, deadline, copy, ending, bundle = rest
        return Found(
            read_copy(question_id.decode(), handle, copy, bundle),
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
