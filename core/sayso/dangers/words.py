"""The words for dangers. Nothing is decided by them, and none of them says that a call has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sayso.dangers.danger import Danger


@dataclass(frozen=True, slots=True)
class DangerWords:
    """One language of dangers."""

    said: Mapping[Danger, str] = field(hash=False)
    high_risk: str

    def of(
        self, dangers: tuple[Danger, ...], *, high_risk: bool = False, lookalike: str = ""
    ) -> tuple[str, ...]:
        """Return the words of a card for them, and for a call that its maker calls high risk.

        ``lookalike`` is the word with letters that look like others.
        """
        declared = (self.high_risk,) if high_risk else ()
        said = dict(self.said)
        if lookalike:
            said[Danger.LOOKALIKES] += f": {lookalike}"
        return (*declared, *(said[danger] for danger in dangers))


ENGLISH = DangerWords(
    said={
        Danger.DISK: "writes to a disk itself",
        Danger.DROPS_TABLE: "drops a table or a database",
        Danger.ALL_ROWS: "changes rows without WHERE",
        Danger.DELETES_FILES: "deletes files",
        Danger.DESTROYS: "destroys resources",
        Danger.FORCE_PUSH: "force push",
        Danger.DISCARDS: "discards work",
        Danger.DELETES: "deletes data",
        Danger.MONEY: "moves money",
        Danger.LOOKALIKES: "look-alike letters",
        Danger.PRODUCTION: "production",
        Danger.NETWORK: "runs code from the network",
        Danger.HIDDEN_CODE: "runs code that is not shown",
        Danger.PRIVILEGED: "privileged container",
        Danger.ROOT: "runs as root",
        Danger.OUTSIDE: "writes outside the project",
        Danger.READS_SECRETS: "reads secrets",
        Danger.SECRETS: "touches keys or passwords",
        Danger.SENDS_FILES: "sends files elsewhere",
        Danger.PERMISSIONS: "changes permissions",
        Danger.PUBLISHES: "publishes",
        Danger.HISTORY: "rewrites history",
        Danger.STOPS: "stops something that runs",
        Danger.RUNS_LATER: "runs by itself later",
        Danger.SKIPS_CHECKS: "skips checks",
        Danger.MANY_PEOPLE: "notifies many people",
        Danger.UNREAD: "too long to look through",
    },
    high_risk="its maker calls this high risk",
)
