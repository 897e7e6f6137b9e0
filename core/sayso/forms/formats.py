"""Formats of text that a form can check: dates, moments, addresses of mail and of the web."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
# As people write it: a space for the T, no seconds, and UTC for the Z.
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]+([0-9]{2}:[0-9]{2})(:[0-9]{2})? *"
    r"([Zz]|UTC|[+-][0-9]{2}:[0-9]{2})"
)
# Narrower than RFC 5321: no quotes, no comments, no addresses in brackets, a dot in the host.
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_EMAIL = re.compile(
    rf"(?=.{{3,254}}\Z)(?=[^@]{{1,64}}@){_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})+"
)
# RFC 3986, without addresses of version 6 and later, whose brackets stand nowhere else.
_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+"
    r"(?:#(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?"
)


def day(text: str) -> str | None:
    """A date as ISO 8601 writes it, ``2026-11-21``; None where it is none."""
    text = text.strip()
    with suppress(ValueError):
        # By itself it would take other ways to write a date, too.
        if _DATE.fullmatch(text):
            return date.fromisoformat(text).isoformat()
    return None


def moment(text: str) -> str | None:
    """A moment as RFC 3339 writes it; None where it is none, or its zone is not said.

    What is written so already stays as it is.
    """
    text = text.strip()
    with suppress(ValueError):
        if _RFC_3339.fullmatch(text):
            datetime.fromisoformat(text.upper())
            return text
        if found := _MOMENT.fullmatch(text):
            on, at, seconds, zone = found.groups()
            zone = "Z" if zone in ("z", "UTC") else zone
            written = f"{on}T{at}{seconds or ':00'}{zone}"
            datetime.fromisoformat(written)
            return written
    return None


def email(text: str) -> str | None:
    """An address of mail; None where it is none."""
    text = text.strip()
    return text if _EMAIL.fullmatch(text) else None


def uri(text: str) -> str | None:
    """A URI with its scheme; None where it is none."""
    text = text.strip()
    return text if _URI.fullmatch(text) else None


FORMATS: Mapping[str, Callable[[str], str | None]] = {
    "date": day,
    "datetime": moment,
    "email": email,
    "url": uri,
}
"""What reads a text of a kind of field."""
