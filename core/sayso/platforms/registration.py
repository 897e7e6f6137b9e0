"""Telling a platform where to deliver presses: by one person or one deploy step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime
from typing import Generic

from sayso.platforms.secret import Secret
from sayso.platforms.section import PlatformSettings, SectionT


@dataclass(frozen=True, slots=True)
class Registered:
    """What a platform says of the webhook; ``url`` is empty when none is registered.

    ``waiting`` is how many callbacks are yet to be delivered, ``kinds`` which
    kinds of them are; empty means the platform's usual ones. ``matchers`` says
    whether this is what the settings need, None where only a missing webhook
    is wrong. ``remark`` is a sentence about it: what is wrong or may be, and the fix.
    """

    url: str
    waiting: int = 0
    last_error: str = ""
    last_error_at: datetime | None = None
    kinds: tuple[str, ...] = ()
    fits: bool | None = None
    remark: str = ""

    @property
    def is_as_needed(self) -> bool:
        """Whether it can stay as it is."""
        return bool(self.url) if self.fits is None else self.fits


class Registration(ABC, Generic[SectionT]):
    """A webhook that is registered by a call to the platform: ``sayso webhook``.

    ``needed`` are the secrets without which not even a look is possible.
    """

    needed: tuple[Secret, ...] = ()

    @abstractmethod
    async def set(self, settings: PlatformSettings[SectionT], url: str) -> Registered:
        """Register the webhook. Repeating it changes nothing.

        Raises:
            ConfigError: the URL or a secret makes no sense, or the settings want no webhook.
            DeliveryError: the platform did not take it.
        """

    @abstractmethod
    async def show(self, settings: PlatformSettings[SectionT]) -> Registered:
        """What is registered now.

        Raises:
            DeliveryError: the platform did not say.
        """

    @abstractmethod
    async def delete(self, settings: PlatformSettings[SectionT]) -> Registered:
        """Take the webhook away; what waits to be delivered stays.

        Raises:
            DeliveryError: the platform did not take it.
        """
