"""What a desk would be handed, where there is none."""

from __future__ import annotations

from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.backend import Backend


async def next_request(backend: Backend) -> PermissionRequestEvent:
    """The next open request in the outbox."""
    async with backend.outbox.jobs("test") as jobs:
        async for job in jobs:
            await backend.outbox.done(job)
            record = await backend.store.get(job.question_id)
            if job.kind == "ask" and record is not None and record.ending is None:
                assert isinstance(record.request, PermissionRequestEvent)
                return record.request
    raise AssertionError("the outbox ended")
