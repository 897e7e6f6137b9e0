"""The parts of a glob, and the regular expression that they make for a linear-time engine.

The engine has no lookahead, and picomatch writes two: a star takes no dot at the beginning of a
name, and ``**`` steps into no hidden name. So an expression is made from the end of a pattern to
its beginning, and each part knows how what follows may begin.
"""

# ruff: noqa: ARG002, D102 -- ``before`` makes the expression of a part and of the rest after it

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sayso.errors import ConfigError

BREAKS = "\n\r\u2028\u2029"
_BREAKS = r"\n\r\x{2028}\x{2029}"
_ANY, _VISIBLE, _IN_NAME = f"[^{_BREAKS}]*", f"[^.{_BREAKS}]", f"[^./{_BREAKS}]"
_CAREFUL = rf"(?:[^/{_BREAKS}]|/+{_IN_NAME})*"

# What is matched again from every place of a value takes time for each of its characters.
_MAX_EXPRESSION = 10_000

After = Literal["nothing", "no dot", "anything"]
"""How a text that follows a branch may begin."""
Sign = Literal["", "?", "*", "+"]
Range = tuple[str, str]


class Rest(NamedTuple):
    """The expression of the parts up to the end of a branch.

    ``head + tail`` matches them. ``visible + tail`` matches what of it is not empty and begins
    with no dot; "" where there is no such text. ``empty``: it matches the empty text, and has no
    tail. ``hidden``: some of it begins with a dot.
    """

    head: str = ""
    visible: str = ""
    tail: str = ""
    empty: bool = True
    hidden: bool = False

    @property
    def whole(self) -> str:
        return self.head + self.tail

    @property
    def no_dot(self) -> str | None:
        """The head for a place where no dot may follow; None if nothing may stand there."""
        if not self.empty:
            return self.visible or None
        return f"(?:{self.visible})?" if self.visible else ""


def _either(*expressions: str) -> str:
    some = list(filter(None, expressions))
    return f"(?:{'|'.join(some)})" if len(some) > 1 else "".join(some)


@dataclass(frozen=True)
class Text:
    """Exactly these characters."""

    text: str

    def before(self, rest: Rest, after: After) -> Rest:
        head, hidden = re.escape(code_units(self.text)), self.text[0] == "."
        return Rest(head, "" if hidden else head, rest.whole, empty=False, hidden=hidden)


@dataclass(frozen=True)
class Set:
    """One character in the ranges, or one outside of them."""

    ranges: tuple[Range, ...]
    negated: bool = False

    def __contains__(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) is not self.negated

    def before(self, rest: Rest, after: After) -> Rest:
        members = "".join(rf"\x{{{ord(a):x}}}-\x{{{ord(b):x}}}" for a, b in self.ranges)
        head, hidden = f"[{'^' if self.negated else ''}{members}]", "." in self
        visible = f"[{head}--[.]]" if hidden else head
        return Rest(head, visible, rest.whole, empty=False, hidden=hidden)


@dataclass(frozen=True)
class Star:
    """Any characters but line breaks.

    ``at_name``: it begins a name, and takes no dot there. ``careful``: nor one after a slash.
    """

    at_name: bool = False
    careful: bool = False

    def before(self, rest: Rest, after: After) -> Rest:
        if rest.empty and after == "anything" and (self.at_name or self.careful):
            raise ConfigError(
                "the pattern has a star at the end of a group that a dot may follow; "
                "write one pattern for each branch of the group"
            )
        head, visible = _ANY + rest.head, _either(f"{_VISIBLE}{_ANY}{rest.head}", rest.visible)
        if self.careful:
            slashes = "" if rest.no_dot is None else f"/+{rest.no_dot}"
            end = _either(slashes, rest.head) if rest.hidden else f"/*{rest.head}"
            head = _CAREFUL + end
            visible = _either(f"/*{_IN_NAME}{head}", slashes, rest.visible)
        whole = rest._replace(head=head, visible=visible, hidden=True)
        return whole._replace(head=whole.no_dot or "", hidden=False) if self.at_name else whole


@dataclass(frozen=True)
class Group:
    """One of the branches, as often as ``sign`` says.

    ``or_end``: the group may be missing where nothing else follows.
    """

    branches: Branches
    sign: Sign = ""
    or_end: bool = False

    def before(self, rest: Rest, after: After) -> Rest:
        repeated = self.sign in ("*", "+")
        unsure = repeated or rest.hidden or (rest.empty and after == "anything")
        inner = [to_rest(branch, "anything" if unsure else "no dot") for branch in self.branches]
        once = f"(?:{'|'.join(one.whole for one in inner)})"
        visible = "|".join(one.visible + one.tail for one in inner if one.visible)
        visible = visible and f"(?:{visible}){once + '*' if repeated else ''}"
        hidden = any(one.hidden for one in inner)
        if self.sign in ("?", "*") or any(one.empty for one in inner):
            visible = _either(visible and visible + rest.head, rest.visible)
            hidden = hidden or rest.hidden
            return rest._replace(head=once + self.sign + rest.head, visible=visible, hidden=hidden)
        if not self.or_end or not rest.empty:
            return Rest(once + self.sign, visible, rest.whole, empty=False, hidden=hidden)
        if after != "nothing":
            raise ConfigError(
                "the pattern has a /**/ in a group, and nothing but stars after it; "
                "write one pattern for each branch of the group"
            )
        return Rest(f"(?:{once}{rest.whole})?", visible + rest.whole)


Node = Text | Set | Star | Group
Branch = tuple[Node, ...]
Branches = tuple[Branch, ...]


def to_rest(branch: Branch, after: After) -> Rest:
    """The expression of a branch that ``after`` may follow.

    Raises:
        ConfigError: it would be too large; where everything may be missing it doubles each time.
    """
    rest = Rest()
    for node in reversed(branch):
        rest = node.before(rest, after)
        _check_size(rest.whole)
        _check_size(rest.visible)
    return rest


def _check_size(expression: str) -> None:
    if len(expression) > _MAX_EXPRESSION:
        raise ConfigError("the pattern is too large; write several patterns, or shorter ones")


def to_regex(branches: Branches) -> str:
    """The expression that matches what one of the branches matches, from beginning to end.

    Raises:
        ConfigError: it would be too large.
    """
    expression = "|".join(to_rest(branch, "nothing").whole for branch in branches)
    _check_size(expression)
    return rf"\A(?:{expression})\z"


def code_units(text: str) -> str:
    """Write each half of a character beyond U+FFFF as a character, as JavaScript counts them.

    The halves, and lone ones, stand at U+1D800 to U+1DFFF, where the engine can hold them.
    """
    try:
        if text.isascii() or len(text.encode("utf-16-le")) == 2 * len(text):
            return text
    except UnicodeEncodeError:
        pass  # a lone half
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    return "".join(chr(0x10000 + one if 0xD800 <= one < 0xE000 else one) for one in units)
