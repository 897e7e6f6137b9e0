"""What all documents promise."""

from __future__ import annotations

import asyncio

from sayso.stores.backend import Backend
from sayso.testing.builders import until


class DocumentsContract:
    """The promises of ``Documents``. Subclasses provide the ``backend`` fixture."""

    async def test_a_document_is_read_as_it_was_kept(self, backend: Backend) -> None:
        assert await backend.documents.swap("a", None, "ünd {}", seconds=30)

        assert await backend.documents.read("a") == "ünd {}"
        assert await backend.documents.read("b") is None

    async def test_only_one_of_many_changes_a_document(self, backend: Backend) -> None:
        await backend.documents.swap("a", None, "0", seconds=30)

        swapped = await asyncio.gather(
            *(backend.documents.swap("a", "0", str(number), seconds=30) for number in range(1, 21))
        )

        assert swapped.count(True) == 1
        assert await backend.documents.read("a") == str(swapped.index(True) + 1)

    async def test_a_document_that_is_there_is_not_made_anew(self, backend: Backend) -> None:
        await backend.documents.swap("a", None, "first", seconds=30)

        assert not await backend.documents.swap("a", None, "second", seconds=30)
        assert not await backend.documents.swap("b", "first", "second", seconds=30)
        assert await backend.documents.read("a") == "first"
        assert await backend.documents.read("b") is None

    async def test_writing_the_same_once_more_changes_nothing(self, backend: Backend) -> None:
        await backend.documents.swap("a", None, "first", seconds=30)

        assert await backend.documents.swap("a", None, "first", seconds=30)
        assert await backend.documents.read("a") == "first"

    async def test_a_document_is_gone_when_its_time_is_over(self, backend: Backend) -> None:
        await backend.documents.swap("a", None, "text", seconds=0.02)

        async def gone() -> bool:
            return await backend.documents.read("a") is None

        await until(gone)
