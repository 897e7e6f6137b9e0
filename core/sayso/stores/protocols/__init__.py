"""Protocols that every store implements, one file each, with the types that they exchange.

How a promise is kept is the business of ``memory`` and ``redis``; contracts are tests.
"""

from sayso.stores.protocols.key_value import KEY_KINDS, KeyValueStore, check_key_kind

__all__ = ["KEY_KINDS", "KeyValueStore", "check_key_kind"]
