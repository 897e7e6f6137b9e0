"""From the text of a glob to its parts.

The meanings are those of picomatch 4.0.7 with ``bash: true``: of its README, of
the rows of ``tests/core/globs/picomatch.json``, and of what it answers to generated
patterns. Where they leave a meaning open, the pattern is refused or read the
narrow way.
"""

from __future__ import annotations

from dataclasses import dataclass

from sayso.errors import ConfigError
from sayso.globs.brackets import NeverError, names_class
from sayso.globs.cost import refuse_slow
from sayso.globs.notes import DangerKind, Note
from sayso.globs.parts import Literal, Part
from sayso.globs.quotes import refuse_unclear
from sayso.globs.reader import Reader
from sayso.globs.signs import bangs, opens
from sayso.globs.value import code_units

MOST_UNITS = 65_536


@dataclass(frozen=True)
class Parsed:
    """A pattern taken apart. Without a part it matches nothing."""

    part: Part | None
    negated: bool
    notes: tuple[Note, ...]


def parse(pattern: str) -> Parsed:
    """Take a pattern apart.

    Raises:
        ConfigError: it is empty, too long or too large, or its meaning is not clear.
    """
    if not pattern:
        raise ConfigError('an empty pattern matches nothing; write * for anything, """" for empty')
    source = pattern if max(pattern) <= "\uffff" else code_units(pattern)
    if len(source) > MOST_UNITS:
        text = f"the pattern has {len(source)} characters; at most {MOST_UNITS} are allowed"
        raise ConfigError(text)
    leading = bangs(source)
    body = source[leading:]
    notes = [Note(DangerKind.NEGATED, "!")] if leading % 2 else []
    if leading and body.startswith("!(?"):
        raise ConfigError(f"the pattern begins with {'!' * leading}!(? ; write one ! or !(...)")
    if leading % 2 and "." in body and names_class(body):
        # The reference takes any character for the dot then.
        raise ConfigError("the pattern has a dot and a class of characters after ! ; write !(...)")
    if body.startswith("./"):
        if leading and not leading % 2:
            raise ConfigError(f"it is not clear what ./ means after {'!' * leading} ; leave ! out")
        body = body[2:]
        notes.append(Note(DangerKind.DROPPED_START, "./"))
        if body.startswith("./") or (body.startswith("!") and not opens(body, 0)):
            raise ConfigError("the pattern goes on with ! or ./ after ./ ; leave the first ./ out")
    reader = Reader(body, plain=not leading, odd=leading % 2 == 1, notes=notes)
    try:
        part: Part | None = reader.whole()
    except NeverError:
        part = None
    if body != source and reader.open_bracket and "]" in body:
        # Only a pattern of this text alone is compared with its own spelling by the reference.
        raise ConfigError("the pattern has a [ that is never closed; write \\[ for a [")
    if not (isinstance(part, Literal) and part.text in ("", pattern)):
        refuse_unclear(body, reader.quotes, plain=reader.plain)
    if part is not None:
        refuse_slow(part)
    return Parsed(part, leading % 2 == 1, tuple(notes))
