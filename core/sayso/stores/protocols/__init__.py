"""Protocols that every store implements, one file each; their contracts are tests."""

from sayso.stores.protocols.key_value import KEY_KINDS, KeyValueStore, check_key_kind

__all__ = ["KEY_KINDS", "KeyValueStore", "check_key_kind"]
