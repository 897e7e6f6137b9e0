"""One line about each error of Redis: what happened, where, and what to do."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl

from redis.asyncio.sentinel import MasterNotFoundError
from redis.exceptions import (
    AuthenticationError,
    ClusterError,
    InvalidResponse,
    RedisClusterException,
    RedisError,
    ResponseError,
)
from redis.exceptions import TimeoutError as RedisTimeoutError

from sayso.stores.redis.url import StoreUrl

# Whatever redis-py and its connections raise.
REDIS_ERRORS = (RedisError, RedisClusterException, OSError, TimeoutError)

# What Redis puts after an error of a script: which it was, and the line.
_OF_SCRIPT = re.compile(r" script: (?:\S+, )?on @user_script:\d+\.$")


def explain(url: StoreUrl, error: BaseException) -> str:
    """One line about an error: what happened, where, and what to do. Never holds a password."""
    where = f"Redis at {url.address}"
    match error:
        case TimeoutError() | RedisTimeoutError():
            return f"{where} did not answer within {url.seconds:g} s"
        case MasterNotFoundError():
            return (
                f"{where} cannot be reached (no sentinel knows the service {url.service!r}, or "
                "none can be asked: check their addresses and sentinel_password)"
            )
        case AuthenticationError():
            return f"{where} refuses the login: {_LOGIN}"
        case InvalidResponse():
            return f"{where} cannot be reached (what answers is no Redis: {error})"
        case RedisClusterException() if error.__cause__ is not None:
            return explain(url, error.__cause__)
    code = code_of(error)
    if code in _MEANINGS:
        return f"{where} {_MEANINGS[code]}"
    if type(error) is ClusterError:
        return f"{where} cannot be reached (the nodes do not agree on who owns our slot)"
    if isinstance(error, ResponseError):
        return _refusal(where, code, _first_line(url, error))
    if _is_refused(error):
        return f"no Redis answers at {url.address}; start one, or correct the address"
    return f"{where} cannot be reached ({_cause(error) or _first_line(url, error)})"


def code_of(error: BaseException | None) -> str:
    """The code of an error that the server answered; empty for any other."""
    if not isinstance(error, RedisError):
        return ""
    if error.status_code is not None:
        return error.status_code
    return str(error).partition(" ")[0] if isinstance(error, ResponseError) else ""


def is_denied(error: BaseException | None) -> bool:
    """Whether the server does not permit what was asked of it, or what this error comes of."""
    while error is not None:
        if _is_denial(code_of(error), str(error)):
            return True
        error = error.__cause__
    return False


_LOGIN = "check user and password in the store's URL"
_MEANINGS = {
    "LOADING": "is still loading its data",
    "READONLY": "is a read-only replica: connect to the primary",
    "OOM": "is out of memory: raise maxmemory",
    "CLUSTERDOWN": "cannot serve now: the cluster, or the primary of a replica, is down",
    "MASTERDOWN": "cannot serve now: the cluster, or the primary of a replica, is down",
    "MISCONF": "takes no writes, because it cannot save its data: look at its disk and log",
    "NOREPLICAS": "takes no writes, because too few replicas follow it",
    "NOAUTH": f"refuses the login: {_LOGIN}",
    "WRONGPASS": f"refuses the login: {_LOGIN}",
}


def _refusal(where: str, code: str, text: str) -> str:
    if _is_denial(code, text):
        text = _OF_SCRIPT.sub("", text)
        return f"{where} does not permit this user what Sayso needs: {text}"
    return f"{where} refuses a command: {text}"


def _is_denial(code: str, text: str) -> bool:
    return code == "NOPERM" or "ACL failure in script" in text or "can't run this command" in text


def _cause(error: BaseException) -> str:
    """The operating system's words, without the address; empty when it was not that."""
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, socket.gaierror):
            return "its name is not known"
        if isinstance(link, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {link.verify_message}"
        if isinstance(link, ssl.SSLError):
            return ""
        if isinstance(link, OSError) and link.errno:
            return os.strerror(link.errno).lower()
        link = link.__cause__ or link.__context__
    return ""


def _is_refused(error: BaseException | None) -> bool:
    """Whether no program listens there, at none of the addresses of the host."""
    numbers: list[str] = []
    while error is not None and not numbers:
        if isinstance(error, ConnectionRefusedError):
            return True
        # Of several addresses, asyncio tells in one text what each of them said.
        numbers = re.findall(r"\[Errno (\d+)\]", str(error)) if isinstance(error, OSError) else []
        error = error.__cause__ or error.__context__
    return set(numbers) == {str(errno.ECONNREFUSED)}


def _first_line(url: StoreUrl, error: BaseException) -> str:
    text = (str(error) or type(error).__name__).splitlines()[0]
    for secret in url.secrets:
        text = text.replace(secret, "***")
    return text[:200]
