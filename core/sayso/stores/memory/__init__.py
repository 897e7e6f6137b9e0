"""The ports in memory, for one process: a test, a demonstration, a script.

They keep the same contracts as those on Redis, forget what is old as Redis does, and everything
with the process.
"""

from sayso.stores.memory.backend import memory_backend

__all__ = ["memory_backend"]
