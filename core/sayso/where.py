"""Where an agent works, as it says itself."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass

LONGEST_NAME = 300
"""How many characters each part of a place has at most."""

_Name = Annotated[str, StringConstraints(max_length=LONGEST_NAME)]


@dataclass(
    frozen=True,
    slots=True,
    config=ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True),
)
class Where:
    """A host, a folder, a repository and a branch of it: claims, whatever is left out is empty.

    ``root`` is the project's folder, where that is not ``folder`` itself: what is written
    outside it is a danger.
    """

    host: _Name = ""
    folder: _Name = ""
    repository: _Name = ""
    branch: _Name = ""
    root: _Name = ""
