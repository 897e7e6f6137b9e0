"""What a package exports to bring a chat platform: one value of this type, named ``PLATFORM``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Generic

from sayso.chats.places import Place
from sayso.platforms.bot import Bot
from sayso.platforms.registration import Registration
from sayso.platforms.secret import Secret
from sayso.platforms.section import PlatformSettings, SectionT
from sayso.stores.protocols import KeyValueStore


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
