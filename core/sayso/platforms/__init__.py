"""Platforms: what a package exports so that the bots can serve one more chat platform.

The contract alone: settings, secrets, the syntax of addresses, opening, listening, checking,
registering. What a platform does with cards is its adapter's, in ``chats``; loading platforms is
the bots' business.
"""

from typing import TYPE_CHECKING

from sayso.later import later

if TYPE_CHECKING:
    from sayso.platforms.bot import Bot, Listening
    from sayso.platforms.finding import Finding, NotLooked
    from sayso.platforms.platform import Platform
    from sayso.platforms.registration import Registered, Registration
    from sayso.platforms.secret import Secret
    from sayso.platforms.section import ApiUrl, Pace, PlatformSettings, Section, checked

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
            "sayso.platforms.bot": ("Bot", "Listening"),
            "sayso.platforms.finding": ("Finding", "NotLooked"),
            "sayso.platforms.platform": ("Platform",),
            "sayso.platforms.registration": ("Registered", "Registration"),
            "sayso.platforms.secret": ("Secret",),
            "sayso.platforms.section": ("ApiUrl", "Pace", "PlatformSettings", "Section", "checked"),
        },
    )
