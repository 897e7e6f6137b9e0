"""The end of an instance, whoever wants it: its token is revoked, what it has asked withdrawn."""

from __future__ import annotations

from sayso.clock import Clock
from sayso.stores.backend import Backend
from sayso_bots.aap.instances import Instances
from sayso_bots.aap.requests import kept_in


async def revoke(backend: Backend, instances: Instances, instance_id: str, clock: Clock) -> int:
    """Delete the instance; how many of its requests were withdrawn. Once more changes nothing.

    Raises:
        AapError: there is no such instance.
    """
    await instances.delete(instance_id)
    withdrawn = 0
    for record in await backend.watch.pending():
        kept = kept_in(record)
        if kept is not None and kept.instance_id == instance_id:
            ending = record.request.cancelled(at=clock(), reason="its instance is deleted")
            settled = await backend.store.settle(record.request.question_id, ending)
            withdrawn += settled.first
    return withdrawn
