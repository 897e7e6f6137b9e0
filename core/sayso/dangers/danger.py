"""The dangers there are, the gravest first."""

from __future__ import annotations

from enum import Enum


class Danger(Enum):
    """What a call may do that a person should not overlook."""

    DISK = "writes to a disk itself"
    DROPS_TABLE = "drops a table, a database or what is in it"
    ALL_ROWS = "deletes or changes rows, and does not say which"
    DELETES_FILES = "deletes files"
    DESTROYS = "destroys resources of a cluster or a cloud"
    FORCE_PUSH = "replaces what others have pushed"
    DISCARDS = "discards changes that are not committed, or branches"
    DELETES = "deletes data"
    MONEY = "moves money"
    LOOKALIKES = "letters that look like others"
    PRODUCTION = "names production"
    NETWORK = "runs code from the network"
    HIDDEN_CODE = "runs code that is not to be seen"
    PRIVILEGED = "a container that may do what its host may"
    ROOT = "runs as root"
    OUTSIDE = "writes outside the project"
    READS_SECRETS = "reads keys, passwords or tokens"
    SECRETS = "touches keys or passwords"
    SENDS_FILES = "sends files elsewhere"
    PERMISSIONS = "changes who may do what"
    PUBLISHES = "publishes"
    HISTORY = "rewrites history"
    STOPS = "stops services or machines"
    RUNS_LATER = "makes something run later by itself"
    SKIPS_CHECKS = "skips checks or questions"
    MANY_PEOPLE = "notifies many people"
    UNREAD = "longer than what was looked through"

    # There is one of each: by what it is it is found at once, its name need not be looked at.
    __hash__ = object.__hash__


_WEIGHTS = {danger: number for number, danger in enumerate(Danger)}


def ordered(found: set[Danger]) -> tuple[Danger, ...]:
    """The same, the gravest first."""
    return tuple(sorted(found, key=_WEIGHTS.__getitem__))
