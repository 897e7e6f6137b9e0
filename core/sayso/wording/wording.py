"""What is said of a call, and the templates that it comes from."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

from pydantic import ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.errors import ConfigError
from sayso.formats import ENGLISH, Formats
from sayso.wording.template import template

_log = logging.getLogger(__name__)

MOST_FACTS = 6
LONGEST_TITLE, LONGEST_SAID, LONGEST_LABEL = 120, 500, 40
Risk = Literal["", "low", "high"]

_Said = Annotated[str, StringConstraints(max_length=LONGEST_SAID)]
_Label = Annotated[str, StringConstraints(max_length=LONGEST_LABEL)]
_LINK = re.compile(r"https://(?P<host>[A-Za-z0-9.-]{1,253})(?::[0-9]{1,5})?(?:[/?#]\S*)?")
_MOST_LOGGED = 1_000
_logged: set[tuple[str, str]] = set()


@pydantic_dataclass(
    frozen=True,
    slots=True,
    config=ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True),
)
class Wording:
    """What a tool says of one call: claims, bounded, empty where there is nothing to say."""

    title: _Said = ""
    summary: _Said = ""
    facts: Annotated[tuple[tuple[_Label, _Said], ...], Field(max_length=MOST_FACTS)] = ()
    risk: Risk = ""
    link: _Said = ""

    @property
    def host(self) -> str:
        """The host that the link leads to; empty where it is no https page."""
        found = _LINK.fullmatch(self.link)
        return "" if found is None else found["host"]


class WordingWords(TypedDict, total=False):
    """How the words for calls are declared; see ``Templates``."""

    title: str
    summary: str
    facts: Mapping[str, str]
    risk: Risk
    link: str


@dataclass(frozen=True, slots=True)
class Templates:
    """Templates over the arguments: a title, a summary, facts by their labels, a link.

    ``{customer}`` is an argument, ``{order.id}`` a part of one, ``{money(cents, currency)}``
    an amount in minor units and ``{time(at)}`` a moment. ``risk`` is what the tool's maker
    thinks of all its calls: a high one is said among the dangers, a low one nowhere.
    """

    title: str = ""
    summary: str = ""
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)
    risk: Risk = ""
    link: str = ""

    def check(self) -> None:
        """Read them all.

        Raises:
            ConfigError: one is no template, too many or too long, or the link is not https.
        """
        if len(self.facts) > MOST_FACTS or any(len(one) > LONGEST_LABEL for one in self.facts):
            raise ConfigError(
                f"at most {MOST_FACTS} facts, with labels of at most {LONGEST_LABEL} characters"
            )
        for text in (self.title, self.summary, self.link, *self.facts.values()):
            template(text)
        if self.link and not template(self.link).begins.startswith("https://"):
            raise ConfigError(f"the link {self.link!r} must begin with https://")
        if self.risk not in ("", "low", "high"):
            raise ConfigError(f"the risk is low or high, not {self.risk!r}")

    @property
    def say_nothing(self) -> bool:
        """True if nothing is declared."""
        return not (self.title or self.summary or self.facts or self.risk or self.link)

    def said(
        self, tool: str, arguments: Mapping[str, Any], formats: Formats = ENGLISH
    ) -> Wording | None:
        """What they say of a call; lines that cannot be said are left out, and logged once.

        The arguments are as people may see them: without secrets.
        """
        if self.say_nothing:
            return None
        facts = (
            (label, said)
            for label, text in self.facts.items()
            if (said := _filled(tool, text, arguments, formats, LONGEST_SAID))
        )
        return Wording(
            title=_filled(tool, self.title, arguments, formats, LONGEST_TITLE),
            summary=_filled(tool, self.summary, arguments, formats, LONGEST_SAID),
            facts=tuple(facts),
            risk=self.risk,
            link=_https(_filled(tool, self.link, arguments, formats, 2 * LONGEST_SAID)),
        )


def _filled(
    tool: str, text: str, arguments: Mapping[str, Any], formats: Formats, longest: int
) -> str:
    said = template(text).filled(arguments, formats)
    if said is None:
        if (tool, text) not in _logged and len(_logged) < _MOST_LOGGED:
            _logged.add((tool, text))
            _log.warning("a call of %r cannot be told by %r: the line is left out", tool, text)
        return ""
    return said if len(said) <= longest else f"{said[: longest - 1]}…"


def _https(url: str) -> str:
    """The address of a page, whole; empty where it is none, or too long."""
    return url if len(url) <= LONGEST_SAID and _LINK.fullmatch(url) else ""
