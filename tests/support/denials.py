"""An *Always deny* in a session, stored as a press somewhere else does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sayso import RunRef, ToolCall
from sayso.rules.rule import RememberedRule, literal_rule
from sayso.stores.backend import Backend
from sayso.testing import a_request, a_response

BOB = "slack:U0BOB"


async def always_deny(backend: Backend, call: ToolCall, run: RunRef) -> str:
    """Let the session of the run deny the call from now on; the id of the rule."""
    now = datetime.now(UTC)
    rule = RememberedRule(literal_rule(call), "deny", BOB, now, now + timedelta(hours=1))
    request = a_request(run=run)
    await backend.store.open(request, seconds=60, inbox="", book=None)
    denial = a_response(request, approved=False, by=BOB)
    await backend.store.settle(request.question_id, denial, remember=rule)
    return rule.rule_id
