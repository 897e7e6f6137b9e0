"""All of Slack's callbacks that are not presses, answered by slack_bolt."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from sayso_slack.loggers import muffled, silent
from sayso_slack.reading.payload import Payload, object_of

_log = logging.getLogger(__name__)

_REINSTALL = "install it again, put the new token into SLACK_BOT_TOKEN, start again"


def bolt_app(
    on_uninstalled: Callable[[str], None],
    on_members_changed: Callable[[], Awaitable[None]],
    counts: Callable[[dict[str, Any]], bool],
) -> AsyncApp:
    """An app for verified, decoded callbacks; ``on_uninstalled`` is told why no call can work.

    ``on_members_changed`` is told when a user group changes, or when a person does whom
    ``counts`` no longer takes for a member. Whatever else people change about
    themselves, and Slack tells that too, is nobody's business.

    Bolt neither verifies (that is done), nor asks Slack about the token, nor
    answers before a listener is done, nor logs: its lines hold whole bodies.
    It is given no token.
    """
    app = AsyncApp(
        # Bolt silences the logger of this name, so it is not the name of a module.
        name="bolt inside sayso_slack",
        logger=silent(),
        client=AsyncWebClient(logger=muffled(), retry_handlers=[]),
        authorize=_authorized,
        process_before_response=True,
        request_verification_enabled=False,
        ssl_check_enabled=False,
    )
    _listen_for_the_end(app, on_uninstalled)
    _listen_for_members(app, on_members_changed, counts)

    async def ignored() -> None:
        """Slack stops sending events to an app that fails to answer them."""

    app.event(re.compile(".+"))(ignored)
    return app


def _listen_for_the_end(app: AsyncApp, on_uninstalled: Callable[[str], None]) -> None:
    async def uninstalled() -> None:
        _log.error("the Slack app was uninstalled: nothing can be shown; %s", _REINSTALL)
        on_uninstalled(f"the Slack app was uninstalled: {_REINSTALL}")

    async def revoked(event: dict[str, Any]) -> None:
        if not (event.get("tokens") or {}).get("bot"):
            return  # tokens of people, which Sayso does not use
        _log.error("the Slack bot token was revoked: nothing can be shown; %s", _REINSTALL)
        on_uninstalled(f"the Slack bot token was revoked: {_REINSTALL}")

    app.event("app_uninstalled")(uninstalled)
    app.event("tokens_revoked")(revoked)


def _listen_for_members(
    app: AsyncApp,
    on_members_changed: Callable[[], Awaitable[None]],
    counts: Callable[[dict[str, Any]], bool],
) -> None:
    async def group_changed() -> None:
        await on_members_changed()

    async def person_changed(event: dict[str, Any]) -> None:
        if not counts(object_of(event.get("user"))):
            await on_members_changed()

    app.event("subteam_members_changed")(group_changed)
    app.event("subteam_updated")(group_changed)
    app.event("user_change")(person_changed)


async def answer_of(app: AsyncApp, payload: Payload) -> BoltResponse:
    """Bolt's answer; 404 where nobody listens.

    The payload goes in decoded, as in Socket Mode, and without the caller's
    headers: ``x-slack-bolt-lazy-only`` would make bolt run other code.
    """
    return await app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=payload))


async def _authorized(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
    return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id)
