"""A store made of several: its cells, each a store of its own.

A session lives in one cell, by the hash of its name. What is in here sends each step to the
cell it belongs to, or to all of them, and keeps what counts beyond a session the same in all. How a
cell does its work is the business of ``memory`` and ``redis``.
"""

from sayso.stores.cells.backend import cells_backend

__all__ = ["cells_backend"]
