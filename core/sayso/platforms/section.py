"""A platform's section of the settings, and what was read of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainValidator

from sayso.chats.budgets import Rate
from sayso.platforms.secret import Secret


class Section(BaseModel):
    """The base of all sections of the settings: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def checked(pattern: str, fix: str) -> AfterValidator:
    """Checks that all of a string matches the pattern; ``fix`` says what to write instead."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError(f"cannot be right; {fix}")
        return value

    return AfterValidator(check)


ApiUrl = Annotated[
    str, checked(r"https?://[^\s/?#]+(?:/[^\s?#]*)?", "write an address that begins with https://")
]
"""Where a platform's API is, for a section of the settings."""


def _pace(written: object) -> Rate | None:
    if isinstance(written, Rate) or written == "off":
        return written if isinstance(written, Rate) else None
    try:
        return Rate.parse(str(written))
    except ValueError as error:
        raise ValueError(f'{error}; or "off", for as many as there are') from None


Pace = Annotated[Rate | None, PlainValidator(_pace)]
"""How many messages a platform takes, for a section of the settings: ``1/s``, ``20/m``, ``off``."""

SectionT = TypeVar("SectionT", bound=Section)


@dataclass(frozen=True, slots=True)
class PlatformSettings(Generic[SectionT]):
    """What was read for one platform: its section, and its secrets by their variables.

    Its repr holds no secret.
    """

    section: SectionT
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    def value(self, secret: Secret) -> str:
        """The first value of a secret, empty when it is not set."""
        return next(iter(self.values(secret)), "")

    def values(self, secret: Secret) -> tuple[str, ...]:
        """All values of a secret."""
        return secret.values(self.secrets.get(secret.variable, ""))
