"""Which cell something lives in, and how all of them are asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Generic, TypeVar

from sayso.calls import RunRef
from sayso.errors import (
    BusLostError,
    CellAwayError,
    DuplicateRequestError,
    SaysoError,
    StoreUnreachableError,
    UnknownRequestError,
    UnreadableEventError,
)
from sayso.stores.backend import Backend
from sayso.stores.cells.marks import Marks
from sayso.stores.home import Home
from sayso.stores.ports import Record
from sayso.stores.troubles import Troubles

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

_MOST_KNOWN = 200_000
_AWAY = (StoreUnreachableError, BusLostError)


@dataclass(frozen=True, slots=True)
class Said(Generic[_T]):
    """What the cells that answered said, by their names, and why the others did not."""

    answers: Mapping[str, _T]
    away: Mapping[str, SaysoError]

    def whole(self, what: str) -> Mapping[str, _T]:
        """The answers, if there is one of each cell.

        Raises:
            CellAwayError: it is done in some of them.
            StoreUnreachableError: none of them answered.
        """
        if not self.away:
            return self.answers
        why = "; ".join(f"cell {name}: {error}" for name, error in self.away.items())
        if not self.answers:
            raise StoreUnreachableError(why)
        raise CellAwayError(f"{what} in {_listed(self.answers)}, and not in {why}")


class Cells:
    """The cells of a store. A session is in the one that the hash of its name chooses.

    Of each name, every cell has a number by their hash together, and the greatest
    chooses: the order in which they are listed does not matter.
    """

    def __init__(self, backends: Mapping[str, Backend]) -> None:
        self.backends = dict(sorted(backends.items()))
        self._names = tuple(self.backends)
        self._marks = Marks(self.backends, self.name_of)
        self._known: dict[str, str] = {}
        self._troubles = Troubles(_log)
        self.home = Home()
        self.home.check()

    @property
    def names(self) -> Sequence[str]:
        """The names of all cells."""
        return self._names

    def name_of(self, run: RunRef) -> str:
        """The cell of the run's session."""
        return _chosen(self._names, f"{len(run.agent_id)}:{run.agent_id}{run.session_id}")

    def named(self, name: str) -> str:
        """The cell of what belongs to no session, by its name."""
        return _chosen(self._names, f"/{name}")

    async def of(self, run: RunRef) -> Backend:
        """The cell of the run's session.

        Raises:
            StoreUnreachableError: it cannot be used.
        """
        return await self.reach(self.name_of(run))

    async def reach(self, name: str) -> Backend:
        """The cell of this name, once it is known to be one of these.

        Raises:
            StoreUnreachableError: it cannot be used.
        """
        await self._marks.check(name)
        return self.backends[name]

    async def look_again(self) -> None:
        """Check each cell that answers anew: it may have lost what it had."""
        for name in self._names:
            try:
                await self._marks.check(name, anew=True)
            except StoreUnreachableError as error:
                self._troubles.tell(f"cell {name} cannot be used", error)
            else:
                self._troubles.over(f"cell {name} cannot be used")

    def note(self, question_id: str, name: str) -> None:
        """The request of this id lives in this cell.

        Raises:
            StoreUnreachableError: there is one in another cell, too.
        """
        known = self._known.get(question_id)
        if known == name:
            return
        if known is not None:
            raise StoreUnreachableError(
                f"two requests have the id {question_id!r}, in the cells {known} and {name} of the "
                "store: neither can be decided"
            )
        if len(self._known) >= _MOST_KNOWN:
            # Those that were noted first; whoever is asked for again is looked for again.
            for old in list(self._known)[: _MOST_KNOWN // 10]:
                del self._known[old]
        self._known[question_id] = name

    def check_new(self, question_id: str, name: str) -> None:
        """See that no request in another cell has this id, as far as it is known here.

        Raises:
            DuplicateRequestError: one has.
        """
        if self._known.get(question_id, name) != name:
            raise DuplicateRequestError(question_id)

    def known(self, question_id: str) -> str | None:
        """The cell of a request, as far as it is known here."""
        return self._known.get(question_id)

    async def name_holding(self, question_id: str) -> str | None:
        """The name of the cell that has the request; None where none of them has.

        Raises:
            StoreUnreachableError: none that answers has it, and not all answer, or it
                cannot be used.
        """
        name = self._known.get(question_id)
        if name is None:
            name = await self._found(question_id)
        if name is not None:
            await self.reach(name)
        return name

    async def name_of_request(self, question_id: str) -> str:
        """The name of the cell that has the request.

        Raises:
            UnknownRequestError: none of them has.
            StoreUnreachableError: as for ``name_holding``.
        """
        name = await self.name_holding(question_id)
        if name is None:
            raise UnknownRequestError(question_id)
        return name

    async def holding(self, question_id: str) -> Backend | None:
        """The cell that has the request, as ``name_holding``."""
        name = await self.name_holding(question_id)
        return None if name is None else self.backends[name]

    async def of_request(self, question_id: str) -> Backend:
        """The cell that has the request, as ``name_of_request``."""
        return self.backends[await self.name_of_request(question_id)]

    async def each(self, do: Callable[[Backend], Awaitable[_T]]) -> Said[_T]:
        """What each cell says; one that is away holds up no other."""
        return await self.each_named(lambda name: do(self.backends[name]))

    async def each_named(self, do: Callable[[str], Awaitable[_T]]) -> Said[_T]:
        """What each cell says, asked by its name."""
        self.home.check()
        said = await asyncio.gather(*(_tried(do(name)) for name in self._names))
        answers: dict[str, _T] = {}
        away: dict[str, SaysoError] = {}
        for name, (answer, error) in zip(self._names, said, strict=True):
            if error is None:
                answers[name] = answer[0]
            else:
                away[name] = error
        return Said(answers, away)

    async def some(self, do: Callable[[Backend], Awaitable[_T]], what: str) -> Mapping[str, _T]:
        """What the cells that answer say; the log names the others.

        Raises:
            StoreUnreachableError: none of them answers.
        """
        said = await self.each(do)
        for name in self._names:
            if name in said.away:
                self._troubles.tell(f"{what} of cell {name} is missing", said.away[name])
            else:
                self._troubles.over(f"{what} of cell {name} is missing")
        if not said.answers:
            said.whole(what)
        return said.answers

    async def _found(self, question_id: str) -> str | None:
        said = await self.each(lambda cell: _has(cell, question_id))
        holders = [name for name, has in said.answers.items() if has]
        for name in holders:
            self.note(question_id, name)
        if not holders and said.away:
            why = "; ".join(f"cell {name}: {error}" for name, error in said.away.items())
            raise StoreUnreachableError(f"whether there is such a request is not known: {why}")
        return holders[0] if holders else None


async def _has(cell: Backend, question_id: str) -> bool:
    try:
        record: Record | None = await cell.store.get(question_id)
    except UnreadableEventError:
        return True
    return record is not None


async def _tried(work: Awaitable[_T]) -> tuple[tuple[_T, ...], SaysoError | None]:
    try:
        return (await work,), None
    except _AWAY as error:
        return (), error


@lru_cache(maxsize=20_000)
def _chosen(names: tuple[str, ...], text: str) -> str:
    data = text.encode()
    return max(
        names, key=lambda name: (blake2b(data, digest_size=8, key=name.encode()).digest(), name)
    )


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(f"cell {name}" for name in names)
