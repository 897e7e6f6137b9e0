"""What every store promises of the floor under the policies of all agents."""

from __future__ import annotations

from datetime import UTC, datetime

from sayso.calls import RunRef, ToolCall
from sayso.events import Outcome
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.rules.floor import Floor, FloorSection, floor_of
from sayso.rules.rule import DenyRule, Rule
from sayso.stores.backend import Backend
from sayso.stores.protocols import BookChanged, Opened, Settled
from sayso.testing.builders import a_request, a_response, soon

RUN = RunRef("deploy-bot", "s-1")
OTHER = RunRef("other-bot", "s-1")


def a_floor(tool: str = "run_command", *, agent: str = "*", **params: str) -> Floor:
    """A floor that denies one tool to some agents."""
    rule = DenyRule("deny rule 1 on the server", Rule(tool, params))
    return floor_of([FloorSection(agent, "*", {tool: (rule,)})])


async def _opened(
    backend: Backend, run: RunRef = RUN, *, book: str | None = None
) -> PermissionRequestEvent:
    request = a_request(run=run)
    said = await backend.store.open(request, seconds=30, inbox="mine", book=book)
    assert isinstance(said, Opened)
    return request


def _is_denied(settled: Settled) -> None:
    ending = settled.ending
    assert (settled.first, settled.forbidden) == (False, True)
    assert isinstance(ending, PermissionResponseEvent)
    assert (ending.outcome, ending.decided_by) == (Outcome.DENIED, None)
    assert ending.line == "deny rule 1 on the server"
    assert "slack:U0ALICE could not allow it" in ending.reason


class FloorContract:
    """What ``Floors`` and its part of ``Rules`` and ``Store`` promise, on a ``backend``."""

    async def test_an_approval_of_what_the_server_denies_is_recorded_as_denied(
        self, backend: Backend
    ) -> None:
        before = await _opened(backend)
        on_rules = await _opened(backend, book=(await backend.rules.book(RUN)).version)
        await backend.rules.set_guardrails(a_floor())
        after = await _opened(backend)

        async with backend.bus.rings("mine") as rings:
            for request in (before, on_rules, after):
                settled = await backend.store.settle(request.question_id, a_response(request))

                _is_denied(settled)
                assert (await soon(rings)).ending == settled.ending
        *_, last = await backend.audit.read(10)
        assert (last.question_id, last.kind, last.by) == (after.question_id, "denied", "")

    async def test_what_a_person_edits_a_call_into_is_held_against_the_floor(
        self, backend: Backend
    ) -> None:
        await backend.rules.set_guardrails(a_floor(command="rm"))
        request = await _opened(backend, book=(await backend.rules.book(RUN)).version)
        edited = request.approve(
            by="slack:U0ALICE", at=datetime.now(UTC), modified_arguments={"command": "rm"}
        )

        _is_denied(await backend.store.settle(request.question_id, edited))

    async def test_other_agents_tools_and_arguments_are_not_denied(self, backend: Backend) -> None:
        for floor in (
            a_floor(agent="other-*"),
            a_floor("another_tool"),
            a_floor(command="rm"),
            a_floor(agent="deploy"),
        ):
            await backend.rules.set_guardrails(floor)
            request = await _opened(backend)
            response = a_response(request)

            settled = await backend.store.settle(request.question_id, response)

            assert (settled.ending, settled.first) == (response, True)

    async def test_the_first_section_that_is_about_agent_and_tool_counts(
        self, backend: Backend
    ) -> None:
        exempt = FloorSection("deploy-*", "run_*")
        await backend.rules.set_guardrails(floor_of([exempt, *(a_floor().sections or ())]))
        call = ToolCall("run_command", {"command": "ls"})

        assert (await backend.rules.book(RUN)).floor.denial(call) is None
        assert (await backend.rules.book(OTHER)).floor.denial(call) is not None

    async def test_a_floor_is_part_of_the_rules_that_a_question_is_opened_on(
        self, backend: Backend
    ) -> None:
        without = (await backend.rules.book(RUN)).version
        await backend.rules.set_guardrails(a_floor())
        within = (await backend.rules.book(RUN)).version

        said = [
            await backend.store.open(a_request(run=RUN), seconds=30, inbox="", book=book)
            for book in (without, within)
        ]

        assert isinstance(said[0], BookChanged)
        assert isinstance(said[1], Opened)

    async def test_whoever_wakes_hears_which_floor_counts_now(self, backend: Backend) -> None:
        request = await _opened(backend)
        await backend.rules.set_guardrails(a_floor("another_tool"))
        async with backend.bus.rings("mine") as rings:
            await backend.store.settle(request.question_id, a_response(request))
            rung = await soon(rings)

        assert rung.book == (await backend.rules.book(RUN)).version
        assert rung.book != ""

    async def test_a_floor_that_denies_nothing_takes_the_other_away(self, backend: Backend) -> None:
        await backend.rules.set_guardrails(a_floor())
        await backend.rules.set_guardrails(floor_of(()))
        request = await _opened(backend)

        assert (await backend.store.settle(request.question_id, a_response(request))).first
        assert not (await backend.rules.book(RUN)).floor.rules("run_command")

    async def test_where_there_was_none_a_floor_that_denies_nothing_is_none(
        self, backend: Backend
    ) -> None:
        assert await backend.rules.set_guardrails(floor_of(())) == ""
        assert (await backend.rules.book(RUN)).version == ""

    async def test_a_floor_stays_where_another_one_is_there(self, backend: Backend) -> None:
        first, second = a_floor("one"), a_floor("two")

        assert await backend.rules.set_guardrails(first, unless_other=True) == first.version
        assert await backend.rules.set_guardrails(second, unless_other=True) == first.version
        assert (await backend.rules.book(RUN)).floor.rules("one")
        assert await backend.rules.set_guardrails(second) == second.version
        assert not (await backend.rules.book(RUN)).floor.rules("one")
        assert (await backend.rules.book(RUN)).floor.rules("two")
