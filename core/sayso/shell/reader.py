"""From a line to its commands, where there is one way to read it."""

from __future__ import annotations

import re

from sayso.shell.line import Command, Join, Line

LONGEST = 10_000
"""How many characters a line may have; what is longer is not looked at."""

MOST_PARTS = 50
"""How many commands a line may join."""

# Pieces of a word take longer than its letters.
_MOST_QUOTES = 2_000

# Control characters but the tab and the new line, and halves of characters. A backslash after a
# character beyond ASCII is a part of it where the shell does not read UTF-8.
_NEVER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]|[^\x00-\x7f]\\")

_PROGRAM = r"[a-zA-Z0-9_./][a-zA-Z0-9_./+-]*+"
# Not at the beginning of a word: `=` (zsh looks a program up), `^`. Nowhere `#`: a comment, and
# with some settings of zsh `x#-b` matches a file of the name `-b`. The tilde is
# plain after a letter or digit alone: bash expands it after `=` and `:` as well.
_BEGINS_PLAIN = r"[a-zA-Z0-9_./:@+,%-]"
_PLAIN = r"(?:[a-zA-Z0-9_./:@+,%=^-]|(?<=[a-zA-Z0-9_])~)"
_ENDS = r"(?=[ \t\n;&|]|\Z)"
_PLAINS = rf"{_BEGINS_PLAIN}{_PLAIN}*+{_ENDS}(?:\ ++{_BEGINS_PLAIN}{_PLAIN}*+{_ENDS})*+"

_WORDS = re.compile(rf"({_PROGRAM})((?: ++{_BEGINS_PLAIN}{_PLAIN}*+)*+)")
# A message as agents write one, of several lines and with any characters: only the first line
# that is the delimiter, and nothing else, ends it.
_DELIMITED = r"""
    "\$\(cat[ ]<<[ ]?'(?P<end>[a-zA-Z_]{1,20})'\n
    (?P<body> (?: (?! (?P=end)\n ) [^\n]*+ \n )*+ )
    (?P=end)\n [ \t]*+ \)"
"""
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

_BLANK = r"(?:[ \t]++(?:\\\n[ \t]*+)*+)?+"
_TOKEN = re.compile(
    rf"""
    (?: (?P<plain> {_PLAINS} )
    | (?P<join> &&(?!&) | \|\|?+(?![|&]) | ;(?![;&|]) | (?:\n[ \t]*+)++ )
    | (?P<redirect>
        (?: [12]?>>?[ \t]*+/dev/null | 2>&1 | 1?>&2 | <[ \t]*+[a-zA-Z0-9_./][a-zA-Z0-9_./@+-]*+ )
        {_ENDS} )
    | (?P<found> \{{\}} {_ENDS} )
    | (?P<word> (?![=^~]) (?:
          {_PLAIN}
        | '[^']*+'(?!')  # which zsh may take for a quote in quotes
        | "(?: [^"\\$`!] | \\[^\n!] | \$(?=") )*+"
        | \\[ !-/:-@\[-`{{-~]
        | [*?\[\]]
        )++ {_ENDS} )
    | (?P<message> {_DELIMITED} {_ENDS} )
    ) {_BLANK}
    """,
    re.VERBOSE | re.DOTALL,
)
_IS_PROGRAM = re.compile(_PROGRAM)

# What begins no simple command, in bash, dash, ksh or zsh.
_RESERVED = frozenset(
    re.findall(
        r"\S+",
        """
        case coproc do done elif else end esac fi for foreach function if in nocorrect noglob
        repeat select then time until while
        """,
    )
)


_JOINS: dict[str, Join] = {"&&": "&&", "||": "||", "|": "|", ";": ";", "\n": ";"}


def read(text: str) -> Line | None:
    """The commands of a line, as bash, dash and zsh take it apart; None where it is not understood.

    Understood are programs with plain, quoted and escaped words, joined by ``&&``, ``||``, ``;``,
    ``|`` and new lines, all of it in one pair of parentheses or in none; redirections to
    ``/dev/null``, of one output to the other, and from a file; names of files with ``*``, ``?``
    and brackets, see ``Command.patterns``; ``{}``, as ``find`` has it; and a message written as
    ``"$(cat <<'EOF' … EOF)"``. All that expands, assigns, writes a file or runs in the
    background is not.

    Takes time in proportion to the text, and none for one that is too long.
    """
    if len(text) > LONGEST or _NEVER.search(text):
        return None
    text = text.strip(" \t\n")
    if plain := _WORDS.fullmatch(text):
        program, words = plain.groups()
        if program in _RESERVED:
            return None
        return Line((Command(program, tuple(words.split()), _may_match(words)),))
    if grouped := text[:1] == "(" and text[-1:] == ")":
        text = text[1:-1].strip(" \t\n")
    if text.count('"') + text.count("'") > _MOST_QUOTES:
        return None
    reading = _Reading()
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or not reading.takes(found):
            return None
        if found.lastgroup == "message" and (grouped or not _reads_alike_in_old_shells(found)):
            return None
        at = found.end()
    return reading.line()


def _unquote(word: str) -> tuple[str, bool]:
    """Return the word that the program gets, and True if it may become names of files instead."""
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


def _message_text(found: re.Match[str]) -> str:
    """The text of a message: a substitution loses the new lines at its end."""
    return found["body"].rstrip("\n")


def _reads_alike_in_old_shells(found: re.Match[str]) -> bool:
    """Return True if shells without here-documents in substitutions read it as one word too.

    bash 3.2, which macOS has, looks for the parenthesis that closes by counting them and by
    passing over what is quoted. It stops too early where a quote hides the one that
    opens; what follows is in double quotes then. And it may go on after the message, where no
    quote and no parenthesis may end what it takes for one.
    """
    _, closed, rest = found["body"].partition(")")
    if closed and _LIVE.search(rest) and not _CLOSED.fullmatch(found["body"]):
        return False
    return not _ENDS_MORE.search(found.string, found.end())


def _may_match(written: str) -> bool:
    # With some settings of zsh: `a^b` and `a~b` are what begins with an a, and something else.
    return "^" in written or "~" in written


class _Reading:
    """A line as far as it was read."""

    def __init__(self) -> None:
        self._parts: list[Command] = []
        self._joins: list[Join] = []
        self._words: list[str] = []
        self._redirects: list[str] = []
        self._patterns = False

    def takes(self, token: re.Match[str]) -> bool:
        """Return True if the next token can stand where it stands."""
        kind = token.lastgroup
        if kind == "plain":
            return self._plain(token["plain"])
        if kind == "join":
            return self._joined("\n" if token["join"][0] == "\n" else token["join"])
        if not self._words:
            return False
        if kind == "redirect":
            return self._redirected("".join(token["redirect"].split()))
        if kind == "found":
            self._words.append("{}")
            return True
        if kind == "message":
            self._words.append(_message_text(token))
            return True
        word, patterns = _unquote(token["word"])
        self._patterns |= patterns
        self._words.append(word)
        return True

    def line(self) -> Line | None:
        """The line, now that it ends; None where it cannot end here."""
        if self._words:
            self._end()
        elif not self._parts or self._joins.pop() != ";":
            return None
        return Line(tuple(self._parts), tuple(self._joins))

    def _plain(self, written: str) -> bool:
        words = written.split()
        if not self._words and (words[0] in _RESERVED or not _IS_PROGRAM.fullmatch(words[0])):
            return False
        self._words += words
        self._patterns = self._patterns or _may_match(written)
        return True

    def _joined(self, join: str) -> bool:
        if not self._words:
            return join == "\n"  # an empty line, also after what joins
        self._end()
        self._joins.append(_JOINS[join])
        return len(self._joins) < MOST_PARTS

    def _redirected(self, redirect: str) -> bool:
        # bash opens connections for names below /dev, and some there are not only read.
        if redirect[0] == "<" and "/dev/" in redirect and redirect != "</dev/null":
            return False
        self._redirects.append(redirect)
        return True

    def _end(self) -> None:
        program, *arguments = self._words
        redirects = tuple(self._redirects)
        self._parts.append(Command(program, tuple(arguments), self._patterns, redirects))
        self._words, self._redirects, self._patterns = [], [], False
