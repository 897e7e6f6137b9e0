"""One branch of a pattern while it is being read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from sayso.globs.parts import Chain, Literal, Part


class Before(Enum):
    """What stands to the left of the place where the parser is."""

    NOTHING = auto()
    SLASH = auto()
    DOT = auto()
    TEXT = auto()
    STAR = auto()
    BRACKET = auto()
    PLUS = auto()
    GROUP = auto()
    BRACE = auto()
    OPENING = auto()
    BRANCH = auto()


AT_NAME = {Before.NOTHING, Before.SLASH}


@dataclass
class Reading:
    """The parts of one branch so far, and what stands before the next."""

    before: Before
    parts: list[Part] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)

    def spell(self, text: str, before: Before = Before.TEXT) -> None:
        """Go on with characters that stand for themselves."""
        self.letters.append(text)
        self.before = before

    def add(self, part: Part, before: Before) -> None:
        """Go on with a part."""
        self._flush()
        self.parts.append(part)
        self.before = before

    def _flush(self) -> None:
        if self.letters:
            self.parts.append(Literal("".join(self.letters)))
            self.letters.clear()

    def finished(self) -> Part:
        """Everything read, as one part."""
        self._flush()
        if len(self.parts) == 1:
            return self.parts[0]
        return Chain(tuple(self.parts)) if self.parts else Literal("")
