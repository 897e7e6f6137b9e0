"""The side of the bots: takes requests, shows cards, takes presses, settles.

Whatever a question needs between the store and a chat belongs here. Nothing in here runs in an
agent's process, and no platform is named.
"""

from typing import TYPE_CHECKING

from sayso.later import later

if TYPE_CHECKING:
    from sayso.desk.approvers import Approvers
    from sayso.desk.routes import Route, Routes

__all__ = ["Approvers", "Route", "Routes"]

if not TYPE_CHECKING:  # where another name is a mistake
    __getattr__, __dir__ = later(
        globals(),
        {"sayso.desk.approvers": ("Approvers",), "sayso.desk.routes": ("Route", "Routes")},
    )
