"""Platforms: what a package exports so that the bots can serve one more chat platform.

The contract alone: settings, secrets, the syntax of addresses, opening, listening, checking,
registering. What a platform does with cards is its adapter's, in ``chats``; loading platforms is
the bots' business.
"""

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
