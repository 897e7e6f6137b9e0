"""Slack's Web API client: follows no redirect, and logs nothing in the words of a library."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

import aiohttp
from pydantic_core import PydanticSerializationError, from_json, to_json
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from sayso.seldom import Seldom

_log = logging.getLogger(__name__)

CALL_SECONDS = 10.0
"""So long a call takes at most, however slowly its answer comes."""

_JSON, _FORM = "application/json;charset=utf-8", "application/x-www-form-urlencoded"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Answer:
    """Slack's answer to a call, with its headers."""

    data: dict[str, Any]
    headers: Mapping[str, str]
    status_code: int

    def __str__(self) -> str:
        """The answer without its headers, which are not for a log."""
        return str(self.data)

    def get(self, field: str) -> Any:
        """Return one field of the answer; None if it is not there."""
        return self.data.get(field)

    __getitem__ = get


class DirectClient(AsyncWebClient):
    """Follows no redirect: what answers one must not send the token and a card elsewhere."""

    async def _request(
        self, *, http_verb: str, api_url: str, req_args: dict[str, Any]
    ) -> dict[str, Any]:
        # slack_sdk hands these to the session, its own or ours, as they are.
        direct = {**req_args, "allow_redirects": False}
        return await super()._request(http_verb=http_verb, api_url=api_url, req_args=direct)

    async def call(
        self,
        verb: Literal["GET", "POST"],
        method: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        token: str = "",
        seconds: float = CALL_SECONDS,
    ) -> Answer:
        """Call a method once, with arguments in JSON or with a query.

        Beside ``api_call``, which is for files, forms and calls that are repeated, too, and
        takes twice the time of the call itself.

        Raises:
            SlackApiError: Slack did not do it.
            TimeoutError: it did not answer in time.
            ClientError: the connection was not made, or broke.
        """
        if self.session is None or self.session.closed:
            raise aiohttp.ClientConnectionError("the session is closed")
        async with self.session.request(
            verb,
            self.base_url + method,
            data=None if arguments is None else _encode_arguments(arguments),
            params=query,
            headers={
                **self.headers,
                "Authorization": f"Bearer {token or self.token}",
                "Content-Type": _FORM if arguments is None else _JSON,
            },
            proxy=self.proxy,
            timeout=aiohttp.ClientTimeout(total=seconds),
            allow_redirects=False,
        ) as answer:
            said = Answer(_decode_answer(await answer.read()), answer.headers, answer.status)
        if said.status_code != HTTPStatus.OK or not said.get("ok"):
            why = f"{method} failed with HTTP {said.status_code}"
            raise SlackApiError(why, said)  # type: ignore[no-untyped-call]  # as slack_sdk has it
        return said


def _encode_arguments(arguments: Mapping[str, Any]) -> bytes:
    try:
        return to_json(arguments)
    except PydanticSerializationError:  # half of a surrogate pair, which json spells out
        return json.dumps(arguments).encode()


def _decode_answer(body: bytes) -> dict[str, Any]:
    """The object that an answer is; without anything in it, as Slack's never are, if it is none."""
    try:
        answer = from_json(body)
    except ValueError:
        answer = _decode_by_json(body)
    return answer if isinstance(answer, dict) else {}


def _decode_by_json(body: bytes) -> Any:
    """Also with half of a surrogate pair, which people can send; None where it is no JSON."""
    try:
        return json.loads(body)
    except ValueError:
        return None


def direct_session() -> aiohttp.ClientSession:
    """A session that follows no redirect, also where it opens a websocket.

    Whoever is at its other end hears the presses of people and acknowledges them.
    """
    return aiohttp.ClientSession(middlewares=(_not_followed,))


async def _not_followed(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    response = await handler(request)
    if response.status in _REDIRECTS:
        response.close()
        _log.warning("a socket was sent elsewhere with HTTP %d: not followed", response.status)
        # Without the address: it is a secret.
        raise aiohttp.ClientError(f"HTTP {response.status} is not followed")
    return response


_LEVELS = (logging.WARNING, logging.ERROR, logging.CRITICAL)


class _Muffler(logging.Handler):
    """Says that something happened, what kind and where, but never in the library's own words.

    The same again is counted: the library repeats itself every few seconds while Slack is away.
    """

    def __init__(self) -> None:
        super().__init__()
        self._said = {level: Seldom(_log, level=level) for level in _LEVELS}

    def emit(self, record: logging.LogRecord) -> None:
        kind = (
            record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else "a problem"
        )
        level = max(level for level in _LEVELS if level <= max(record.levelno, logging.WARNING))
        line = f"Slack's library reports {kind} in {record.funcName}()"
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            _log.log(level, line)
        else:
            self._said[level].say(line)


def build_muffled_logger() -> logging.Logger:
    """A logger of its own that passes on warnings and errors without their text."""
    # Not in the tree of loggers, so that nothing passes its handler by.
    logger = logging.Logger("sayso_slack.library", logging.WARNING)  # noqa: LOG001
    logger.addHandler(_Muffler())
    return logger


def build_silent_logger() -> logging.Logger:
    """A logger that says nothing, for slack_bolt: it hands its base logger's state to others."""
    logger = logging.Logger("sayso_slack.bolt", logging.CRITICAL)  # noqa: LOG001  as above
    logger.disabled = True
    return logger
