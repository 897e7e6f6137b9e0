"""Slack's callbacks: verified, decoded, handed to the desk, and only then acknowledged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Self

from aiohttp import web

from sayso.chats.adapter import PressTaker
from sayso.chats.incoming import NotTaken, Replays, bounded_body, handed
from sayso.chats.places import Answer, Answered, Press
from sayso.clock import Clock
from sayso.errors import CallbackError
from sayso.locales import load_translations
from sayso.seldom import Seldom
from sayso.tasks import Background
from sayso_slack.adapter import SlackAdapter
from sayso_slack.config import SlackConfig
from sayso_slack.failures import PLATFORM
from sayso_slack.incoming.answers import DONE, HttpAnswer, form_answer, problem
from sayso_slack.incoming.bolt import answer_of, bolt_app
from sayso_slack.incoming.lists import (
    Lists,
    admissible,
    is_command,
    opened_by,
    revoked_rule,
)
from sayso_slack.incoming.presses import is_interaction, press_of
from sayso_slack.incoming.socket_mode import SocketConnection
from sayso_slack.incoming.submissions import is_form, language_of, submission_of
from sayso_slack.reading.payload import Payload, decoded, storable
from sayso_slack.reading.verification import delivery_id, verified

_log = logging.getLogger(__name__)

PATH = "/slack/events"
BODY_BYTES = 1024 * 1024

# docs.slack.dev, handling user interaction: 3 seconds, then the user sees an error.
PRESS_SECONDS = 2.5
# A signature holds from five minutes before its time to five minutes after it.
_SIGNATURE_SECONDS = 601

_MOST_WHISPERS = 1_000
_CLOSE_SECONDS = 15.0


class SlackListener:
    """Takes callbacks over HTTP and over Socket Mode, and treats them alike.

    A press is acknowledged after the desk has recorded it and never before;
    Slack does not repeat presses, so its user is shown an error and presses
    again. Works inside its ``async with`` block; at its end it waits
    until everybody has been told what became of their press.
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
        self._bolt = bolt_app(adapter.revoke, self._members_changed, adapter.is_member)
        self._replays = Replays(seconds=_SIGNATURE_SECONDS)
        self._refusals = Seldom(_log)
        self._strange = Seldom(_log, level=logging.INFO)
        self._untold = Seldom(_log)
        self._whispers = Background("an answer to a press in Slack", patience=_CLOSE_SECONDS)
        self._homes = Background("an App Home in Slack", patience=_CLOSE_SECONDS)
        self._lists = Lists(adapter, desk, self._homes, seconds=press_seconds)

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
    ) -> HttpAnswer:
        """The answer to one HTTP callback; ``source`` is the address it came from."""
        if len(body) > BODY_BYTES:
            return _too_large()
        try:
            now = self._clock()
            delivery = verified(headers, body, secrets=self._config.signing_secrets, now=now)
            self._replays.refuse(delivery, now)
            return await self._dispatch(decoded(headers, body), delivery)
        except CallbackError as error:
            return self._refused(error, source)

    async def answer_envelope(self, envelope_id: str, payload: Payload) -> HttpAnswer:
        """The answer to one Socket Mode envelope; it is acknowledged when the status is 200."""
        try:
            delivery = delivery_id(envelope_id)
            self._replays.refuse(delivery, self._clock())
            return await self._dispatch(storable(payload), delivery)
        except CallbackError as error:
            return self._refused(error, "Socket Mode")

    async def run_socket(self) -> None:
        """Take callbacks over Socket Mode until cancelled.

        Raises:
            DeliveryError: Slack does not accept the app-level token.
        """
        await SocketConnection(self._config, self._adapter, self._bolt, self.answer_envelope).run()

    async def _dispatch(self, payload: Payload, delivery: str) -> HttpAnswer:
        if is_form(payload):
            self._adapter.workspace.admit_press(payload)
            press = submission_of(payload, delivery=delivery)
            if press is None:
                return DONE
            if press.inputs is None:  # the dialog is gone
                return await self._take(press, lambda _: DONE)
            translations = load_translations(language_of(payload))
            return await self._take(press, partial(form_answer, payload, translations=translations))
        if is_command(payload):
            self._adapter.workspace.admit_press(admissible(payload))
            return await self._lists.command(payload)
        if not is_interaction(payload):
            return await self._anything_else(payload)
        self._adapter.workspace.admit_press(payload)
        if rule_id := revoked_rule(payload):
            return _acknowledged(await self._lists.revoke(payload, rule_id))
        press = press_of(payload, delivery=delivery)
        if press is None:
            return await self._anything_else(payload)
        return await self._take(press, lambda _: DONE)

    async def _take(self, press: Press, shown: Callable[[Answer], HttpAnswer]) -> HttpAnswer:
        """Hand the press to the desk; ``shown`` is what its answer makes Slack show."""
        work = self._desk.press(press)
        answer = await handed(work, what="a press in Slack", seconds=self._press_seconds)
        if isinstance(answer, NotTaken):
            return _acknowledged(answer)
        http_answer = shown(answer)
        if http_answer is DONE:
            self._tell(press, answer)
        return http_answer

    def _tell(self, press: Press, answer: Answer) -> None:
        if not _is_private(answer):
            return
        if len(self._whispers) >= _MOST_WHISPERS:
            self._untold.say(
                "somebody is not told what became of a press: too many to tell", press.actor
            )
            return
        self._whispers.start(self._adapter.whisper(press.actor, press.message, answer.text))

    async def _members_changed(self) -> None:
        await self._desk.members_changed(PLATFORM)

    async def _anything_else(self, payload: Payload) -> HttpAnswer:
        if payload.get("type") != "url_verification":
            self._adapter.workspace.admit(payload)
        if actor := opened_by(payload):
            self._lists.opened(actor)
            return DONE
        if payload.get("ssl_check") == "1":
            return DONE
        if payload.get("type") == "app_rate_limited":
            _log.warning("Slack holds back events: the app gets more than 30,000 an hour")
            return DONE
        try:
            response = await answer_of(self._bolt, payload)
        except Exception as error:
            # Bolt trusts the shape of payloads. The error may quote one: only its kind is told.
            kind = type(error).__name__
            raise CallbackError(f"Slack callback has an unknown shape ({kind})") from None
        if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise CallbackError("Slack callback has a shape that bolt cannot handle")
        if response.status == HTTPStatus.NOT_FOUND:
            self._strange.say("a Slack callback was about nothing that Sayso shows")
        content_type = response.first_headers().get("content-type", "text/plain")
        return HttpAnswer(response.status, response.body, content_type.partition(";")[0])

    async def _serve(self, request: web.Request) -> web.Response:
        body = await bounded_body(
            request.content.iter_any(), most=BODY_BYTES, declared=request.content_length
        )
        if body is None:
            return _response(_too_large())
        source = request.remote or ""
        return _response(await self.answer(request.headers, body, source=source))

    def _refused(self, error: CallbackError, source: str) -> HttpAnswer:
        self._refusals.say(str(error), source)
        return problem(HTTPStatus(error.status), str(error))


def _acknowledged(not_taken: NotTaken | None) -> HttpAnswer:
    """Nothing to say where all was done, and otherwise why Slack is to show an error."""
    if not_taken is None:
        return DONE
    if not_taken is NotTaken.UNREACHABLE:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, "nothing was stored: press again")
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "the press was not decided on")


def _is_private(answer: Answer) -> bool:
    """Whether neither the card nor the dialog says it already."""
    public = (Answered.RECORDED, Answered.CONFIRM, Answered.ASKED)
    return bool(answer.text) and answer.kind not in public


def _too_large() -> HttpAnswer:
    return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "a callback has at most 1 MiB")


def _response(answer: HttpAnswer) -> web.Response:
    return web.Response(status=answer.status, text=answer.body, content_type=answer.content_type)
