"""Events for tests: each builder names only what a test is about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar

from sayso.calls import RunRef, ToolCall, new_id
from sayso.chats.places import Place
from sayso.digests import arguments_digest
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.rules.rule import RememberedRule, Scope, literal_rule
from sayso.stores.protocols import Copy

_T = TypeVar("_T")

PATIENCE_SECONDS = 30.0


def a_request(
    question_id: str | None = None,
    *,
    tool: str = "run_command",
    arguments: Mapping[str, Any] | None = None,
    source_name: str = "deploy-bot",
    run: RunRef | None = None,
) -> PermissionRequestEvent:
    """A permission request; its own expiry is a minute from now."""
    shown = {"command": "terraform apply"} if arguments is None else dict(arguments)
    return PermissionRequestEvent(
        permission_id=new_id() if question_id is None else question_id,
        source_name=source_name,
        function_name=tool,
        call_id="call-1",
        arguments=shown,
        arguments_digest=arguments_digest(shown),
        suggested_rules=(literal_rule(ToolCall(tool, shown)),),
        run=run or RunRef("deploy-bot", "s-42", run_id="run-1"),
        expires_at=datetime.now(UTC) + timedelta(minutes=1),
    )


def a_response(
    request: PermissionRequestEvent | None = None,
    *,
    approved: bool = True,
    by: str = "slack:U0ALICE",
) -> PermissionResponseEvent:
    """A person's answer to the request."""
    asked = request or a_request()
    give = asked.approve if approved else asked.deny
    return give(by=by, at=datetime.now(UTC))


def a_rule(
    tool: str = "run_command",
    *,
    effect: Literal["allow", "deny"] = "allow",
    lives: timedelta = timedelta(hours=1),
    scope: Scope = "session",
) -> RememberedRule:
    """What Always stores for a call without arguments."""
    now = datetime.now(UTC)
    return RememberedRule(
        rule=literal_rule(ToolCall(tool)),
        effect=effect,
        stored_by="slack:U0ALICE",
        stored_at=now,
        expires_at=now + lives,
        scope=scope,
    )


def a_copy(question_id: str, *, place: str = "slack:C0123ABCD") -> Copy:
    """A copy of a card that has no message yet."""
    return Copy(new_id(), question_id, Place.parse(place))


async def soon(items: AsyncIterator[_T]) -> _T:
    """The next item; TimeoutError when none comes."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await anext(items)


async def until(true: Callable[[], Awaitable[object]]) -> None:
    """Wait for what another process does without announcing it; TimeoutError if it never does."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PATIENCE_SECONDS
    while not await true():
        if loop.time() > deadline:
            raise TimeoutError
        await asyncio.sleep(0.005)
