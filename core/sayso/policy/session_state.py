"""A small state that policies keep for a session, shared by its branches and processes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from sayso.errors import MAX_STATE_TRIES, StateConflictError


class Keeps(Protocol):
    """What keeps the state of one session: texts by their names."""

    @property
    def recall(self) -> Callable[[str], Awaitable[str | None]]:
        """The text under a name, None where there is none."""
        ...

    @property
    def swap(self) -> Callable[[str, str | None, str | None], Awaitable[bool]]:
        """Put a text in the place of another one; False where that is not there any more."""
        ...


class State:
    """JSON values by their names, the same in all branches and processes of a session.

    It is small: a few dozen names, 16 KB together. What nobody writes to for 90
    days is gone. A policy may be asked more than once about one call: count by
    call ids, or let ``Context.spend`` say who comes first.
    """

    def __init__(self, keeps: Keeps, *, may_change: bool = True) -> None:
        self._keeps = keeps
        self._may_change = may_change

    @property
    def only_looking(self) -> State:
        """The same to look at: changing it raises TypeError."""
        return State(self._keeps, may_change=False) if self._may_change else self

    async def get(self, name: str, default: Any = None) -> Any:
        """The value under the name.

        Raises:
            StoreUnreachableError: the store does not answer.
        """
        written = await self._keeps.recall(name)
        return default if written is None else json.loads(written)

    async def set(self, name: str, value: Any) -> None:
        """Put a value under the name, whatever was there; None takes it away.

        Raises:
            StateConflictError: it does not fit beside what the session keeps.
            StoreUnreachableError: the store does not answer.
        """
        await self.update(name, lambda _: value)

    async def update(self, name: str, change: Callable[[Any], Any]) -> Any:
        """Make a new value of the one under the name, None where there is none; the new one.

        Nothing that another process writes meanwhile is lost: then ``change``
        is called again, with what is there by now. It must only compute.

        Raises:
            StateConflictError: it does not fit beside what the session keeps.
            StateConflictError: others kept changing it.
            StoreUnreachableError: the store does not answer.
        """
        if not self._may_change:
            raise TypeError("a denial only looks: the state is changed where a policy decides")
        for _ in range(MAX_STATE_TRIES):
            before = await self._keeps.recall(name)
            value = change(None if before is None else json.loads(before))
            after = None if value is None else json.dumps(value, allow_nan=False, sort_keys=True)
            if await self._keeps.swap(name, before, after):
                return value
        raise StateConflictError(name)
