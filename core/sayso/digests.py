"""Arguments as JSON, and the digest that says which arguments somebody decided on."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import rfc8785
from pydantic_core import PydanticSerializationError, to_jsonable_python

from sayso.errors import InvalidCallError

MAX_ARGUMENTS_BYTES = 256 * 1024

# What stands before a hash says how it was computed. A bare one is of the form of 0.1.0:
# JSON as Python writes it, with sorted keys.
_FORM = "jcs-sha256"


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
            known = self._known[names] = _known(others)
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


def _known(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    plain, text = _written(arguments)
    return tuple(dict.fromkeys((_digest(plain, text), _hash(text))))


def _digest(plain: dict[str, Any], text: bytes) -> str:
    try:
        canonical = _canonical(plain)
    except RecursionError as error:
        raise InvalidCallError(_unwritten(plain, error)) from error
    return _hash(text) if canonical is None else f"{_FORM}:{_hash(canonical)}"


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


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
        _only_text_keys(arguments)
        plain = to_jsonable_python(dict(arguments), inf_nan_mode="constants")
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


def _only_text_keys(value: Any) -> None:
    """JSON's keys are strings: 1 and "1" would become one, and one of them would go unseen."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"mapping keys must be strings, not {type(key).__name__}")
            _only_text_keys(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _only_text_keys(item)


def _why(error: Exception) -> str:
    # Only the kind of failure: the text of an encoding error quotes the value.
    if isinstance(error, UnicodeError):
        return "a string is not valid Unicode"
    if isinstance(error, PydanticSerializationError):
        return str(error).splitlines()[0]
    return str(error) if isinstance(error, TypeError) else type(error).__name__
