"""What every store promises about rules for a project."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from datetime import timedelta

import pytest

from sayso.calls import Project, RunRef
from sayso.events import Outcome
from sayso.questions.permission import call_of
from sayso.rules.rule import literal_rule
from sayso.stores.backend import Backend
from sayso.stores.protocols import BookChanged, KeptRule, Opened
from sayso.testing.builders import a_copy, a_request, a_response, a_rule, soon
from store_contracts.rules import remember

PLACE = Project("ci-7", "/workspace", "git.example.com/acme/shop")
SHOP = RunRef("deploy-bot", "s-1", project=PLACE)
LATER = replace(SHOP, session_id="s-2")
NAMED = replace(SHOP, project="/workspace")
STRANGERS: list[RunRef] = [
    replace(SHOP, project=""),
    replace(SHOP, agent_id="deploy-bots"),
    RunRef("deploy-bot", "/workspace"),
    *(
        replace(SHOP, project=project)
        for project in (
            replace(PLACE, host="ci-8"),
            replace(PLACE, folder="/work"),
            replace(PLACE, origin="git.example.com/acme/bank"),
            replace(PLACE, origin=""),
            Project("ci-7:/workspace", "", PLACE.origin),
            Project("ci-7", f"/workspace ({PLACE.origin})"),
            "/workspace",
            str(PLACE),
            json.dumps(astuple(PLACE)),
        )
    ),
]


class ProjectsContract:
    """The promises of the scope ``project``. Subclasses provide the ``backend`` fixture."""

    async def test_a_rule_for_a_project_counts_in_each_session_that_names_it(
        self, backend: Backend
    ) -> None:
        rule = a_rule(scope="project", lives=timedelta(days=30))
        await remember(backend, rule, SHOP)

        assert (await backend.rules.book(LATER)).remembered == (rule,)
        assert await backend.rules.use(LATER, rule.rule_id)
        [kept] = await backend.rules.all()
        assert replace(kept.remembered, uses=0, last_used_at=None) == rule
        text = "ci-7:/workspace (git.example.com/acme/shop)"
        assert kept == KeptRule(kept.remembered, "deploy-bot", "", text)

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_rule_for_a_project_counts_nowhere_else(
        self, backend: Backend, stranger: RunRef
    ) -> None:
        rule = a_rule(scope="project")
        await remember(backend, rule, SHOP)

        assert (await backend.rules.book(stranger)).remembered == ()
        assert not await backend.rules.use(stranger, rule.rule_id)

    async def test_a_rule_without_an_origin_counts_on_its_host_in_its_folder_alone(
        self, backend: Backend
    ) -> None:
        rule, place = a_rule(scope="project"), replace(PLACE, origin="")
        await remember(backend, rule, replace(SHOP, project=place))

        assert (await backend.rules.book(replace(LATER, project=place))).remembered == (rule,)
        for other in (PLACE, replace(place, host="ci-8"), replace(place, folder="/work")):
            assert (await backend.rules.book(replace(LATER, project=other))).remembered == ()

    async def test_a_rule_for_a_name_counts_where_the_agent_names_it_and_for_no_place(
        self, backend: Backend
    ) -> None:
        rule = a_rule(scope="project")
        await remember(backend, rule, NAMED)

        again = replace(NAMED, session_id="s-2")
        assert (await backend.rules.book(again)).remembered == (rule,)
        for other in (
            PLACE,
            replace(PLACE, origin=""),
            Project("", "/workspace"),
            "name:/workspace",
        ):
            assert (await backend.rules.book(replace(NAMED, project=other))).remembered == ()
        [kept] = await backend.rules.all()
        assert kept.project == "name:/workspace"

    async def test_rules_of_session_agent_and_project_count_together(
        self, backend: Backend
    ) -> None:
        for tool, scope in (("one", "session"), ("two", "agent"), ("three", "project")):
            await remember(backend, a_rule(tool, scope=scope), SHOP)  # type: ignore[arg-type]

        here = (await backend.rules.book(SHOP)).remembered
        there = (await backend.rules.book(LATER)).remembered
        assert [kept.rule.tool for kept in here] == ["one", "two", "three"]
        assert [kept.rule.tool for kept in there] == ["two", "three"]

    async def test_a_rule_for_a_project_changes_the_version_in_all_of_its_sessions(
        self, backend: Backend
    ) -> None:
        known = (await backend.rules.book(LATER)).version
        await remember(backend, a_rule(scope="project"), SHOP)

        opened = await backend.store.open(
            request := a_request(run=LATER), seconds=30, inbox="", book=known
        )
        fresh = (await backend.rules.book(LATER)).version

        assert opened == BookChanged()
        again = await backend.store.open(request, seconds=30, inbox="", book=fresh)
        assert isinstance(again, Opened)

    async def test_a_denial_for_a_project_stands_against_what_its_sessions_asked_before(
        self, backend: Backend
    ) -> None:
        request = a_request(run=LATER)
        book = (await backend.rules.book(LATER)).version
        await backend.store.open(request, seconds=30, inbox="", book=book)
        denial = replace(
            a_rule(effect="deny", scope="project"), rule=literal_rule(call_of(request))
        )
        await remember(backend, denial, SHOP)

        settled = await backend.store.settle(request.question_id, a_response(request))

        assert settled.forbidden
        assert settled.ending.outcome is Outcome.DENIED

    async def test_a_revoked_rule_of_a_project_is_gone_in_all_of_its_sessions_at_once(
        self, backend: Backend
    ) -> None:
        rule = a_rule(scope="project")
        await remember(backend, rule, SHOP)
        known = (await backend.rules.book(LATER)).version

        assert await backend.rules.revoke(rule.rule_id, by="slack:U0BOB")

        assert (await backend.rules.book(LATER)).remembered == ()
        assert not await backend.rules.use(LATER, rule.rule_id, book=known)

    async def test_nothing_is_stored_for_the_project_of_a_run_that_names_none(
        self, backend: Backend
    ) -> None:
        request = a_request(run=RunRef("deploy-bot", "s-1"))
        await backend.store.open(request, seconds=30, inbox="", book=None)

        with pytest.raises(ValueError, match="no project"):
            await backend.store.settle(
                request.question_id, a_response(request), remember=a_rule(scope="project")
            )

        record = await backend.store.get(request.question_id)
        assert record is not None
        assert record.ending is None
        assert await backend.rules.all() == []

    async def test_the_audit_names_the_project(self, backend: Backend) -> None:
        rule = a_rule(scope="project")
        await remember(backend, rule, SHOP)
        await backend.rules.use(LATER, rule.rule_id)

        stored, used = (await backend.audit.read(10))[-2:]

        assert (stored.kind, stored.project, stored.scope) == (
            "rule_stored",
            str(PLACE),
            "project",
        )
        assert (used.kind, used.project, used.session_id) == ("rule_used", str(PLACE), "s-2")


class RevokedContract:
    """What a store says of a request whose rule was revoked. They provide ``backend``."""

    async def test_the_request_that_stored_a_rule_says_who_revoked_it_and_its_cards_are_due(
        self, backend: Backend
    ) -> None:
        rule = a_rule(scope="project", lives=timedelta(days=30))
        request = a_request(run=SHOP)
        await backend.store.open(request, seconds=30, inbox="", book=None)
        copy = a_copy(request.question_id)
        await backend.copies.issue(copy)
        answer = a_response(request).keeping(rule)
        await backend.store.settle(request.question_id, answer, remember=rule)
        [kept] = await backend.rules.all()
        async with backend.outbox.jobs("desk") as jobs:
            for _ in ("ask", "end"):
                await backend.outbox.done(await soon(jobs))

            await backend.rules.revoke(rule.rule_id, by="slack:U0BOB")
            job = await soon(jobs)

        record = await backend.store.get(request.question_id)
        found = await backend.copies.find(copy.handle)
        assert kept.question_id == request.question_id
        assert (job.kind, job.question_id) == ("end", request.question_id)
        assert record is not None
        assert found is not None
        assert record.revoked == found.revoked
        assert record.revoked is not None
        assert record.revoked.by == "slack:U0BOB"
        assert record.ending is not None
        assert record.ending.rule_kept == rule.rule_id

    async def test_a_request_whose_rule_stands_says_nothing_of_it(self, backend: Backend) -> None:
        rule = a_rule()
        request = await remember(backend, rule)
        await remember(backend, other := a_rule("other"))
        await backend.rules.revoke(other.rule_id, by="slack:U0BOB")

        record = await backend.store.get(request.question_id)

        assert record is not None
        assert record.revoked is None
