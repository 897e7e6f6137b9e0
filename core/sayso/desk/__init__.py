"""The side of the bots: takes requests, shows cards, takes presses, settles.

Whatever a question needs between the store and a chat belongs here. Nothing in here runs in an
agent's process, and no platform is named.
"""

from sayso.desk.approvers import Approvers
from sayso.desk.routes import Route, Routes

__all__ = ["Approvers", "Route", "Routes"]
