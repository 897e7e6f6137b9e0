"""The dangers there are, the gravest first."""

from __future__ import annotations

from enum import Enum
from gettext import NullTranslations

from sayso.locales import gettext_noop


class Danger(Enum):
    """What a call may do that a person should not overlook, as the card says it in English."""

    DISK = gettext_noop("writes to a disk itself")
    DROPS_TABLE = gettext_noop("drops a table or a database")
    ALL_ROWS = gettext_noop("changes rows without WHERE")
    DELETES_FILES = gettext_noop("deletes files")
    DESTROYS = gettext_noop("destroys resources")
    FORCE_PUSH = gettext_noop("force push")
    DISCARDS = gettext_noop("discards work")
    DELETES = gettext_noop("deletes data")
    MONEY = gettext_noop("moves money")
    LOOKALIKES = gettext_noop("look-alike letters")
    PRODUCTION = gettext_noop("production")
    NETWORK = gettext_noop("runs code from the network")
    HIDDEN_CODE = gettext_noop("runs code that is not shown")
    PRIVILEGED = gettext_noop("privileged container")
    ROOT = gettext_noop("runs as root")
    OUTSIDE = gettext_noop("writes outside the project")
    READS_SECRETS = gettext_noop("reads secrets")
    SECRETS = gettext_noop("touches keys or passwords")
    SENDS_FILES = gettext_noop("sends files elsewhere")
    PERMISSIONS = gettext_noop("changes permissions")
    PUBLISHES = gettext_noop("publishes")
    HISTORY = gettext_noop("rewrites history")
    STOPS = gettext_noop("stops something that runs")
    RUNS_LATER = gettext_noop("runs by itself later")
    SKIPS_CHECKS = gettext_noop("skips checks")
    MANY_PEOPLE = gettext_noop("notifies many people")
    UNREAD = gettext_noop("too long to look through")

    # There is one of each: by what it is it is found at once, its name need not be looked at.
    __hash__ = object.__hash__


_WEIGHTS = {danger: number for number, danger in enumerate(Danger)}


def ordered(found: set[Danger]) -> tuple[Danger, ...]:
    """The same, the gravest first."""
    return tuple(sorted(found, key=_WEIGHTS.__getitem__))


def danger_texts(
    translations: NullTranslations,
    dangers: tuple[Danger, ...],
    *,
    high_risk: bool = False,
    lookalike: str = "",
) -> tuple[str, ...]:
    """Name dangers on a card; that its maker calls a call high risk comes first.

    ``lookalike`` is the word with letters that look like others.
    """
    texts = [translations.gettext("its maker calls this high risk")] if high_risk else []
    for danger in dangers:
        text = translations.gettext(danger.value)
        texts.append(f"{text}: {lookalike}" if danger is Danger.LOOKALIKES and lookalike else text)
    return tuple(texts)
