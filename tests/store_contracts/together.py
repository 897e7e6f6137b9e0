"""What every store promises about several rules that decide together."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from sayso.stores.backend import Backend
from sayso.testing.builders import a_rule
from store_contracts.rules import RUN, remember

PROJECT = replace(RUN, project="/src/shop")


class TogetherContract:
    """The promises of a use of several rules. Subclasses provide the ``backend`` fixture."""

    async def test_a_use_of_several_rules_counts_for_each_and_is_in_the_audit(
        self, backend: Backend
    ) -> None:
        rules = [a_rule("one"), a_rule("two", scope="project"), a_rule("three", scope="agent")]
        for rule in rules:
            await remember(backend, rule, PROJECT)
        book = (await backend.rules.book(PROJECT)).version
        ids = [rule.rule_id for rule in rules]

        assert await backend.rules.use(PROJECT, *ids, digest="abc", book=book)
        assert {kept.remembered.uses for kept in await backend.rules.all()} == {1}
        used = [one for one in await backend.audit.read(20) if one.kind == "rule_used"]
        assert sorted(one.rule_id for one in used) == sorted(ids)
        assert {one.digest for one in used} == {"abc"}

    async def test_where_one_of_several_rules_is_gone_no_use_is_counted(
        self, backend: Backend
    ) -> None:
        kept, gone, over = a_rule("kept"), a_rule("gone"), a_rule(lives=-timedelta(seconds=1))
        for rule in (kept, gone, over):
            await remember(backend, rule)
        await backend.rules.revoke(gone.rule_id, by="cli:me")

        for other in (gone.rule_id, over.rule_id, "nobody"):
            assert not await backend.rules.use(RUN, kept.rule_id, other)
            assert not await backend.rules.use(RUN, other, kept.rule_id)
        assert [one.remembered.uses for one in await backend.rules.all()] == [0]
        assert "rule_used" not in [one.kind for one in await backend.audit.read(20)]

    async def test_a_use_of_several_rules_on_an_old_version_counts_for_none(
        self, backend: Backend
    ) -> None:
        rules = [a_rule("one"), a_rule("two")]
        for rule in rules:
            await remember(backend, rule)
        known = (await backend.rules.book(RUN)).version
        await remember(backend, a_rule("later", effect="deny"))

        assert not await backend.rules.use(RUN, *(one.rule_id for one in rules), book=known)
        assert {kept.remembered.uses for kept in await backend.rules.all()} == {0}
