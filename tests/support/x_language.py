"""A language in which every text of ours can be told from English: all letters are ж."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from gettext import NullTranslations
from string import Formatter
from typing import Any

X = "x"
_LETTER = re.compile(r"[A-Za-z]")
# What no catalog says: a time zone, digests, names of Slack's and of JSON's own parser.
_NOT_OURS = re.compile(
    r"UTC|\b[0-9a-f]{12}\b|\{date_short_pretty\}|\{time\}|<!date\^|Expecting .*? delimiter"
)
_WORD = re.compile(r"[A-Za-z]{2,}")


class XTranslations(NullTranslations):
    """Translates into it."""

    def info(self) -> dict[str, str]:
        return {"language": X}

    def gettext(self, message: str) -> str:
        pieces = []
        for text, gap, form, _ in Formatter().parse(message):
            pieces.append(_LETTER.sub("ж", text))
            if gap is not None:
                pieces.append(f"{{{gap}:{form}}}" if form else f"{{{gap}}}")
        return "".join(pieces)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def pgettext(self, context: str, message: str) -> str:
        return self.gettext(message)


X_TRANSLATIONS = XTranslations()


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
