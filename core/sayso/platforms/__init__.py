"""Platforms: what a package exports so that the bots can serve one more chat platform.

The contract alone: settings, secrets, the syntax of addresses, opening, listening, checking,
registering. What a platform does with cards is its adapter's, in ``chats``; loading platforms is
the bots' business.
"""

from typing import TYPE_CHECKING

from sayso.later import later

if TYPE_CHECKING:
    from sayso.platforms.bot import Bot, Finding, Listening, NotLooked
    from sayso.platforms.platform import (
        ApiUrl,
        Pace,
        Platform,
        PlatformSettings,
        Registered,
        Registration,
        Secret,
        Section,
        checked,
    )

__all__ = [
    "ApiUrl",
    "Bot",
    "Finding",
    "Listening",
    "NotLooked",
    "Pace",
    "Platform",
    "PlatformSettings",
    "Registered",
    "Registration",
    "Secret",
    "Section",
    "checked",
]

if not TYPE_CHECKING:  # where another name is a mistake
    __getattr__, __dir__ = later(
        globals(),
        {
            "sayso.platforms.bot": ("Bot", "Finding", "Listening", "NotLooked"),
            "sayso.platforms.platform": (
                "ApiUrl",
                "Pace",
                "Platform",
                "PlatformSettings",
                "Registered",
                "Registration",
                "Secret",
                "Section",
                "checked",
            ),
        },
    )
