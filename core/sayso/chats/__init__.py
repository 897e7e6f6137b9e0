"""What the core needs from a chat platform: places, the port that every adapter keeps, its limits.

Adapters are written against this room. What any of them needs on the way from a callback to the
desk stands here too. No platform is named, and no web framework either.
"""

from typing import TYPE_CHECKING

from sayso.later import later

if TYPE_CHECKING:
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

if not TYPE_CHECKING:  # where another name is a mistake
    __getattr__, __dir__ = later(
        globals(),
        {
            "sayso.chats.adapter": ("Adapter", "PressTaker"),
            "sayso.chats.limits": ("Limits",),
            "sayso.chats.places": ("Answer", "Answered", "MessageRef", "Place", "Press"),
        },
    )
