"""A bot of a platform while it serves: listening, checking, and the findings of a check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sayso.chats.adapter import Adapter, PressTaker
from sayso.chats.caller import Caller
from sayso.chats.places import Place
from sayso.stores.protocols import KeyValueStore

Level = Literal["ok", "info", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    ``passing`` says of a failure that it may be over by itself.
    """

    level: Level
    subject: str
    text: str
    passing: bool = False


@dataclass(frozen=True, slots=True)
class NotLooked:
    """Nobody could look, and why: it is not known whether there is a problem."""

    why: str


if TYPE_CHECKING:
    # As a type only: whoever has a route to add has aiohttp.
    from aiohttp import web


@dataclass(frozen=True, slots=True)
class Listening:
    """How presses come in: routes for the web server, or work that fetches them until cancelled."""

    routes: Collection[web.RouteDef] = ()
    fetch: Callable[[], Coroutine[Any, Any, None]] | None = None


class Bot(ABC):
    """Our bot on one platform. Override only what the platform has."""

    @property
    @abstractmethod
    def adapter(self) -> Adapter:
        """Shows the cards."""

    @abstractmethod
    async def introduce(self) -> str:
        """Who the bot is there and how presses come in, in words.

        Raises:
            DeliveryError: the platform did not say; permanent when the token is wrong.
        """

    @abstractmethod
    def listening(
        self, desk: PressTaker, key_value: KeyValueStore, *, owner: str
    ) -> AbstractAsyncContextManager[Listening]:
        """Take presses for the desk while the block runs; its end waits for those in flight.

        ``key_value`` has leases for what only one process at a time may do, in the name of
        ``owner``.
        """

    @property
    def caller(self) -> Caller | None:
        """Calls people on the platform; None where nobody can be called."""
        return None

    async def try_secrets(self) -> None:  # noqa: B027  most platforms have none
        """Check with the platform the secrets that :meth:`introduce` does not need.

        Raises:
            DeliveryError: it does not, or did not say.
        """

    async def can_post(self, place: Place) -> str | NotLooked | None:  # noqa: ARG002
        """What would prevent cards from being shown there; None when it looked and found nothing.

        It does not post.

        Raises:
            DeliveryError: the platform did not say; it counts as not looked.
        """
        return NotLooked("the first card will show")

    async def can_approve(
        self,
        account: str,  # noqa: ARG002
        places: Collection[Place],  # noqa: ARG002
    ) -> str | NotLooked | None:
        """What would prevent an approver from answering in these places; None when nothing does.

        ``account`` is an actor of this platform, such as ``chat:alice``.

        Raises:
            DeliveryError: the platform did not say; it counts as not looked.
        """
        return NotLooked("the first press will show")

    async def look(self) -> Sequence[Finding]:
        """What else is worth a line of ``sayso check``. It never raises."""
        return ()
