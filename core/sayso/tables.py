"""Reviewed tables: TOML files that lie beside the code which asks them."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TypeVar

from pydantic import TypeAdapter

_Shape = TypeVar("_Shape")


def read_table(package: str, name: str, shape: type[_Shape]) -> _Shape:
    """Read a table of a package as a value of this shape.

    Raises:
        ValueError: something in it is missing, of another kind, or has a name that is not known.
    """
    written = tomllib.loads(files(package).joinpath(name).read_text("utf-8"))
    return TypeAdapter(shape).validate_python(written)
