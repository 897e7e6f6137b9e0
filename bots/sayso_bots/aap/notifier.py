"""What the provider needs of whoever tells receivers that requests have ended."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

from sayso_bots.aap.errors import invalid
from sayso_bots.aap.instances import Delivery, Instance


class Notifier(Protocol):
    """Tells receivers of ended requests. Everything that it still has to do is in the store."""

    async def checked(
        self, given: dict[str, Any], *, instance_id: str, since: datetime
    ) -> Delivery:
        """The delivery that was asked for, once its receiver has proved that it wants it.

        ``given`` is the object as it was sent. Calls at once with the same one share one proof.

        Raises:
            AapError: it cannot be used, or the receiver does not answer as it must.
        """
        ...

    async def ended(self, instance: Instance, request_id: str, at: datetime) -> None:
        """Take over to tell that a request has ended; once more changes nothing.

        The instance may have no delivery. Raises StoreUnreachableError when nothing was taken over.
        """
        ...

    async def replaced(self, instance: Instance) -> None:
        """The delivery of an instance is another one now, or it has none any more."""
        ...


class NoNotifier:
    """For a provider that sends nothing: adapters ask how their requests stand."""

    async def checked(
        self, given: dict[str, Any], *, instance_id: str, since: datetime
    ) -> Delivery:
        """Refuse it."""
        del given, instance_id, since
        message = "no notifications are sent here; leave the delivery out"
        raise invalid(message, param="delivery.type", code="unsupported_delivery_type")

    async def ended(self, instance: Instance, request_id: str, at: datetime) -> None:
        """Nobody is told."""

    async def replaced(self, instance: Instance) -> None:
        """Nobody was told."""
