"""What the core needs from a chat platform: places, the port that every adapter keeps, its limits.

Adapters are written against this room. What any of them needs on the way from a callback to the
desk stands here too. No platform is named, and no web framework either.
"""

from sayso.chats.adapter import Adapter, PressTaker
from sayso.chats.limits import Limits
from sayso.chats.places import Answer, Answered, MessageRef, Place, Press

__all__ = [
    "Adapter",
    "Answer",
    "Answered",
    "Limits",
    "MessageRef",
    "Place",
    "Press",
    "PressTaker",
]
