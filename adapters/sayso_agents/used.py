"""Which approvals a tool has run on: in one process, each of them lets it run once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from itertools import chain, count
from threading import Lock

from sayso_agents.calls import Said

_MOST = 10_000


class Used:
    """The keys that something has run under; the last ten thousand of them are known."""

    def __init__(self) -> None:
        self._keys: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def unused(self, key: str) -> str:
        """The key, or one made of it where something has run under it already."""
        with self._lock:
            numbered = chain([key], (f"{number}/{key}" for number in count(2)))
            return next(one for one in numbered if one not in self._keys)

    def use(self, key: str) -> bool:
        """Whether this is the one use of the key; from now on it is used."""
        with self._lock:
            if key in self._keys:
                return False
            self._keys[key] = None
            if len(self._keys) > _MOST:
                self._keys.popitem(last=False)
            return True

    def release(self, key: str) -> None:
        """The key is unused again: what ran under it will go on."""
        with self._lock:
            self._keys.pop(key, None)

    async def once(self, key: str, ask: Callable[[str], Awaitable[Said]]) -> tuple[Said, str]:
        """Ask under the key until nobody else has used what was said; that, and the key used."""
        while True:
            unused = self.unused(key)
            said = await ask(unused)
            if said.arguments is None or self.use(unused):
                return said, unused
