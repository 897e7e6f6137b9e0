"""The address of a store that is made of several: their URLs, with blanks between."""

from __future__ import annotations

import re
from binascii import crc_hqx
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from sayso.errors import ConfigError

SLOTS = 16_384
"""How many hash slots a Redis Cluster has."""

MOST_CELLS = 64

MARK = "cells"
"""The document in which a cell says which cell it is, and which make the store together."""

_NAME = re.compile(r"[0-9a-z]{2}")
_NAMESPACE = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_FIRST = "sayso"
_PORT = ":6379"
# Any first so many of the slots that lie so far apart, going round, are spread evenly over two to
# eight nodes that share the slots: the step was looked for, from where the slot of the first is.
_STEP = 0.4198
_NEAR = 40


@dataclass(frozen=True, slots=True)
class CellAddress:
    """One cell: its name, which is two characters, and the URL of its store."""

    name: str
    url: str


def is_many(address: str) -> bool:
    """Whether it is the address of cells: several URLs, or one that names its cell."""
    parts = address.split()
    return len(parts) > 1 or any(key == "cell" for key, _ in _query(address))


def is_namespace(text: str) -> bool:
    """Whether all keys of an installation can have this name."""
    return _NAMESPACE.fullmatch(text) is not None


def read_cells(address: str) -> Sequence[CellAddress]:
    """The cells of an address: a URL each, with ``cell=`` in its query.

    Where a URL names no ``namespace``, the cell has one of its own, whose slot of a Redis
    Cluster lies far from those of the others.

    Raises:
        ConfigError: a name is missing, wrong, or there twice, or a URL is.
    """
    found = [_read(url) for url in address.split()]
    if len(found) > MOST_CELLS:
        raise ConfigError(f"the store has {len(found)} cells; {MOST_CELLS} are the most")
    for what, values in (
        ("name", [one.name for one in found]),
        ("store", [_place(one.url) for one in found]),
    ):
        if len(set(values)) < len(values):
            raise ConfigError(
                f"two cells of the store have the same {what}; give each a name, and a server or "
                "a namespace of its own"
            )
    if len({one.url.startswith("memory://") for one in found}) > 1:
        raise ConfigError("cells in memory and cells in Redis make no store together")
    return found


def written(url: str, name: str, namespace: str = "") -> str:
    """The URL of a cell, with its name and, where one is given, its namespace."""
    added = {"cell": name, **({"namespace": namespace} if namespace else {})}
    return f"{url}{'&' if '?' in url else '?'}{urlencode(added, quote_via=quote)}"


def slot_of(namespace: str) -> int:
    """The hash slot in which all keys of a namespace lie."""
    return crc_hqx(namespace.encode(), 0) % SLOTS


def namespace_of(name: str) -> str:
    """The namespace of a cell that is given none; that of the first is the one of a lone store."""
    number = int(name, 36)
    if number == 0:
        return _FIRST
    wanted = (slot_of(_FIRST) + round(number * _STEP * SLOTS)) % SLOTS
    for tried in range(SLOTS):
        namespace = f"{_FIRST}-{name}-{tried}"
        if abs(slot_of(namespace) - wanted) <= _NEAR:
            return namespace
    raise AssertionError("one of so many names lies near")


def check_name(name: str) -> str:
    """The name, if it can be that of a cell.

    Raises:
        ValueError: it cannot.
    """
    if _NAME.fullmatch(name) is None:
        raise ValueError("a cell's name is two characters of 0-9 and a-z, such as 00 and 01")
    return name


def _read(url: str) -> CellAddress:
    query = _query(url)
    names = [value for key, value in query if key == "cell"]
    if len(names) != 1:
        raise ConfigError(
            "each of several URLs of a store names its cell, such as redis://host:6379/0?cell=01"
        )
    try:
        name = check_name(names[0])
    except ValueError as error:
        # What separates several with a comma may have a password in the name of one. Only a
        # mistake pays for finding it.
        from sayso.text.printable import shown

        raise ConfigError(f"the store's URL names the cell {shown(names[0])}: {error}") from None
    if sum(key == "namespace" for key, _ in query) > 1:
        raise ConfigError(f"the URL of cell {names[0]} of the store names two namespaces")
    rest = [(key, value) for key, value in query if key != "cell"]
    if not url.startswith("memory://") and not any(key == "namespace" for key, _ in rest):
        rest.append(("namespace", namespace_of(name)))
    before = url.partition("?")[0]
    return CellAddress(name, f"{before}?{urlencode(rest)}" if rest else before)


def _place(url: str) -> object:
    """What two cells must not share: the servers with the database and the namespace."""
    if url.startswith("memory://"):
        return object()
    parts = urlsplit(url)
    namespace = [value for key, value in _query(url) if key == "namespace"]
    host = parts.netloc.rpartition("@")[2].lower()
    if parts.scheme in ("redis", "rediss") and ":" not in host.rpartition("]")[2]:
        host += _PORT
    return host, parts.path.strip("/") or "0", *namespace


def _query(url: str) -> list[tuple[str, str]]:
    return parse_qsl(url.partition("?")[2], keep_blank_values=True)
