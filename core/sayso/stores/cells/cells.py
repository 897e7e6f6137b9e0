"""Which cell something lives in, and how all of them are asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Generic, TypeAlias, TypeVar

from sayso.calls import RunRef
from sayso.errors import (
    BusLostError,
    CellAwayError,
    DuplicateRequestError,
    OtherCellsError,
    RequestNotFoundError,
    SaysoError,
    StoreUnreachableError,
    UnreadableEventError,
)
from sayso.stores.backend import Backend
from sayso.stores.cells.marks import Marks
from sayso.stores.home import Home
from sayso.stores.troubles import Troubles

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

OURS = 23
"""The length of an id that Sayso makes; no two of these are the same."""

_MOST_KNOWN = 200_000
_LATE_SECONDS = 5.0
_AWAY = (StoreUnreachableError, BusLostError)
_Tried: TypeAlias = tuple[tuple[_T, ...], SaysoError | None]


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
        if not self.answers:
            raise unusable(self.away)
        raise CellAwayError(f"{what} in {_listed(self.answers)}, and not in {_why(self.away)}")


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
        self._late_until: dict[str, float] = {}
        self._away: Sequence[str] = ()
        self._troubles = Troubles(_log)
        self.home = Home()
        self.home.check()

    @property
    def names(self) -> Sequence[str]:
        """The names of all cells."""
        return self._names

    @property
    def away(self) -> Sequence[str]:
        """Those that did not answer when all were asked last."""
        return self._away

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
        self.home.check()
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
            raise _twice(question_id, known, name)
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

    async def name_holding(
        self, question_id: str, needed: Collection[str] | None = None
    ) -> str | None:
        """The name of the cell that has the request; None where none of them has.

        Raises:
            StoreUnreachableError: none that answers has it, and not all answer, or not those
                that are ``needed``; or it cannot be used.
        """
        name = self._known.get(question_id)
        if name is None:
            name = await self._found(question_id, self._names if needed is None else needed)
        if name is not None:
            await self.reach(name)
        return name

    async def name_of_request(self, question_id: str) -> str:
        """The name of the cell that has the request.

        Raises:
            RequestNotFoundError: none of them has.
            StoreUnreachableError: as for ``name_holding``.
        """
        name = await self.name_holding(question_id)
        if name is None:
            raise RequestNotFoundError(question_id)
        return name

    async def holding(self, question_id: str) -> Backend | None:
        """The cell that has the request, as ``name_holding``."""
        name = await self.name_holding(question_id)
        return None if name is None else self.backends[name]

    async def of_request(self, question_id: str) -> Backend:
        """The cell that has the request, as ``name_of_request``."""
        return self.backends[await self.name_of_request(question_id)]

    async def each(self, do: Callable[[Backend], Awaitable[_T]]) -> Said[_T]:
        """What each cell says; one that is away, or is none of these, holds up no other."""
        return await self.each_named(lambda name: do(self.backends[name]))

    async def each_named(self, do: Callable[[str], Awaitable[_T]]) -> Said[_T]:
        """What each cell says, asked by its name."""
        self.home.check()
        said = await asyncio.gather(*(_tried(self._at(name, do)) for name in self._names))
        answers: dict[str, _T] = {}
        away: dict[str, SaysoError] = {}
        for name, (answer, error) in zip(self._names, said, strict=True):
            if error is None:
                answers[name] = answer[0]
            else:
                away[name] = error
        self._away = tuple(away)
        return Said(answers, away)

    async def first(self, do: Callable[[Backend], Awaitable[_T]]) -> _T:
        """What the first cell that answers says, of what no session is needed for.

        One that did not answer is asked last for a moment, so that not everything waits for a
        cell that hangs.

        Raises:
            StoreUnreachableError: none of them answers.
        """
        clock = asyncio.get_running_loop().time
        late = {name for name, until in self._late_until.items() if until > clock()}
        away: list[StoreUnreachableError] = []
        for name in sorted(self._names, key=lambda one: (one in late, one)):
            try:
                said = await do(self.backends[name])
            except StoreUnreachableError as error:
                away.append(error)
                self._late_until[name] = clock() + _LATE_SECONDS
            else:
                self._late_until.pop(name, None)
                return said
        raise away[0]

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

    async def _at(self, name: str, do: Callable[[str], Awaitable[_T]]) -> _T:
        await self.reach(name)
        return await do(name)

    async def _found(self, question_id: str, needed: Collection[str]) -> str | None:
        """The cell that says it has the request, noted; none waits for one that is slow.

        But for an id of somebody's own, which may be in two.
        """
        self.home.check()
        is_ours = len(question_id) == OURS
        looks: dict[asyncio.Future[_Tried[bool]], str] = {
            asyncio.ensure_future(_tried(self._at(name, partial(self._has, question_id)))): name
            for name in self._names
        }
        away: dict[str, SaysoError] = {}
        found: list[str] = []
        waiting = set(looks)
        try:
            while waiting and not (is_ours and found):
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for look in done:
                    answer, error = look.result()
                    if error is not None:
                        away[looks[look]] = error
                    elif answer[0]:
                        found.append(looks[look])
        finally:
            for look in waiting:
                look.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        if len(found) > 1:
            # Nothing is noted of it: whoever asks again is told the same.
            raise _twice(question_id, *sorted(found)[:2])
        if not found and not away.keys().isdisjoint(needed):
            raise unusable(away, "whether there is such a request is not known: ")
        for name in found:
            self.note(question_id, name)
        return found[0] if found else None

    async def _has(self, question_id: str, name: str) -> bool:
        try:
            return await self.backends[name].store.get(question_id) is not None
        except UnreadableEventError:
            return True


def _twice(question_id: str, one: str, other: str) -> StoreUnreachableError:
    return StoreUnreachableError(
        f"two requests have the id {question_id!r}, in the cells {one} and {other} of the "
        "store: neither can be decided"
    )


def unusable(away: Mapping[str, SaysoError], before: str = "") -> StoreUnreachableError:
    """The error that says why none of these cells can be used."""
    others = all(isinstance(error, OtherCellsError) for error in away.values())
    error = (OtherCellsError if others else StoreUnreachableError)(before + _why(away))
    error.cell = next(iter(away)) if len(away) == 1 else ""
    return error


def _why(away: Mapping[str, SaysoError]) -> str:
    return "; ".join(said_of(name, error) for name, error in away.items())


def said_of(name: str, error: SaysoError) -> str:
    """What is wrong with a cell, named once."""
    said = str(error)
    return said if said.startswith(f"cell {name}") else f"cell {name}: {said}"


async def _tried(work: Awaitable[_T]) -> _Tried[_T]:
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
