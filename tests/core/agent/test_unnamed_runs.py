"""Without the name of a conversation, nothing that people decide is remembered beyond the run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta

import pytest

from sayso import Gate, RunRef, ToolCall, connect
from sayso.agent.choices import chosen
from sayso.always.terms import GrantOptions
from sayso.cards.card import Choice
from sayso.clock import utc_now
from sayso.errors import ConfigError
from sayso.events import UserInputRequest
from sayso.locales import load_translations
from sayso.questions.wire import decode_request, encode
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.testing import a_request
from sayso_bots.cli.ask import prepared
from sayso_bots.cli.mcp_setup import read_setup
from sayso_bots.cli.parser import sayso_parser

GERMAN = load_translations("de")

CALL = ToolCall("bash", {"command": "make deploy"})
REFUND = ToolCall("refund", {"amount": 50}, "call_1")
DAY = timedelta(days=1)
OWN, ONE_RUN = (
    RunRef("a", "made-up", is_named=False),
    RunRef("a", "r-1", run_id="r-1", is_named=False),
)
ALL = GrantOptions(scopes=frozenset({"session", "project", "tool-window"}))


def stored(choices: Iterable[Choice]) -> list[str]:
    """The choices that store something, as they are offered."""
    return [one.key for one in choices if one.stores and ALL.lengths(one)]


def offered(run: RunRef, call: ToolCall = CALL) -> tuple[list[str], list[str]]:
    """What a card offers to store, beside Allow and Deny and behind *More…*."""
    body = a_request(tool=call.name, arguments=dict(call.arguments), run=run).card()
    return stored(body.choices), stored(body.more)


async def asked(backend: Backend, question_id: str) -> UserInputRequest:
    record = await backend.store.get(question_id)
    assert record is not None
    return record.request


async def always(backend: Backend, request: UserInputRequest) -> None:
    """Somebody presses Always."""
    answer, rule = chosen(request, "always", by="slack:U0ALICE", at=utc_now(), terms=GrantOptions())
    assert rule is not None
    await backend.store.settle(request.question_id, answer, remember=rule)


async def one_asked(backend: Backend) -> UserInputRequest:
    """The only open request, as soon as there is one."""
    async with asyncio.timeout(30):
        while not (waiting := await backend.store.list_requests()):
            await asyncio.sleep(0.01)
    return await asked(backend, waiting[0].request.question_id)


async def test_calls_of_a_handle_that_names_nothing_offer_nothing_to_remember(
    store_url: str,
) -> None:
    def make() -> str:
        """Make it."""
        return "made"

    async with open_store(store_url) as backend, connect(store_url, agent="a") as handle:
        guarded, tools = handle.guard(make), handle.tools([make])
        for ask in (
            lambda: handle.check(CALL),
            lambda: asyncio.to_thread(handle.sync.check, CALL),
            lambda: asyncio.to_thread(guarded),
            lambda: asyncio.to_thread(tools["make"]),
        ):
            asking = asyncio.ensure_future(ask())
            request = await one_asked(backend)
            with pytest.raises(ValueError, match="no choice 'always'"):
                chosen(request, "always", by="slack:U0ALICE", at=utc_now(), terms=GrantOptions())
            answer, _ = chosen(
                request, "deny", by="slack:U0ALICE", at=utc_now(), terms=GrantOptions()
            )
            await backend.store.settle(request.question_id, answer)
            await asking


async def test_what_is_stored_for_a_run_counts_in_it_and_in_no_other_run(store_url: str) -> None:
    async with open_store(store_url) as backend, connect(store_url, agent="a") as handle:
        one, other = handle.for_session(run_id="r-1").run, handle.for_session(run_id="r-2").run
        await always(backend, await asked(backend, await submitted(handle, one)))

        assert (await handle.for_session(one).check(CALL)).approved
        for elsewhere in (other, handle.run, handle.for_session("s-1", run_id="r-2").run):
            assert isinstance(await handle.for_session(elsewhere).submit(CALL), str)


async def test_a_session_that_is_named_is_remembered_whatever_the_run(store_url: str) -> None:
    async with open_store(store_url) as backend, connect(store_url, agent="a") as handle:
        await always(
            backend, await asked(backend, await submitted(handle, handle.for_session("s-1").run))
        )

        assert (await handle.for_session("s-1", run_id="r-2").check(CALL)).approved
    async with connect(store_url, agent="a", session="s-1") as later:
        assert (await later.for_session(run_id="r-3").check(CALL)).approved


async def by_check_batch(handle: Gate, run: RunRef | None) -> None:
    await handle.for_session(run).check_batch([REFUND])


async def by_before_function(handle: Gate, run: RunRef | None) -> None:
    await handle.for_session(run).before_function(REFUND)


async def by_resume_batch(handle: Gate, run: RunRef | None) -> None:
    await handle.for_session(run).resume_batch(await handle.for_session(run).submit_batch([REFUND]))


@pytest.mark.parametrize("ask", [by_check_batch, by_before_function, by_resume_batch])
async def test_an_approval_counts_for_no_other_call_of_the_same_id_where_nobody_named_the_run(
    store_url: str, ask: Callable[[Gate, RunRef | None], Awaitable[None]]
) -> None:
    async with open_store(store_url) as backend, connect(store_url, agent="a") as handle:
        for run, is_asked_again in ((None, True), (handle.for_session(run_id="r-1").run, False)):
            asking = asyncio.ensure_future(ask(handle, run))
            await allow(backend, await one_asked(backend))
            await asking

            said = await handle.for_session(run).submit(REFUND)
            assert isinstance(said, str) is is_asked_again
            if isinstance(said, str):
                await handle.for_session(run).cancel(said)


async def test_calls_of_one_id_do_not_wait_for_each_other_where_nobody_named_the_run(
    store_url: str,
) -> None:
    async with open_store(store_url) as backend, connect(store_url, agent="a") as handle:
        asking = [asyncio.ensure_future(handle.check_batch([REFUND])) for _ in range(2)]
        async with asyncio.timeout(30):
            while len(waiting := await backend.store.list_requests()) < len(asking):
                await asyncio.sleep(0.01)
        for one in waiting:
            await allow(backend, await asked(backend, one.request.question_id))

        assert [one.approved for said in asking for one in await said] == [True, True]


async def test_a_call_id_is_denied_in_a_run_that_somebody_named_and_in_no_other(
    store_url: str,
) -> None:
    async with connect(store_url, agent="a") as handle:
        with pytest.raises(ConfigError, match=r"'call_1' .*: name a session, or a run id"):
            handle.deny_call("call_1")
        handle.for_session(run_id="r-1").deny_call("call_1")

        assert not (await handle.for_session(run_id="r-1").check(REFUND)).approved
        for elsewhere in (handle.run, handle.for_session(run_id="r-2").run):
            assert isinstance(await handle.for_session(elsewhere).submit(REFUND), str)


async def allow(backend: Backend, request: UserInputRequest) -> None:
    """Somebody presses Allow."""
    answer, _ = chosen(request, "allow", by="slack:U0ALICE", at=utc_now(), terms=GrantOptions())
    await backend.store.settle(request.question_id, answer)


async def submitted(handle: Gate, run: RunRef) -> str:
    said = await handle.for_session(run).submit(CALL)
    assert isinstance(said, str)
    return said


def test_a_card_offers_for_a_run_what_it_offers_for_a_session() -> None:
    assert offered(OWN) == offered(RunRef("a", "")) == ([], [])
    assert (
        offered(ONE_RUN) == offered(RunRef("a", "s-1")) == (["always"], ["window", "deny-always"])
    )


def test_where_a_project_is_named_only_that_is_offered() -> None:
    run = RunRef("a", "made-up", project="shop", is_named=False)
    assert offered(run) == (["always-day"], ["deny-always-day"])
    body = a_request(tool="bash", arguments=dict(CALL.arguments), run=run).card()
    always = next(one for one in body.choices if one.stores)
    lengths = GrantOptions().lengths(always)

    assert lengths is not None
    assert [one.scope for one in (lengths, *lengths.longer)] == ["project", "project"]
    assert "that name their project shop" in lengths.stores
    assert "made-up" not in lengths.stores


def test_a_card_says_that_a_rule_ends_with_the_run() -> None:
    run = RunRef("a", "r-1", run_id="r-1", project="shop", is_named=False)
    request = a_request(tool="bash", arguments=dict(CALL.arguments), run=run)
    choice = next(one for one in request.card().choices if one.key == "always")
    english, translations = GrantOptions().lengths(choice), GERMAN
    spoken = request.in_language(GERMAN).card().choices
    in_german = GrantOptions().lengths(
        next(one for one in spoken if one.key == "always"), translations
    )

    assert english is not None
    assert in_german is not None
    assert (english.place, english.step) == ("in this run", "This run, 1 day")
    assert (in_german.place, in_german.step) == ("in diesem Lauf", "Dieser Lauf, 1 Tag")


def test_a_run_says_on_the_wire_only_that_its_session_has_no_name() -> None:
    for run in (OWN, RunRef("a", "s-1")):
        request = a_request(run=run)
        assert decode_request(encode(request)) == request
        assert (b'"isNamed":false' in encode(request)) is not run.is_named
    assert b"isNamed" not in encode(a_request())


@pytest.mark.parametrize("words", [("--session", "deploys"), ()])
def test_a_command_that_names_no_session_remembers_nothing(
    store_url: str, words: tuple[str, ...]
) -> None:
    asking = ["ask", "bash", "--store", store_url, *words]
    serving = ["mcp-proxy", "--store", store_url, *words, "--", "cat"]
    env = {"SAYSO_SESSION": ""}

    runs = (
        prepared(sayso_parser().parse_args(asking), env).run,
        read_setup(sayso_parser().parse_args(serving), env).run,
    )

    assert [run.can_remember for run in runs] == [bool(words)] * 2
    named = {"SAYSO_SESSION": "deploys"}
    assert prepared(sayso_parser().parse_args(asking), named).run.can_remember
