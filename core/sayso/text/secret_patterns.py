"""Secrets by their form: the reviewed table, and a search in time that grows with the text."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.tables import read_table
from sayso.text.what_runs import decodes, is_folder, is_random, may_run, run_names

OWN_TOKEN = "token of our own"  # noqa: S105  what one is called

_CONFIG = ConfigDict(extra="forbid")


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class Form:
    """How one kind of secret is written: it ``begins`` so, and the regular expression is the rest.

    The group ``secret`` is what is hidden, or else all of it. ``before`` is
    what stands in front of the beginning and belongs to it. A form with a ``word`` begins where a
    word does. One in ``any_case`` is written in lower case here. ``check`` names what
    else must hold: see ``secret_forms``.
    """

    kind: str
    begins: str
    rest: str
    before: str = ""
    word: bool = True
    any_case: bool = False
    check: str = ""


@pydantic_dataclass(frozen=True, slots=True, config=_CONFIG)
class SecretKinds:
    """The table, as ``secret_kinds.toml`` explains it."""

    names: tuple[str, ...]
    counts: tuple[str, ...]
    about: tuple[str, ...]
    nothing: frozenset[str]
    forms: tuple[Form, ...]


@cache
def secret_kinds() -> SecretKinds:
    """Read the table, once."""
    return read_table("sayso.text", "secret_kinds.toml", SecretKinds)


Span = tuple[int, int]

# What a credential may be made of: no white space, and nothing that a shell acts on.
WORD = r"[^\s\x00$`;&|<>(){}]{1,200}"
_QUOTED_WORD = r"[^\s\x00$`;&|<>(){}\"']{1,200}+(?![^\s\x00$`;&|<>(){}\"'])"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_SHORTEST = 6
_LONGEST_NAME = 200
_BEFORE = 64

# Base64 of 40 characters that a key has is hardly ever this plain; words and paths are.
_RANDOM_BITS = 4.3
_MOST_SLASHES = 4

# Major industry identifiers with the lengths that their issuers give out.
_CARDS = re.compile(
    r"4\d{12}|4\d{15}|4\d{18}|(?:5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12,14}"
    r"|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|62\d{14,17}"
)

_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://[^\s@]*|(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?::[0-9]+|/[0-9]+)?"
    # An account of a blockchain: those who pay to it must see it.
    r"|0x[0-9a-fA-F]{40}"
)
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@%+-]*)+")
_OPTION = re.compile(r"--[A-Za-z][A-Za-z0-9-]*(?:=.*)?|-[A-Za-z]{1,2}")
_MIXED = re.compile(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=[^0-9]*[0-9]).{21,}")


class SecretNames:
    """Which names are those of secrets: those with one of these words in them. Short-lived."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.lasts = _lasts(words)
        self._named = _named(words)
        self._hint = _hint(words)
        self._known: dict[str, bool] = {}

    def __contains__(self, key: str) -> bool:
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._is_named(key)
        return known

    def _is_named(self, key: str) -> bool:
        if len(key) > _LONGEST_NAME:
            return False
        plain = whole = key.casefold()
        if self._hint.search(plain) is None:
            return False
        if plain != key:
            plain = _CAMEL.sub("_", key).casefold()
        is_named = self._named.search(plain) or self._named.search(whole)
        return is_named is not None and _about().search(plain) is None


@cache
def _about() -> re.Pattern[str]:
    about, counts = "|".join(secret_kinds().about), "|".join(secret_kinds().counts)
    return re.compile(
        rf"[_\-.\s](?:{about})\Z|(?:^|[_\-.\s])(?:{counts})[_\-.\s]tokens(?:$|[_\-.\s])"
    )


@lru_cache(maxsize=64)
def _named(words: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(word.casefold()).replace(r"\ ", r"[_\-.\s]?") for word in words)
    # Auth0 is a company.
    return re.compile(rf"(?:^|[_\-.\s])(?!auth0)(?:{names})[0-9]{{0,2}}(?:$|[_\-.\s])")


@lru_cache(maxsize=64)
def _hint(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, _lasts(words))) or r"(?!)")


@lru_cache(maxsize=64)
def _lasts(words: tuple[str, ...]) -> tuple[str, ...]:
    """What at least one word of such a name begins with.

    Names of two words begin with one that says little: it is their last that is looked for.
    """
    lasts = {word.casefold().rpartition(" ")[2] for word in words}
    return tuple(sorted(last for last in lasts if not any(map(last.startswith, lasts - {last}))))


def is_plain(value: str) -> bool:
    """Whether a value is plainly no secret: a path, an address, an option, a word for nothing."""
    begin = value[:1]
    if begin in "/~.\\" or value[1:2] == ":":
        if _PATH.fullmatch(value):
            # A key in base64 may begin with a slash: folders are not named so.
            return not any(map(_MIXED.fullmatch, re.split(r"[/\\]", value)))
    elif begin == "-":
        return _OPTION.fullmatch(value) is not None
    if "://" in value or begin.isdigit():
        return _ADDRESS.fullmatch(value) is not None
    return len(value) <= _max_nothing() and value.casefold() in secret_kinds().nothing


def is_shown(name: str, value: str, runs: frozenset[str]) -> bool:
    """Return True if the value of a secret's name is plainly none, or is what the text ``runs``."""
    return (
        is_plain(value)
        or is_folder(name, value)
        or (name in runs and may_run(value))
        or (_SESSION.search(name) is not None and not is_random(value))
        or (_TOKENS.search(name) is not None and value.strip("[],").isdecimal())
        or (_OF_DATABASES.search(name) is not None and _FIELDS.match(value) is not None)
    )


# What names a session is shown, a ticket to it is not; so many tokens are no token.
_SESSION = re.compile(r"(?:session[_-]ids?|(?-i:sessionIds?))[0-9]{0,2}\Z", re.IGNORECASE)
_TOKENS = re.compile(r"tokens[0-9]{0,2}(?:\Z|[_\-.\sA-Z])", re.IGNORECASE)


@cache
def _max_nothing() -> int:
    return max(map(len, secret_kinds().nothing))


_OF_DATABASES = re.compile(r"dsn|connection[_-]?string", re.IGNORECASE)
# Each of these has a name of its own: Server=db;Password=x
_FIELDS = re.compile(r"[A-Za-z][\w ]{0,40}=[^=]")
_IN_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,30}://)?(?P<login>[^\s\x00$`;&|<>(){}/@]{1,200}"
    r"(?:@[^\s\x00$`;&|<>(){}/@?#]{1,200}){0,8})@",
    re.IGNORECASE,
)


def login_in(name: str, value: str) -> Span | None:
    """Return the span of the login in the address of a database, whose host people must see."""
    match = _IN_ADDRESS.match(value) if _OF_DATABASES.search(name) else None
    return None if match is None else match.span("login")


def spans(
    text: str, words: tuple[str, ...] | None = None, forms: tuple[Form, ...] | None = None
) -> list[Span]:
    """What has the form of a known kind of secret; parts of one that overlap are one."""
    if len(text) < _SHORTEST:
        return []
    lowered = text.translate(_LOWER)
    found: list[Span] = []
    shows_random = decodes(lowered)
    for form in _compiled(secret_kinds().forms if forms is None else forms):
        searched = lowered if form.any_case else text
        if form.begins in searched and not (shows_random and form.check is _is_random):
            found += form.spans(searched, text)
    found += _assigned(text, lowered, secret_kinds().names if words is None else words)
    return merged(found)


def holds(kind: str, text: str) -> bool:
    """Return True if the text holds what has the form of this kind of secret in the table."""
    return bool(spans(text, (), tuple(form for form in secret_kinds().forms if form.kind == kind)))


def merged(found: list[Span]) -> list[Span]:
    """The spans in order, those that overlap as one."""
    joined: list[Span] = []
    for start, end in sorted(found):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A form of the table, ready to look for."""

    begins: str
    any_case: bool
    regex: re.Pattern[str]
    before: re.Pattern[str] | None
    check: Callable[[str, int, int], bool] | None

    def spans(self, searched: str, text: str) -> Iterator[Span]:
        group = "secret" if "secret" in self.regex.groupindex else 0
        for match in self.regex.finditer(searched):
            start, end = match.span(group)
            if self.before is not None:
                found = self.before.search(text[max(0, start - _BEFORE) : start])
                if found is None:
                    continue
                start -= len(found[0])
            if self.check is None or self.check(text, start, end):
                yield start, end


@lru_cache(maxsize=64)
def _compiled(forms: tuple[Form, ...]) -> tuple[_Compiled, ...]:
    return tuple(map(_of, forms))


def _of(form: Form) -> _Compiled:
    # The beginning first, as it stands: that is what makes the search quick.
    begins = re.escape(form.begins)
    apart = rf"(?<![A-Za-z0-9_]{begins})" if form.word and form.begins else ""
    before = re.compile(rf"(?:{form.before})\Z") if form.before else None
    regex = re.compile(begins + apart + form.rest)
    check = _CHECKS[form.check] if form.check else None
    return _Compiled(form.begins, form.any_case, regex, before, check)


def _assigned(text: str, lowered: str, words: tuple[str, ...]) -> Iterator[Span]:
    """What stands behind a name: ``--password=x``, ``TOKEN=x``, ``"secret": "x"``."""
    names, runs = SecretNames(words), run_names(text)
    for begins in names.lasts:
        if begins in lowered:
            for match in _assignment(begins).finditer(lowered):
                start, end = match.span("secret")
                front, name = _front(text, match.start())
                name += text[match.start() : match.end("name")]
                bare, value = name.lstrip("-_."), text[start:end]
                if (
                    bare in names
                    and not is_shown(bare, value, runs)
                    and (match["apart"] is None or _is_value(text, match, front, name))
                ):
                    begin, stop = login_in(bare, value) or (0, len(value))
                    yield start + begin, start + stop


def _front(text: str, end: int) -> tuple[str, str]:
    """What stands before a word of a name, and the words of the name before it."""
    if end and _NAME_END.match(text, end - 1, end):
        front = text[max(0, end - _BEFORE) : end]
        if (begin := _NAME_END.search(front)) is not None:
            return front[: begin.start()], begin[0]
    return text[max(0, end - _BEFORE) : end], ""


@lru_cache(maxsize=256)
def _assignment(begins: str) -> re.Pattern[str]:
    return re.compile(
        rf"{re.escape(begins)}(?P<name>[a-z0-9_.-]{{0,40}}+)"
        r"(?:=[\"']?|[\"']\s{0,2}[:=]>?\s{0,2}[\"']|(?P<apart>:?[ \t]{1,3})[\"']?)"
        rf"(?P<secret>{_QUOTED_WORD})"
    )


_NAME_END = re.compile(r"[A-Za-z0-9_.-]+\Z")
_FIELD = re.compile(r"(?:\A|[\n\x00])[ \t]*(?:- )?[\"']?\Z|(?:-H|--header)[ =]?[\"']\Z")


def _is_value(text: str, match: re.Match[str], front: str, name: str) -> bool:
    """Return True if a word behind white space is the value of the name before it, and no prose."""
    if not match["apart"].startswith(":"):
        return name.startswith("--")
    # A header or a line of YAML, all of it: no sentence.
    secret, after = match["secret"], text[match.end() : match.end() + 1]
    whole = after in ("", "\n", "\r", "\x00", '"', "'") and _FIELD.search(front) is not None
    return whole and len(secret) >= _SHORTEST and not secret.isalpha()


def _is_login(text: str, start: int, end: int) -> bool:
    coded = text[start:end]
    try:
        return b":" in base64.b64decode(coded + "=" * (-len(coded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _is_of_curl(text: str, start: int, end: int) -> bool:
    # A user and a group of numbers are no login.
    return "curl" in text[max(0, start - 400) : start] and not text[start:end].isdigit()


def _is_random(text: str, start: int, end: int) -> bool:
    key = text[start:end]
    if not _MIXED.fullmatch(key) or key.count("/") > _MOST_SLASHES:
        return False
    counts = Counter(key).values()
    bits = -sum(count / len(key) * math.log2(count / len(key)) for count in counts)
    return bits >= _RANDOM_BITS


def _is_card(text: str, start: int, end: int) -> bool:
    return is_card(text[start:end].replace(" ", "").replace("-", ""))


def is_card(digits: str) -> bool:
    """Whether the digits are the number of a payment card: one that is given out, and adds up."""
    if not _CARDS.fullmatch(digits):
        return False
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0


_CHECKS: dict[str, Callable[[str, int, int], bool]] = {
    "login in base64": _is_login,
    "login of curl": _is_of_curl,
    "random": _is_random,
    "card": _is_card,
}
