"""What every store promises about the audit."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

from sayso.calls import RunRef
from sayso.stores import audit
from sayso.stores.audit import ACTIVITY_ENTRIES, REFUSALS_KEPT, Facts, RefusalKind
from sayso.stores.backend import Backend
from sayso.testing.builders import a_request, a_response, a_rule
from store_contracts.rules import OTHER_SESSION, RUN, remember


class AuditContract:
    """The promises of ``Audit``. Subclasses provide the ``backend`` fixture."""

    async def test_nothing_has_happened_at_first(self, backend: Backend) -> None:
        assert await backend.audit.read(10) == []

    async def test_a_question_an_answer_and_its_rule_are_noted_in_order(
        self, backend: Backend
    ) -> None:
        rule = a_rule(effect="deny", scope="agent")
        request = await remember(backend, rule)
        await backend.rules.use(OTHER_SESSION, rule.rule_id, digest="abc")
        await backend.rules.revoke(rule.rule_id, by="cli:me")

        asked, decided, stored, used, revoked = await backend.audit.read(10)

        about = {
            "agent_id": "deploy-bot",
            "session_id": "s-1",
            "subject": "run_command",
            "digest": request.arguments_digest,
            "question_id": request.permission_id,
        }
        person = {"by": "slack:U0ALICE"}
        of_rule = {"rule_id": rule.rule_id, "effect": "deny", "scope": "agent"}
        assert _said(asked) == {"kind": "asked", **about}
        assert _said(decided) == {"kind": "approved", "choice": "ask", **about, **person}
        assert _said(stored) == {"kind": "rule_stored", **about, **person, **of_rule}
        assert _said(used) == {
            "kind": "rule_used",
            "agent_id": "deploy-bot",
            "session_id": "s-2",
            "subject": "run_command",
            "digest": "abc",
            "rule_id": rule.rule_id,
        }
        assert _said(revoked) == {
            "kind": "rule_revoked",
            "by": "cli:me",
            "rule_id": rule.rule_id,
            **about,
        }
        assert abs((asked.at - datetime.now(UTC)).total_seconds()) < 5

    async def test_every_ending_is_noted_under_its_own_name(self, backend: Backend) -> None:
        now = datetime.now(UTC)
        requests = [a_request() for _ in range(4)]
        for request, seconds in zip(requests, (30, 30, 30, 0), strict=True):
            await backend.store.open(request, seconds=seconds, inbox="", book=None)
        denied, cancelled, undeliverable, _ = requests
        for ending in (
            a_response(denied, approved=False),
            cancelled.cancelled(at=now, by="cli:me", reason="withdrawn"),
            undeliverable.undeliverable(at=now, reason="no route"),
        ):
            await backend.store.settle(ending.question_id, ending)
        await backend.store.expire_due()

        ends = [(e.kind, e.by, e.reason) for e in (await backend.audit.read(9))[4:]]

        assert ends == [
            ("denied", "slack:U0ALICE", ""),
            ("cancelled", "cli:me", "withdrawn"),
            ("undeliverable", "", "no route"),
            ("expired", "", "nobody answered in time"),
        ]

    async def test_what_changed_nothing_is_not_noted(self, backend: Backend) -> None:
        request = await remember(backend, a_rule())
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(request.question_id, a_response(request, approved=False))
        await backend.rules.use(RUN, "nobody")
        await backend.rules.revoke("nobody", by="cli:me")

        kinds = [entry.kind for entry in await backend.audit.read(10)]

        assert kinds == ["asked", "approved", "rule_stored"]

    async def test_the_last_entries_are_read(self, backend: Backend) -> None:
        for number in range(5):
            request = a_request(f"q-{number}")
            await backend.store.open(request, seconds=30, inbox="", book=None)

        entries = await backend.audit.read(2)

        assert [entry.question_id for entry in entries] == ["q-3", "q-4"]
        assert await backend.audit.read(0) == []

    async def test_one_agent_that_asks_without_end_pushes_out_nothing_of_others(
        self, backend: Backend
    ) -> None:
        rule, request = a_rule(), a_request("q-first")
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle("q-first", a_response(request), remember=rule)
        await backend.rules.revoke(rule.rule_id, by="cli:me")
        await backend.audit.refuse("q-first", "late", by="chat:eve", place="", choice="")
        own = a_request("q-own", run=RunRef("noisy-bot", "s-1"))
        await backend.store.open(own, seconds=30, inbox="", book=None)
        await backend.store.settle("q-own", own.cancelled(at=datetime.now(UTC), by="cli:me"))
        flood: list[Facts] = [
            {"kind": "cancelled", "agent_id": "noisy-bot", "by": "api:its-token"},
            {"kind": "approved", "agent_id": "noisy-bot"},  # by a policy: nobody decided
            {"kind": "rule_denied", "agent_id": "noisy-bot"},
        ]

        for _ in range(12):
            await asyncio.gather(*(backend.audit.note(flood[n % 3]) for n in range(900)))

        entries = await backend.audit.read(20_000)
        others = [e.kind for e in entries if e.agent_id != "noisy-bot" or e.by == "cli:me"]
        decided = ["approved", "rule_stored", "rule_revoked", "press_refused", "cancelled"]
        assert others == ["asked", *decided]
        assert ACTIVITY_ENTRIES <= len(entries) - len(others) <= ACTIVITY_ENTRIES + 110

    async def test_what_agents_and_people_do_is_read_in_the_order_of_time(
        self, backend: Backend
    ) -> None:
        for number in range(30):
            request = a_request(f"q-{number}", run=RunRef(f"bot-{number % 3}", "s-1"))
            await backend.store.open(request, seconds=30, inbox="", book=None)
            await backend.store.settle(request.question_id, a_response(request))
            await _a_moment_later(backend)

        entries = await backend.audit.read(60)

        numbers = [f"q-{number}" for number in range(30)]
        assert [entry.question_id for entry in entries[::2]] == numbers
        assert [entry.question_id for entry in entries[1::2]] == numbers
        assert [entry.kind for entry in entries] == ["asked", "approved"] * 30
        assert await backend.audit.read(7) == entries[-7:]

    async def test_a_span_of_time_and_what_is_wanted_of_it_is_read(self, backend: Backend) -> None:
        for number in range(9):
            agent = f"bot-{number % 2}"
            await backend.audit.note({"kind": "asked", "agent_id": agent, "reason": str(number)})
            await _a_moment_later(backend)
        entries = await backend.audit.read(20)
        since, until = entries[2].at, entries[7].at

        found = await backend.audit.read(20, since=since, until=until)
        last = await backend.audit.read(
            2, since=since, until=until, wanted=lambda entry: entry.agent_id == "bot-0"
        )
        earliest = await backend.audit.read(20, wanted=lambda entry: entry.reason == "0")

        assert [entry.reason for entry in found] == ["2", "3", "4", "5", "6"]
        assert [entry.reason for entry in last] == ["4", "6"]
        assert [entry.reason for entry in earliest] == ["0"]

    async def test_a_moment_before_1970_is_the_beginning(self, backend: Backend) -> None:
        before = datetime(1969, 6, 1, tzinfo=UTC)
        await backend.audit.note({"kind": "asked", "agent_id": "bot"})
        await _a_moment_later(backend)

        assert len(await backend.audit.read(9, since=before)) == 1
        assert await backend.audit.read(9, until=before) == []
        assert len((await backend.audit.read_page(before, count=9)).entries) == 1

    async def test_pages_follow_the_audit_and_have_each_entry_once(self, backend: Backend) -> None:
        await backend.audit.note({"kind": "asked", "agent_id": "earlier"})
        start = await _a_moment_later(backend)
        reasons: list[str] = []
        at = start

        for turn in range(4):
            for number in range(10):
                facts = {"kind": "asked", "agent_id": f"bot-{number % 3}", "reason": f"{turn}"}
                await backend.audit.note(facts)
            await backend.audit.note({"kind": "rule_revoked", "by": "cli:me", "reason": f"{turn}"})
            await _a_moment_later(backend)
            while (page := await backend.audit.read_page(at, count=3)).entries:
                reasons += [entry.reason for entry in page.entries]
                at = page.until

        assert reasons == [str(turn) for turn in range(4) for _ in range(11)]

    async def test_decisions_go_when_their_time_is_over_and_no_earlier(
        self, backend: Backend
    ) -> None:
        request = a_request("q-old")
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle("q-old", a_response(request))
        await _a_moment_later(backend)

        await backend.audit.trim(timedelta(hours=1))
        kept = [entry.kind for entry in await backend.audit.read(10)]
        await backend.audit.trim(timedelta(0))

        assert kept == ["asked", "approved"]
        assert [entry.kind for entry in await backend.audit.read(10)] == ["asked"]

    async def test_what_was_decided_without_a_question_is_noted(self, backend: Backend) -> None:
        for allowed in (True, False):
            await backend.audit.note(audit.ruled(RUN, "bash", "abc", "rule 1", allowed=allowed))

        entries = [_said(entry) for entry in await backend.audit.read(9)]

        about = {
            "agent_id": RUN.agent_id,
            "session_id": RUN.session_id,
            "subject": "bash",
            "digest": "abc",
            "reason": "rule 1",
        }
        assert entries == [{"kind": "rule_allowed", **about}, {"kind": "rule_denied", **about}]

    async def test_no_argument_is_in_it(self, backend: Backend) -> None:
        request = a_request(arguments={"command": "hunter2"})
        rule = replace(a_rule(), rule=request.suggested_rules[0])
        await backend.store.open(request, seconds=30, inbox="", book=None)
        await backend.store.settle(request.question_id, a_response(request), remember=rule)
        await backend.rules.use(request.run, rule.rule_id)

        entries = await backend.audit.read(10)

        assert len(entries) == 4
        assert "hunter2" not in repr(entries)

    async def test_a_refused_press_is_audited_with_what_it_was_about(
        self, backend: Backend
    ) -> None:
        request = a_request("q-refused")
        await backend.store.open(request, seconds=60, inbox="", book=None)

        noted = await backend.audit.refuse(
            "q-refused", "own_request", by="chat:bob", place="chat:ops", choice="allow\nall"
        )

        asked, refused = await backend.audit.read(10)
        assert noted
        assert (refused.kind, refused.refusal) == ("press_refused", "own_request")
        assert (refused.by, refused.place) == ("chat:bob", "chat:ops")
        assert "\n" not in refused.choice
        assert refused.subject == asked.subject == request.subject
        assert refused.digest == request.arguments_digest

    async def test_a_refusal_is_audited_once_for_each_actor_and_kind(
        self, backend: Backend
    ) -> None:
        await backend.store.open(a_request("q-twice"), seconds=60, inbox="", book=None)

        refused: list[tuple[RefusalKind, str]] = [
            ("not_approver", "chat:bob"),
            ("not_approver", "chat:bob"),
            ("late", "chat:bob"),
            ("not_approver", "chat:eve"),
        ]

        noted = [
            await backend.audit.refuse("q-twice", why, by=by, place="", choice="")
            for why, by in refused
        ]

        assert noted == [True, False, True, True]
        assert len(await backend.audit.read(10)) == 4

    async def test_refusals_of_many_actors_do_not_push_the_rest_out_of_the_audit(
        self, backend: Backend
    ) -> None:
        await backend.store.open(a_request("q-crowd"), seconds=60, inbox="", book=None)
        await backend.store.open(a_request("q-other"), seconds=60, inbox="", book=None)

        noted = [
            await backend.audit.refuse("q-crowd", "late", by=f"chat:{n}", place="", choice="")
            for n in range(REFUSALS_KEPT + 5)
        ]
        other = await backend.audit.refuse("q-other", "late", by="chat:0", place="", choice="")

        assert noted == [True] * REFUSALS_KEPT + [False] * 5
        assert other

    async def test_a_press_on_an_unknown_request_is_not_audited(self, backend: Backend) -> None:
        refused = await backend.audit.refuse("none", "late", by="chat:bob", place="", choice="")

        assert not refused
        assert await backend.audit.read(10) == []


async def _a_moment_later(backend: Backend) -> datetime:
    """The store's time, once it is later than that of all that is written."""
    now = (await backend.audit.read_page(None, count=1)).until
    while (later := (await backend.audit.read_page(None, count=1)).until) == now:
        pass
    return later


def _said(entry: object) -> dict[str, str]:
    facts = asdict(entry)  # type: ignore[call-overload]  # it is an entry
    return {name: value for name, value in facts.items() if value and name != "at"}
