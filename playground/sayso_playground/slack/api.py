"""The HTTP side of the Slack Web API: tokens, bodies, faults and the record of calls."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from sayso_playground.faults import (
    Call,
    DropConnection,
    Fault,
    Faults,
    RateLimited,
    ServerError,
    Slow,
)
from sayso_playground.slack.methods import SlackMethods, SlackRefusalError, checked_blocks
from sayso_playground.slack.state import (
    RESPONSE_URL_SECONDS,
    RESPONSE_URL_USES,
    Json,
    SlackMessage,
    SlackState,
)

# docs.slack.dev: methods that only read take form or query arguments; a JSON body is ignored.
_NO_JSON = (
    "bots.info",
    "chat.getPermalink",
    "conversations.info",
    "dnd.teamInfo",
    "usergroups.list",
    "usergroups.users.list",
)
_WITH_APP_TOKEN = "apps.connections.open"  # noqa: S105 - the name of a method


class SlackApi:
    """Answers ``/slack/api/<method>`` and the answer addresses of interactions."""

    def __init__(
        self,
        state: SlackState,
        faults: Faults,
        calls: list[Call],
        open_connection: Callable[[], str],
    ) -> None:
        self._state = state
        self._faults = faults
        self._calls = calls
        self._methods = SlackMethods(state).table
        self._methods[_WITH_APP_TOKEN] = lambda _: {"url": open_connection()}

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one API call; refusals are HTTP 200 with ``ok: false``, as Slack's are."""
        method = request.match_info["method"]
        fault = self._faults.take(method)
        arguments: Json = {}
        try:
            arguments = await _arguments(request, method)
            if isinstance(fault, Slow):  # with the body read: the client may leave meanwhile
                await asyncio.sleep(fault.seconds)
            response = _misbehaviour(fault) or web.json_response(
                {"ok": True, **self._perform(request, method, arguments)},
                headers={"X-OAuth-Scopes": ",".join(self._state.config.slack_scopes)},
            )
            error = None if response.status == 200 else _name(response.status)
        except SlackRefusalError as refusal:
            error = refusal.error
            response = web.json_response({"ok": False, "error": error, **refusal.extra})
        dropped = isinstance(fault, DropConnection)
        shown = {name: value for name, value in arguments.items() if name != "token"}
        self._calls.append(Call(method, shown, 0 if dropped else response.status, error))
        self._state.changed()
        if dropped and request.transport:
            request.transport.abort()
        return response

    def _perform(self, request: web.Request, method: str, arguments: Json) -> Json:
        if method not in self._methods:
            raise SlackRefusalError("unknown_method", req_method=method)
        header = request.headers.get("Authorization", "")
        token = header.removeprefix("Bearer ") if header else arguments.get("token", "")
        config = self._state.config
        if not token:
            raise SlackRefusalError("not_authed")
        if token not in (config.slack_bot_token, config.slack_app_token):
            raise SlackRefusalError("invalid_auth")
        if (token == config.slack_app_token) != (method == _WITH_APP_TOKEN):
            raise SlackRefusalError("not_allowed_token_type")
        if self._state.uninstalled:
            raise SlackRefusalError("account_inactive")
        return self._methods[method](arguments)

    async def answer_response_url(self, request: web.Request) -> web.Response:
        """Take the answer to one interaction: at most 5 within 30 minutes."""
        known = self._state.response_urls.get(request.match_info["key"])
        if known is None or self._state.config.clock() - known.made > RESPONSE_URL_SECONDS:
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        if known.uses >= RESPONSE_URL_USES:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        try:
            body = json.loads(await request.read())
            blocks = checked_blocks(body.get("blocks") or [])
        except (ValueError, AttributeError):
            return web.json_response({"ok": False, "error": "invalid_payload"}, status=400)
        except SlackRefusalError as refusal:
            return web.json_response({"ok": False, "error": refusal.error}, status=400)
        if not (body.get("text") or blocks or body.get("delete_original")):
            return web.json_response({"ok": False, "error": "no_text"}, status=400)
        known.uses += 1
        self._respond(known.message, known.member.slack_id, body, blocks)
        return web.Response(text="ok")

    def _respond(self, message: SlackMessage, user: str, body: Json, blocks: list[Json]) -> None:
        state = self._state
        current = state.messages.get((message.channel, message.ts))
        text = str(body.get("text") or "")
        if body.get("delete_original") and current:
            state.delete(current)
        elif body.get("replace_original") and current:
            state.edit(current, text, blocks)
        elif text or blocks:
            in_channel = body.get("response_type") == "in_channel"
            answer = SlackMessage(
                message.channel,
                state.next_ts(),
                text,
                state.with_ids(blocks),
                state.config.slack_bot_user_id,
                thread_ts=body.get("thread_ts"),
                only_for=None if in_channel else user,
            )
            state.post(answer)


def _misbehaviour(fault: Fault | None) -> web.Response | None:
    if isinstance(fault, RateLimited):
        headers = {"Retry-After": str(fault.seconds)}
        body = {"ok": False, "error": "ratelimited"}
        return web.json_response(body, status=429, headers=headers)
    if isinstance(fault, ServerError):
        return web.Response(status=fault.status, text="upstream error")
    return None


def _name(status: int) -> str:
    return "ratelimited" if status == 429 else f"http_{status}"


async def _arguments(request: web.Request, method: str) -> Json:
    """Query and body together; a JSON body must be an object."""
    arguments: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        try:
            body = json.loads(await request.read() or b"{}")
        except ValueError:
            raise SlackRefusalError("invalid_json") from None
        if not isinstance(body, dict):
            raise SlackRefusalError("json_not_object")
        return arguments if method in _NO_JSON else arguments | body
    form = await request.post()
    return arguments | {name: value for name, value in form.items() if isinstance(value, str)}
