"""Texts and values without secrets: on cards, in logs, in messages of errors."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from sayso.text.secret_patterns import (
    WORD,
    SecretNames,
    Span,
    is_card,
    is_plain,
    is_shown,
    login_in,
    merged,
    secret_kinds,
    spans,
)
from sayso.text.what_runs import decodes, is_random, run_names

_MARK = "[redacted: "
_MARK_LOOKALIKE = re.compile(re.escape(_MARK) + r"[^\[\]]*\]?")
_WORD = re.compile(WORD)
# RFC 7468: lines of 64 characters of base64, the last one shorter, between BEGIN and END. In a
# string of JSON within the text a line ends in two characters. What is no key of a sane size may
# be what runs: DER begins with a sequence, and OpenSSH's own form with its name.
_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?P<end>\n|\\n)(?=M[A-P]|b3BlbnNzaC1rZXk)"
    r"(?P<lines>(?:[A-Za-z0-9+/=]{40,76}(?P=end)){0,256}[A-Za-z0-9+/=]{1,76}(?P=end))"
    r"(?=-----END )"
)
# An address of our own shows nobody what runs: whatever may be a login there is hidden.
_LOGIN = re.compile(r"(?<=://)[^/\s]*(?=@)|(?<=password=)[^&\s]+")
_SMALLEST_CARD, _LARGEST_CARD = 10**12, 10**19
# Texts up to this length are looked at once while they are in use.
_SHORT = 2_000
# What no form of a secret goes across.
_APART = "\x00"
_UNNAMED = frozenset({bool, type(None)})


@dataclass(frozen=True, slots=True)
class Hiding:
    """What is hidden besides the table, and what is shown in spite of it.

    ``names`` are words of names whose values are hidden, ``shown`` are whole
    names whose values are not hidden for their name. Of what a shape takes, only a single
    word without anything that a shell acts on is hidden, so that no shape can
    hide what may run.

    Raises:
        ValueError: a shape matches nothing at all, which is everywhere.
    """

    names: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    shapes: tuple[re.Pattern[str], ...] = ()

    def __post_init__(self) -> None:
        for shape in self.shapes:
            if shape.search("") is not None:
                raise ValueError(f"the shape {shape.pattern!r} of a secret matches an empty string")

    def __add__(self, other: Hiding) -> Hiding:
        """Both of them."""
        return Hiding(
            (*self.names, *other.names),
            (*self.shown, *other.shown),
            tuple(dict.fromkeys((*self.shapes, *other.shapes))),
        )

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all names whose values are hidden."""
        return (*secret_kinds().names, *self.names)


_AS_IT_IS = Hiding()
_hiding: ContextVar[Hiding] = ContextVar("sayso_hiding", default=_AS_IT_IS)


@contextmanager
def hiding(more: Hiding) -> Iterator[None]:
    """Hide and show this as well, in the block and in every task that is begun in it."""
    token = _hiding.set(_hiding.get() + more)
    try:
        yield
    finally:
        # What is left in another context than it was entered in has nothing to take back there.
        with suppress(ValueError):
            _hiding.reset(token)


def holds_secret(text: str) -> bool:
    """Return True if anything in it has the shape of a known kind of secret."""
    return redaction(text).hidden > 0


class Redaction(NamedTuple):
    """What may be shown of a value, and how many strings were hidden in it.

    The count is of what was done. It cannot be read out of what is shown, because whoever
    wrote the value may have written marks of their own into it.
    """

    shown: Any
    hidden: int


def redaction(value: Any) -> Redaction:
    """A JSON value without secrets: by the name of their key and by their shape.

    A single word or number under a key such as ``password`` or ``apiKey`` is
    replaced; what is longer than a credential, or has lines or parts of its
    own, stays visible, because it may be what runs, and so does what is plainly a
    path, an address or an option.
    """
    redactor = _Redactor(_hiding.get())
    redactor.look(value)
    if isinstance(value, str):
        return Redaction(redactor.text(value), redactor.hidden)
    return Redaction(redactor.value(value), redactor.hidden)


def redacted(value: Any) -> Any:
    """A JSON value without secrets, where it does not matter how many there were."""
    return redaction(value).shown


def redacted_text(text: str) -> str:
    """The text with everything that has the shape of a known kind of secret replaced."""
    shown: str = redaction(text).shown if text else ""
    return shown


def marks_in(value: Any) -> Counter[str]:
    """Everything in a JSON value that looks like a mark, whoever wrote it there."""
    return Counter(
        mark
        for text in strings_in(value)
        if _MARK in text
        for mark in _MARK_LOOKALIKE.findall(text)
    )


def strings_in(value: Any) -> Iterator[str]:
    """All strings in a JSON value, its names among them; one that is there twice comes twice."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            yield from map(str, one)
            left.extend(one.values())
        elif isinstance(one, list | tuple):
            left.extend(one)
        elif isinstance(one, Mapping):
            left.append(dict(one))


@dataclass(slots=True)
class _Redactor:
    """One pass over a value, which counts what it hides.

    All its strings are looked at as one text: what that costs grows with
    their length, and not with their number.
    """

    hiding: Hiding
    hidden: int = 0
    found: dict[str, list[Span]] = field(default_factory=dict)
    names: SecretNames = field(init=False)
    shown: frozenset[str] = field(init=False)
    runs: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.names = SecretNames(self.hiding.words)
        self.shown = frozenset(name.casefold() for name in self.hiding.shown)

    def look(self, value: Any) -> None:
        texts = list(dict.fromkeys(strings_in(value)))
        whole = _APART.join(texts)
        self.runs = run_names(whole)
        starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
        for start, end in self._spans(whole):
            number = bisect_right(starts, start) - 1
            begin = starts[number]
            self.found.setdefault(texts[number], []).append((start - begin, end - begin))

    def value(self, value: Any, *, named: bool = False, within: bool = False) -> Any:
        """A value under the name of a secret, or ``within`` what is under one, or neither."""
        if isinstance(value, str):
            named = named or (within and is_random(value))
            return self._named(value) if named else self.text(value)
        if isinstance(value, dict | Mapping):
            return self._mapping(value, within=named or within)
        if isinstance(value, list | tuple):
            return [self.value(item, named=named, within=within) for item in value]
        if type(value) in _UNNAMED:
            return value
        if named or (isinstance(value, int) and _is_card_number(value)):
            return self._named(str(value), value)
        return value

    def text(self, text: str) -> str:
        found = self.found.get(text)
        if not found:
            return text
        pieces: list[str] = []
        at = 0
        for start, end in found:
            # The lines of a key end where they did.
            tail = "\n" if text[end - 1] == "\n" else ""
            pieces += text[at:start], self._mark(text[start:end]), tail
            at = end
        return "".join((*pieces, text[at:]))

    def _spans(self, text: str) -> Sequence[Span]:
        return _known_spans(text, self.hiding) if len(text) <= _SHORT else _spans(text, self.hiding)

    def _named(self, text: str, value: Any = None) -> Any:
        """What stands under the name of a secret."""
        if text and _WORD.fullmatch(text) and not is_plain(text):
            return self._mark(text)
        return self.text(text) if value is None else value

    def _mapping(self, value: Mapping[Any, Any], *, within: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        alike: Counter[str] = Counter()
        for key, item in value.items():
            # Two names that both look like secrets must not become one: nothing may go unseen.
            name = base = self.text(str(key))
            while name in found:
                alike[base] += 1
                name = f"{base} #{alike[base] + 1}"
            named = self._names_a_secret(str(key), item)
            login = login_in(str(key), item) if named and isinstance(item, str) else None
            if login is not None:
                self.found[item] = merged([*self.found.get(item, ()), login])
                named = False
            found[name] = self.value(item, named=named, within=within)
        return found

    def _names_a_secret(self, key: str, item: Any) -> bool:
        if key not in self.names or (self.shown and key.casefold() in self.shown):
            return False
        items = item if isinstance(item, list | tuple) else (item,)
        return not all(
            isinstance(one, str | int | float) and is_shown(key, str(one), self.runs)
            for one in items
        )

    def _mark(self, text: str) -> str:
        self.hidden += 1
        return f"{_MARK}{len(text)} characters]"


def _spans(text: str, hiding: Hiding) -> tuple[Span, ...]:
    found = spans(text, hiding.words)
    if "PRIVATE KEY" in text and not decodes(text.lower()):
        found += (match.span("lines") for match in _KEY_BLOCK.finditer(text))
    for shape in hiding.shapes:
        found += (match.span() for match in shape.finditer(text) if _WORD.fullmatch(match[0]))
    return tuple(merged(found))


# One card looks at the same short texts several times: for its body, its widths and its fallback.
_known_spans = lru_cache(maxsize=256)(_spans)


def _is_card_number(value: int) -> bool:
    return _SMALLEST_CARD <= value < _LARGEST_CARD and is_card(str(value))


def has_login(url: str) -> bool:
    """Return True if an address carries a password or a user name."""
    return _LOGIN.search(url) is not None


def without_login(url: str) -> str:
    """An address as it may be shown."""
    return _LOGIN.sub("…", url)
