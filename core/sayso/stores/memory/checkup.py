"""What could be wrong with the memory of one process: nothing that it does not say by itself."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.stores.ports import Ailment


class MemoryCheckup:
    """Always well."""

    async def look(self) -> Sequence[Ailment]:
        """Nothing."""
        return ()
