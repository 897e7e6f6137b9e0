"""What every store promises of rules that forbid a call when somebody approves it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from sayso.calls import RunRef, ToolCall
from sayso.events import Outcome
from sayso.questions.permission import PermissionRequestEvent, call_of
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.rules.rule import DenyRule, RememberedRule, Rule, Scope, literal_rule
from sayso.rules.rule_set import RuleBook
from sayso.stores.backend import Backend
from sayso.stores.protocols import Settled
from sayso.testing.builders import a_request, a_response, a_rule, soon

_BOB = "slack:U0BOB"


async def _opened(
    backend: Backend, run: RunRef | None = None, **fields: Any
) -> PermissionRequestEvent:
    request = a_request(run=run).model_copy(update=fields)
    await backend.store.open(request, seconds=30, inbox="mine", book=None)
    return request


def _always(
    call: ToolCall, effect: Literal["allow", "deny"] = "deny", scope: Scope = "session"
) -> RememberedRule:
    now = datetime.now(UTC)
    lives = now + timedelta(hours=1)
    return RememberedRule(literal_rule(call), effect, _BOB, now, lives, scope=scope)


async def _deny_always(
    backend: Backend, call: ToolCall, scope: Scope = "session", run: RunRef | None = None
) -> str:
    """What a press of *Always deny* on another question does; the id of its rule."""
    request, rule = await _opened(backend, run), _always(call, scope=scope)
    response = a_response(request, approved=False, by=_BOB)
    await backend.store.settle(request.question_id, response, remember=rule)
    return rule.rule_id


def _edited(request: PermissionRequestEvent, **arguments: Any) -> PermissionResponseEvent:
    now = datetime.now(UTC)
    return request.approve(by="slack:U0ALICE", at=now, modified_arguments=arguments)


def _is_denied(settled: Settled) -> PermissionResponseEvent:
    """The denial that was recorded in place of an approval."""
    ending = settled.ending
    assert (settled.first, settled.forbidden) == (False, True)
    assert isinstance(ending, PermissionResponseEvent)
    assert (ending.outcome, ending.decided_by) == (Outcome.DENIED, None)
    assert (ending.choice, ending.modified_arguments, ending.rule) == ("ask", None, None)
    return ending


class DenialContract:
    """More promises of ``Store.settle``. Subclasses provide the ``backend`` fixture."""

    async def test_what_is_always_denied_by_now_is_recorded_as_denied_whoever_allows_it(
        self, backend: Backend
    ) -> None:
        scopes: tuple[Scope, ...] = ("session", "agent", "project")
        for number, scope in enumerate(scopes):
            run = RunRef(f"agent-{number}", "s-1", project="/src/shop")
            request = await _opened(backend, run)
            rule_id = await _deny_always(backend, call_of(request), scope, run)

            settled = await backend.store.settle(request.question_id, a_response(request))

            ending = _is_denied(settled)
            assert ending.line == "remembered always deny"
            assert rule_id in ending.reason
            assert _BOB in ending.reason
            record = await backend.store.get(request.question_id)
            assert record is not None
            assert record.ending == ending

    async def test_agent_and_audit_hear_the_denial_and_nothing_is_remembered(
        self, backend: Backend
    ) -> None:
        request = await _opened(backend)
        await _deny_always(backend, call_of(request))

        async with backend.bus.rings("mine") as rings:
            settled = await backend.store.settle(
                request.question_id, a_response(request), remember=a_rule()
            )
            rung = await soon(rings)

        assert rung.ending == _is_denied(settled)
        assert settled.heard == 1
        *_, last = await backend.audit.read(10)
        assert (last.question_id, last.kind, last.by) == (request.question_id, "denied", "")
        [kept] = (await backend.rules.book(request.run)).remembered
        assert kept.effect == "deny"

    async def test_rules_about_other_calls_forbid_nothing(self, backend: Backend) -> None:
        request = await _opened(backend)
        await _deny_always(backend, ToolCall(request.function_name, {"command": "other"}))
        response = a_response(request)

        settled = await backend.store.settle(request.question_id, response, remember=a_rule())

        assert (settled.ending, settled.first, settled.forbidden) == (response, True, False)
        assert len((await backend.rules.book(request.run)).remembered) == 2

    async def test_a_revoked_denial_forbids_nothing(self, backend: Backend) -> None:
        request = await _opened(backend)
        rule_id = await _deny_always(backend, call_of(request))
        await backend.rules.revoke(rule_id, by=_BOB)

        settled = await backend.store.settle(request.question_id, a_response(request))

        assert settled.first

    async def test_edited_arguments_are_held_against_what_is_remembered(
        self, backend: Backend
    ) -> None:
        request = await _opened(backend)
        await _deny_always(backend, ToolCall(request.function_name, {"command": "rm x"}))

        settled = await backend.store.settle(request.question_id, _edited(request, command="rm x"))

        assert _is_denied(settled).line == "remembered always deny"

    async def test_edited_arguments_are_held_against_the_deny_rules_of_the_policy(
        self, backend: Backend
    ) -> None:
        rules = (DenyRule("deny rule 1", Rule("run_command", {"command": "rm *"})),)
        request = await _opened(backend, deny_rules=rules)
        fine = await _opened(backend, deny_rules=rules)

        settled = await backend.store.settle(request.question_id, _edited(request, command="rm x"))
        other = await backend.store.settle(fine.question_id, _edited(fine, command="ls y"))

        assert _is_denied(settled).line == "deny rule 1"
        assert other.first

    async def test_a_denial_of_the_call_that_was_asked_counts_for_an_edited_one(
        self, backend: Backend
    ) -> None:
        shown = await _opened(backend)
        called = await _opened(backend, original_arguments={"command": "as called"})
        await _deny_always(backend, call_of(shown))
        await _deny_always(backend, ToolCall("run_command", {"command": "as called"}))

        for request in (shown, called):
            settled = await backend.store.settle(request.question_id, _edited(request, command="x"))
            _is_denied(settled)

    async def test_a_denial_of_the_call_as_it_was_made_counts_on_the_rules_it_was_asked_on(
        self, backend: Backend
    ) -> None:
        request = a_request().model_copy(update={"original_arguments": {"command": "as called"}})
        await _deny_always(backend, ToolCall("run_command", {"command": "as called"}))
        book = (await backend.rules.book(request.run)).version
        await backend.store.open(request, seconds=30, inbox="", book=book)

        settled = await backend.store.settle(request.question_id, a_response(request))

        assert _is_denied(settled).line == "remembered always deny"

    async def test_an_approval_and_a_denial_for_ever_at_once_never_end_in_a_forbidden_approval(
        self, backend: Backend
    ) -> None:
        for number in range(10):
            run = RunRef("deploy-bot", f"s-{number}")
            request = await _opened(backend, run)
            settled, _ = await asyncio.gather(
                backend.store.settle(request.question_id, a_response(request)),
                _deny_always(backend, call_of(request), run=run),
            )

            if not settled.first:
                _is_denied(settled)
                continue
            # It came first: nothing was approved after the rule was there.
            entries = [
                one for one in await backend.audit.read(100) if one.session_id == f"s-{number}"
            ]
            kinds = [entry.kind for entry in entries]
            assert kinds.index("approved") < kinds.index("rule_stored")

    async def test_what_approves_cannot_be_foreseen(self, backend: Backend) -> None:
        request = await _opened(backend)

        with pytest.raises(ValueError, match="foreseen"):
            await backend.store.settle_later(request.question_id, a_response(request), seconds=1)

    async def test_a_rule_that_cannot_be_read_here_forbids_every_edit(
        self, backend: Backend
    ) -> None:
        request = await _opened(backend, deny_rules=(DenyRule("deny rule 1", None),))

        settled = await backend.store.settle(request.question_id, _edited(request, command="ls"))

        assert _is_denied(settled).line == "deny rule 1"

    def test_a_denial_names_who_could_not_allow_it(self, backend: Backend) -> None:
        del backend
        request = a_request().model_copy(update={"deny_rules": (DenyRule("deny rule 7", None),)})

        ending = request.ruled(a_response(request), RuleBook())

        assert ending.reason == "denied by deny rule 7: slack:U0ALICE could not allow it"
