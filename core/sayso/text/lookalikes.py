"""Letters that look like others: words that mix alphabets, and names that only seem to be ASCII."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Letters that are taken for a letter of ASCII, after confusables.txt of Unicode (UTS #39).
_CYRILLIC = "асԁеһіјӏорԛѕԝхуѵАВСЕНІЈКМОРЅТХҮԌԚԜ"
_GREEK = "ιορυϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ"
_OTHERS = "օոսհցզյᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᏃɑɡ"
# In words they are signs as well: TNFα, NFκB.
_SIGNS = "ακνχ"
# Letters and signs that are ordinary elsewhere, and pose in a host alone.
_IN_HOSTS = frozenset("ıɩɢɪʟɴʀʏʙʜᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢⅰⅴⅹⅼⅽⅾⅿⅠⅤⅩⅬⅭⅮⅯ∕⁄⧸")
_TWINS = frozenset(_CYRILLIC + _GREEK + _SIGNS + _OTHERS)
# No language mixes them with Latin letters in a word.
_NEVER_MIXED = ("CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET")
_STYLED = ("FULLWIDTH", "MATHEMATICAL")

_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+")
_ENDING = re.compile(r"([A-Za-z0-9]+)([^\x00-\x7f]+)")
_LONGEST_ABBREVIATION = 4
_HOST = re.compile(r"(?:://|(?<![\w.+-])(?P<account>[\w.+-]{0,64})@)(?P<host>[^\s/?#@:\"'<>()]+)")


def lookalike_in(text: str) -> str:
    """The first word that mixes alphabets, or host or account that only seems to be ASCII.

    Empty where there is none. Texts in another alphabet are none.
    """
    if text.isascii() or not any(map(_is_telling, set(text))):
        return ""
    return next(_find_lookalikes(text), "")


def poses(name: str) -> str:
    """The first part of a name that only seems to be ASCII; empty where all of it is what it seems.

    For what a letter decides on, such as a command, a host, or an account.
    """
    if name.isascii():
        return ""
    return next((word for word in _WORD.findall(name) if _mixes(word) or _seems_ascii(word)), "")


def poses_as_host(host: str) -> str:
    """The host, or the first part of it, where that only seems to be ASCII; empty otherwise."""
    if not _IN_HOSTS.isdisjoint(host):
        return host
    return poses(host) if _is_under_ascii(host) else ""


def poses_as_account(text: str) -> str:
    """The first part of an account or a host that only seems to be ASCII; empty without one.

    A name of several words is none where a letter shows its alphabet, or where all of it is
    written in another one and is short as abbreviations are.
    """
    if text.isascii() or len(text.split()) < 2:
        return poses(text) or (poses_as_host(text) if "." in text else "")
    letters = [c for c in text if c.isalpha()]
    if not all(c.isascii() or _is_twin(c) for c in letters):
        return ""
    shortest = 2 if any(map(str.isascii, letters)) else _LONGEST_ABBREVIATION + 1
    words = (one for one in _WORD.findall(text) if _seems_ascii(one))
    return next((one for one in words if len(one) >= (shortest if one.isupper() else 2)), "")


def spell_out(word: str) -> str:
    """The word with each letter spelled out that is not of ASCII."""
    return "".join(c if c.isascii() else f"⟨U+{ord(c):04X}⟩" for c in word)


def _find_lookalikes(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if not word.isascii() and _mixes(word) and not _is_inflected(word):
            yield word
    for match in _HOST.finditer(text):
        posing = poses_as_host(match["host"])
        account = match["account"] or ""
        if posing or _is_under_ascii(match["host"]):
            yield from filter(None, (poses(account), posing))


def _is_under_ascii(host: str) -> bool:
    # Under a domain in another alphabet all letters may be of that one.
    return host.rpartition(".")[2].isascii() or "." not in host


def _is_telling(letter: str) -> bool:
    return letter in _IN_HOSTS or _is_foreign(letter) or _is_twin(letter)


def _mixes(word: str) -> bool:
    letters = [c for c in word if c.isalpha()]
    if not any(map(str.isascii, letters)):
        return False
    # In Japanese, letters of full width stand beside others.
    styled = [c for c in letters if _is_styled(c)]
    is_latin = all(c.isascii() or c in styled for c in letters)
    return bool(styled and is_latin) or any(map(_is_foreign, letters))


def _is_inflected(word: str) -> bool:
    """Return True if a word is an abbreviation, or of ASCII with an ending of its alphabet."""
    match = _ENDING.fullmatch(word)
    if match is None:
        return False
    begins, ending = match.groups()
    is_abbreviated = len(begins) > 1 and begins.isupper() and ending.islower()
    return is_abbreviated or any(_is_foreign(c) and not _is_twin(c) for c in ending)


def _seems_ascii(word: str) -> bool:
    letters = [c for c in word if not c.isascii() and c.isalpha()]
    return bool(letters) and all(map(_is_twin, letters))


def _is_twin(letter: str) -> bool:
    return letter in _TWINS or _is_styled(letter)


def _is_styled(letter: str) -> bool:
    """Return True if it is a letter of ASCII in another form."""
    return unicodedata.name(letter, "").startswith(_STYLED)


def _is_foreign(letter: str) -> bool:
    """Return True if a letter has no business beside letters of ASCII."""
    return letter in _GREEK or unicodedata.name(letter, "").startswith(_NEVER_MIXED)
