"""What a server's policy denies is laid under all agents on its store, and kept there."""

from __future__ import annotations

import logging
from typing import cast

import pytest
from store_contracts.floor import a_floor

from sayso import Rule, RunRef, ToolCall
from sayso.errors import StoreUnreachableError
from sayso.policy.policy_file import PlacedRule
from sayso.policy.server_policy import Section, ServerPolicy
from sayso.rules.floor import Floor
from sayso.stores.backend import Backend
from sayso.stores.protocols import RuleStore
from sayso.tasks import Background
from sayso.testing import until
from sayso_bots.server.floor import Laying

RUN = RunRef("a", "s")


def denying(*tools: str) -> ServerPolicy:
    deny = tuple(PlacedRule(Rule(tool)) for tool in tools)
    return ServerPolicy([Section(deny=deny, called="policy 1")])


async def line(backend: Backend, tool: str) -> str:
    denial = (await backend.rules.book(RUN)).floor.denial(ToolCall(tool))
    return "" if denial is None else denial.line


async def test_the_deny_rules_are_the_floor_named_as_the_servers(backend: Backend) -> None:
    await Laying(backend.rules, denying("bash", "drop")).lay()

    assert await line(backend, "drop") == "deny rule 2 of policy 1 on the server"
    assert await line(backend, "read") == ""


async def test_a_change_is_laid_at_once(backend: Backend) -> None:
    policy = denying("bash")
    laying = Laying(backend.rules, policy, seconds=3600)
    await laying.lay()
    async with Background("laying").during(laying.run()):
        policy.replace(denying("drop").sections)
        laying.change()

        async def laid() -> bool:
            return bool(await line(backend, "drop"))

        await until(laid)
        assert await line(backend, "bash") == ""


async def test_a_store_that_lost_it_is_given_it_again(backend: Backend) -> None:
    laying = Laying(backend.rules, denying("bash"), seconds=0.005)
    async with Background("laying").during(laying.run()):

        async def laid() -> bool:
            return bool(await line(backend, "bash"))

        await until(laid)


async def test_the_policy_of_a_server_that_came_later_stays_and_that_is_said_once(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    laying = Laying(backend.rules, denying("bash"), seconds=0.001)
    await laying.lay()
    await backend.rules.set_guardrails(a_floor("other"))
    with caplog.at_level(logging.WARNING):
        async with Background("laying").during(laying.run()):

            async def said() -> bool:
                return bool(caplog.messages)

            await until(said)
            for _ in range(20):
                assert await line(backend, "other")

    assert sum("another policy" in one for one in caplog.messages) == 1


async def test_a_server_without_a_policy_takes_no_floor_away_and_says_so_once(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    await Laying(backend.rules, denying("bash")).lay()
    laying = Laying(backend.rules, ServerPolicy(), seconds=0.001)
    with caplog.at_level(logging.WARNING):
        await laying.lay()
        laying.change()  # as SIGHUP does, whether or not anything was changed
        async with Background("laying").during(laying.run()):
            for _ in range(20):
                assert await line(backend, "bash")

    (said,) = caplog.messages
    assert "there is no [[policy]] here" in said
    assert "an empty [[policy]]" in said


async def test_an_empty_policy_takes_the_floor_away_and_says_that_it_replaced_one(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    await Laying(backend.rules, denying("bash")).lay()
    with caplog.at_level(logging.INFO):
        await Laying(backend.rules, ServerPolicy([Section(called="policy 1")])).lay()

    assert await line(backend, "bash") == ""
    assert caplog.messages == ["this policy replaces another one that was laid on the store"]


async def test_a_policy_that_is_taken_out_of_the_settings_is_taken_off_the_store(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    policy = denying("bash")
    laying = Laying(backend.rules, policy)
    with caplog.at_level(logging.INFO):
        await laying.lay()
        policy.replace(())
        await laying.lay()

    assert await line(backend, "bash") == ""
    assert caplog.messages == []


class Away:
    """A store that does not answer the first times."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.laid: list[Floor] = []

    async def set_guardrails(self, floor: Floor, *, unless_other: bool = False) -> str:
        self.left -= 1
        if self.left >= 0:
            raise StoreUnreachableError("away")
        self.laid.append(floor)
        return floor.version


async def test_a_change_while_the_store_is_away_is_laid_when_it_is_back() -> None:
    away, policy = Away(2), denying("bash")
    laying = Laying(cast("RuleStore", away), policy, seconds=0.001)
    laying.change()
    async with Background("laying").during(laying.run()):

        async def laid() -> bool:
            return bool(away.laid)

        await until(laid)

    assert away.laid[0] == policy.floor
