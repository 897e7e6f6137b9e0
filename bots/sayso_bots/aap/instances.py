"""Instances: who may ask, and where the ends of their requests are sent. Kept in the store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from sayso.clock import Clock
from sayso.stores.ports import Documents
from sayso_bots.aap.credentials import Vault, instance_in, is_token_of, new_nonce, token_hash
from sayso_bots.aap.directory import Directory
from sayso_bots.aap.errors import AapError, conflict, too_many

_KEPT = timedelta(days=400)
CHANGES_KEPT = timedelta(hours=168)
"""How long a change is known by its key."""
MOST_CHANGES = 200
"""Changes of one instance in that time: all of them stand in what is read at each call."""
_MOST_TRIES = 50


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where the ends of an instance's requests are sent; the secret is sealed.

    ``since`` is when there came to be one: it stays when another one takes its place.
    """

    type: str
    url: str
    registration_id: str
    sealed_secret: str = field(repr=False)
    since: datetime

    @property
    def public(self) -> dict[str, str]:
        """What is told of it."""
        return {"type": self.type, "url": self.url, "registration_id": self.registration_id}


@dataclass(frozen=True, slots=True)
class Change:
    """What a call has changed, and what it was answered."""

    input: str
    answer: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class Instance:
    """An adapter somewhere, with a token of its own.

    ``provisioner`` made it, ``agent`` is who asks with its token. ``consumes``
    says that it has used an approval before: of one that never does, nothing follows
    from an approval that is not used. ``changes`` are those by PATCH, by the
    mark of their idempotency key.
    """

    id: str
    provisioner: str
    agent: str
    nonce: str = field(repr=False)
    token_sha256: str = field(repr=False)
    input: str = field(repr=False)
    name: str = ""
    delivery: Delivery | None = None
    deleted_at: datetime | None = None
    consumes: bool = False
    changes: Mapping[str, Change] = field(default_factory=dict, repr=False)

    @property
    def public(self) -> dict[str, Any]:
        """What is told of it: never its token, nor the secret of its delivery."""
        told: dict[str, Any] = {"id": self.id}
        if self.name:
            told["name"] = self.name
        if self.delivery is not None:
            told["delivery"] = self.delivery.public
        return told


class UnreadableInstanceError(AapError):
    """What is kept of an instance is of another version of Sayso, or damaged."""

    def __init__(self, instance_id: str) -> None:
        message = f"what is kept of instance {instance_id} cannot be read by this version of Sayso"
        super().__init__(500, "instance_unreadable", message)


class Instances:
    """The instances in the store. One that nobody uses for 400 days is forgotten."""

    def __init__(self, documents: Documents, vault: Vault, clock: Clock) -> None:
        self._documents = documents
        self._directory = Directory(documents)
        self._clock = clock
        self.vault = vault

    async def find(self, instance_id: str) -> Instance | None:
        """The instance of this id, also one that is deleted; None where there is none.

        Raises:
            UnreadableInstanceError: what is kept of it cannot be read.
        """
        text = await self._documents.read(_key(instance_id), keep=_KEPT.total_seconds())
        return None if text is None else _read(text, instance_id)

    async def all(self) -> tuple[Sequence[Instance], Sequence[str]]:
        """The instances that are not deleted, by name, and the ids of those that cannot be read."""
        known: list[Instance] = []
        unreadable: list[str] = []
        for instance_id in await self._directory.ids():
            try:
                found = await self.find(instance_id)
            except UnreadableInstanceError:
                unreadable.append(instance_id)
                continue
            if found is not None and found.deleted_at is None:
                known.append(found)
        return sorted(known, key=lambda one: (one.name, one.id)), sorted(unreadable)

    async def behind(self, token: str) -> Instance | None:
        """The instance whose token this is; None where it is nobody's, or is revoked."""
        instance_id = instance_in(token)
        instance = None if instance_id is None else await self.find(instance_id)
        if instance is None or instance.deleted_at is not None:
            return None
        return instance if is_token_of(token, instance.token_sha256) else None

    async def repeated(self, instance_id: str, given: str) -> Instance | None:
        """The instance that this call has made already; None where it was not made before.

        Raises:
            AapError: the call was another one, or the instance is deleted.
        """
        known = await self.find(instance_id)
        if known is None:
            return None
        if known.deleted_at is not None:
            raise conflict("instance_deleted", "the instance that this call made is deleted")
        if known.input != given:
            raise other_call()
        return known

    async def make(
        self,
        instance_id: str,
        *,
        provisioner: str,
        given: str,
        agent: str,
        name: str = "",
        delivery: Delivery | None = None,
    ) -> tuple[Instance, bool]:
        """A new instance, and whether it is new: of the same call made twice at once there is one.

        Raises:
            AapError: as for ``repeated``.
        """
        nonce = new_nonce()
        made = Instance(
            instance_id,
            provisioner,
            agent,
            nonce,
            token_hash(self.vault.token(instance_id, nonce)),
            given,
            name,
            delivery,
        )
        await self._directory.add(made.id)
        if await self._swap(made.id, None, _written(made)):
            return made, True
        known = await self.repeated(instance_id, given)
        if known is None:
            raise TypeError("an instance that was there a moment ago is there")
        return known, False

    def token(self, instance: Instance) -> str:
        """The token of an instance, the same each time."""
        return self.vault.token(instance.id, instance.nonce)

    def changed(self, instance: Instance, key: str, given: str) -> Mapping[str, Any] | None:
        """What the call of this key was answered; None where it is a new one.

        Raises:
            AapError: the call was another one, or it is a new one and there are too many.
        """
        young = self._young(instance)
        known = young.get(self._mark(instance, key))
        if known is None:
            if len(young) >= MOST_CHANGES:
                # Whatever was forgotten early would be done once more when it is repeated.
                oldest = min(change.at for change in young.values())
                raise too_many(ceil((oldest + CHANGES_KEPT - self._clock()).total_seconds()))
            return None
        if known.input != given:
            raise other_call()
        return known.answer

    async def change(
        self, instance_id: str, key: str, given: str, changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Change the name or the delivery of an instance, once; what whoever asks is answered.

        Raises:
            AapError: there is no such instance, or as for ``changed``.
        """
        for _ in range(_MOST_TRIES):
            text = await self._documents.read(_key(instance_id))
            known = None if text is None else _read(text, instance_id)
            if known is None or known.deleted_at is not None:
                raise no_such_instance()
            if (answer := self.changed(known, key, given)) is not None:
                return answer
            after = replace(known, **changes)
            if known.delivery is not None and after.delivery is not None:
                lasting = replace(after.delivery, since=known.delivery.since)
                after = replace(after, delivery=lasting)
            change = Change(given, after.public, self._clock())
            noted = {**self._young(known), self._mark(known, key): change}
            after = replace(after, changes=noted)
            if await self._swap(instance_id, text, _written(after)):
                return after.public
        raise _busy()

    async def delete(self, instance_id: str) -> None:
        """Revoke the instance's token, also where it cannot be read. Once more changes nothing.

        Raises:
            AapError: there is no such instance.
        """
        try:
            await self._set(instance_id, deleted_at=self._clock())
        except UnreadableInstanceError:
            await self._bury(instance_id)
        await self._directory.remove(instance_id)

    async def consumes(self, instance: Instance) -> None:
        """Note that the instance uses the approvals it is given."""
        if not instance.consumes:
            await self._set(instance.id, consumes=True)

    async def _set(self, instance_id: str, **facts: Any) -> Instance:
        for _ in range(_MOST_TRIES):
            text = await self._documents.read(_key(instance_id))
            if text is None:
                raise no_such_instance()
            known = _read(text, instance_id)
            if known.deleted_at is not None:
                return known
            after = replace(known, **facts)
            if await self._swap(instance_id, text, _written(after)):
                return after
        raise _busy()

    async def _bury(self, instance_id: str) -> None:
        """Put a deleted instance, of which nothing else is known, where one cannot be read."""
        buried = Instance(instance_id, "", "", "", "", "", deleted_at=self._clock())
        text = await self._documents.read(_key(instance_id))
        if not await self._swap(instance_id, text, _written(buried)):
            raise _busy()

    async def _swap(self, instance_id: str, before: str | None, after: str) -> bool:
        seconds = _KEPT.total_seconds()
        return await self._documents.swap(_key(instance_id), before, after, seconds=seconds)

    def _young(self, instance: Instance) -> Mapping[str, Change]:
        """The changes that may be repeated, by their marks."""
        now = self._clock()
        known = instance.changes.items()
        return {mark: change for mark, change in known if change.at + CHANGES_KEPT > now}

    def _mark(self, instance: Instance, key: str) -> str:
        return self.vault.mark("change", instance.id, key)


def no_such_instance() -> AapError:
    """There is none, or it is another's: whoever asks learns no more."""
    return AapError(404, "instance_not_found", "there is no such instance")


def other_call() -> AapError:
    """The idempotency key names another call."""
    message = "another call was made with this Idempotency-Key; use a new one for each call"
    return conflict("idempotency_conflict", message)


def _busy() -> AapError:
    message = "the instance is being changed by others; try again"
    return AapError(503, "busy", message, headers={"Retry-After": "1"})


def _key(instance_id: str) -> str:
    return f"aap-instance:{instance_id}"


def _written(instance: Instance) -> str:
    return json.dumps(asdict(instance), default=datetime.isoformat, separators=(",", ":"))


def _read(text: str, instance_id: str) -> Instance:
    try:
        return _instance_in(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError):
        # What it holds is nobody's business, so nothing more is said of what is wrong with it.
        raise UnreadableInstanceError(instance_id) from None


def _instance_in(found: dict[str, Any]) -> Instance:
    if (delivery := found["delivery"]) is not None:
        since = datetime.fromisoformat(delivery.pop("since"))
        found["delivery"] = Delivery(**delivery, since=since)
    if (deleted := found["deleted_at"]) is not None:
        found["deleted_at"] = datetime.fromisoformat(deleted)
    found["changes"] = {
        mark: Change(one["input"], one["answer"], datetime.fromisoformat(one["at"]))
        for mark, one in found["changes"].items()
    }
    return Instance(**found)
