"""Everything that is derived from the server's one secret: ids, tokens, and what is sealed."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from uuid import UUID

from sayso_bots.settings.tokens import SHORTEST_TOKEN

_PREFIX = "sayso_"
_HALF = 16
_SEALED = 32


class Vault:
    """Derives what has to come back unchanged, so that nothing of it is in the store as it is.

    An instance's token names the instance and proves itself: it is told again
    to whoever repeats the call that made it, and the store has its hash alone.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def instance_id(self, provisioner: str, key: str) -> str:
        """The id of the instance that a provisioner makes with an idempotency key."""
        return self._id("instance", provisioner, key)

    def request_id(self, instance_id: str, key: str) -> str:
        """The id of the request that an instance makes with an idempotency key."""
        return self._id("request", instance_id, key)

    def token(self, instance_id: str, nonce: str) -> str:
        """The bearer token of an instance. It has the form of every token of ours."""
        proof = self._mac("token", instance_id, nonce)[:_HALF]
        return _PREFIX + urlsafe_b64encode(UUID(instance_id).bytes + proof).decode().rstrip("=")

    def mark(self, *parts: str) -> str:
        """What tells whether the same was sent again; it says nothing of what that was."""
        return self._mac("mark", *parts).hex()

    def seal(self, plain: bytes) -> str:
        """Thirty-two bytes as the store may have them."""
        nonce = secrets.token_hex(_HALF)
        return f"{nonce}.{self._masked(nonce, plain).hex()}"

    def unseal(self, sealed: str) -> bytes:
        """The bytes that were sealed."""
        nonce, _, masked = sealed.partition(".")
        return self._masked(nonce, bytes.fromhex(masked))

    def _masked(self, nonce: str, plain: bytes) -> bytes:
        if len(plain) != _SEALED:
            raise ValueError("32 bytes are sealed, no more and no less")
        # As long as the mask, which is used once: whoever has not the secret learns nothing.
        return bytes(a ^ b for a, b in zip(plain, self._mac("seal", nonce), strict=True))

    def _id(self, *parts: str) -> str:
        return str(UUID(bytes=self._mac(*parts)[:_HALF], version=4))

    def _mac(self, *parts: str) -> bytes:
        told = b"".join(b"%d:%b" % (len(data), data) for data in (one.encode() for one in parts))
        return hmac.digest(self._secret, told, "sha256")


def new_nonce() -> str:
    """What makes the token of an instance another one than that of any other."""
    return secrets.token_hex(_HALF)


def token_hash(token: str) -> str:
    """What the store has of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_token_of(token: str, sha256: str) -> bool:
    """Whether the hash is that of the token; takes the same time wherever they differ."""
    return hmac.compare_digest(token_hash(token), sha256)


def instance_in(token: str) -> str | None:
    """The id of the instance that a token names; None where it has not the form of one."""
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.startswith(_PREFIX):
        return None
    try:
        told = urlsafe_b64decode(token.removeprefix(_PREFIX) + "=")
    except ValueError:
        return None
    return str(UUID(bytes=told[:_HALF])) if len(told) == 2 * _HALF else None
