"""A store that goes away and comes back, whatever it is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from sayso.errors import StoreUnreachableError
from sayso.stores.backend import Backend


@dataclass
class Going:
    """Whether the store is away."""

    away: bool = False


class _Port:
    def __init__(self, port: object, going: Going) -> None:
        self._port = port
        self._going = going

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        async def called(*arguments: Any, **more: Any) -> Any:
            if self._going.away:
                raise StoreUnreachableError("the store does not answer")
            return await method(*arguments, **more)

        return called


def going_away(backend: Backend, *ports: str) -> tuple[Backend, Going]:
    """The store, of which these ports are away whenever it is said so."""
    going = Going()
    away: dict[str, Any] = {name: _Port(getattr(backend, name), going) for name in ports}
    return replace(backend, **cast("Any", away)), going
