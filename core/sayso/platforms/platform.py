"""A chat platform: its registration, secrets, settings and how it is opened."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainValidator

from sayso.chats.budgets import Rate
from sayso.chats.places import Place

if TYPE_CHECKING:
    # As types only: settings are read where no card is made.
    from sayso.platforms.bot import Bot
    from sayso.stores.protocols import KeyValueStore


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret that only the environment may hold.

    ``where`` says where its value comes from. ``keys`` are the keys of the
    platform's section under which people put it into the settings file, where
    it must not stand. ``looks`` is a regular expression for what can be nothing
    but such a secret, wherever it stands: no settings file may hold it, and
    bots that have loaded the platform hide it in cards, logs and messages. A
    value has to match all of ``form``; ``misfit`` says what to do about one
    that does not, after the variable's name. ``several`` allows more than one,
    separated by commas, so that a secret can be replaced without losing a press.
    """

    variable: str
    where: str
    keys: tuple[str, ...] = ()
    looks: re.Pattern[str] | None = None
    form: str = ""
    misfit: str = "does not have the form of such a secret; copy it again"
    several: bool = False

    @property
    def missing(self) -> str:
        """The sentence for when it is not set."""
        return f"{self.variable} is not set; {self.where}"

    def values(self, written: str) -> tuple[str, ...]:
        """The values in what the variable holds; none where it is empty."""
        parts = written.split(",") if self.several else [written]
        return tuple(part for part in map(str.strip, parts) if part)

    def problem(self, value: str) -> str:
        """Explain a wrong form of a value, without quoting it; empty when nothing is wrong."""
        if self.form and not re.fullmatch(self.form, value, re.ASCII):
            return f"{self.variable} {self.misfit}"
        if any(character.isspace() for character in value):
            return f"{self.variable} holds a space or a line break; copy it again"
        return ""

    def is_in(self, text: str) -> bool:
        """Return True if a text holds what looks like this secret."""
        return self.looks is not None and self.looks.search(text) is not None


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
    """The settings of one platform: its section, and its secrets by their variables.

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


@dataclass(frozen=True, slots=True)
class Registered:
    """A platform's report of the webhook; ``url`` is empty when none is registered.

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
        """True if it can stay as it is."""
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
        """Read the webhook that is registered now.

        Raises:
            DeliveryError: the platform did not say.
        """

    @abstractmethod
    async def delete(self, settings: PlatformSettings[SectionT]) -> Registered:
        """Take the webhook away; what waits to be delivered stays.

        Raises:
            DeliveryError: the platform did not take it.
        """


class Platform(ABC, Generic[SectionT]):
    """One chat platform, before anything of it runs.

    ``name`` is a lower-case word: of the settings section, and in front of
    places and accounts (``chat:ops``). ``title`` is what people call
    it. ``section`` is what may stand in its section of the settings, which a
    variable ``SAYSO_<NAME>_<KEY>`` overrides. ``secrets`` come from the
    environment; the platform is wanted without a section, too, where the first
    of them is set. The examples stand in messages, and so does ``quick_start``:
    what a first try needs to be set, where that is not all secrets that the
    default section needs. ``has_groups`` says that
    approvers can be groups (``chat:@oncall``).

    Importing the module of a platform should load no library of the
    platform's: :meth:`open` does.
    """

    name: str
    title: str
    section: type[SectionT]
    secrets: tuple[Secret, ...] = ()
    place_example: str
    account_example: str
    quick_start: str = ""
    has_groups: bool = False
    registration: Registration[SectionT] | None = None

    def settled(self, section: SectionT, given: Collection[str]) -> SectionT:  # noqa: ARG002
        """The section with what it leaves open filled in; ``given`` are the variables that are set.

        What is settled must hold no matter in which order platforms are read.
        """
        return section

    def needed(self, section: SectionT) -> Sequence[Secret]:  # noqa: ARG002
        """The secrets that must be set for a settled section; all of them unless overridden."""
        return self.secrets

    @abstractmethod
    def check_place(self, place: Place) -> None:
        """Check that the address can be a chat of this platform.

        Places are named by ids and never by names that can change hands.

        Raises:
            ValueError: it cannot be one; the message goes on after the place
                and says what to write instead.
        """

    @abstractmethod
    def account(self, written: object) -> str:
        """The account as it is known there, such as ``U0ALICE``, from a string or a number.

        Raises:
            ValueError: it cannot be one; the message says what to write instead.
        """

    def check_group(self, name: str) -> None:  # noqa: ARG002  there are none
        """Check that a group of approvers may have this name, written without its ``@``.

        Raises:
            ValueError: it cannot; the message says what to write instead.
        """
        raise ValueError(
            f"cannot approve: {self.title} has no groups of approvers; "
            f"name accounts, such as {self.account_example}"
        )

    @abstractmethod
    def open(
        self, settings: PlatformSettings[SectionT], key_value: KeyValueStore
    ) -> AbstractAsyncContextManager[Bot]:
        """The platform's bot while the block runs; ``key_value`` keeps forms being filled in.

        Raises:
            ConfigError: a library is not installed, or the settings make no sense.
        """
