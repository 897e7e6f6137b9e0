"""The end of an instance, whoever wants it: its token is revoked, what it has asked withdrawn."""

from __future__ import annotations

from contextlib import suppress

from sayso.clock import Clock
from sayso.errors import RequestNotFoundError, StoreUnreachableError
from sayso.stores.backend import Backend
from sayso_bots.aap.instances import Instances
from sayso_bots.aap.requests import filed_by


async def revoke(backend: Backend, instances: Instances, instance_id: str, clock: Clock) -> int:
    """Delete the instance; how many of its requests were withdrawn. Once more changes nothing.

    Raises:
        AapError: there is no such instance.
        StoreUnreachableError: nothing is done, or not all of its requests are found: once more
            withdraws the rest.
    """
    await instances.delete(instance_id)
    withdrawn = 0
    for record in await backend.watch.pending():
        # Not what is kept with it, which may be of another version.
        if record.request.filed_by == filed_by(instance_id):
            ending = record.request.cancelled(at=clock(), reason="its instance is deleted")
            # One that is gone meanwhile has ended as well.
            with suppress(RequestNotFoundError):
                settled = await backend.store.settle(record.request.question_id, ending)
                withdrawn += settled.first
    for name, cell in backend.cells.items():
        try:
            await cell.leases.ping()
        except StoreUnreachableError as error:
            raise StoreUnreachableError(
                f"the instance is deleted, and what it asked in cell {name} is not withdrawn: "
                f"delete it once more when that is back ({error})"
            ) from None
    return withdrawn
