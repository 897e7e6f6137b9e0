"""The endpoints of provisioners: they make instances, change them, and delete them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from aiohttp import web

from sayso.clock import Clock
from sayso.stores.backend import Backend
from sayso_bots import exact
from sayso_bots.aap.bodies import idempotency_key, read_object, text_in, without_body
from sayso_bots.aap.door import Door, id_in
from sayso_bots.aap.errors import AapError, invalid, json_response
from sayso_bots.aap.instances import Delivery, Instance, Instances, no_such_instance
from sayso_bots.aap.notifier import Notifier
from sayso_bots.aap.revoking import revoke
from sayso_bots.settings.aap import Provisioner

FIELDS = ("instance_name", "delivery")
LONGEST_NAME = 128
# Nothing is older than a delivery that an instance is made with: no clock need be asked.
_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class Provisioning:
    """What a provisioner does with its token. Another's instances are as good as none."""

    def __init__(
        self,
        backend: Backend,
        door: Door,
        instances: Instances,
        notifier: Notifier,
        clock: Clock,
    ) -> None:
        self._backend = backend
        self._door = door
        self._instances = instances
        self._notifier = notifier
        self._clock = clock

    async def make(self, request: web.Request) -> web.Response:
        """``POST /v1/instances``."""
        provisioner = await self._door.provisioner(request)
        key = idempotency_key(request)
        found = await read_object(request, allowed=FIELDS)
        name, given = _name(found), self._mark(found)
        instance_id = self._instances.vault.instance_id(provisioner.name, key)
        known = await self._instances.repeated(instance_id, given)
        if known is not None:
            return self._credential(known, 200)
        agent = _agent(provisioner, name, instance_id)
        delivery = await self._delivery(found, instance_id)
        made, is_new = await self._instances.make(
            instance_id,
            provisioner=provisioner.name,
            given=given,
            name=name,
            agent=agent,
            delivery=None if delivery is None else replace(delivery, since=_EVER),
        )
        return self._credential(made, 201 if is_new else 200)

    async def show(self, request: web.Request) -> web.Response:
        """``GET /v1/instances/{id}``."""
        instance = await self._own(request)
        return json_response(json.dumps(instance.public), 200)

    async def change(self, request: web.Request) -> web.Response:
        """``PATCH /v1/instances/{id}``."""
        instance = await self._own(request)
        key = idempotency_key(request)
        found = await read_object(request, allowed=FIELDS, nullable=("delivery",))
        if not found:
            raise invalid("there is nothing to change in it")
        name, given = _name(found), self._mark(found)
        answer = self._instances.changed(instance, key, given)
        if answer is None:
            changes: dict[str, Any] = {"name": name} if name else {}
            if "delivery" in found:
                changes["delivery"] = await self._delivery(found, instance.id)
            answer = await self._instances.change(instance.id, key, given, changes)
        if "delivery" in found and (now := await self._instances.find(instance.id)) is not None:
            # Also for a repeated call: the first one may have died before it came to this.
            await self._notifier.replaced(now)
        return json_response(json.dumps(answer), 200)

    async def delete(self, request: web.Request) -> web.Response:
        """``DELETE /v1/instances/{id}``: its token is revoked, and what it has asked withdrawn."""
        instance = await self._own(request, deleted=True)
        await without_body(request)
        await revoke(self._backend, self._instances, instance.id, self._clock)
        return web.Response(status=204)

    async def _own(self, request: web.Request, *, deleted: bool = False) -> Instance:
        provisioner = await self._door.provisioner(request)
        instance_id = id_in(request)
        instance = await self._instances.find(instance_id) if instance_id else None
        if instance is None or instance.provisioner != provisioner.name:
            raise no_such_instance()
        if instance.deleted_at is not None and not deleted:
            raise no_such_instance()
        return instance

    async def _delivery(self, found: dict[str, Any], instance_id: str) -> Delivery | None:
        given = found.get("delivery")
        if given is None:
            return None
        if not isinstance(given, dict):
            raise invalid("must be an object", param="delivery")
        # Ends are told by the store's clock, so that is what says which of them are older.
        since = await self._backend.documents.now()
        return await self._notifier.checked(given, instance_id=instance_id, since=since)

    def _mark(self, found: dict[str, Any]) -> str:
        # Not a plain hash of it: it holds the secret of a delivery.
        return self._instances.vault.mark("input", exact.digest(found))

    def _credential(self, instance: Instance, status: int) -> web.Response:
        token = self._instances.token(instance)
        answer = {"instance": instance.public, "credential": {"token": token}}
        return json_response(json.dumps(answer), status)


def _agent(provisioner: Provisioner, name: str, instance_id: str) -> str:
    """Who asks with the token of a new instance.

    Policies, routes and what *Always* stores go by it, so the caller's word alone
    makes it no agent but one of the provisioner's own.

    Raises:
        AapError: the settings let no instance of this provisioner be the agent of this name.
    """
    if not name or not provisioner.agents:
        # No name of a provisioner has a slash in it.
        return f"{provisioner.name}/{name or f'aap-{instance_id[:8]}'}"
    if not fnmatchcase(name, provisioner.agents):
        message = (
            f"instances of this provisioner are named {provisioner.agents}: their names are "
            "the agents that policies and routes know"
        )
        raise AapError(403, "agent_not_allowed", message, param="instance_name")
    return name


def _name(found: dict[str, Any]) -> str:
    name = text_in(found, "instance_name", most=LONGEST_NAME)
    if not name.isprintable() or name != name.strip():
        raise invalid("must be printable", param="instance_name")
    return name
