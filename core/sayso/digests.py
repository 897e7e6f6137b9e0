"""Arguments as JSON, and the digest that says which arguments somebody decided on."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import rfc8785
from pydantic_core import PydanticSerializationError, to_jsonable_python

from sayso.errors import InvalidCallError

MAX_ARGUMENTS_BYTES = 256 * 1024

# What stands before a hash says how it was computed. A bare one is of the form of 0.1.0:
# JSON as Python writes it, with sorted keys.
_FORM = "jcs-sha256"

# Characters that UTF-16 sorts in another order: those from U+E000 on, in UTF-8.
_BEYOND = re.compile(rb"[\xee-\xf4]")
# JSON as Python writes it, of whose numbers JavaScript holds each and writes it alike.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_INTEGER = rb"[0-9]++(?![.e])"
_ALIKE = re.compile(
    rb'(?:[^"0-9]++|%b|%b|[0-9]++\.(?!0(?![0-9]))[0-9]++(?!e))*+' % (_STRING, _INTEGER)
)
_ANY_FRACTION = rb"[0-9]++(?:\.[0-9]++(?:e[+-][0-9]++)?+|e[+-][0-9]++)"
_WITH_FRACTIONS = re.compile(rb'(?:[^"0-9]++|%b|%b|%b)*+' % (_STRING, _INTEGER, _ANY_FRACTION))
_FRACTION = re.compile(rb"%b|-?%b" % (_STRING, _ANY_FRACTION))
_STRINGS = re.compile(rb"(%b)" % _STRING)
_EMPTY_FRACTION = re.compile(rb"(?<=[0-9])\.0(?![0-9e])")
_HUGE = re.compile(rb"[0-9]{16}")
_LARGE = re.compile(rb"%b|(?<![.0-9])([0-9]{16,}+)(?![.e])" % _STRING)
_LONGEST_INTEGER = 21  # ECMA-262, Number::toString: with more digits it has an exponent
_LEAVES = frozenset({str, int, float, bool, type(None)})
_MOST_CONTAINERS = MAX_ARGUMENTS_BYTES


def as_json(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as plain JSON values.

    Raises:
        InvalidCallError: a value has no JSON form, such as an infinite number,
            or all of them together take more than 256 KiB.
    """
    return _written(arguments)[0]


def arguments_digest(arguments: Mapping[str, Any]) -> str:
    """SHA-256 of the arguments as canonical JSON, in hex, after the name of its form.

    Equal arguments have equal digests in every process and every language,
    whatever the order of their keys: ``jcs-sha256:`` and the hash of the JSON of
    RFC 8785. That holds numbers as JavaScript does. Arguments with an integer
    that JavaScript would round have the digest of the older form, which is a
    bare hash and keeps every digit.

    Raises:
        InvalidCallError: as for ``as_json``.
    """
    return _digest(*_written(arguments))


def shown_and_digest(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The arguments as plain JSON values together with their digest."""
    plain, text = _written(arguments)
    return plain, _digest(plain, text)


def is_digest_of(digest: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the digest is that of these arguments, in whichever form it has.

    Raises:
        InvalidCallError: as for ``as_json``.
    """
    plain, text = _written(arguments)
    return digest == (_digest(plain, text) if ":" in digest else _hash(text))


class Digests:
    """The digests of some arguments, each computed once, however many rules ask for it."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._arguments = arguments
        self._known: dict[frozenset[str], tuple[str, ...]] = {}

    def hold(self, digest: str, *, without: Iterable[str] = ()) -> bool:
        """Whether the digest is that of the arguments without these names, in whichever form.

        Raises:
            InvalidCallError: as for ``as_json``.
        """
        return digest in self.known(without=without)

    def known(self, *, without: Iterable[str] = ()) -> tuple[str, ...]:
        """What a record may hold as their digest, the newest form first; raises as ``hold``."""
        names = frozenset(without)
        known = self._known.get(names)
        if known is None:
            others = {name: self._arguments[name] for name in self._arguments if name not in names}
            known = self._known[names] = _known(others) if others else _of_none()
        return known


def has_known_form(digest: str) -> bool:
    """Whether it is known here how the digest was computed."""
    form, colon, _ = digest.rpartition(":")
    return not colon or form == _FORM


def short_digest(digest: str) -> str:
    """As much of a digest as people compare: the first 12 characters of the hash."""
    return digest.rpartition(":")[2][:12]


def is_same_json(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether both are written the same, down to ``1`` and ``1.0``; the order of keys aside.

    Raises:
        InvalidCallError: as for ``as_json``.
    """
    return _written(one)[1] == _written(other)[1]


def is_read_alike(arguments: Mapping[str, Any]) -> bool:
    """Whether each number is the same where all numbers are doubles, as in JavaScript.

    Raises:
        InvalidCallError: as for ``as_json``.
    """
    return arguments_digest(arguments).startswith(f"{_FORM}:")


@cache
def _of_none() -> tuple[str, ...]:
    return _known({})


def _known(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    plain, text = _written(arguments)
    return tuple(dict.fromkeys((_digest(plain, text), _hash(text))))


def _digest(plain: dict[str, Any], text: bytes) -> str:
    try:
        canonical = _quick(text) or _canonical(plain)
    except RecursionError as error:
        raise InvalidCallError(_unwritten(plain, error)) from error
    return _hash(text) if canonical is None else f"{_FORM}:{_hash(canonical)}"


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _quick(text: bytes) -> bytes | None:
    """The JSON of RFC 8785, from that of Python; None where it takes a closer look.

    They differ in fractions, in integers beyond what a double holds, and in the order of
    characters that UTF-16 sorts otherwise. Most JSON has none of these, and a glance shows it.
    """
    if not text.isascii() and _BEYOND.search(text) is not None:
        return None
    if _ALIKE.fullmatch(text) is None:
        if _WITH_FRACTIONS.fullmatch(text) is None:
            return None
        text = _without_empty_fractions(text)
        if _ALIKE.fullmatch(text) is None:
            text = _FRACTION.sub(_fraction, text)
    if _HUGE.search(text) is None or all(map(_is_kept, _LARGE.findall(text))):
        return text
    return None


def _without_empty_fractions(text: bytes) -> bytes:
    """The JSON with 1.0 as 1; what stands in its strings stays, and so does a zero with a sign."""
    if b"-0.0" in text:
        return text
    pieces = _STRINGS.split(text)
    pieces[::2] = [_EMPTY_FRACTION.sub(b"", piece) for piece in pieces[::2]]
    return b"".join(pieces)


def _fraction(match: re.Match[bytes]) -> bytes:
    written = match[0]
    if written[:1] == b'"' or (b"e" not in written and not written.endswith(b".0")):
        return written
    return rfc8785.dumps(float(written))


@lru_cache(maxsize=1_024)
def _is_kept(digits: bytes) -> bool:
    """Whether JavaScript writes an integer with the digits that it read; none: it is a string."""
    return not digits or (
        len(digits) <= _LONGEST_INTEGER and rfc8785.dumps(float(digits)) == digits
    )


def _canonical(plain: dict[str, Any]) -> bytes | None:
    """The JSON of RFC 8785; None where a number would lose digits in it."""
    try:
        return rfc8785.dumps(plain)
    except rfc8785.IntegerDomainError:
        pass
    try:
        return rfc8785.dumps(_with_doubles(plain))
    except OverflowError:
        return None


def _with_doubles(value: Any) -> Any:
    """The value with its large integers as the doubles that JavaScript reads them as.

    Raises:
        OverflowError: JavaScript would write another number than it read.
    """
    if isinstance(value, dict):
        return {name: _with_doubles(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_doubles(item) for item in value]
    if not isinstance(value, int) or abs(value) < 2**53:
        return value
    double = float(value)
    if rfc8785.dumps(double) != str(value).encode():
        raise OverflowError
    return double


def _written(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The arguments as plain JSON values, and as JSON with every digit of their numbers."""
    try:
        whole = dict(arguments)
        plain = to_jsonable_python(whole, inf_nan_mode="constants")
        if plain != whole:
            # What is no JSON value yet may have keys that are no strings, and have become some.
            _only_text_keys(arguments)
        encoded = _dumped(plain).encode()
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise InvalidCallError(_unwritten(arguments, error)) from error
    if len(encoded) > MAX_ARGUMENTS_BYTES:
        message = (
            f"the arguments take {len(encoded)} bytes, {MAX_ARGUMENTS_BYTES} are allowed; "
            "pass a reference to large data instead of the data"
        )
        raise InvalidCallError(message)
    return plain, encoded


def _unwritten(arguments: Mapping[str, Any], error: Exception) -> str:
    names = ", ".join(sorted(repr(name) for name in arguments)) or "none"
    return f"the arguments ({names}) cannot be written as JSON: {_why(error)}"


def _dumped(plain: dict[str, Any]) -> str:
    try:
        return json.dumps(
            plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
    except ValueError:
        where = next(_not_finite(plain), None)
        if where is None:
            raise TypeError("a number has too many digits; pass a string instead") from None
        # Whoever reads it again would find null, under the digest of something else.
        message = f"{where.removeprefix('.')} is not a finite number; pass a string or None instead"
        raise TypeError(message) from None


def _not_finite(value: Any, place: str = "") -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield place
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _not_finite(item, f"{place}.{name}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _not_finite(item, f"{place}[{number}]")


def _only_text_keys(value: Mapping[str, Any]) -> None:
    """JSON's keys are strings: 1 and "1" would become one, and one of them would go unseen."""
    left: list[Any] = [value]
    seen = 0
    while left:
        one = left.pop()
        seen += 1
        if seen + len(left) > _MOST_CONTAINERS:
            raise TypeError("they hold themselves, or too many lists and mappings")
        items: Iterable[Any] = one
        if isinstance(one, Mapping):
            for key in one:
                if not isinstance(key, str):
                    raise TypeError(f"mapping keys must be strings, not {type(key).__name__}")
            items = one.values()
        kinds = set(map(type, items))
        if not kinds <= _LEAVES:
            left += [
                i
                for i in items
                if i and type(i) not in _LEAVES and isinstance(i, dict | list | tuple | Mapping)
            ]


def _why(error: Exception) -> str:
    # Only the kind of failure: the text of an encoding error quotes the value.
    if isinstance(error, UnicodeError):
        return "a string is not valid Unicode"
    if isinstance(error, PydanticSerializationError):
        return str(error).splitlines()[0]
    return str(error) if isinstance(error, TypeError) else type(error).__name__
