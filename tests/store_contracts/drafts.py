"""What all drafts promise."""

from __future__ import annotations

import asyncio

from sayso.stores.backend import Backend
from sayso.testing.builders import until


class DraftsContract:
    """The promises of ``Drafts``. Subclasses provide the ``backend`` fixture."""

    async def test_a_draft_is_read_as_it_was_kept(self, backend: Backend) -> None:
        await backend.drafts.keep("a", "first", seconds=30)
        await backend.drafts.keep("a", "ünd {}", seconds=30)

        assert await backend.drafts.read("a") == "ünd {}"
        assert await backend.drafts.read("b") is None

    async def test_only_one_of_many_takes_a_draft(self, backend: Backend) -> None:
        await backend.drafts.keep("a", "text", seconds=30)

        taken = await asyncio.gather(*(backend.drafts.take("a") for _ in range(20)))

        assert sorted(filter(None, taken)) == ["text"]
        assert await backend.drafts.read("a") is None

    async def test_a_draft_is_gone_when_its_time_is_over(self, backend: Backend) -> None:
        await backend.drafts.keep("a", "text", seconds=0.02)

        async def gone() -> bool:
            return await backend.drafts.read("a") is None

        await until(gone)
        assert await backend.drafts.take("a") is None
