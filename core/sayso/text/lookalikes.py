"""Which short texts a person could take for one another on a button."""

from __future__ import annotations

import unicodedata

_QUOTES = str.maketrans(dict.fromkeys("’‘ʼ‛`´", "'") | dict.fromkeys("“”„‟", '"'))


def looks(text: str) -> str:
    """The same for texts that look the same: spaces, case, quotes and forms of letters aside."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return " ".join(plain.casefold().split())
