"""``requestState``: what a client carries for us from one try of a call to the next, sealed."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import astuple, dataclass

_MARK = "sayso1."
_ABOUT = b"requestState of an MCP call"
_NONCE = 12


@dataclass(frozen=True, slots=True)
class State:
    """A call that waits for its answer, or, with ``inner``, for more input to a server.

    ``mark`` is that of the call, ``key`` what it was asked under, ``principal`` whose call it
    is; it counts from ``since`` ``until``, in seconds of the epoch. ``inner`` is what the server
    itself gave the client to carry, as JSON, or empty where that is nothing.
    """

    key: str
    mark: str
    principal: str
    permission_id: str
    since: float
    until: float
    inner: str | None = None


class Seals:
    """Seals states so that only we can read them or make them, with keys that replicas share.

    The first key seals, every one opens: a new one is put first, and an old one is taken
    away when nobody waits any more with what it sealed.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        # Loaded for clients that carry something, which those of older revisions never do.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._ciphers = [AESGCM(hashlib.sha256(_ABOUT + key).digest()) for key in keys]

    def seal(self, state: State) -> str:
        """The state as a client carries it."""
        plain = json.dumps(astuple(state)).encode()
        nonce = secrets.token_bytes(_NONCE)
        sealed = nonce + self._ciphers[0].encrypt(nonce, plain, _ABOUT)
        return _MARK + base64.urlsafe_b64encode(sealed).decode().rstrip("=")

    def opened(self, carried: str) -> State | None:
        """The state that was sealed; None where it was not, or was touched."""
        if not is_like_ours(carried) or not carried.isascii():
            return None
        text = carried.removeprefix(_MARK)
        try:
            sealed = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
        except ValueError:
            return None
        # Some texts of one length mean the same bytes: only the one that we write counts.
        if base64.urlsafe_b64encode(sealed).decode().rstrip("=") != text or len(sealed) < _NONCE:
            return None
        from cryptography.exceptions import InvalidTag

        for cipher in self._ciphers:
            try:
                plain = cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], _ABOUT)
            except InvalidTag:
                continue
            return State(*json.loads(plain))
        return None


def is_like_ours(carried: str) -> bool:
    """Whether it looks like a state that we sealed."""
    return carried.startswith(_MARK)
