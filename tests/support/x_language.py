"""A language in which every word of ours can be told from a word of English: all letters are ж."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from string import Formatter
from typing import Any, TypeVar

from sayso.desk import words as desk
from sayso.text.counted import Counted
from sayso_slack import words as slack
from sayso_telegram import words as telegram

_Table = TypeVar("_Table")
_LETTER = re.compile(r"[A-Za-z]")
# What no table says: a time zone, digests, names of Slack's and of JSON's own parser.
_NOT_OURS = re.compile(
    r"UTC|\b[0-9a-f]{12}\b|\{date_short_pretty\}|\{time\}|<!date\^|Expecting .*? delimiter"
)
_WORD = re.compile(r"[A-Za-z]{2,}")


def foreign(table: _Table) -> _Table:
    """The table with every template's letters replaced, and its gaps as they are."""
    changes: dict[str, Any] = {
        field.name: _foreign(getattr(table, field.name))
        for field in fields(table)  # type: ignore[arg-type]
    }
    return replace(table, **changes)  # type: ignore[type-var]


def english(text: str) -> list[str]:
    """The English words in what people read."""
    return _WORD.findall(_NOT_OURS.sub(" ", text))


def texts(shown: Any) -> Iterator[str]:
    """What people read of a message or a dialog of Slack's."""
    if isinstance(shown, Mapping):
        for name, value in shown.items():
            if isinstance(value, str):
                if name in ("text", "errors"):
                    yield value
            elif name == "errors":
                yield from value.values()
            else:
                yield from texts(value)
    elif isinstance(shown, list):
        for item in shown:
            yield from texts(item)


def _foreign(value: Any) -> Any:
    if isinstance(value, str):
        return _without_letters(value)
    if isinstance(value, Counted):
        return Counted(_without_letters(value.one), _without_letters(value.other))
    if isinstance(value, Mapping):
        return {key: _foreign(item) for key, item in value.items()}
    return foreign(value) if is_dataclass(value) else value


def _without_letters(template: str) -> str:
    pieces = []
    for text, gap, form, _ in Formatter().parse(template):
        pieces.append(_LETTER.sub("ж", text))
        if gap is not None:
            pieces.append(f"{{{gap}:{form}}}" if form else f"{{{gap}}}")
    return "".join(pieces)


X_DESK = foreign(desk.ENGLISH)
X_SLACK = foreign(slack.ENGLISH)
X_TELEGRAM = foreign(telegram.ENGLISH)
X = X_DESK.tag
