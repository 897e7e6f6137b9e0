"""What a shell makes of quotes and backslashes, and of a message in a here-document."""

from __future__ import annotations

import re

DELIMITED = r"""
    "\$\(cat[ ]<<[ ]?'(?P<end>[a-zA-Z_]{1,20})'\n
    (?P<body> (?: (?! (?P=end)\n ) [^\n]*+ \n )*+ )
    (?P=end)\n [ \t]*+ \)"
"""
"""A message as agents write one, of several lines and with any characters: only the first line
that is the delimiter, and nothing else, ends it."""

_PIECES = re.compile(
    r"""
    (?P<plain> [^'"\\*?\[\]^~]++ )
  | '(?P<single> [^']*+ )'
  | "(?P<double> (?: [^"\\] | \\. )*+ )"
  | \\(?P<escaped> . )
  | (?P<pattern> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_ONE_QUOTED = re.compile(r"""'([^']*+)'|"([^"\\]*+)\"""")
_ESCAPED_IN_DOUBLE = re.compile(r'\\([$`"\\])')
_LIVE = re.compile(r'["$`]')
# No parenthesis that is not closed on its line, and in those that are nothing that quotes.
_CLOSED = re.compile(
    r"""(?: [^()\\$] | \\(?![()]) | \$(?![{\[]) | \([^()'"`\\$\n]*+\) )*+""", re.VERBOSE
)
_ENDS_MORE = re.compile(r"""['"`\\()$]""")


def unquoted(word: str) -> tuple[str, bool]:
    """The word that the program gets, and whether it may become names of files instead."""
    if found := _ONE_QUOTED.fullmatch(word):
        return found[found.lastindex or 0], False
    pieces: list[str] = []
    patterns = False
    for piece in _PIECES.finditer(word):
        text = piece[piece.lastgroup or 0]
        if piece.lastgroup == "double":
            text = _ESCAPED_IN_DOUBLE.sub(r"\1", text)
        patterns |= piece.lastgroup == "pattern"
        pieces.append(text)
    return "".join(pieces), patterns


def message_in(found: re.Match[str]) -> str:
    """The text of a message: a substitution loses the new lines at its end."""
    return found["body"].rstrip("\n")


def is_the_same_to_old_shells(found: re.Match[str]) -> bool:
    """Whether shells that do not know here-documents in a substitution take it for one word too.

    bash 3.2, which macOS has, looks for the parenthesis that closes by counting them and by
    passing over what is quoted. It stops too early where a quote hides the one that
    opens; what follows is in double quotes then. And it may go on after the message, where no
    quote and no parenthesis may end what it takes for one.
    """
    _, closed, rest = found["body"].partition(")")
    if closed and _LIVE.search(rest) and not _CLOSED.fullmatch(found["body"]):
        return False
    return not _ENDS_MORE.search(found.string, found.end())
