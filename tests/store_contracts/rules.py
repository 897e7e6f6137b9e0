"""What every store promises about remembered rules and the audit."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sayso.calls import RunRef
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules.rule import RememberedRule
from sayso.stores.backend import Backend
from sayso.stores.protocols import BookChanged, KeptRule, Opened
from sayso.testing.builders import a_request, a_response, a_rule

RUN = RunRef("deploy-bot", "s-1")
OTHER_SESSION = RunRef("deploy-bot", "s-2")
OTHERS = [OTHER_SESSION, RunRef("other-bot", "s-1"), RunRef("deploy-bots", "-1")]


async def remember(
    backend: Backend, rule: RememberedRule, run: RunRef = RUN
) -> PermissionRequestEvent:
    """Store the rule as a press of Always does."""
    request = a_request(run=run)
    await backend.store.open(request, seconds=30, inbox="", book=None)
    response = a_response(request, by=rule.stored_by)
    await backend.store.settle(request.question_id, response, remember=rule)
    return request


class RulesContract:
    """The promises of ``Rules``. Subclasses provide the ``backend`` fixture."""

    async def test_a_session_remembers_nothing_at_first(self, backend: Backend) -> None:
        book = await backend.rules.book(RunRef("deploy-bot", "s-new"))

        assert book.remembered == ()
        assert book.version == ""
        assert await backend.rules.all() == []

    async def test_rules_belong_to_the_session_across_branches_and_runs(
        self, backend: Backend
    ) -> None:
        rule = a_rule()
        await remember(backend, rule, RunRef("deploy-bot", "s-1", "main", "r-1"))

        book = await backend.rules.book(RunRef("deploy-bot", "s-1", "experiment", "r-2"))

        assert book.remembered == (rule,)

    @pytest.mark.parametrize("other", OTHERS)
    async def test_other_sessions_do_not_remember(self, backend: Backend, other: RunRef) -> None:
        rule = a_rule()
        await remember(backend, rule)

        assert (await backend.rules.book(other)).remembered == ()
        assert not await backend.rules.use(other, rule.rule_id)

    async def test_rules_are_remembered_in_the_order_they_were_stored(
        self, backend: Backend
    ) -> None:
        rules = [a_rule(f"tool-{number}") for number in range(5)]

        for rule in rules:
            await remember(backend, rule)

        assert (await backend.rules.book(RUN)).remembered == tuple(rules)
        assert [kept.remembered for kept in await backend.rules.all()] == rules

    async def test_expired_rules_are_left_out(self, backend: Backend) -> None:
        kept, expired = a_rule("kept"), a_rule("expired", lives=timedelta(seconds=-1))
        for rule in (a_rule("old", lives=timedelta(seconds=-9)), kept, expired):
            await remember(backend, rule)

        assert (await backend.rules.book(RUN)).remembered == (kept,)
        assert [one.remembered for one in await backend.rules.all()] == [kept]
        assert not await backend.rules.use(RUN, expired.rule_id)
        assert not await backend.rules.revoke(expired.rule_id, by="cli:me")

    async def test_an_agents_rule_counts_in_all_of_its_sessions_and_in_no_other(
        self, backend: Backend
    ) -> None:
        rule = a_rule(scope="agent")
        await remember(backend, rule)

        assert (await backend.rules.book(OTHER_SESSION)).remembered == (rule,)
        assert (await backend.rules.book(RunRef("other-bot", "s-1"))).remembered == ()
        assert await backend.rules.use(OTHER_SESSION, rule.rule_id)
        assert await backend.rules.all() == [
            KeptRule(replace(rule, uses=1, last_used_at=await self._last(backend)), "deploy-bot")
        ]

    async def test_an_agents_rule_changes_the_version_in_all_of_its_sessions(
        self, backend: Backend
    ) -> None:
        known = (await backend.rules.book(OTHER_SESSION)).version
        await remember(backend, a_rule(scope="agent"))

        request = a_request(run=OTHER_SESSION)
        opened = await backend.store.open(request, seconds=30, inbox="", book=known)
        fresh = (await backend.rules.book(OTHER_SESSION)).version

        assert opened == BookChanged()
        again = await backend.store.open(request, seconds=30, inbox="", book=fresh)
        assert isinstance(again, Opened)

    async def test_all_rules_are_listed_with_what_they_belong_to(self, backend: Backend) -> None:
        rules = [a_rule("one"), a_rule("two", effect="deny", scope="tool-window")]
        await remember(backend, rules[0])
        await remember(backend, rules[1], OTHER_SESSION)

        assert await backend.rules.all() == [
            KeptRule(rules[0], "deploy-bot", "s-1"),
            KeptRule(rules[1], "deploy-bot", "s-2"),
        ]

    async def test_uses_are_counted_and_the_last_one_is_known(self, backend: Backend) -> None:
        rule = a_rule()
        await remember(backend, rule)

        used = [await backend.rules.use(RUN, rule.rule_id) for _ in range(3)]
        [kept] = await backend.rules.all()

        assert used == [True] * 3
        assert kept.remembered.uses == 3
        assert abs((await self._last(backend) - datetime.now(UTC)).total_seconds()) < 5

    async def test_a_use_changes_neither_the_version_nor_the_book(self, backend: Backend) -> None:
        rule = a_rule()
        await remember(backend, rule)
        before = await backend.rules.book(RUN)

        await backend.rules.use(RUN, rule.rule_id)

        assert await backend.rules.book(RUN) == before

    async def test_a_use_on_an_old_version_does_not_count(self, backend: Backend) -> None:
        rule = a_rule()
        await remember(backend, rule)
        known = (await backend.rules.book(RUN)).version
        await remember(backend, a_rule("later", effect="deny"))

        assert not await backend.rules.use(RUN, rule.rule_id, book=known)
        fresh = (await backend.rules.book(RUN)).version
        assert await backend.rules.use(RUN, rule.rule_id, book=fresh)
        assert [kept.remembered.uses for kept in await backend.rules.all()] == [1, 0]

    async def test_a_revoked_rule_is_gone_at_once(self, backend: Backend) -> None:
        rule, kept = a_rule("revoked"), a_rule("kept")
        for one in (rule, kept):
            await remember(backend, one)
        known = (await backend.rules.book(RUN)).version

        revoked = await backend.rules.revoke(rule.rule_id, by="cli:me")
        opened = await backend.store.open(a_request(run=RUN), seconds=30, inbox="", book=known)

        assert revoked
        assert opened == BookChanged()
        assert (await backend.rules.book(RUN)).remembered == (kept,)
        assert [one.remembered for one in await backend.rules.all()] == [kept]
        assert not await backend.rules.use(RUN, rule.rule_id)

    async def test_a_rule_is_revoked_once(self, backend: Backend) -> None:
        rule = a_rule()
        await remember(backend, rule)

        revoked = [await backend.rules.revoke(rule.rule_id, by="cli:me") for _ in range(2)]

        assert revoked == [True, False]
        assert not await backend.rules.revoke("nobody", by="cli:me")

    async def test_the_last_rule_revoked_leaves_another_version(self, backend: Backend) -> None:
        nothing = (await backend.rules.book(RUN)).version
        rule = a_rule()
        await remember(backend, rule)

        await backend.rules.revoke(rule.rule_id, by="cli:me")

        assert (await backend.rules.book(RUN)).version not in (nothing, rule.rule_id)

    async def _last(self, backend: Backend) -> datetime:
        [kept] = await backend.rules.all()
        assert kept.remembered.last_used_at is not None
        return kept.remembered.last_used_at
