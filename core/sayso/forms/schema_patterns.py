"""JSON Schema's patterns, which are JavaScript's, in the syntax that forms match with."""

from __future__ import annotations

import re

PATTERN_LIMIT = 500

_ESCAPE = r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[pP]\{[A-Za-z_=]+\}|[^ux])"
_TOKEN = re.compile(
    rf"""
      (?P<escape>{_ESCAPE})
    | (?P<klass>\[(?:\^|(?!\^))(?:\\.|[^\]\\])+\])
    | (?P<times>(?:[*+?]|\{{[0-9]{{1,4}}(?:,[0-9]{{0,4}})?\}})\??)
    | (?P<start>\((?:\?(?::|<[A-Za-z_][A-Za-z0-9_]*>)|(?!\?)))
    | [^\\({{}}\[\]]
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_CLASS = re.compile(rf"{_ESCAPE}|[^\\]", re.DOTALL)

_SPACES = r"\t\n\x0B\x0C\r\x20\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF"
# ECMA-262: \d and \w are ASCII; \s has the byte order mark and not U+0085.
_SETS = {
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\w": "[0-9A-Za-z_]",
    r"\W": "[^0-9A-Za-z_]",
    r"\s": f"[{_SPACES}]",
    r"\S": f"[^{_SPACES}]",
}
# A dot is no line's end, and there are four of those; words are made of ASCII.
_OTHERS = {".": r"[^\n\r\u2028\u2029]", r"\b": r"(?-u:\b)"}
# What stands for no character cannot be repeated, although Rust would.
_NOTHING = frozenset({"^", "$", "|", r"\b"})


def as_rust(pattern: str) -> str:
    r"""The pattern in Rust's syntax, with JavaScript's meaning: ``\d`` is 0 to 9 only.

    Raises:
        ValueError: it has something that the two do not share, or is longer
            than 500 characters.
    """
    if len(pattern) > PATTERN_LIMIT:
        raise ValueError(f"a pattern has at most {PATTERN_LIMIT} characters")
    done: list[str] = []
    at, repeatable = 0, False
    while at < len(pattern):
        match = _TOKEN.match(pattern, at)
        if match is None:
            raise _unsupported(pattern[at : at + 3])
        token, at = match[0], match.end()
        if match["times"] and not repeatable:
            raise _unsupported(token)
        repeatable = not match["times"] and not match["start"] and token not in _NOTHING
        if match["klass"]:
            done.append(_klass(token))
        elif match["escape"] and token not in _OTHERS:
            done.append(_SETS.get(token) or _escaped(token))
        else:
            done.append(_OTHERS.get(token, token))
    return "".join(done)


def _klass(token: str) -> str:
    start = "[^" if token.startswith("[^") else "["
    items = [match[0] for match in _IN_CLASS.finditer(token, len(start), len(token) - 1)]
    if "".join(items) != token[len(start) : -1]:
        raise _unsupported(token)
    for number, item in enumerate(items):
        between = 0 < number < len(items) - 1
        around = (items[number - 1], items[number + 1]) if between else ()
        # A range from or to a set of characters, or Rust's difference of two sets.
        if item == "-" and any(other in _SETS or other == "-" for other in around):
            raise _unsupported(token)
    return f"{start}{''.join(map(_item, items))}]"


def _item(item: str) -> str:
    if item.startswith("\\"):
        return _SETS.get(item) or _escaped(item)
    # What Rust would read as a class within the class, or as && and the like.
    return "\\" + item if item in "[&~^" else item


def _escaped(token: str) -> str:
    character = token[1]
    if len(token) > 2 or character in "nrtfv":
        return token
    if character.isascii() and character.isprintable() and not character.isalnum():
        return re.escape(character)
    raise _unsupported(token)


def _unsupported(what: str) -> ValueError:
    return ValueError(f"{what!r} is not supported in a pattern that is asked in chat")
