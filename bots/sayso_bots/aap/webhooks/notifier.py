"""The notifier of the provider: receivers are verified, kept sealed, and told by webhooks."""

from __future__ import annotations

import base64
import ssl
from datetime import datetime
from typing import Any

from sayso.clock import Clock, utc_now
from sayso.errors import ConfigError
from sayso.stores.backend import Backend
from sayso_bots.aap.credentials import Vault
from sayso_bots.aap.errors import AapError, invalid
from sayso_bots.aap.instances import Delivery, Instance, Instances
from sayso_bots.aap.requests import moment
from sayso_bots.aap.webhooks.deliveries import Deliveries
from sayso_bots.aap.webhooks.networks import Reach
from sayso_bots.aap.webhooks.notification import Notification
from sayso_bots.aap.webhooks.progress import Progresses
from sayso_bots.aap.webhooks.receiver import BadReceiverError, Receiver, read_receiver
from sayso_bots.aap.webhooks.resolving import Resolve, resolved
from sayso_bots.aap.webhooks.room import CrowdedError, Room
from sayso_bots.aap.webhooks.sending import NotPublicError, Sender
from sayso_bots.aap.webhooks.sharing import Shared, SharedFailureError
from sayso_bots.aap.webhooks.verification import UnverifiedError, verify
from sayso_bots.settings.aap import CA_VARIABLE, AapSettings


class KnownReceivers:
    """The receivers of instances, as the store knows them at this moment."""

    def __init__(self, instances: Instances) -> None:
        self._instances = instances

    async def receiver(self, told: Notification) -> Receiver | None:
        """The one that has the place of the receiver that the notification was meant for."""
        instance = await self._instances.find(told.instance_id)
        if instance is None or instance.deleted_at is not None:
            return None
        delivery = instance.delivery
        if delivery is None or _line(delivery) != told.line:
            return None
        key = self._instances.vault.unseal(delivery.sealed_secret)
        return Receiver(delivery.url, delivery.registration_id, key)


class WebhookNotifier:
    """Verifies receivers, and hands over to ``deliveries`` what they are to be told.

    Raises:
        ConfigError: the certificates of the settings cannot be read.
    """

    def __init__(
        self,
        settings: AapSettings,
        backend: Backend,
        *,
        resolve: Resolve = resolved,
        clock: Clock = utc_now,
    ) -> None:
        reach = Reach(settings.private_receivers)
        self._sender = Sender(reach, _trusting(settings.ca_file), resolve=resolve, clock=clock)
        self._room = Room(settings.limits.webhooks, settings.limits.webhooks_per_host)
        self._vault = Vault(settings.secret)
        self._shared = Shared(backend.documents)
        self.deliveries = Deliveries(
            KnownReceivers(Instances(backend.documents, self._vault, clock)),
            backend.errands,
            backend.watch,
            Progresses(backend.documents),
            self._sender,
            self._room,
            clock=clock,
        )

    async def checked(
        self, given: dict[str, Any], *, instance_id: str, since: datetime
    ) -> Delivery:
        """The delivery that was asked for, once its receiver has proved that it wants it."""
        try:
            receiver = read_receiver(given)
        except BadReceiverError as error:
            raise invalid(str(error), param=error.param, code=error.code) from None
        await self._prove(receiver, instance_id, since)
        sealed = self._vault.seal(receiver.key)
        return Delivery("webhook", receiver.url, receiver.registration_id, sealed, since)

    async def ended(self, instance: Instance, request_id: str, at: datetime) -> None:
        """Take over to tell that a request has ended; once more changes nothing."""
        delivery = instance.delivery
        if delivery is not None and moment(at) >= moment(delivery.since):
            told = Notification(instance.id, request_id, moment(at), _line(delivery))
            await self.deliveries.add(told)

    async def replaced(self, instance: Instance) -> None:
        """The delivery of an instance is another one now, or it has none any more."""
        await self.deliveries.receiver_changed(instance.id)

    async def _prove(self, receiver: Receiver, instance_id: str, since: datetime) -> None:
        async def proved() -> None:
            with self._room.taken(receiver.host):
                await verify(self._sender, receiver, instance_id, created_at=moment(since))

        secret = base64.b64encode(receiver.key).decode()
        same = self._vault.mark(
            "receiver", instance_id, receiver.url, receiver.registration_id, secret
        )
        try:
            await self._shared.once(same, proved, failures=(UnverifiedError,))
        except NotPublicError:
            message = "it leads to an address that is not public"
            raise invalid(message, param="delivery.url", code="invalid_webhook_url") from None
        except (UnverifiedError, SharedFailureError) as error:
            raise AapError(422, "webhook_verification_failed", str(error)) from None
        except CrowdedError:
            message = "too many receivers are being called; come back in 2 s"
            raise AapError(429, "too_many_calls", message, headers={"Retry-After": "2"}) from None


def _trusting(ca_file: str) -> ssl.SSLContext:
    # Made now: aiohttp makes its own when it is imported, whatever the settings say later.
    context = ssl.create_default_context()
    if ca_file:
        try:
            context.load_verify_locations(ca_file)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(
                f"{CA_VARIABLE} names {ca_file}, whose certificates cannot be read "
                f"({type(error).__name__}); name a file in PEM, or unset it"
            ) from None
    return context


def _line(delivery: Delivery) -> str:
    # A receiver that takes the place of another keeps its ``since``; one that comes after a gap,
    # in which nobody wanted to be told, has a later one.
    return delivery.since.isoformat()
