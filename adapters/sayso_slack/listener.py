"""Slack's callbacks over HTTP and Socket Mode: one AsyncApp behind one guard."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial, wraps
from http import HTTPStatus
from traceback import format_tb
from typing import Any, Self

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from sayso.chats.adapter import PressTaker
from sayso.chats.incoming import NotTaken, Replays, bounded_body, handed
from sayso.chats.places import Answer, Answered, Press
from sayso.clock import Clock
from sayso.errors import CallbackError
from sayso.locales import load_translations
from sayso.seldom import Seldom
from sayso.tasks import Background
from sayso_slack.adapter import SlackAdapter
from sayso_slack.app_home import HOME, Lists, find_revoked_rule, identify_command
from sayso_slack.callback_guard import (
    Payload,
    as_object,
    as_text,
    check_unicode,
    decode_callback,
    hash_delivery,
    verify_callback,
)
from sayso_slack.config import SlackConfig
from sayso_slack.errors import PLATFORM
from sayso_slack.interactions import USER, is_form, parse_press, parse_submission, read_language
from sayso_slack.modal import CALLBACK, build_form_reply
from sayso_slack.socket_mode import SocketConnection
from sayso_slack.web_client import build_muffled_logger, build_silent_logger

_log = logging.getLogger(__name__)

PATH = "/slack/events"
BODY_BYTES = 1024 * 1024

# docs.slack.dev, handling user interaction: 3 seconds, then the user sees an error.
PRESS_SECONDS = 2.5
# A signature holds from five minutes before its time to five minutes after it.
_SIGNATURE_SECONDS = 601

_MAX_WHISPERS = 1_000
_CLOSE_SECONDS = 15.0
_ANY = re.compile(".+")
# Events, checks and the forms of others need not come from somebody of our workspace.
_NOT_PRESSED = (None, "event_callback", "app_rate_limited", "view_submission", "view_closed")
_REINSTALL = "install it again, put the new token into SLACK_BOT_TOKEN, start again"


class SlackListener:
    """Takes callbacks over HTTP and over Socket Mode, and treats them alike.

    A click is acknowledged after the desk has recorded it and never before;
    Slack does not repeat clicks, so its user is shown an error and clicks
    again. Works inside its ``async with`` block; at its end it waits
    until everybody has been told what became of their click.
    """

    def __init__(
        self,
        config: SlackConfig,
        adapter: SlackAdapter,
        desk: PressTaker,
        *,
        clock: Clock,
        press_seconds: float = PRESS_SECONDS,
    ) -> None:
        self._config = config
        self._adapter = adapter
        self._desk = desk
        self._clock = clock
        self._press_seconds = press_seconds
        self._replays = Replays(seconds=_SIGNATURE_SECONDS)
        self._refusals = Seldom(_log)
        self._strange = Seldom(_log, level=logging.INFO)
        self._untold = Seldom(_log)
        self._whispers = Background("an answer to a press in Slack", patience=_CLOSE_SECONDS)
        self._homes = Background("an App Home in Slack", patience=_CLOSE_SECONDS)
        self._lists = Lists(adapter.post, desk, self._homes, seconds=press_seconds)
        self._app = self._build_app()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Return when nobody is left to be told anything."""
        await self._homes.finish()
        await self._whispers.finish()

    def routes(self) -> list[web.RouteDef]:
        """``POST /slack/events`` for an aiohttp application."""
        return [web.post(PATH, self._serve)]

    async def answer(
        self, headers: Mapping[str, str], body: bytes, *, source: str = ""
    ) -> BoltResponse:
        """Return the response to one HTTP callback; ``source`` is the address it came from."""
        if len(body) > BODY_BYTES:
            return _too_large()
        try:
            now = self._clock()
            secrets = self._config.signing_secrets
            delivery = verify_callback(headers, body, secrets=secrets, now=now)
            self._replays.refuse(delivery, now)
            return await self._dispatch(decode_callback(headers, body), delivery, source)
        except CallbackError as error:
            return self._refuse(error, source)

    async def answer_envelope(self, envelope_id: str, payload: Payload) -> BoltResponse:
        """Return the response to one Socket Mode envelope; status 200 acknowledges it."""
        try:
            delivery = _identify_envelope(envelope_id)
            self._replays.refuse(delivery, self._clock())
            return await self._dispatch(check_unicode(payload), delivery, "Socket Mode")
        except CallbackError as error:
            return self._refuse(error, "Socket Mode")

    async def run_socket(self) -> None:
        """Take callbacks over Socket Mode until cancelled.

        Raises:
            DeliveryError: Slack does not accept the app-level token.
        """
        adapter = self._adapter
        await SocketConnection(
            self._config, adapter.client, adapter.socket_url, self.answer_envelope
        ).run()

    def _build_app(self) -> AsyncApp:
        """Route every kind of callback.

        Bolt neither verifies, which is done, nor asks Slack about the token, nor responds before
        a listener is done, nor logs: its lines hold whole bodies. It gets no token.
        """
        app = AsyncApp(
            # Bolt silences the logger of this name, so it is not the name of a module.
            name="bolt inside sayso_slack",
            logger=build_silent_logger(),
            client=AsyncWebClient(logger=build_muffled_logger(), retry_handlers=[]),
            authorize=_authorize,
            process_before_response=True,
            request_verification_enabled=False,
            ssl_check_enabled=False,
        )
        app.error(self._handle_error)
        app.middleware(self._admit)
        app.action({"type": "block_actions", "action_id": _ANY})(_hold(self._handle_action))
        app.view(CALLBACK)(_hold(self._handle_view))
        app.view_closed(CALLBACK)(_hold(self._handle_view))
        app.command(_ANY)(_hold(self._handle_command))
        app.event("app_home_opened")(_hold(self._handle_home_opened))
        app.event("app_uninstalled")(_hold(self._handle_uninstall))
        app.event("tokens_revoked")(_hold(self._handle_revoked_tokens))
        app.event("subteam_members_changed")(_hold(self._handle_group_change))
        app.event("subteam_updated")(_hold(self._handle_group_change))
        app.event("user_change")(_hold(self._handle_user_change))
        app.event(_ANY)(_ignore_event)
        return app

    async def _dispatch(self, payload: Payload, delivery: str, source: str) -> BoltResponse:
        context = {"delivery": delivery, "source": source}
        try:
            # Decoded, as in Socket Mode, and without the caller's headers: with
            # x-slack-bolt-lazy-only bolt runs no listener.
            request = AsyncBoltRequest(mode="socket_mode", body=payload, context=context)
            response = await self._app.async_dispatch(request)
        except Exception as error:  # bolt trusts the shape of payloads, also while handling errors
            raise _unknown_shape(error) from None
        if response.status == HTTPStatus.NOT_FOUND:
            self._strange.say("a Slack callback was about nothing that Sayso shows")
        return response

    async def _admit(self, body: Payload, next: Callable[[], Awaitable[None]]) -> Any:  # noqa: A002  bolt's name
        """Let callbacks of our workspace and app through to the listeners."""
        workspace = self._adapter.workspace
        if "command" in body:
            workspace.admit_press(identify_command(body))
        elif body.get("type") in _NOT_PRESSED and not is_form(body):
            workspace.admit(body)
        else:
            workspace.admit_press(body)
        if body.get("ssl_check") == "1":
            return _acknowledge()
        if body.get("type") == "app_rate_limited":
            _log.warning("Slack holds back events: the app gets more than 30,000 an hour")
            return _acknowledge()
        return await next()

    async def _handle_error(self, error: Exception, context: Mapping[str, Any]) -> BoltResponse:
        refusal = error if isinstance(error, CallbackError) else _unknown_shape(error)
        return self._refuse(refusal, context["source"])

    async def _handle_action(
        self, body: Payload, context: Mapping[str, Any]
    ) -> BoltResponse | None:
        if rule_id := find_revoked_rule(body):
            return _acknowledge(await self._lists.revoke(body, rule_id))
        press = _read(parse_press, body, context)
        return None if press is None else await self._take(press)

    async def _handle_view(self, body: Payload, context: Mapping[str, Any]) -> BoltResponse:
        press = _read(parse_submission, body, context)
        if press is None:
            return _acknowledge()
        if press.inputs is None:  # the dialog is gone
            return await self._take(press)
        translations = load_translations(read_language(body))
        return await self._take(press, partial(build_form_reply, body, translations=translations))

    async def _handle_command(self, body: Payload) -> BoltResponse:
        return BoltResponse(status=200, body=await self._lists.command(body))

    async def _handle_home_opened(self, event: Payload) -> None:
        user = as_text(event.get("user"))
        if event.get("tab") == HOME and USER.fullmatch(user):
            self._lists.publish_home(f"{PLATFORM}:{user}")

    async def _handle_uninstall(self) -> None:
        self._stop_calls("the Slack app was uninstalled")

    async def _handle_revoked_tokens(self, event: Payload) -> None:
        if as_object(event.get("tokens")).get("bot"):  # tokens of people are not used
            self._stop_calls("the Slack bot token was revoked")

    async def _handle_group_change(self) -> BoltResponse:
        work = self._desk.members_changed(PLATFORM)
        failed = await handed(work, what="a group's change in Slack", seconds=self._press_seconds)
        return _acknowledge(failed)

    async def _handle_user_change(self, event: Payload) -> BoltResponse | None:
        # Slack also tells of everything else that people change about themselves.
        if self._adapter.is_member(as_object(event.get("user"))):
            return None
        return await self._handle_group_change()

    def _stop_calls(self, reason: str) -> None:
        _log.error("%s: nothing can be shown; %s", reason, _REINSTALL)
        self._adapter.revoke(f"{reason}: {_REINSTALL}")

    async def _take(
        self, press: Press, build_reply: Callable[[Answer], Payload | None] | None = None
    ) -> BoltResponse:
        """Hand the press to the desk; ``build_reply`` makes of its answer a reply to a dialog."""
        work = self._desk.press(press)
        answer = await handed(work, what="a press in Slack", seconds=self._press_seconds)
        if isinstance(answer, NotTaken):
            return _acknowledge(answer)
        if build_reply is not None and (reply := build_reply(answer)):
            return BoltResponse(status=200, body=reply)
        self._whisper(press, answer)
        return _acknowledge()

    def _whisper(self, press: Press, answer: Answer) -> None:
        """Tell the presser the answer, unless the card or the dialog does."""
        public = (Answered.RECORDED, Answered.CONFIRM, Answered.ASKED)
        if not answer.text or answer.kind in public:
            return
        if len(self._whispers) >= _MAX_WHISPERS:
            self._untold.say(
                "somebody is not told what became of a press: too many to tell", press.actor
            )
            return
        self._whispers.start(self._adapter.whisper(press.actor, press.message, answer.text))

    async def _serve(self, request: web.Request) -> web.Response:
        body = await bounded_body(
            request.content.iter_any(), most=BODY_BYTES, declared=request.content_length
        )
        if body is None:
            response = _too_large()
        else:
            response = await self.answer(request.headers, body, source=request.remote or "")
        return await to_aiohttp_response(response)

    def _refuse(self, error: CallbackError, source: str) -> BoltResponse:
        self._refusals.say(str(error), source)
        return _problem(HTTPStatus(error.status), str(error))


async def _authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
    return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id)


def _hold(listener: Callable[..., Awaitable[BoltResponse | None]]) -> Callable[..., Any]:
    """Wrap a listener: past parsing, a failure is ours and no shape of what Slack sent."""

    @wraps(listener)
    async def run(**arguments: Any) -> BoltResponse | None:
        try:
            return await listener(**arguments)
        except CallbackError:
            raise
        except Exception as error:
            # Its words may quote the payload: only its kind is told, and the lines that it passed.
            passed = "".join(format_tb(error.__traceback__))
            _log.error("a callback of Slack was not taken: %s\n%s", type(error).__name__, passed)
            return _acknowledge(NotTaken.FAILED)

    return run


def _identify_envelope(envelope_id: object) -> str:
    text = as_text(check_unicode({"id": envelope_id})["id"])
    if not text:
        raise CallbackError("Slack envelope has no id")
    return hash_delivery(text)


def _read(
    parse: Callable[..., Press | None], body: Payload, context: Mapping[str, Any]
) -> Press | None:
    try:
        return parse(body, delivery=context["delivery"])
    except CallbackError:
        raise
    except Exception as error:
        raise _unknown_shape(error) from None


async def _ignore_event() -> None:
    """Slack stops sending events to an app that fails to answer them."""


def _acknowledge(not_taken: NotTaken | None = None) -> BoltResponse:
    """docs.slack.dev, handling user interaction: 200 with an empty body acknowledges a press."""
    if not_taken is None:
        return BoltResponse(status=200)
    if not_taken is NotTaken.UNREACHABLE:
        return _problem(HTTPStatus.SERVICE_UNAVAILABLE, "nothing was stored: press again")
    return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "the press was not decided on")


def _too_large() -> BoltResponse:
    return _problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "a callback has at most 1 MiB")


def _problem(status: HTTPStatus, detail: str) -> BoltResponse:
    return BoltResponse(
        status=status.value,
        body={"title": status.phrase, "status": status.value, "detail": detail},
        headers={"content-type": "application/problem+json"},
    )


def _unknown_shape(error: Exception) -> CallbackError:
    # The error may quote the payload: only its kind is told.
    return CallbackError(f"Slack callback has an unknown shape ({type(error).__name__})")
