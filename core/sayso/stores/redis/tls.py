"""The TLS of a connection, as a store's URL names it: each option begins with ``ssl_`` there."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_VERIFY = {
    "none": ssl.CERT_NONE,
    "optional": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
_FALSE = frozenset({"0", "f", "false", "n", "no"})


def boolean(value: str) -> bool:
    """Yes, unless it says no."""
    return value.lower() not in _FALSE


def _kind(value: str) -> str:
    if value not in _VERIFY:
        raise ValueError("ssl_cert_reqs is none, optional or required")
    return value


def _flags(value: str) -> tuple[ssl.VerifyFlags, ...]:
    return tuple(_flag(name.strip()) for name in value.strip("[]").split(","))


def _flag(name: str) -> ssl.VerifyFlags:
    if name not in ssl.VerifyFlags.__members__:
        raise ValueError("there is no such flag")
    return ssl.VerifyFlags[name]


OPTIONS: Mapping[str, Callable[[str], Any]] = {
    "cert_reqs": _kind,
    "check_hostname": boolean,
    "ca_certs": str,
    "ca_path": str,
    "ca_data": str,
    "certfile": str,
    "keyfile": str,
    "password": str,
    "min_version": lambda value: ssl.TLSVersion(int(value)),
    "ciphers": str,
    "include_verify_flags": _flags,
    "exclude_verify_flags": _flags,
}
"""How the value of each option is read; a ValueError says that it means nothing."""


def tls_context(
    *,
    cert_reqs: str = "required",
    check_hostname: bool = True,
    ca_certs: str | None = None,
    ca_path: str | None = None,
    ca_data: str | None = None,
    certfile: str | None = None,
    keyfile: str | None = None,
    password: str | None = None,
    min_version: ssl.TLSVersion | None = None,
    ciphers: str | None = None,
    include_verify_flags: Sequence[ssl.VerifyFlags] = (),
    exclude_verify_flags: Sequence[ssl.VerifyFlags] = (),
) -> ssl.SSLContext:
    """The settings for a connection; files are read again for each.

    Raises:
        OSError: a file is not there, or not what it should be.
    """
    context = ssl.create_default_context()
    context.check_hostname = check_hostname and cert_reqs != "none"
    context.verify_mode = _VERIFY[cert_reqs]
    for flag in include_verify_flags:
        context.verify_flags |= flag
    for flag in exclude_verify_flags:
        context.verify_flags &= ~flag
    if certfile or keyfile:
        context.load_cert_chain(certfile or "", keyfile, password)
    if ca_certs or ca_path or ca_data:
        context.load_verify_locations(ca_certs, ca_path, ca_data)
    if min_version is not None:
        context.minimum_version = min_version
    if ciphers is not None:
        context.set_ciphers(ciphers)
    return context
