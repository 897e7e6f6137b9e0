"""The worker beside the chats: posts cards, takes clicks, resolves requests, updates cards.

All that a request needs between the store and a chat belongs here. Nothing in here runs in an
agent's process, and no platform is named.
"""

from typing import TYPE_CHECKING

from sayso.later import later

if TYPE_CHECKING:
    from sayso.worker.authorization import Approvers
    from sayso.worker.routing import Route, Routes

__all__ = ["Approvers", "Route", "Routes"]

if not TYPE_CHECKING:  # where another name is a mistake
    __getattr__, __dir__ = later(
        globals(),
        {"sayso.worker.authorization": ("Approvers",), "sayso.worker.routing": ("Route", "Routes")},
    )
