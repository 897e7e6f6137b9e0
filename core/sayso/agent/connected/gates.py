"""The gates of a connected gate: one a run, for as long as they matter."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sayso.agent.gate import Gate
from sayso.agent.options import GateOptions
from sayso.calls import RunRef
from sayso.stores.backend import Backend


class Asker(NamedTuple):
    """For whom a gate asks: the run, and the calls that led to a sub-agent of it."""

    run: RunRef
    path: tuple[str, ...] = ()
    source_name: str | None = None


MOST_IDLE = 1_000
"""So many gates are kept that nobody uses, the last used of them."""


@dataclass(slots=True)
class _Kept:
    gate: Gate
    users: int = 0
    children: dict[Asker, Gate] = field(default_factory=dict)

    def for_asker(self, asker: Asker) -> Gate:
        if not asker.path and asker.source_name is None:
            return self.gate
        if asker not in self.children:
            child = self.gate.child(*asker.path, source_name=asker.source_name)
            self.children[asker] = child
        return self.children[asker]


class Gates:
    """Gates on one backend by their runs: what one knows of its iteration, later calls know.

    The last used are kept. A gate that somebody uses is never dropped.
    """

    def __init__(self, backend: Backend, options: GateOptions) -> None:
        self._backend = backend
        self._options = options
        self._idle: OrderedDict[RunRef, _Kept] = OrderedDict()
        self._used: dict[RunRef, _Kept] = {}

    @contextmanager
    def used(self, asker: Asker) -> Iterator[Gate]:
        """Yield the gate of a run or of its sub-agent, kept at least until the block ends."""
        run = asker.run
        kept = self._used.get(run)
        if kept is None:
            kept = self._idle.pop(run, None)
            kept = kept or _Kept(Gate(self._backend, replace(self._options, run=run)))
            self._used[run] = kept
        kept.users += 1
        try:
            yield kept.for_asker(asker)
        finally:
            kept.users -= 1
            if kept.users == 0:
                self._idle[run] = self._used.pop(run)
                if len(self._idle) > MOST_IDLE:
                    self._idle.popitem(last=False)

    async def finish(self) -> None:
        """Return when nothing is being withdrawn any more, within seconds."""
        every = (*self._idle.values(), *self._used.values())
        await asyncio.gather(*(kept.gate.finish() for kept in every))
