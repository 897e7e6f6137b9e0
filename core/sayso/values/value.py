"""One value of a card: its name, its text, and what kind of text that is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sayso.text.kind import Kind

_SHORT = 48
_ON_A_LINE = frozenset({"text", "list"})
_HEADING = "▌"
_SPELLED = f"⟨U+{ord(_HEADING):04X}⟩"
_BAR = "| "


@dataclass(frozen=True, slots=True)
class Value:
    """A text that a person decides on, complete, plain and made visible already.

    The ``name`` is one of ours, or a word like a name in a program: it stands outside,
    where no text of an agent's does. It is empty where there is nothing to tell apart.
    ``language`` is that of code, where it is known. ``note`` is what we say of it, in
    a few words. ``brief`` is a shorter text for where the whole has no room.
    """

    name: str
    text: str
    kind: Kind = "text"
    language: str = ""
    note: str = ""
    brief: str = ""

    @property
    def is_short(self) -> bool:
        """True if it stands beside its name instead of in a box of its own."""
        fits = len(self.text) <= _SHORT and "\n" not in self.text
        return bool(self.name) and not self.note and self.kind in _ON_A_LINE and fits


def one_value(text: str) -> tuple[Value, ...]:
    """A text without a name; nothing where it is empty."""
    return (Value("", text),) if text else ()


def plain_text(values: Iterable[Value]) -> str:
    """The values as one text of lines, for where there are no boxes."""
    return "\n".join(line for value in values for line in _lines(value))


def _lines(value: Value) -> Iterator[str]:
    if not value.name:
        yield value.text
    elif "\n" in value.text:
        yield f"{value.name}:{_noted(value)}"
        yield from (f"  | {line}" for line in value.text.split("\n"))
    else:
        yield f"{value.name}: {value.text}{_noted(value)}"


def _noted(value: Value) -> str:
    return f" ({value.note})" if value.note else ""


def headed(heading: str, text: str, *, bar: bool = False) -> str:
    """A text below its heading, for a page without boxes: nothing in it can look like a heading.

    With ``bar`` each of its lines is marked too.
    """
    shown = unheaded(text)
    if bar:
        shown = "\n".join(_BAR + line for line in shown.split("\n"))
    return f"{_HEADING} {heading}\n{shown}"


def unheaded(text: str) -> str:
    """The text with the sign spelled that headings begin with."""
    return text.replace(_HEADING, _SPELLED)


_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_.$-]{0,39}", re.ASCII)


def is_name(text: str) -> bool:
    """Return True if the text is like a name in a program, so that it can say nothing else."""
    return _NAME.fullmatch(text) is not None
